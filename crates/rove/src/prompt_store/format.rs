//! The bytes of the file of prompts: a mark with the number of the format, a SHA-256 of the rest, and the hosts.
//!
//! A host in the file is an account, `user@host:port`. It has a salt (16 bytes), a name (16) and two counts (a byte
//! each). The hashes of known and of refused prompts follow. A hash has 8 bytes, the least significant byte first. The
//! name is a hash of salt and account, so that the file has no host's name in clear text.

use rove_bootstrap::Account;
use rove_session::{PromptHash, PromptMemory};
use sha2::{Digest, Sha256};

/// The file's first bytes, which end in the format's number. Increase that number when the hashing of prompts changes.
const MARK: [u8; 16] = *b"rove prompts\n\0\0\x01";

/// Length of the SHA-256 after the mark, in bytes.
const SUM_BYTES: usize = 32;

/// Most hosts in the file of prompts; the oldest is dropped first. Chosen: more than a person works on.
const HOSTS_MAX: usize = 256;

/// Most prompt hashes of a host: those of known and of refused prompts, and a refusal of all prompts.
const HASHES_MAX: usize = 129;
const _: () = assert!(HASHES_MAX == PromptMemory::KNOWN_MAX + PromptMemory::REFUSED_MAX + 1);

/// Most bytes of a host in the file of prompts: salt, name, two counts and hashes.
const HOST_BYTES_MAX: usize = 34 + 8 * HASHES_MAX;

/// Most bytes of the file of prompts: the mark, the sum and the hosts.
pub(super) const FILE_BYTES_MAX: usize = 48 + HOSTS_MAX * HOST_BYTES_MAX;
const _: () = assert!(MARK.len() + SUM_BYTES == 48);

/// The accounts in the file, each with its remembered prompts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hosts(
    /// The hosts, in the order of their last write.
    Vec<Host>,
);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Host {
    name: [u8; 16],
    memory: PromptMemory,
}

impl Host {
    fn is(&self, account: &Account) -> bool {
        self.name == name(self.memory.salt(), account)
    }
}

impl Hosts {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the remembered prompts of an account. `None` if the account is not in the file.
    pub(super) fn memory(&self, account: &Account) -> Option<PromptMemory> {
        self.0.iter().find(|host| host.is(account)).map(|host| host.memory.clone())
    }

    /// Stores the prompts of an account in place of its earlier prompts. A full file loses the oldest account.
    pub(super) fn put(&mut self, account: &Account, memory: PromptMemory) {
        self.remove(account);
        if self.0.len() == HOSTS_MAX {
            self.0.remove(0);
        }
        self.0.push(Host { name: name(memory.salt(), account), memory });
    }

    /// Removes an account; returns whether it was in the file.
    pub(super) fn remove(&mut self, account: &Account) -> bool {
        let before = self.0.len();
        self.0.retain(|host| !host.is(account));
        self.0.len() < before
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut body = Vec::new();
        for Host { name, memory } in &self.0 {
            let (known, refused) = (memory.known(), memory.refused());
            body.extend(memory.salt());
            body.extend(name);
            let count =
                |hashes: &[PromptHash]| u8::try_from(hashes.len()).expect("a memory is small");
            body.extend([count(known), count(refused)]);
            body.extend(known.iter().chain(refused).flat_map(|hash| hash.number().to_le_bytes()));
        }
        let sum = Sha256::digest(&body);
        MARK.iter().chain(sum.iter()).chain(&body).copied().collect()
    }

    /// Decodes the bytes of the file. `None` if they are damaged, or of another format.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > FILE_BYTES_MAX {
            return None;
        }
        let (sum, mut body) = bytes.strip_prefix(&MARK)?.split_first_chunk::<SUM_BYTES>()?;
        if *sum != *Sha256::digest(body) {
            return None;
        }
        let mut hosts = Self::default();
        while !body.is_empty() {
            let (salt, rest) = body.split_first_chunk::<16>()?;
            let (name, rest) = rest.split_first_chunk::<16>()?;
            let ([known, refused], rest) = rest.split_first_chunk::<2>()?;
            let (known, rest) = hashes(rest, usize::from(*known), PromptMemory::KNOWN_MAX)?;
            let (refused, rest) =
                hashes(rest, usize::from(*refused), PromptMemory::REFUSED_MAX + 1)?;
            hosts.0.push(Host { name: *name, memory: PromptMemory::new(*salt, known, refused) });
            body = rest;
        }
        (hosts.len() <= HOSTS_MAX).then_some(hosts)
    }
}

/// Reads `count` hashes, at most `count_max`, and returns them with the remaining bytes. `None` if there are too few
/// bytes or too many hashes.
fn hashes(bytes: &[u8], count: usize, count_max: usize) -> Option<(Vec<PromptHash>, &[u8])> {
    let (taken, rest) = bytes.split_at_checked(8 * count).filter(|_| count <= count_max)?;
    let (numbers, _) = taken.as_chunks::<8>();
    Some((numbers.iter().map(|it| PromptHash::new(u64::from_le_bytes(*it))).collect(), rest))
}

fn name(salt: &[u8; 16], account: &Account) -> [u8; 16] {
    let sum = Sha256::new().chain_update(salt).chain_update(account.to_string()).finalize();
    *sum.first_chunk().expect("a sum has 32 bytes")
}
