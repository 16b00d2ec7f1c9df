//! Does work on secrets, and overwrites the stack that the work has used.

use zeroize::zeroize_stack;

/// Bytes of stack that are wiped after work on a key. Chosen: four times the stack that reading a key and deriving its
/// schedule used, as measured in a build without optimization.
const KEY_STACK: usize = 64 * 1024;

/// Bytes of stack that are wiped after one message. Chosen: the block cipher was seen to use 10 KiB in a build without
/// optimization and 2 KiB in a release. Both were on a processor that encrypts 512 bits at once (VAES with AVX-512).
/// For such a processor, the cipher copies all round keys to the stack.
const MESSAGE_STACK: usize = if cfg!(debug_assertions) { 16 } else { 8 } * 1024;

/// Does `work`, then overwrites the stack that it used. Moved values and spilled registers leave copies there that no
/// destructor wipes. The secrets in the returned value should be on the heap.
pub fn wiping<T>(work: impl FnOnce() -> T) -> T {
    let result = below(work);
    zeroize_stack::<KEY_STACK>();
    result
}

/// Does work on one message as [`wiping`] does, with less stack to overwrite.
pub(crate) fn wiping_message<T>(work: impl FnOnce() -> T) -> T {
    let result = below(work);
    zeroize_stack::<MESSAGE_STACK>();
    result
}

/// Does the work in a separate stack frame, which the frame of [`zeroize_stack`] will later cover.
#[inline(never)]
fn below<T>(work: impl FnOnce() -> T) -> T {
    work()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_of_the_work_arrives() {
        assert_eq!(wiping(|| Box::new(7)), Box::new(7));
        assert_eq!(wiping_message(|| 8), 8);
    }
}
