//! The prompts of one host that earlier sessions have learned or refused, as salted hashes of their names. A prompt's
//! name is one of the hashes in [`crate::secrecy::Prompt`].
//!
//! A session receives a memory before its first key and updates it as it learns. The caller stores the memory between
//! sessions, and draws the salt. [`crate::secrecy`] decides which keys may be shown at a known prompt.

use core::hash::Hasher;
use std::hash::DefaultHasher;

/// The hash of a prompt's name and a memory's salt.
///
/// The hash is SipHash with a public key. Such a hash suffices. The file that contains the hash belongs to the user,
/// and anybody who reads it could try prompts against any hash. The salt hides that two hosts have equal prompts. If
/// another version of rove hashes differently, it finds none of its prompts in an old memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptHash(u64);

impl PromptHash {
    /// Creates a hash from its number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// The prompts of a host: the known ones, at which programs have echoed lines, and the refused ones.
///
/// A refused prompt can never become known again. After too many refusals, no prompt is known at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptMemory {
    salt: [u8; 16],
    /// The known prompts, the newest last.
    known: Vec<PromptHash>,
    /// How many entries at the end of `known` are prompts that this session has added or used again.
    kept: usize,
    /// The refused prompts, the oldest first. More than [`Self::REFUSED_MAX`] of them refuse all prompts.
    refused: Vec<PromptHash>,
}

impl PromptMemory {
    /// Most known prompts of a host, at which lines were echoed. A further prompt replaces the least recently used one.
    /// Chosen: a session has a handful, and few users change their prompt.
    pub const KNOWN_MAX: usize = 64;

    /// Most names of a host's refused prompts. With more, all prompts are refused. Chosen: 32 programs that have asked
    /// for a secret, each with two names for its prompt.
    pub const REFUSED_MAX: usize = 64;

    /// Creates a memory from the contents of an earlier one. `known` has the least recently used prompt first.
    pub fn new(salt: [u8; 16], known: Vec<PromptHash>, refused: Vec<PromptHash>) -> Self {
        let mut memory = Self { salt, known: Vec::new(), kept: 0, refused: Vec::new() };
        memory.absorb(&known, &refused);
        memory.kept = 0;
        memory
    }

    /// Returns whether this prompt is known: programs have echoed lines at it.
    pub fn knows(&self, name: u64) -> bool {
        self.known.contains(&self.hash(name))
    }

    /// Returns whether the prompt of this name is refused: a line there was not echoed, or all are refused.
    pub fn is_refused(&self, name: u64) -> bool {
        self.is_overfull() || self.refused.contains(&self.hash(name))
    }

    /// Records that the prompt of this name is known, and was used last. Ignores a refused prompt.
    pub fn keep(&mut self, name: u64) {
        self.keep_hash(self.hash(name));
    }

    /// Refuses the prompt of this name for ever.
    pub fn refuse(&mut self, name: u64) {
        self.refuse_hash(self.hash(name));
    }

    /// Adds the prompts that another session has kept and refused. That session's memory must have the same salt.
    pub fn absorb(&mut self, kept: &[PromptHash], refused: &[PromptHash]) {
        refused.iter().for_each(|hash| self.refuse_hash(*hash));
        kept.iter().for_each(|hash| self.keep_hash(*hash));
    }

    /// Refuses all prompts for ever.
    pub fn refuse_all(&mut self) {
        for number in (0..).take(2 * (Self::REFUSED_MAX + 1)) {
            self.refuse_hash(PromptHash(number));
        }
    }

    /// Returns the salt of the hashes, drawn by the caller.
    pub const fn salt(&self) -> &[u8; 16] {
        &self.salt
    }

    /// Returns the known prompts, the newest last.
    pub fn known(&self) -> &[PromptHash] {
        &self.known
    }

    /// Returns the known prompts that this session has added or used again, the newest last.
    pub fn kept(&self) -> &[PromptHash] {
        &self.known[self.known.len() - self.kept..]
    }

    /// Returns the refused prompts, the oldest first. More than [`Self::REFUSED_MAX`] of them refuse all prompts.
    pub fn refused(&self) -> &[PromptHash] {
        &self.refused
    }

    fn is_overfull(&self) -> bool {
        self.refused.len() > Self::REFUSED_MAX
    }

    fn keep_hash(&mut self, hash: PromptHash) {
        if self.is_overfull() || self.refused.contains(&hash) {
            return;
        }
        self.drop_known(hash);
        if self.known.len() == Self::KNOWN_MAX {
            self.drop_known(self.known[0]);
        }
        self.known.push(hash);
        self.kept += 1;
        debug_assert!(self.known.len() <= Self::KNOWN_MAX, "no more names are known than the most");
        debug_assert!(self.kept <= self.known.len(), "a kept name is a known one");
    }

    fn refuse_hash(&mut self, hash: PromptHash) {
        if self.is_overfull() || self.refused.contains(&hash) {
            return;
        }
        self.drop_known(hash);
        self.refused.push(hash);
        if self.is_overfull() {
            (self.known, self.kept) = (Vec::new(), 0);
        }
        debug_assert!(!self.known.contains(&hash), "a refused name is not known");
        debug_assert!(
            self.refused.len() <= Self::REFUSED_MAX + 1,
            "an overfull memory grows no more"
        );
    }

    fn drop_known(&mut self, hash: PromptHash) {
        if let Some(index) = self.known.iter().position(|known| *known == hash) {
            let is_kept = index >= self.known.len() - self.kept;
            self.known.remove(index);
            self.kept -= usize::from(is_kept);
        }
    }

