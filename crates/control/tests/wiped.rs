//! No freed memory contains the session key: a special allocator checks each block that it gets back.

use core::convert::Infallible;
use core::hint::black_box;
use core::slice;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use rove_control::{Answer, SessionStatus, decode_reply, encode_reply};
use rove_ssp::Key;
use rove_ssp::wire::Cipher;

/// The key of these tests. No other memory has these bytes by chance.
const KEY: [u8; 16] = *b"\x93key to be wiped";

/// The key's text form.
const TEXT: &str = "k2tleSB0byBiZSB3aXBlZA";

thread_local! {
    static FOUND: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator. It counts, for each thread, the freed blocks that contain the key.
struct Looking;

// SAFETY: the system's allocator does all the work. The counter has no destructor and needs no memory.
unsafe impl GlobalAlloc for Looking {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the system allocator's contract, which is ours. Zeroes make each byte readable.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the block is the caller's until it is freed below, and was zeroed at first.
        let block = unsafe { slice::from_raw_parts(ptr, layout.size()) };
        let has = |wanted: &[u8]| block.windows(wanted.len()).any(|found| found == wanted);
        if has(&KEY) || has(TEXT.as_bytes()) {
            FOUND.set(FOUND.get() + 1);
        }
        // SAFETY: `ptr` came from the system's allocator with this layout.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static LOOKING: Looking = Looking;

/// Returns how many blocks with the key are freed during `work`.
fn found<T>(work: impl FnOnce() -> T) -> usize {
    let before = FOUND.get();
    drop(black_box(work()));
    FOUND.get() - before
}

#[test]
fn no_freed_memory_has_the_key() {
    assert_eq!(found(|| Box::new(KEY)), 1, "the allocator looks");
    assert_eq!(found(|| TEXT.to_owned()), 1, "also for the text");
    let read = || Key::from_text(TEXT).expect("it is a key");
    let draw = || {
        Key::draw(|bytes| {
            bytes.copy_from_slice(&KEY);
            Ok::<_, Infallible>(())
        })
    };
    assert_eq!(found(|| Key::from_bytes(KEY)), 0);
    assert_eq!(found(|| Key::from_bytes(KEY).clone()), 0);
    assert_eq!(found(read), 0);
    assert_eq!(found(draw), 0);
    assert_eq!(found(|| assert_eq!(*read().to_text(), TEXT)), 0);
    assert_eq!(found(|| read().name()), 0);
    // The first round key of the cipher is the key itself.
    assert_eq!(found(|| Cipher::new(&read())), 0);
    // A server tells the key to the next client. At one of the lengths, a buffer that grows would grow after the key.
    for len in 0..1024 {
        let status = SessionStatus { command: vec!["x".repeat(len)], ..Default::default() };
        let key = Some(read().to_text());
        let answer = Answer { status, key, taken: Some(u64::MAX), refusal: None };
        assert_eq!(found(|| decode_reply(&encode_reply(Ok(answer))).expect("it is a reply")), 0);
    }
}
