//! The program `rove-lab`.

/// With musl's own allocator, a flood of output takes a third more time than with glibc's (docs/bench.md).
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> std::process::ExitCode {
    rove_platform::signals::accept_all();
    rove_lab::cli::run(std::env::args_os())
}