    fn hash(&self, name: u64) -> PromptHash {
        let mut hasher = DefaultHasher::new();
        hasher.write(&self.salt);
        hasher.write(&name.to_le_bytes());
        PromptHash(hasher.finish())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SALT: [u8; 16] = *b"a grain of salt.";

    fn empty() -> PromptMemory {
        PromptMemory::new(SALT, Vec::new(), Vec::new())
    }

    /// Returns the memory with which the next session begins.
    fn reopened(memory: &PromptMemory) -> PromptMemory {
        PromptMemory::new(SALT, memory.known().to_vec(), memory.refused().to_vec())
    }

    #[test]
    fn a_hash_stays_what_it_was() {
        // A changed hash function finds no prompt of stored memories. It also needs a new format number in
        // `prompt_store`.
        assert_eq!(empty().hash(0x0123_4567_89ab_cdef), PromptHash(17_141_355_292_391_882_961));
    }

    #[test]
    fn equal_prompts_with_another_salt_have_another_hash() {
        let other = PromptMemory::new([0; 16], Vec::new(), Vec::new());
        assert_ne!(empty().hash(7), other.hash(7));
    }

    #[test]
    fn a_prompt_is_known_from_when_it_is_kept_until_it_is_refused() {
        let mut memory = empty();
        assert!(!memory.knows(1) && !memory.is_refused(1));
        memory.keep(1);
        memory = reopened(&memory);
        assert!(memory.knows(1) && memory.kept().is_empty());
        memory.refuse(1);
        memory.keep(1);
        assert!(!memory.knows(1) && memory.is_refused(1) && !reopened(&memory).knows(1));
        assert!(!memory.is_refused(2));
    }

    #[test]
    fn the_65th_known_prompt_takes_the_place_of_the_one_kept_longest_ago() {
        let mut memory = empty();
        (1..=64).for_each(|name| memory.keep(name));
        assert!((1..=64).all(|name| memory.knows(name)));
        memory.keep(1);
        memory.keep(65);
        assert_eq!(memory.known().len(), PromptMemory::KNOWN_MAX);
        assert!(memory.knows(1) && !memory.knows(2) && memory.knows(65));
    }

    #[test]
    fn the_65th_refusal_makes_a_memory_know_nothing_for_ever() {
        let mut memory = empty();
        memory.keep(1000);
        (1..=64).for_each(|name| memory.refuse(name));
        assert!(memory.knows(1000) && !memory.is_refused(1000));
        memory.refuse(65);
        for mut memory in [reopened(&memory), memory] {
            memory.keep(1001);
            assert!(!memory.knows(1000) && !memory.knows(1001) && memory.is_refused(1000));
            assert!(memory.known().is_empty() && memory.kept().is_empty());
            memory.refuse(66);
            assert_eq!(memory.refused().len(), PromptMemory::REFUSED_MAX + 1, "it grows no more");
        }
    }

    #[test]
    fn a_memory_that_refuses_all_knows_nothing_for_ever() {
        for refused in [0, 1, 64, 65] {
            let mut memory = empty();
            memory.keep(1000);
            (0..refused).for_each(|name| memory.refuse(name));
            memory.refuse_all();
            assert!(!memory.knows(1000) && reopened(&memory).is_refused(1000), "{refused}");
        }
    }

    #[derive(Clone, Copy, Debug)]
    enum Act {
        Keep(u64),
        Refuse(u64),
    }

    fn acts() -> impl Strategy<Value = Vec<Act>> {
        let act = (0..100_u64, 0..4)
            .prop_map(|(n, die)| if die == 0 { Act::Refuse(n) } else { Act::Keep(n) });
        proptest::collection::vec(act, 0..200)
    }

    fn play(memory: &mut PromptMemory, acts: &[Act]) {
        for act in acts {
            match *act {
                Act::Keep(name) => memory.keep(name),
                Act::Refuse(name) => memory.refuse(name),
            }
        }
    }

    proptest! {
        #[test]
        fn no_refusal_is_lost_whatever_two_sessions_do_and_the_last_to_end_is_known(
            earlier in acts(), first in acts(), second in acts(),
        ) {
            let mut start = empty();
            play(&mut start, &earlier);
            let (mut kept, [mut one, mut two]) = (start.clone(), [reopened(&start), reopened(&start)]);
            play(&mut one, &first);
            play(&mut two, &second);
            kept.absorb(one.kept(), one.refused());
            kept.absorb(two.kept(), two.refused());
            let all = [&earlier, &first, &second].map(|acts| acts.iter()).into_iter().flatten();
            for act in all {
                let Act::Refuse(name) = *act else { continue };
                prop_assert!(kept.is_refused(name) && !kept.knows(name));
            }
            for hash in two.kept() {
                let is_refused = kept.is_overfull() || kept.refused.contains(hash);
                prop_assert!(is_refused || kept.known.contains(hash));
            }
            prop_assert!(kept.known.len() <= PromptMemory::KNOWN_MAX);
            prop_assert!(kept.refused.len() <= PromptMemory::REFUSED_MAX + 1);
        }

        #[test]
        fn only_prompts_of_this_session_are_told_as_kept(earlier in acts(), now in acts()) {
            let mut start = empty();
            play(&mut start, &earlier);
            let mut memory = reopened(&start);
            play(&mut memory, &now);
            let was_kept = |hash: &PromptHash| {
                now.iter().any(|act| matches!(act, Act::Keep(name) if memory.hash(*name) == *hash))
            };
            let (others, kept) = memory.known().split_at(memory.known().len() - memory.kept().len());
            prop_assert!(kept.iter().all(was_kept));
            prop_assert!(!others.iter().any(was_kept));
        }
    }
}
