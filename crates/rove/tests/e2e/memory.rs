//! Secrets in the memory of a client and of a server, and which users can read that memory.
//!
//! The tests read this memory as root may (`CAP_SYS_PTRACE`). The system must refuse other readers, because the
//! programs make themselves unreadable.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::os::unix::fs::FileExt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use rustix::process::geteuid;

use crate::support::{Invocation, Maker, SIZE, Scratch, Server, Terminal, answered, require, rove};

/// A script that answers every line.
const ECHO: &str = "echo ready; while IFS= read -r line; do echo \"got $line\"; done";

/// A script that prints its pid.
const SHELL: &str = "echo; echo; echo $$ is the shell; cat";

/// A user number that belongs to nobody.
const STRANGER: u32 = 12_345;

/// Round keys of AES-128. The first round key is the session key.
const ROUND_KEYS: usize = 11;

/// Largest mapping that the tests read. Stacks, heaps and data are far smaller.
const MAPPING_BYTES_MAX: u64 = 256 << 20;

/// Most attempts to read a memory. A mapping that disappears meanwhile makes an attempt fail.
const TRIES: usize = 10;

/// The writable mappings of a process, each with its address.
struct Memory(Vec<(u64, Vec<u8>)>);

impl Memory {
    /// Reads the memory of a process. `None` if the system does not permit that.
    fn read(pid: u32) -> Option<Self> {
        let refused = |error: &std::io::Error| error.kind() == ErrorKind::PermissionDenied;
        let memory = match File::open(format!("/proc/{pid}/mem")) {
            Err(error) if refused(&error) => return None,
            memory => memory.expect("the process is there"),
        };
        // A mapping may disappear after the list of mappings was read. The loop then reads both again.
        for _ in 0..TRIES {
            let maps = match fs::read_to_string(format!("/proc/{pid}/maps")) {
                Err(error) if refused(&error) => return None,
                maps => maps.expect("the process is there"),
            };
            assert!(maps.contains("[stack]") && maps.contains("[heap]"), "{maps}");
            if let Some(mappings) = Self::read_mappings(&maps, &memory) {
                return Some(Self(mappings));
            }
        }
        panic!("the mappings of {pid} change each time that they are read");
    }

    /// Reads the writable mappings. `None` if one of them has disappeared.
    fn read_mappings(maps: &str, memory: &File) -> Option<Vec<(u64, Vec<u8>)>> {
        let writable = maps.lines().filter(|line| line.contains(" rw"));
        let mappings = writable.map(|line| {
            let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
            let (start, end) = range.expect("a mapping begins with its range");
            let [start, end] = [start, end]
                .map(|word| u64::from_str_radix(word, 16).expect("an address in hexadecimal"));
            assert!(end - start <= MAPPING_BYTES_MAX, "{line}");
            let mut bytes = vec![0; usize::try_from(end - start).expect("within the bound")];
            memory.read_exact_at(&mut bytes, start).ok()?;
            Some((start, bytes))
        });
        mappings.collect()
    }

    /// Returns each address at which the memory contains `wanted`.
    fn find(&self, wanted: &[u8]) -> Vec<u64> {
        let mut found = Vec::new();
        for (start, bytes) in &self.0 {
            let is_there = |at: &usize| bytes[*at..].starts_with(wanted);
            let first = wanted[0];
            let candidates = (0..bytes.len()).filter(|at| bytes[*at] == first);
            found.extend(candidates.filter(is_there).map(|at| start + at as u64));
        }
        found
    }
}

