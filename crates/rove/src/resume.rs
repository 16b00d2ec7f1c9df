//! Sessions that outlive their client: its record, from which `rove resume` goes on.
//!
//! [`RecordKeeper`] writes what the client has to write down. `store` has the files, `format` their bytes, `disk` the operations on
//! them, and `error` says what is wrong with them.

use std::net::SocketAddr;

use rove_bootstrap::{ProgramName, Resume, Resumed};
use rove_session::{Client, LeftKeys, NextKeys, Record};
use rove_ssp::Key;

use rove_units::Instant;

use crate::session_call::SessionCall;

mod disk;
mod error;
mod format;
mod store;

pub(crate) use error::ResumeFileError;
use store::Secret;
pub(crate) use store::{Folders, Saved, SessionFacts, Store, keep_lock};

/// The keeper of a client's record.
pub(crate) struct RecordKeeper {
    facts: SessionFacts,
    /// Whether the session goes on without its client when the terminal is closed.
    outlives_terminal: bool,
    stage: Stage,
}

/// The way in which a client comes to its session.
pub(crate) enum Way {
    New,
    /// From the record of a former client of a stock server.
    Stock(Saved),
    /// With a key of its own, after a former client of a rove server.
    Rove(Saved, NextKeys),
}

impl Way {
    /// Returns the way of a client that a rove server has given a key, from the record of the client before.
    ///
    /// # Errors
    ///
    /// Returns why that record cannot be read.
    pub(crate) fn after(resumed: &Resumed) -> Result<Self, ResumeFileError> {
        let Resumed { record, lock, former, taken } = resumed;
        let saved = Folders::create()?.open_locked(record, *lock)?;
        let left = LeftKeys::read(&saved.records).map_err(|_| ResumeFileError::Foreign)?;
        let client = saved.facts.client.parse().map_err(|_| ResumeFileError::Foreign)?;
        // Another client may have gone on from it meanwhile.
        let is_same = left.former(client).to_string() == *former;
        let next = left.after(taken.filter(|_| is_same));
        Ok(Self::Rove(saved, next))
    }

    /// Returns the record of the client before, if there is one.
    pub(crate) fn into_saved(self) -> Option<Saved> {
        match self {
            Self::New => None,
            Self::Stock(saved) | Self::Rove(saved, _) => Some(saved),
        }
    }
}

enum Stage {
    /// The session has no record yet.
    Waiting(Secret),
    Written(Store),
    /// There is no record, and will be none.
    Off,
}

impl RecordKeeper {
    /// Creates the keeper of a session, before its key is used up, for a client that comes in this way. `None` stands for a session
    /// that is not to be resumed.
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

    /// Starts the record. `store` has the files of an earlier client, whose record is replaced before anything is sent.
    ///
    /// # Errors
    ///
    /// Returns why the earlier record could not be replaced. The caller must not continue the session then.
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

    /// Writes what is to be written before the next datagram.
    pub(crate) fn turn(&mut self, now: Instant, session: &mut Client) {
        if let Stage::Waiting(secret) = &self.stage {
            let Some(is_with_rove) = session.recording().is_with_rove() else { return };
            let secret = secret.clone();
            self.stage = match create(&self.facts, secret, is_with_rove) {
                Ok(store) => Stage::Written(store),
                Err(error) => return self.give_up(now, session, &error),
            };
            if is_with_rove && self.facts.call.host.is_none() {
                // No ssh is known that could ask for a key.
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

    fn write(&mut self, now: Instant, session: &mut Client, record: &Record) -> bool {
        let Stage::Written(store) = &mut self.stage else {
            session.recording().stop();
            return false;
        };
        match store.write(&self.facts, record) {
            Ok(()) => true,
            Err(error) => {
                self.give_up(now, session, &error);
                false
            }
        }
    }

    /// Goes on without a record: a full disk harms no session.
    fn give_up(&mut self, now: Instant, session: &mut Client, error: &ResumeFileError) {
        tracing::info!(%error, "the session cannot be resumed");
        if !self.facts.call.quiet && !error.is_wanted() {
            session.announce(now, format!("No record for rove resume: {}.", error.in_short()));
        }
        session.recording().stop();
        self.remove();
    }

    /// Returns whether the session outlasts this client if its terminal is gone.
    pub(crate) const fn outlives_terminal(&self) -> bool {
        self.outlives_terminal && matches!(self.stage, Stage::Written(_))
    }

    /// Removes the record: the session is over.
    pub(crate) fn remove(&mut self) {
        if let Stage::Written(store) = core::mem::replace(&mut self.stage, Stage::Off) {
            store.remove();
        }
    }
}

/// Creates the files of a session. A client of a session that was attached to takes the place of its former client's files.
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
    Store::create(folders, secret, facts.is_on_disk)
}
