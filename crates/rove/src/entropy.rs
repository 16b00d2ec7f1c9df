//! Randomness from the operating system: session keys, and seeds of values that need not be secret.

use rove_bootstrap::Challenge;
use rove_ssp::Key;
use rove_units::Seed;

/// Draws a session key.
pub(crate) fn key() -> Result<Key, getrandom::Error> {
    Key::draw(|bytes| getrandom::fill(bytes))
}

/// Draws the random word by which a run of rove recognises the output of its own commands on a host.
pub(crate) fn challenge() -> Result<Challenge, getrandom::Error> {
    salt().map(Challenge::from_bytes)
}

/// Draws 16 random bytes, such as a salt.
pub(crate) fn salt() -> Result<[u8; 16], getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

/// Draws how many sequence numbers (2^40 to 2^50) a resuming client skips above its predecessor's reserved numbers.
/// Chosen: if a copy of this computer (such as a cloned virtual machine) resumes the same session, both use the same
/// numbers once in some millions of cases. Thousands of jumps fit into 63 bits.
pub(crate) fn jump() -> Result<u64, getrandom::Error> {
    Ok((1 << 40) + getrandom::u64()? % ((1 << 50) - (1 << 40)))
}

/// Draws a seed for padding and other values that need not be secret.
pub(crate) fn seed() -> Result<Seed, getrandom::Error> {
    getrandom::u64().map(Seed::new)
}
