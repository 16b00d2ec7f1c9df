//! The fuzz targets: inputs from outside, and properties that must hold for each input.
//!
//! Each public function takes the fuzzer's bytes, and panics if a property does not hold. The fuzzer itself detects
//! hangs and excessive memory.
//!
//! # Modules
//!
//! - `script` reads the fuzzer's bytes as a terminal's events. `forger` is a peer that has the key and seals anything.
//! - `parsers` tests texts and frames outside a session's datagrams.
//! - `prediction` and `secrecy` test predictions. They read the fuzzer's bytes as `choices`.
//! - `wire` tests the layers of a datagram, `packets` the sealed packets of streams, and `streams` the layer of
//!   streams. `terminal` and `differential` test the emulator, and `objects` the host screen and the user stream.
//! - `ends` tests whole ends, `replay` sends old datagrams again, and `work` bounds the client's work.

#![forbid(unsafe_code)]

mod choices;
pub mod differential;
pub mod ends;
mod forger;
pub mod objects;
pub mod packets;
pub mod parsers;
pub mod prediction;
pub mod replay;
mod script;
pub mod secrecy;
pub mod streams;
pub mod terminal;
pub mod wire;
pub mod work;

/// A target reads the fuzzer's bytes. It panics if a property does not hold.
pub type Target = fn(&[u8]);

/// All targets by name. Programs in `fuzz_targets` and files in `seeds` have the same names.
pub const TARGETS: [(&str, Target); 31] = [
    ("agent", rove_shell::fuzzing::agent_takes_anything),
    ("answers", rove_session::fuzzing::answers_take_anything),
    ("assembler", wire::assembler_is_bounded),
    ("bootstrap", rove_shell::fuzzing::bootstrap_takes_anything),
    ("config", rove_shell::fuzzing::config_takes_anything),
    ("control", parsers::control_takes_anything),
    ("datagram", wire::datagram_takes_anything),
    ("differential", differential::emulators_agree),
    ("display", terminal::diffs_carry_everything),
    ("host_screen", objects::host_screen_takes_anything),
    ("hostile_base", terminal::any_base_will_do),
    ("inflate", wire::inflate_is_bounded),
    ("instruction", wire::instruction_takes_anything),
    ("key", parsers::key_takes_anything),
    ("keystroke", prediction::keys_do_not_depend_on_cuts),
    ("order", streams::streams_keep_order),
    ("packets", packets::packets_take_anything),
    ("prediction", prediction::predictions_vanish),
    ("renderer", terminal::frames_are_clean),
    ("replay", replay::copies_change_nothing),
    ("secrecy", secrecy::secrets_stay_unseen),
    ("session", ends::session_survives),
    ("socks", rove_shell::fuzzing::socks_takes_anything),
    ("ssh_config", parsers::ssh_config_takes_anything),
    ("streams", streams::streams_take_anything),
    ("terminal", terminal::takes_anything),
    ("terminfo", rove_shell::fuzzing::terminfo_takes_anything),
    ("transport", ends::transport_survives),
    ("tunnel", parsers::tunnel_takes_anything),
    ("user_stream", objects::user_stream_keeps_its_laws),
    ("work", work::effort_is_bounded),
];

/// Runs the target of this name with the fuzzer's bytes.
///
/// # Panics
///
/// Panics if a property does not hold, or if there is no such target.
pub fn run(name: &str, data: &[u8]) {
    let (_, target) = TARGETS.iter().find(|(known, _)| *known == name).expect("a target's name");
    target(data);
}
