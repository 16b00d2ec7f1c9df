//! The knowledge of one line editor that keeps lines.

use crate::replay::evidence::Evidence;
use crate::replay::walk::{Name, Walk, Way};

/// Most prompts of one editor; the oldest goes. Chosen: prompts that name branches.
pub(super) const PROMPTS_MAX: usize = 16;

/// How often in a row an editor must have given back what was expected before it is believed.
/// Source: docs/prediction.md.
pub(super) const HITS_NEEDED: u16 = 2;

/// An editor that keeps lines.
#[derive(Clone, Debug)]
pub(super) struct Editor {
    pub(super) id: u32,
    pub(super) kind: u64,
    pub(super) prompts: Vec<u64>,
    /// Others that are known to keep lines of their own.
    pub(super) strangers: Vec<u32>,
    /// Which of [`DOUBLES`] it may be, and which of [`SEARCHES`].
    pub(super) doubles: [bool; DOUBLES.len()],
    pub(super) searches: [bool; SEARCHES.len()],
    /// For keys without and with Ctrl, on an empty line and on one that was begun.
    pub(super) proofs: [[Evidence; 2]; 2],
}

/// The treatment of lines that an editor has already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubles {
    Keeps,
    /// Lines that equal the one before are left out.
    DropsNext,
    /// Each is there once.
    DropsAll,
}

pub(super) const DOUBLES: [Doubles; 3] = [Doubles::Keeps, Doubles::DropsNext, Doubles::DropsAll];

/// The search for lines where a line was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Search {
    Any,
    Beginning,
    Containing,
}

pub(super) const SEARCHES: [Search; 3] = [Search::Any, Search::Beginning, Search::Containing];

impl Editor {
    pub(super) fn new(id: u32, name: Name) -> Self {
        Self {
            id,
            kind: name.kind,
            prompts: vec![name.prompt],
            strangers: Vec::new(),
            doubles: [true; DOUBLES.len()],
            searches: [true; SEARCHES.len()],
            proofs: [[Evidence::needing(HITS_NEEDED); 2]; 2],
        }
    }

    pub(super) fn has(&self, name: Name) -> bool {
        self.kind == name.kind && self.prompts.contains(&name.prompt)
    }

    pub(super) fn add_prompt(&mut self, prompt: u64) {
        if self.prompts.len() >= PROMPTS_MAX {
            self.prompts.remove(0);
        }
        self.prompts.push(prompt);
    }

    /// Returns the ways to see its lines that have not been ruled out.
    pub(super) fn views(&self, walk: &Walk) -> impl Iterator<Item = (Doubles, Search)> {
        let searches = if walk.begun.is_empty() { [true, false, false] } else { self.searches };
        let doubles = DOUBLES.into_iter().zip(self.doubles);
        let doubles = doubles.filter_map(|(one, is_possible)| is_possible.then_some(one));
        doubles.flat_map(move |doubles| {
            let searches = SEARCHES.into_iter().zip(searches);
            searches.filter_map(move |(one, is_possible)| is_possible.then_some((doubles, one)))
        })
    }

    pub(super) fn proof(&self, walk: &Walk, way: Way) -> &Evidence {
        &self.proofs[usize::from(way.is_control)][usize::from(!walk.begun.is_empty())]
    }

    pub(super) fn proof_mut(&mut self, walk: &Walk, way: Way) -> &mut Evidence {
        &mut self.proofs[usize::from(way.is_control)][usize::from(!walk.begun.is_empty())]
    }
}

impl Search {
    pub(super) fn finds(self, line: &str, begun: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Beginning => line.starts_with(begun),
            Self::Containing => line.contains(begun),
        }
    }
}