/// Returns the round keys of a key (FIPS 197, section 5.2).
fn round_keys(key: [u8; 16]) -> [[u8; 16]; ROUND_KEYS] {
    let times = |byte: u8, by: u8| {
        let mut product = 0;
        let mut power = byte;
        for bit in 0..8 {
            product ^= if by >> bit & 1 == 1 { power } else { 0 };
            power = power << 1 ^ if power & 0x80 == 0 { 0 } else { 0x1b };
        }
        product
    };
    let substitute = |byte: u8| {
        let inverse = (1..=255).find(|other| times(byte, *other) == 1).unwrap_or(0_u8);
        (0..5).fold(0x63, |sum, shift| sum ^ inverse.rotate_left(shift))
    };
    let mut keys = [key; ROUND_KEYS];
    let mut constant = 1;
    for round in 1..ROUND_KEYS {
        let old = keys[round - 1];
        let mut word = [13, 14, 15, 12].map(|at: usize| substitute(old[at]));
        word[0] ^= constant;
        constant = times(constant, 2);
        for at in 0..16 {
            let before = if at < 4 { word[at] } else { keys[round][at - 4] };
            keys[round][at] = old[at] ^ before;
        }
    }
    keys
}

#[test]
fn the_round_keys_are_those_of_the_standard() {
    // The example is from FIPS 197, appendix A.1.
    let keys = round_keys(0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c_u128.to_be_bytes());
    assert_eq!(keys[10], 0xd014_f9a8_c9ee_2589_e13f_0cc8_b663_0ca6_u128.to_be_bytes());
}

/// Returns how often a round key must be in the memory. The first and the last round key are in the schedules for
/// sealing and for opening. Every other key is in one of them. Without AES instructions, keys have another form.
fn expected(round: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    let is_plain = std::arch::is_x86_feature_detected!("aes");
    #[cfg(not(target_arch = "x86_64"))]
    let is_plain = false;
    match round {
        _ if !is_plain => 0,
        0 | 10 => 2,
        _ => 1,
    }
}

#[test]
fn the_key_lies_in_one_place_of_the_heap_and_nowhere_else() {
    let server = Server::start(Maker::Rove, Ipv4Addr::LOCALHOST.into(), &["sh", "-c", ECHO]);
    let terminal = Terminal::start(&Maker::Rove.client(server.address, &server.key), SIZE);
    terminal.wait_for_text("ready");
    for number in 0..5 {
        terminal.send(format!("line {number}\r"));
        terminal.wait_for_text(&format!("got line {number}"));
    }
    let key: [u8; 16] = STANDARD_NO_PAD.decode(&server.key).unwrap().try_into().unwrap();
    for (who, pid) in [("client", terminal.pid()), ("server", server.pid())] {
        // A process may be sealing a datagram, with a round key on its stack. The next datagrams overwrite that key.
        let mut tries = 0;
        while let Err(stray) = look_for_key(who, pid, &server.key, key) {
            tries += 1;
            assert!(tries < TRIES, "each time: {stray}");
            terminal.send(format!("again {who} {tries}\r"));
            terminal.wait_for_text(&format!("got again {who} {tries}"));
        }
    }
}

/// Looks for a session's key in a process. Returns an error with the places if the key is elsewhere than it should be.
fn look_for_key(who: &str, pid: u32, text: &str, key: [u8; 16]) -> Result<(), String> {
    let ensure = |holds: bool, what: String| holds.then_some(()).ok_or(what);
    let Some(memory) = Memory::read(pid) else {
        assert!(!geteuid().is_root(), "root may look into the {who}");
        return Ok(());
    };
    // The process's environment is on its stack.
    let texts = memory.find(text.as_bytes());
    ensure(texts.is_empty(), format!("the key's text in the {who}: {texts:x?}"))?;
    let mut places = Vec::new();
    for (round, key) in round_keys(key).iter().enumerate() {
        let found = memory.find(key);
        let is_known = found.len() == expected(round);
        ensure(is_known, format!("round key {round} in the {who}: {found:x?}"))?;
        places.extend(found);
    }
    let reversed: Vec<u8> = key.iter().rev().copied().collect();
    ensure(memory.find(&reversed).is_empty(), format!("the key as a number in the {who}"))?;
    let (first, last) = (places.iter().min(), places.iter().max());
    let span = last.zip(first).map_or(0, |(last, first)| last - first);
    ensure(span < 512, format!("{span} bytes between the places of the {who}: {places:x?}"))
}

