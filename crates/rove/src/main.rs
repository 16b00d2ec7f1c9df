//! The program `rove`, under any of its names.

/// With musl's own allocator, a flood of output costs a third more time than with glibc's (docs/bench.md).
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    rove_platform::signals::accept_all();
    rove_shell::cli::run(std::env::args_os())
}

#[cfg(windows)]
fn main() -> std::process::ExitCode {
    rove_windows::run(std::env::args_os())
}
