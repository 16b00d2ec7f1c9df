//! `rove-lab record`: runs a command on a terminal of its own and writes down both directions, with times.
//!
//! `pump` moves the bytes. Keys come from the user's terminal, from a pipe, or from a `typist` who follows
//! a `script` with the pauses of a `typing_model`. `recorder` knows what is written into the trace.

use std::ffi::{OsStr, OsString};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, ValueHint};
use rove_host::program::{Failure, Program, assignment, c_string, candidates};
use rove_host::pty::Pty;
use rove_platform::clock::Clock;
use rove_platform::event_loop::EventLoop;
use rove_platform::tty::Tty;
use rove_runs::files;
use rove_terminal::Size;
use rove_units::Seed;
use rustix::fs::{Access, access};
use rustix::process::{Resource, getrlimit};
use rustix::stdio::stdin;
use rustix::termios::isatty;

use crate::record::pump::{Keyboard, Pump, Screened};
use crate::record::recorder::Recorder;
use crate::record::script::{SCRIPT_BYTES_MAX, Script};
use crate::record::typist::Typist;
use crate::screen::parse_size;

mod keys;
mod pump;
mod recorder;
pub(crate) mod script;
mod typing_model;
mod typist;

/// The bytes that reset the user's terminal after an unforeseen end: no attributes, a visible cursor, and no reports of
/// pastes, focus or mouse.
const CLOSING: &[u8] =
    b"\x1b[m\x1b[?25h\x1b[?1l\x1b>\x1b[?2004l\x1b[?1004l\x1b[?1000;1002;1003;1006l";
/// The terminal type of a command if none is known. Chosen: what most terminals claim to be.
const TERM: &str = "xterm-256color";

/// Records a session of a command on a terminal of its own: both directions, with times
#[derive(Debug, Args)]
pub struct RecordOptions {
    /// File for the trace; it must not exist
    #[arg(short, long, value_name = "FILE", default_value = "trace.jsonl", value_hint = ValueHint::FilePath)]
    output: PathBuf,
    /// Columns and rows of the command's terminal [default: those of your window, or 80x24]
    #[arg(long, value_name = "COLSxROWS", value_parser = parse_size)]
    size: Option<Size>,
    /// Type what this file says instead of taking your keys
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    script: Option<PathBuf>,
    /// Number that decides on the hesitations and slips of a script's typist
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Write passwords down as they are typed
    #[arg(long)]
    with_secrets: bool,
    /// The command to record
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl RecordOptions {
    /// Returns the script that is typed. `None` for the user's keys.
    ///
    /// # Errors
    ///
    /// Returns an error if the script cannot be read or followed.
    pub fn script(&self) -> Result<Option<Script>> {
        self.script.as_deref().map(read_script).transpose()
    }
}

fn read_script(path: &Path) -> Result<Script> {
    let name = path.display();
    let file = std::fs::File::open(path).with_context(|| format!("cannot read {name}"))?;
    let mut text = String::new();
    let limit = u64::try_from(SCRIPT_BYTES_MAX).unwrap_or(u64::MAX) + 1;
    std::io::Read::read_to_string(&mut std::io::Read::take(file, limit), &mut text)
        .with_context(|| format!("cannot read {name}"))?;
    Script::parse(&text).map_err(|error| anyhow!("{name}: {error}"))
}

/// Records a session and returns the exit code of its command, as a shell would report it. Without a script the user types.
///
/// # Errors
///
/// Returns an error if the command cannot be started, the trace cannot be written, or the script has waited for the
/// program in vain.
pub fn run(options: RecordOptions, script: Option<Script>) -> Result<u8> {
    let program = program(&options.command)?;
    let path = options.output.display();
    let file = files::create_private(&options.output)
        .with_context(|| format!("cannot create {path}; a recording replaces no other file"))?;
    let clock = Clock::start();
    let events = EventLoop::new(clock, &pump::SIGNALS).context("cannot wait for signals")?;
    let mut keyboard = keyboard(script, Seed::new(options.seed), clock)?;
    let size = options.size.or_else(|| keyboard.size()).unwrap_or(Size::DEFAULT);
    keyboard.resize(size);
    let recorder = Recorder::new(BufWriter::new(file), size, options.with_secrets)
        .with_context(|| format!("cannot write {path}"))?;
    let (master, mut child) = Pty::open(size)
        .and_then(|pty| pty.spawn(&program))
        .context("cannot start the command on a terminal")?;
    child.release(Failure::Ends);
    let follows_window = options.size.is_none();
    Pump::new(events, keyboard, master, child, recorder, follows_window)
        .run()
        .with_context(|| format!("the recording in {path} ends here"))
}

/// Returns the source of keys: the typist of `script`, the user's terminal, or standard input.
fn keyboard(script: Option<Script>, seed: Seed, clock: Clock) -> Result<Keyboard> {
    Ok(match script {
        Some(script) => {
            let typist = Typist::new(script, seed, clock.now());
            Keyboard::Script(Box::new(Screened::new(typist)))
        }
        None if isatty(stdin()) => Keyboard::Terminal(Tty::take_over(CLOSING.to_vec())?),
        None => Keyboard::Pipe,
    })
}

/// Prepares the command to run in the current directory, with this process's environment.
fn program(command: &[OsString]) -> Result<Program> {
    let (name, _) = command.split_first().context("there is no command")?;
    let candidates = candidates(name, std::env::var_os("PATH").as_ref());
    if !candidates.iter().any(|path| access(path.as_c_str(), Access::EXEC_OK).is_ok()) {
        bail!("cannot run {}: there is no such program", name.display());
    }
    let mut environment: Vec<_> = std::env::vars_os().collect();
    if !environment.iter().any(|(variable, _)| variable == OsStr::new("TERM")) {
        environment.push(("TERM".into(), TERM.into()));
    }
    let directory = std::env::current_dir().context("there is no current directory")?;
    Ok(Program {
        candidates,
        arguments: command.iter().cloned().filter_map(c_string).collect(),
        environment: environment.iter().filter_map(|(k, v)| assignment(k, v)).collect(),
        directory: c_string(directory.into_os_string()).unwrap_or_default(),
        greeting: Vec::new(),
        not_found: b"rove-lab: cannot run the command\r\n".to_vec(),
        not_executable: b"rove-lab: cannot run the command\r\n".to_vec(),
        core_limit: getrlimit(Resource::Core),
    })
}
