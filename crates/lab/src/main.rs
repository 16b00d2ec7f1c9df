//! The program `rove-lab`.

fn main() -> std::process::ExitCode {
    rove_lab::cli::run(std::env::args_os())
}
