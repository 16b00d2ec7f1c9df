//! Compares our emulator with another one, function by function.

use core::fmt;

use rove_terminal::Size;

use crate::context::Context;
use crate::differences::DIFFERENCES;
use crate::emulator::{Emulator, Oracle, Ours};
use crate::function::Function;
use crate::picture::Picture;

/// Our emulator and another one. They execute the same functions, and must show the same picture.
pub struct Pair<T> {
    ours: Ours,
    theirs: T,
    context: Context,
    /// All bytes that both have executed, for the message of a failure.
    taken: Vec<u8>,
}

impl<T: Oracle> Pair<T> {
    /// Creates both emulators with blank screens.
    pub fn blank(size: Size) -> Self {
        let ours = Ours::blank(size);
        let context = Context::blank(size, ours.picture());
        Self { ours, theirs: T::blank(size), context, taken: Vec::new() }
    }

    /// Executes a function in both emulators, or returns false if a deliberate difference affects the function.
    ///
    /// # Errors
    ///
    /// Returns a [`Mismatch`] if the emulators show different pictures afterwards.
    pub fn take(&mut self, function: &Function) -> Result<bool, Box<Mismatch>> {
        let differs = DIFFERENCES
            .iter()
            .filter(|difference| difference.who.includes(T::WHO))
            .any(|difference| (difference.touches)(&self.context, function));
        if differs {
            return Ok(false);
        }
        let bytes = function.bytes();
        self.ours.write(&bytes);
        self.theirs.write(&bytes);
        self.taken.extend_from_slice(&bytes);
        let ours = self.ours.picture();
        let theirs = self.theirs.picture();
        let limited = ours.clone().limited_to(T::KNOWN, T::UNDERLINES);
        if limited != theirs {
            let taken = self.taken.escape_ascii().to_string();
            let last = function.clone();
            return Err(Box::new(Mismatch { last, taken, ours: limited, theirs }));
        }
        self.context.follow(function, ours, self.ours.background());
        Ok(true)
    }
}

/// The different pictures of two emulators.
pub struct Mismatch {
    /// The function after which the pictures differ.
    pub last: Function,
    /// All bytes up to and including this function, escaped.
    pub taken: String,
    /// Our picture, without the attributes that the other emulator lacks.
    pub ours: Picture,
    /// The other emulator's picture.
    pub theirs: Picture,
}

impl fmt::Debug for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "after {:?} in {}", self.last, self.taken)?;
        write!(f, "ours: {:?}theirs: {:?}", self.ours, self.theirs)
    }
}
