//! The program: whatever it is called as.

fn main() -> std::process::ExitCode {
    rove_machine::signals::hear();
    rove_shell::cli::run(std::env::args_os())
}
