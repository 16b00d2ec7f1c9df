//! Reads the list of logged-in users (utmp). On Linux, it is read from its file, because musl's functions for the list
//! always return an empty list. On macOS and FreeBSD, the format of the file is private to the C library, so the
//! program `who` is run.

#[cfg(all(target_os = "linux", not(rove_portable)))]
mod file;
mod record;
#[cfg(any(test, rove_portable, not(target_os = "linux")))]
mod who;

#[cfg(all(target_os = "linux", not(rove_portable)))]
pub(crate) use file::read;
#[cfg(any(rove_portable, not(target_os = "linux")))]
pub(crate) use who::read;
