//! Keeps, in a file of the user, hashes of prompts from one session to the next. At a known prompt, the host has echoed
//! a typed line; at a refused prompt, it has not echoed one. A session reads the file at its start, and writes refusals
//! at once and known prompts at its end.
//!
//! [`file`](mod@file) is the file on the disk, shared with other clients, and [`format`](mod@format) its bytes. All
//! hosts are in one file. So the number of hosts is limited, no file name reveals a host, and each change is a single
//! rename. After an error, a session goes on without remembered prompts.

use std::io;

use rove_bootstrap::Account;
use rove_session::PromptMemory;

use crate::entropy;

mod file;
mod format;

use file::PromptFile;
pub(crate) use file::PromptFileError;

/// Saves the prompts that a session has learned for its account.
#[derive(Debug)]
pub(crate) struct PromptKeeper {
    file: PromptFile,
    account: Account,
    salt: [u8; 16],
    /// How many of the session's refusals are in the file.
    written: usize,
    /// How many refusals the session has tried to write.
    tried: usize,
    /// Whether the user has removed the account from the file since the session began.
    is_forgotten: bool,
}

impl PromptKeeper {
    /// Creates the keeper for a session with an account, and returns it with the remembered prompts. A new account is
    /// added to the file, so that all sessions with it use the same salt.
    ///
    /// # Errors
    ///
    /// Returns why nothing can be remembered.
    pub(crate) fn open(account: Account) -> Result<(Self, PromptMemory), PromptFileError> {
        Self::open_in(PromptFile::create()?, account)
    }

    fn open_in(
        file: PromptFile,
        account: Account,
    ) -> Result<(Self, PromptMemory), PromptFileError> {
        let memory = match file.read()?.memory(&account) {
            Some(memory) => memory,
            None => {
                let salt = entropy::salt()
                    .map_err(|error| PromptFileError::Io(io::Error::other(error)))?;
                file.update(|hosts| {
                    hosts.memory(&account).unwrap_or_else(|| {
                        let memory = PromptMemory::new(salt, Vec::new(), Vec::new());
                        hosts.put(&account, memory.clone());
                        memory
                    })
                })?
            }
        };
        let (salt, written) = (*memory.salt(), memory.refused().len());
        Ok((Self { file, account, salt, written, tried: written, is_forgotten: false }, memory))
    }

    /// Writes the refusals that are not in the file. If that fails, they are written with the next refusal.
    pub(crate) fn note_refusals(&mut self, memory: &PromptMemory) {
        if memory.refused().len() > self.tried {
            self.tried = memory.refused().len();
            self.save(memory, false);
        }
    }

    /// Ends the session. Writes the prompts that the session has added or confirmed, unless the user has removed the
    /// account. Also writes the refusals that are not in the file.
    pub(crate) fn close(mut self, memory: &PromptMemory) {
        if !memory.kept().is_empty() || memory.refused().len() > self.written {
            self.save(memory, true);
        }
    }

    fn save(&mut self, memory: &PromptMemory, with_known: bool) {
        let refused = &memory.refused()[self.written..];
        let saved = self.file.update(|hosts| {
            let (mut stored, is_forgotten) = match hosts.memory(&self.account) {
                Some(stored) if *stored.salt() == self.salt => (stored, false),
                // The user has deleted the account, and another session has added it with a new salt, under which this
                // session's hashes are useless. If this session has refusals, all prompts are refused instead.
                Some(mut stored) if !refused.is_empty() => {
                    stored.refuse_all();
                    (stored, true)
                }
                Some(_) => return true,
                None if refused.is_empty() => return true,
                None => (PromptMemory::new(self.salt, Vec::new(), Vec::new()), true),
            };
            let is_forgotten = self.is_forgotten || is_forgotten;
            let kept = if with_known && !is_forgotten { memory.kept() } else { &[] };
            stored.absorb(kept, refused);
            hosts.put(&self.account, stored);
            is_forgotten
        });
        match saved {
            Ok(is_forgotten) => {
                self.is_forgotten = is_forgotten;
                self.written = memory.refused().len();
            }
            Err(error) => tracing::debug!(%error, "prompts not remembered"),
        }
    }
}

/// Deletes the prompts of an account, or of all accounts for `None`. Returns the number of deleted accounts.
///
/// # Errors
///
/// Returns why the remembered prompts cannot be removed.
pub(crate) fn forget(account: Option<&Account>) -> Result<usize, PromptFileError> {
    let Some(file) = PromptFile::open()? else { return Ok(0) };
    match account {
        Some(account) => file.update(|hosts| usize::from(hosts.remove(account))),
        None => file.remove(),
    }
}

#[cfg(test)]
mod tests;