/// A user without privileges: the user who runs the tests, or another user if root runs them.
struct User {
    wrapper: Vec<&'static str>,
    scratch: Scratch,
}

impl User {
    fn new() -> Self {
        let scratch = Scratch::new();
        let wrapper = if geteuid().is_root() {
            require("setpriv", "util-linux");
            std::os::unix::fs::chown(scratch.folder(), Some(STRANGER), Some(STRANGER))
                .expect("root gives folders away");
            vec!["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"]
        } else {
            vec!["env"]
        };
        Self { wrapper, scratch }
    }

    /// Returns the call as it must be made to run as this user.
    fn call(&self, call: Invocation) -> Invocation {
        let sockets = self.scratch.path("sockets");
        call.env("ROVE_RUNTIME_DIR", sockets)
            .env("HOME", self.scratch.folder())
            .behind(&self.wrapper)
    }

    /// Returns whether this user can read a process's environment, and by the same permission all of its memory.
    fn can_read(&self, pid: u32) -> bool {
        let call = Invocation::new("cat").arg(format!("/proc/{pid}/environ"));
        let output = self.call(call).command().output().expect("cat starts");
        output.status.success()
    }
}

/// Returns the field `field` of a process's `/proc/PID/status`.
fn status(pid: u32, field: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process is there");
    let value = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    value.unwrap_or_else(|| panic!("no {field} in {text}")).trim().to_owned()
}

#[test]
fn nobody_looks_into_client_and_server_and_their_shell_is_an_ordinary_process() {
    let user = User::new();
    let server = user.call(Maker::Rove.server());
    let server = Server::start_with(server, Ipv4Addr::LOCALHOST.into(), &["sh", "-c", SHELL]);
    let terminal =
        Terminal::start(&user.call(Maker::Rove.client(server.address, &server.key)), SIZE);
    terminal.wait_for_text(" is the shell");
    let screen = terminal.screen().contents();
    let shell = screen.lines().find_map(|line| line.strip_suffix(" is the shell")).unwrap();
    let shell = shell.parse().expect("a number");
    for (who, pid, is_readable, renounces) in [
        ("client", terminal.pid(), false, "1"),
        ("server", server.pid(), false, "0"),
        ("shell", shell, true, "0"),
    ] {
        assert_eq!(user.can_read(pid), is_readable, "the {who}");
        assert_eq!(status(pid, "NoNewPrivs"), renounces, "the {who}");
    }
    // If the limit allows, each process locks the keys of its session and of the streams, each in a page or two.
    for pid in [terminal.pid(), server.pid()] {
        let locked = status(pid, "VmLck");
        assert!(["4 kB", "8 kB", "12 kB", "16 kB"].contains(&&*locked), "{locked}");
    }
    // The session's owner can still list the session and end it.
    for words in [&["list"][..], &["kill", &server.pid().to_string()]] {
        let call = user.call(Invocation::new(rove()).args(words));
        let output = answered(&call);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains(&server.pid().to_string()), "{words:?}: {output:?}");
    }
    server.assert_gone();
}

#[test]
fn a_session_starts_where_no_memory_may_be_locked() {
    let unlocked = ["prlimit", "--memlock=0:0", "--"];
    require("prlimit", "util-linux");
    let user = User::new();
    let server = user.call(Maker::Rove.server()).behind(&unlocked);
    let server = Server::start_with(server, Ipv4Addr::LOCALHOST.into(), &["sh", "-c", ECHO]);
    let client = user.call(Maker::Rove.client(server.address, &server.key)).behind(&unlocked);
    let terminal = Terminal::start(&client, SIZE);
    terminal.wait_for_text("ready");
    for pid in [terminal.pid(), server.pid()] {
        assert_eq!(status(pid, "VmLck"), "0 kB");
    }
}
