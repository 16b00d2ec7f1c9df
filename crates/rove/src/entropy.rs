//! Randomness from the operating system: session keys, and seeds for what need not be secret.

use rove_bootstrap::Challenge;
use rove_ssp::Key;
use rove_units::Seed;

/// Draws a session key.
///
/// # Errors
///
/// Returns the operating system's refusal.
pub(crate) fn key() -> Result<Key, getrandom::Error> {
    Key::draw(|bytes| getrandom::fill(bytes))
}

/// Draws the word by which a run recognises the output of its own commands.
///
/// # Errors
///
/// Returns the operating system's refusal.
pub(crate) fn challenge() -> Result<Challenge, getrandom::Error> {
    salt().map(Challenge::from_bytes)
}

/// Draws 16 bytes, such as the salt of a memory of prompts.
///
/// # Errors
///
/// Returns the operating system's refusal.
pub(crate) fn salt() -> Result<[u8; 16], getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

/// Draws how far above the reserved numbers a client that resumes goes on: 2^40 to 2^50. Chosen: if a copy of this
/// computer's memory resumes the same session, both use the same numbers once in some millions of cases. Thousands of
/// jumps fit 63 bits.
///
/// # Errors
///
/// Returns the operating system's refusal.
pub(crate) fn jump() -> Result<u64, getrandom::Error> {
    Ok((1 << 40) + getrandom::u64()? % ((1 << 50) - (1 << 40)))
}

/// Draws a seed for padding.
///
/// # Errors
///
/// Returns the operating system's refusal.
pub(crate) fn seed() -> Result<Seed, getrandom::Error> {
    getrandom::u64().map(Seed::new)
}
