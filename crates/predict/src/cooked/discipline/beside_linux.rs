//! Random bytes, typed at a real terminal and at the simulated one.

use std::os::fd::OwnedFd;

use proptest::prelude::*;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, OutputModes, SpecialCodeIndex, tcgetattr, tcsetattr,
};

use super::*;
use crate::tty::TtyCharacters;

/// What ends each sequence, and is in none.
const END: u8 = b'~';

/// Bytes that mean something in some mode, and what is made of letters.
fn any_byte() -> impl Strategy<Value = Vec<u8>> {
    let special = prop::sample::select(
        &b"\x7f\x7f\x7f\x15\x17\x17\x16\x12\x04\x08\r\n\t\x11\x01\x1b\0\x1f!?"[..],
    );
    let word =
        prop::sample::select(vec!["a", "B7", " ", "_", "é", "×", "日本", "א", "\u{301}", "."]);
    prop_oneof![
        4 => special.prop_map(|byte| vec![byte]),
        4 => word.prop_map(|word| word.as_bytes().to_vec()),
        1 => (0_u8..=255).prop_filter("the end", |byte| *byte != END).prop_map(|byte| vec![byte]),
    ]
}

/// Signals discard what was echoed before and not read yet, so they are for a test of their own.
fn any_tty() -> impl Strategy<Value = Tty> {
    let optional = [
        TtyModes::ECHO_CONTROL,
        TtyModes::ECHO_ERASE,
        TtyModes::ECHO_KILL,
        TtyModes::ECHO_KILL_ERASE,
        TtyModes::EXTENDED,
        TtyModes::UTF8,
        TtyModes::RETURN_IS_NEW_LINE,
        TtyModes::NEW_LINE_RETURNS,
        TtyModes::FLOW_CONTROL,
    ];
    let missing = prop_oneof![Just(vec![]), prop::sample::subsequence(optional.to_vec(), 0..3),];
    let others = TtyCharacters {
        erase: 8,
        word_erase: 0,
        end_of_line: b'!',
        end_of_line_2: b'?',
        ..TtyCharacters::USUAL
    };
    let characters = prop::sample::select(vec![TtyCharacters::USUAL, others]);
    (missing, characters).prop_map(|(missing, characters)| {
        let missing = missing.into_iter().fold(TtyModes::SIGNALS, TtyModes::union);
        Tty { modes: TtyModes::USUAL.without(missing), characters }
    })
}

/// A real terminal.
struct Real {
    master: OwnedFd,
    /// The programs' side, without which there is none.
    _terminal: OwnedFd,
}

impl Real {
    fn open(tty: Tty) -> rustix::io::Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let terminal = ioctl_tiocgptpeer(&master, OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        let mut modes = tcgetattr(&terminal)?;
        modes.input_modes.set(InputModes::IUTF8, tty.modes.contains(TtyModes::UTF8));
        modes.input_modes.set(InputModes::ICRNL, tty.modes.contains(TtyModes::RETURN_IS_NEW_LINE));
        modes.input_modes.set(InputModes::IXON, tty.modes.contains(TtyModes::FLOW_CONTROL));
        modes.output_modes.set(OutputModes::ONLCR, tty.modes.contains(TtyModes::NEW_LINE_RETURNS));
        for (local, mode) in [
            (LocalModes::ECHOCTL, TtyModes::ECHO_CONTROL),
            (LocalModes::ECHOE, TtyModes::ECHO_ERASE),
            (LocalModes::ECHOK, TtyModes::ECHO_KILL),
            (LocalModes::ECHOKE, TtyModes::ECHO_KILL_ERASE),
            (LocalModes::ISIG, TtyModes::SIGNALS),
            (LocalModes::IEXTEN, TtyModes::EXTENDED),
        ] {
            modes.local_modes.set(local, tty.modes.contains(mode));
        }
        for (code, byte) in [
            (SpecialCodeIndex::VERASE, tty.characters.erase),
            (SpecialCodeIndex::VWERASE, tty.characters.word_erase),
            (SpecialCodeIndex::VEOL, tty.characters.end_of_line),
            (SpecialCodeIndex::VEOL2, tty.characters.end_of_line_2),
        ] {
            modes.special_codes[code] = byte;
        }
        tcsetattr(&terminal, OptionalActions::Now, &modes)?;
        Ok(Self { master, _terminal: terminal })
    }

    /// Types, and returns what is written up to the end mark.
    fn echo(&self, bytes: &[u8]) -> Vec<u8> {
        assert_eq!(rustix::io::write(&self.master, &[bytes, &[END]].concat()), Ok(bytes.len() + 1));
        let mut echo = Vec::new();
        while !echo.ends_with(&[END]) {
            let patience = Timespec { tv_sec: 10, tv_nsec: 0 };
            let ready = poll(&mut [PollFd::new(&self.master, PollFlags::IN)], Some(&patience))
                .expect("a terminal of ours");
            assert_eq!(ready, 1, "the end mark is echoed, after {}", echo.escape_ascii());
            let mut buffer = [0; 4096];
            let len = rustix::io::read(&self.master, &mut buffer[..]).expect("a terminal of ours");
            echo.extend_from_slice(&buffer[..len]);
        }
        echo.pop();
        echo
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_simulated_is_what_linux_echoes(
        tty in any_tty(),
        bytes in prop::collection::vec(any_byte(), 0..40),
    ) {
        let mut discipline = Discipline::new(tty);
        discipline.is_whole = true;
        let (mut typed, mut simulated) = (Vec::new(), Vec::new());
        for byte in bytes.concat() {
            let len = simulated.len();
            if discipline.type_byte(byte, &mut simulated) == Answer::Unknown {
                simulated.truncate(len);
                break;
            }
            typed.push(byte);
        }
        let real = Real::open(tty).expect("a terminal").echo(&typed);
        prop_assert_eq!(simulated.escape_ascii().to_string(), real.escape_ascii().to_string(), "{}", typed.escape_ascii());
    }
}

#[test]
fn a_signal_is_echoed() {
    for (byte, echo) in [(3, "^C"), (0x1c, "^\\"), (0x1a, "^Z")] {
        let mut simulated = Vec::new();
        assert_eq!(Discipline::new(Tty::USUAL).type_byte(byte, &mut simulated), Answer::HandedOver);
        assert_eq!(simulated, echo.as_bytes());
        assert_eq!(Real::open(Tty::USUAL).unwrap().echo(&[byte]), echo.as_bytes());
    }
}
