//! The program, under each name by which it may be called.

/// musl's own allocator makes a flood of output a third dearer than glibc's does (docs/bench.md).
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
