//! The delivery of one client's input to the pty.

use rove_ssp::StateNum;
use rove_terminal::{InputNum, Size, UserTerminal};
use rove_units::Instant;

use super::publisher::ServerTransport;
use crate::keys::KeyTranslator;
use crate::user_stream::UserEvent;
use crate::wish::Wish;

/// The position up to which the server has delivered a client's input to the pty, and facts from that input.
#[derive(Debug, Default)]
pub(super) struct Input {
    pub(super) keys: KeyTranslator,
    /// The newest client state that was delivered, and the position after its last event.
    delivered_num: StateNum,
    delivered: u64,
    /// How many keys were delivered, with the keys of former clients whose input this client continues.
    pub(super) keys_taken: u64,
    /// The newest delivered client state that brought keys or a window size.
    pub(super) num: InputNum,
    /// The value of `num` when another client last typed. `None` if none did. Prompts reported for input up to this
    /// number are void, because the other client has typed at them.
    pub(super) others_typed_at: Option<InputNum>,
    /// The facts that the client has reported about its terminal.
    pub(super) user_terminal: UserTerminal,
}

/// The new input in a client's newest state, without the keys.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Whether the state is the client's first.
    pub(super) is_first: bool,
    /// Whether the state brought keys.
    pub(super) has_keys: bool,
    /// The last window size in the state. `None` if the state brought none. Earlier sizes in the state are dropped,
    /// because the user's window has only the last one.
    pub(super) size: Option<Size>,
    pub(super) wishes: Vec<Wish>,
}

impl Input {
    /// Returns the input of the next client. If that client continues this one's input (`goes_on`), the result keeps
    /// the count of keys and an incomplete key sequence. Otherwise the incomplete sequence goes to `out`.
    pub(super) fn succeed(self, goes_on: bool, out: &mut Vec<u8>) -> Self {
        if goes_on {
            return Self { keys: self.keys, keys_taken: self.keys_taken, ..Self::default() };
        }
        self.keys.flush(out);
        Self::default()
    }

    /// Appends the client's new keys to `out`, and returns the other news. Returns `None` if there is no new state.
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
                    self.keys_taken += 1;
                    self.keys.translate(now, byte, application_cursor_keys, out);
                }
                UserEvent::Resize(size) => news.size = Some(size),
                UserEvent::Terminal(report) => report.add_to(&mut self.user_terminal),
                UserEvent::Wish(wish) => news.wishes.push(wish.into()),
            }
        }
        debug_assert!(self.delivered <= remote.end(), "a stream of input only grows");
        (self.delivered_num, self.delivered) = (num, remote.end());
        // A report about the terminal causes no echo, so the echo ack need not wait for it.
        if news.is_input() {
            self.num = InputNum::new(num.get());
        }
        Some(news)
    }
}

impl News {
    /// Returns whether the news is input that a program may answer: keys or a window size.
    pub(super) const fn is_input(&self) -> bool {
        self.has_keys || self.size.is_some()
    }
}
