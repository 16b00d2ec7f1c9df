//! The command line of `rove-lab sprout`.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use rove_flows::sprout::wire::{self, Task};
use rove_ssp::Key;
use rove_units::{Duration, parse_duration};

/// The environment variable with the key.
const KEY: &str = "ROVE_SPROUT_KEY";

/// The port of a server if the user names none. Chosen: above Mosh's ports, which end at 61000.
const PORT: u16 = 61_013;

/// The options that only some actions use, each with these actions.
pub(crate) const USES: [(&str, &str); 3] =
    [("--for", "send"), ("--listen", "serve"), ("--once", "serve")];

/// The word that says what is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Action {
    /// Waits for a peer, and receives
    Serve,
    /// Sends to a server
    Send,
}

/// Runs the two ends of Sprout over UDP
#[derive(Debug, Args)]
pub(crate) struct SproutArgs {
    /// Word that says what is to be done
    #[arg(value_name = "ACTION")]
    action: Action,
    /// The server that is sent to
    #[arg(value_name = "ADDRESS:PORT")]
    peer: Option<SocketAddr>,
    /// Address and port of a server
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = SocketAddr::from((Ipv4Addr::UNSPECIFIED, PORT)))]
    listen: SocketAddr,
    /// How long bulk data is sent
    #[arg(id = "for", long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    length: Duration,
    /// Ends a server when its first peer has been silent for 5 s
    #[arg(long)]
    once: bool,
    /// Address of this computer whose UDP packets enter a tunnel; with port 0 a free one is taken and told
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "for")]
    enter: Option<SocketAddr>,
    /// Address that the packets of a tunnel are sent to by a server
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "once")]
    target: Option<SocketAddr>,
    /// Writes JSON in place of text
    #[arg(long)]
    json: bool,
}

impl SproutArgs {
    /// Returns the task, or a sentence on options that exclude each other.
    pub(crate) fn task(&self) -> Result<Task, String> {
        let listen = self.listen;
        let sentence = match (self.action, self.peer, self.enter, self.target) {
            (Action::Send, None, ..) => {
                "send needs the server's ADDRESS:PORT, such as 192.0.2.1:61013"
            }
            (Action::Serve, Some(_), ..) => {
                "only send takes an ADDRESS:PORT; a server's own is that of --listen"
            }
            (Action::Serve, _, Some(_), _) => "--enter is for send; the other end has --target",
            (Action::Send, .., Some(_)) => "--target is for serve; the other end has --enter",
            (Action::Send, Some(peer), Some(listen), None) => {
                return Ok(Task::Enter { peer, listen });
            }
            (Action::Send, Some(peer), None, None) => {
                return Ok(Task::Send { peer, length: self.length });
            }
            (Action::Serve, None, None, Some(target)) => {
                return Ok(Task::Leave { listen, target });
            }
            (Action::Serve, None, None, None) => {
                return Ok(Task::Serve { listen, once: self.once });
            }
        };
        Err(sentence.to_owned())
    }

    /// Runs the task. Text for the user of a server or a tunnel, such as the address, goes to `notes`.
    pub(crate) fn run(self, task: Task, output: impl Write, mut notes: impl Write) -> Result<()> {
        let key = self.key()?;
        // Two runs use different datagram numbers: two draws of 62 bits differ by more than the datagrams of a run.
        let first = getrandom::u64().context("cannot draw a number")? >> 2;
        let is_entrance = self.enter.is_some();
        let ready = |listens: SocketAddr| {
            if is_entrance {
                return writeln!(notes, "the tunnel begins at {listens}")
                    .context("cannot write standard error");
            }
            let peer = match listens {
                everywhere if everywhere.ip().is_unspecified() => {
                    format!("ADDRESS:{}", everywhere.port())
                }
                one => one.to_string(),
            };
            writeln!(notes, "{KEY}={} rove-lab sprout send {peer}", *key.to_text())
                .context("cannot write standard error")
        };
        wire::run(task, &key, first, self.json, ready, output)
    }

    /// Returns a new key for a server, and otherwise the key of the environment.
    fn key(&self) -> Result<Key> {
        if self.action == Action::Serve {
            return Key::draw(|bytes| getrandom::fill(bytes)).context("cannot draw a key");
        }
        let text = std::env::var(KEY).with_context(|| {
            format!(
                "{KEY} is not set: put the key into it that `rove-lab sprout serve` has printed"
            )
        })?;
        Key::from_text(&text).with_context(|| format!("{KEY} holds no key"))
    }
}
