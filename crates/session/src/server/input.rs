//! A client's input: how far it was handed on, and its way to the pty.

use rove_ssp::StateNum;
use rove_terminal::{InputNum, Size};
use rove_units::Instant;

use super::publisher::ServerTransport;
use crate::keys::KeyTranslator;
use crate::report::TerminalReport;
use crate::user_stream::UserEvent;
use crate::wish::Wish;

/// How far a client's input was handed on.
#[derive(Debug, Default)]
pub(super) struct Input {
    pub(super) keys: KeyTranslator,
    /// The client's newest state whose events were handed on, and where they ended.
    delivered_num: StateNum,
    delivered: u64,
    /// The newest of them that brought keys or a size.
    pub(super) num: InputNum,
    /// The value of `num` when another client typed last: statements up to it are about another line.
    pub(super) others_typed_at: Option<InputNum>,
}

/// The news in a client's newest state, but for the keys.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Whether it is the client's first state.
    pub(super) is_first: bool,
    /// Whether there were keys.
    pub(super) has_keys: bool,
    /// The newest size. If several come at once, no program could see the earlier ones, and each would cost a new screen.
    pub(super) size: Option<Size>,
    pub(super) reports: Vec<TerminalReport>,
    pub(super) wishes: Vec<Wish>,
}

impl Input {
    /// Hands on the client's new keys to the programs, and returns the other news. Returns `None` if there is no new state.
    pub(super) fn deliver(
        &mut self,
        now: Instant,
        transport: &ServerTransport,
        application_cursor_keys: bool,
        out: &mut Vec<u8>,
    ) -> Option<News> {
        let num = transport.remote_num();
        if num == self.delivered_num {
            return None;
        }
        let mut news =
            News { is_first: self.delivered_num == StateNum::INITIAL, ..News::default() };
        let remote = transport.remote();
        for event in remote.events_from(self.delivered) {
            match event {
                UserEvent::Byte(byte) => {
                    news.has_keys = true;
                    self.keys.translate(now, byte, application_cursor_keys, out);
                }
                UserEvent::Resize(size) => news.size = Some(size),
                UserEvent::Terminal(report) => news.reports.push(report),
                UserEvent::Wish(wish) => news.wishes.push(wish.into()),
            }
        }
        debug_assert!(self.delivered <= remote.end(), "a stream of input only grows");
        (self.delivered_num, self.delivered) = (num, remote.end());
        // A report of the client causes no echo.
        if news.is_input() {
            self.num = InputNum::new(num.get());
        }
        Some(news)
    }
}

impl News {
    /// Returns whether a program may answer it.
    pub(super) const fn is_input(&self) -> bool {
        self.has_keys || self.size.is_some()
    }
}
