//! Keeps the record of a session, from which `rove resume` goes on after the client was killed.
//!
//! [`RecordKeeper`] writes the record of a running client. `store` manages its files, `format` encodes them, and `disk`
//! has the file operations. `origin` identifies the computer that wrote the files, and `error` has the errors.

use std::net::SocketAddr;

use rove_bootstrap::{ProgramName, Resume, Resumed};
use rove_session::{Client, LeftKeys, NextKeys, Record};
use rove_ssp::Key;

use rove_units::Instant;

use crate::session_call::SessionCall;

mod disk;
mod error;
mod format;
mod origin;
mod store;

use disk::System;
pub(crate) use error::ResumeFileError;
use store::Secret;
pub(crate) use store::{Folders, Saved, SessionFacts, Store, keep_lock};

/// Writes the record of a client's session.
pub(crate) struct RecordKeeper {
    facts: SessionFacts,
    /// Whether the user wants the session to wait for `rove resume` after its terminal was closed.
    outlives_terminal: bool,
    stage: Stage,
}

/// Whether a client starts a new session, or continues a former client's session.
pub(crate) enum Way {
    New,
    /// The client continues the session at a server of Mosh, from a former client's record and with that client's key.
    Stock(Saved),
    /// The client continues the session at a rove server, from a former client's record and with a new key.
    Rove(Saved, NextKeys),
}

impl Way {
    /// Returns [`Way::Rove`] for a client that continues from the record `resumed` with a new key from a rove server.
    ///
    /// # Errors
    ///
    /// Returns why that record cannot be read.
    pub(crate) fn after(resumed: &Resumed) -> Result<Self, ResumeFileError> {
        let Resumed { record, lock, former, taken } = resumed;
        let saved = Folders::create()?.open_locked(record, *lock)?;
        let left = LeftKeys::read(&saved.records).map_err(|_| ResumeFileError::Foreign)?;
        let client = saved.facts.client.parse().map_err(|_| ResumeFileError::Foreign)?;
        // If another client has resumed the session meanwhile, the server's count of keys belongs to that client.
        let is_same = left.former(client).to_string() == *former;
        let next = left.after(taken.filter(|_| is_same));
        Ok(Self::Rove(saved, next))
    }

    /// Returns the record of the former client, if there is one.
    pub(crate) fn into_saved(self) -> Option<Saved> {
        match self {
            Self::New => None,
            Self::Stock(saved) | Self::Rove(saved, _) => Some(saved),
        }
    }
}

enum Stage {
    /// This client has written no record yet.
    Waiting(Secret),
    Written(Store),
    /// The session has no record and will have none.
    Off,
}

impl RecordKeeper {
    /// Creates the keeper of a client's record. `way` says how the client begins. `None` if no record may be kept, as
    /// under Mosh's name or with `resume = "never"`.
    pub(crate) fn new(
        name: ProgramName,
        server: SocketAddr,
        key: &Key,
        call: &SessionCall,
        way: &Way,
    ) -> Option<Self> {
        let resume = call.choices.resume;
        let is_stock = name == ProgramName::Mosh || call.choices.strict;
        if is_stock || resume == Resume::Never {
            return None;
        }
        let secret = match way {
            Way::Stock(saved) | Way::Rove(saved, _) => saved.store.secret(),
            Way::New => Secret::new(store::draw().ok()?),
        };
        let mut facts = SessionFacts::of(server, key, call, &secret);
        if let Way::Rove(saved, next) = way {
            facts.key = None;
            if next.go_on() {
                facts.client = saved.facts.client.clone();
            }
        }
        Some(Self {
            facts,
            outlives_terminal: matches!(resume, Resume::Closed | Resume::Reboot),
            stage: Stage::Waiting(secret),
        })
    }

    /// Starts the record. `store` has the files of a former client, whose record is replaced before anything is sent.
    ///
    /// # Errors
    ///
    /// Returns why the former record could not be replaced. The caller must then give the session up.
    pub(crate) fn start(
        &mut self,
        session: &mut Client,
        store: Option<Store>,
    ) -> Result<(), ResumeFileError> {
        if !session.recording().is_on() {
            session.recording().start();
        }
        let Some(mut store) = store else { return Ok(()) };
        if let Some(record) = session.recording().poll() {
            store.write(&self.facts, &record)?;
            session.recording().handle_written();
        }
        self.stage = Stage::Written(store);
        Ok(())
    }

    /// Writes the changes that must be in the record before the next datagram is sent.
    pub(crate) fn turn(&mut self, now: Instant, session: &mut Client) {
        if let Stage::Waiting(secret) = &self.stage {
            let Some(is_with_rove) = session.recording().is_with_rove() else { return };
            let secret = secret.clone();
            self.stage = match create(&self.facts, secret, is_with_rove) {
                Ok(store) => Stage::Written(store),
                Err(error) => return self.give_up(now, session, &error),
            };
            if is_with_rove && self.facts.call.host.is_none() {
                // Without a host, the next client could not ask the server for a key over ssh.
                session.recording().stop();
                return self.remove();
            }
            if is_with_rove {
                self.facts.key = None;
            }
        }
        while let Some(record) = session.recording().poll() {
            if self.write(now, session, &record) {
                session.recording().handle_written();
            }
        }
        if self.facts.key.is_some() && !session.recording().is_on() {
            self.remove();
        }
    }

    /// Writes a record. Returns `false` if the record is not written: recording has ended or starts in new files.
    fn write(&mut self, now: Instant, session: &mut Client, record: &Record) -> bool {
        let Stage::Written(store) = &mut self.stage else {
            session.recording().stop();
            return false;
        };
        let written = match store.is_gone(self.facts.is_on_disk) {
            false => store.write(&self.facts, record).map(|()| true),
            true => create(&self.facts, store.secret(), self.facts.key.is_none()).map(|next| {
                core::mem::replace(store, next).remove();
                session.recording().begin_again();
                false
            }),
        };
        written.unwrap_or_else(|error| {
            self.give_up(now, session, &error);
            false
        })
    }

    /// Removes the record and goes on without one, because an error such as a full disk must not end a session.
    fn give_up(&mut self, now: Instant, session: &mut Client, error: &ResumeFileError) {
        tracing::info!(%error, "the session cannot be resumed");
        if !self.facts.call.quiet && !error.is_wanted() {
            session.announce(now, format!("No record for rove resume: {}.", error.in_short()));
        }
        session.recording().stop();
        self.remove();
    }

    /// Returns whether the session waits for another client if this client's terminal is closed.
    pub(crate) const fn outlives_terminal(&self) -> bool {
        self.outlives_terminal && matches!(self.stage, Stage::Written(_))
    }

    /// Removes the record, so that the session cannot be resumed.
    pub(crate) fn remove(&mut self) {
        if let Stage::Written(store) = core::mem::replace(&mut self.stage, Stage::Off) {
            store.remove();
        }
    }
}

/// Creates the files of a session. For a rove server, also removes the files of a former client of that session.
fn create(
    facts: &SessionFacts,
    secret: Secret,
    is_with_rove: bool,
) -> Result<Store, ResumeFileError> {
    let folders = Folders::create()?;
    if is_with_rove {
        let others = folders.sessions().into_iter().filter_map(|(_, saved)| saved.ok());
        others.filter(|it| it.facts.is_same_rove(facts)).for_each(|it| it.store.remove());
    }
    Store::create(folders, secret, facts.is_on_disk, System)
}
