//! The program `rove-lab`.

fn main() -> std::process::ExitCode {
    rove_machine::signals::hear();
    rove_lab::cli::run(std::env::args_os())
}
