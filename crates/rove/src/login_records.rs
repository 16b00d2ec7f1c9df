//! The list of who is logged in. On Linux, it is read from its file: the functions of musl for it, in static programs, find
//! nobody. On macOS and FreeBSD, the format of the file is the C library's own affair, so the program `who` is asked.

#[cfg(all(target_os = "linux", not(rove_portable)))]
mod file;
mod record;
#[cfg(any(test, rove_portable, not(target_os = "linux")))]
mod who;

#[cfg(all(target_os = "linux", not(rove_portable)))]
pub(crate) use file::read;
#[cfg(any(rove_portable, not(target_os = "linux")))]
pub(crate) use who::read;
