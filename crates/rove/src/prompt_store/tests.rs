//! Tests of two sessions that share the file, of files that cannot be used, and of the bounds.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::PathBuf;
use std::process::Command;

use proptest::prelude::*;
use rove_control::Directory;
use rove_rig::scratch::Scratch;
use rove_session::PromptHash;
use rustix::process::geteuid;

use super::format::{FILE_BYTES_MAX, Hosts};
use super::*;

/// A folder for the file of prompts, which is removed when the test ends.
struct Kept(Scratch);

impl Kept {
    fn new() -> Self {
        Self(Scratch::new())
    }

    fn file(&self) -> PromptFile {
        PromptFile(Directory::create(&self.0.join("rove")).unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.file();
        self.0.join("rove").join(name)
    }

    /// Begins a session.
    fn open(&self, account: &Account) -> (PromptKeeper, PromptMemory) {
        PromptKeeper::open_in(self.file(), account.clone()).unwrap()
    }

    /// Returns the memory with which a session would begin now.
    fn memory(&self, account: &Account) -> PromptMemory {
        self.open(account).1
    }

    /// Runs a session in which these prompts become known, or refused.
    fn session(&self, account: &Account, kept: &[u64], refused: &[u64]) {
        let (keeper, mut memory) = self.open(account);
        kept.iter().for_each(|name| memory.keep(*name));
        refused.iter().for_each(|name| memory.refuse(*name));
        keeper.close(&memory);
    }
}

fn account(host: &str) -> Account {
    Account::new("me", host, 22).unwrap()
}

#[test]
fn an_account_has_its_prompts_in_the_next_session_and_no_other_has() {
    let scratch = Kept::new();
    scratch.session(&account("a"), &[1, 2], &[3]);
    let memory = scratch.memory(&account("a"));
    assert!(memory.knows(1) && memory.knows(2) && memory.is_refused(3));
    let others = [("me", "b", 22), ("you", "a", 22), ("me", "a", 2222)];
    for other in others.map(|(user, host, port)| Account::new(user, host, port).unwrap()) {
        let memory = scratch.memory(&other);
        assert!(!memory.knows(1) && !memory.is_refused(3), "{other}");
    }
}

#[test]
fn the_file_is_the_users_alone_and_names_nobody() {
    let scratch = Kept::new();
    scratch.session(&account("secret.example"), &[1], &[2]);
    let found = scratch.path("prompts").metadata().unwrap();
    assert_eq!((found.mode() & 0o7777, found.uid()), (0o600, geteuid().as_raw()));
    let bytes = fs::read(scratch.path("prompts")).unwrap();
    for text in ["secret", "example", "me@"] {
        assert!(!bytes.windows(text.len()).any(|window| window == text.as_bytes()), "{text}");
    }
    assert!(!scratch.path("prompts.new").exists());
}

#[test]
fn a_refusal_is_written_at_once_and_a_known_prompt_at_the_end() {
    let (scratch, host) = (Kept::new(), account("a"));
    let (mut keeper, mut memory) = scratch.open(&host);
    memory.keep(1);
    keeper.note_refusals(&memory);
    assert!(!scratch.memory(&host).knows(1));
    memory.refuse(2);
    keeper.note_refusals(&memory);
    assert!(scratch.memory(&host).is_refused(2) && !scratch.memory(&host).knows(1));
    keeper.close(&memory);
    assert!(scratch.memory(&host).knows(1));
}

#[test]
fn a_refusal_of_another_client_stays_when_this_one_has_known_the_prompt() {
    let (scratch, host) = (Kept::new(), account("a"));
    scratch.session(&host, &[1], &[]);
    let (mut one, mut refusing) = scratch.open(&host);
    let (two, mut keeping) = scratch.open(&host);
    refusing.refuse(1);
    one.note_refusals(&refusing);
    keeping.keep(1);
    keeping.keep(2);
    two.close(&keeping);
    let memory = scratch.memory(&host);
    assert!(memory.is_refused(1) && !memory.knows(1) && memory.knows(2));
    one.close(&refusing);
    assert_eq!(scratch.memory(&host), memory);
}

#[test]
fn two_first_sessions_with_a_host_share_a_salt() {
    let (scratch, host) = (Kept::new(), account("a"));
    let ((one, mut first), (two, mut second)) = (scratch.open(&host), scratch.open(&host));
    first.keep(1);
    second.keep(2);
    second.refuse(3);
    one.close(&first);
    two.close(&second);
    let memory = scratch.memory(&host);
    assert!(memory.knows(1) && memory.knows(2) && memory.is_refused(3));
}

#[test]
fn the_65th_refusal_of_several_clients_is_one_too_many() {
    let (scratch, host) = (Kept::new(), account("a"));
    scratch.session(&host, &[1000], &(1..=32).collect::<Vec<_>>());
    scratch.session(&host, &[], &(33..=64).collect::<Vec<_>>());
    assert!(scratch.memory(&host).knows(1000));
    scratch.session(&host, &[], &[65]);
    scratch.session(&host, &[1001], &[66]);
    let memory = scratch.memory(&host);
    assert!(memory.is_refused(1000) && !memory.knows(1000) && !memory.knows(1001));
}

#[test]
fn the_257th_host_takes_the_place_of_the_one_written_longest_ago() {
    let scratch = Kept::new();
    let hosts: Vec<Account> = (0..257).map(|number| account(&format!("h{number}"))).collect();
    let file = scratch.file();
    let full = |number: u64| {
        let names = |from: u64, count: u64| (from..from + count).map(PromptHash::new).collect();
        PromptMemory::new(u128::from(number).to_le_bytes(), names(1000, 64), names(0, 64))
    };
    let put = |number: u64| {
        let at = usize::try_from(number).unwrap();
        file.update(|all| all.put(&hosts[at], full(number))).unwrap();
    };
    (0..256).for_each(put);
    put(0);
    assert!(hosts[..256].iter().all(|host| file.read().unwrap().memory(host).is_some()));
    put(256);
    let all = file.read().unwrap();
    assert_eq!(all.len(), 256);
    assert!(all.memory(&hosts[0]).is_some() && all.memory(&hosts[1]).is_none());
    assert!(all.memory(&hosts[256]).is_some());
}

#[test]
fn a_file_that_is_as_large_as_it_gets_is_read_and_one_byte_more_is_not() {
    let mut hosts = Hosts::default();
    let overfull = |number: u128| {
        let mut memory = PromptMemory::new(number.to_le_bytes(), Vec::new(), Vec::new());
        memory.refuse_all();
        memory
    };
    for number in 0..256 {
        hosts.put(&account(&number.to_string()), overfull(number));
    }
    let mut bytes = hosts.encode();
    assert!(bytes.len() <= FILE_BYTES_MAX);
    assert_eq!(Hosts::decode(&bytes).as_ref(), Some(&hosts));
    bytes.push(0);
    assert_eq!(Hosts::decode(&bytes), None);
    let scratch = Kept::new();
    fs::write(scratch.path("prompts"), vec![7; FILE_BYTES_MAX + 1]).unwrap();
    fs::set_permissions(scratch.path("prompts"), Permissions::from_mode(0o600)).unwrap();
    assert_eq!(scratch.file().read().unwrap(), Hosts::default());
}

#[test]
fn a_damaged_file_is_empty_and_the_next_session_replaces_it() {
    let (scratch, host) = (Kept::new(), account("a"));
    scratch.session(&host, &[1], &[2]);
    let good = fs::read(scratch.path("prompts")).unwrap();
    let cut = |len: usize| good[..len].to_vec();
    let turned = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    // The damaged bytes include the number of the format, the sum, salt, name, counts and hashes.
    let damaged = (0..good.len()).map(turned).chain((0..good.len()).map(cut));
    for bytes in damaged {
        fs::write(scratch.path("prompts"), &bytes).unwrap();
        assert_eq!(scratch.file().read().unwrap(), Hosts::default(), "{bytes:?}");
    }
    scratch.session(&host, &[5], &[]);
    assert!(scratch.memory(&host).knows(5) && !scratch.memory(&host).knows(1));
}

/// A function that puts something other than the file at its path.
type Make<'a> = Box<dyn Fn() + 'a>;

#[test]
fn a_foreign_file_is_neither_read_nor_written() {
    let (scratch, host) = (Kept::new(), account("a"));
    scratch.session(&host, &[1], &[]);
    let (path, other) = (scratch.path("prompts"), scratch.0.join("other"));
    let good = fs::read(&path).unwrap();
    let place = |mode| {
        fs::write(&path, &good).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    };
    let link = || {
        fs::write(&other, &good).unwrap();
        fs::set_permissions(&other, Permissions::from_mode(0o600)).unwrap();
        symlink(&other, &path).unwrap();
    };
    let pipe = || {
        let made = Command::new("mkfifo").args(["-m", "600"]).arg(&path).status();
        assert!(made.unwrap().success());
    };
    let foreign = || {
        place(0o600);
        chown(&path, Some(12_345), None).unwrap();
    };
    let mut kinds: Vec<(&str, Make<'_>)> = vec![
        ("read by others", Box::new(|| place(0o640))),
        ("written by others", Box::new(|| place(0o602))),
        ("a program", Box::new(|| place(0o700))),
        ("a link", Box::new(link)),
        ("a pipe", Box::new(pipe)),
        ("a folder", Box::new(|| fs::create_dir(&path).unwrap())),
    ];
    if geteuid().is_root() {
        // Only root can make another user's file.
        kinds.push(("another user's", Box::new(foreign)));
    }
    for (kind, make) in kinds {
        fs::remove_file(&path).unwrap();
        make();
        let before = path.symlink_metadata().unwrap();
        let refused = PromptKeeper::open_in(scratch.file(), host.clone()).err();
        let forgotten = scratch.file().remove().err();
        for error in [refused, forgotten] {
            assert!(matches!(error, Some(PromptFileError::Foreign(_))), "{kind}: {error:?}");
        }
        let after = path.symlink_metadata().unwrap();
        assert_eq!((after.ino(), after.mode()), (before.ino(), before.mode()), "{kind}");
        if path.is_dir() {
            fs::remove_dir(&path).unwrap();
            fs::write(&path, "").unwrap();
        }
    }
    assert!(!other.exists() || fs::read(&other).unwrap() == good);
}

#[test]
fn a_session_goes_on_where_its_file_has_become_foreign() {
    let (scratch, host) = (Kept::new(), account("a"));
    let (mut keeper, mut memory) = scratch.open(&host);
    fs::set_permissions(scratch.path("prompts"), Permissions::from_mode(0o644)).unwrap();
    memory.refuse(1);
    keeper.note_refusals(&memory);
    fs::set_permissions(scratch.path("prompts"), Permissions::from_mode(0o600)).unwrap();
    assert!(!scratch.memory(&host).is_refused(1));
    memory.refuse(2);
    keeper.note_refusals(&memory);
    assert!(scratch.memory(&host).is_refused(1) && scratch.memory(&host).is_refused(2));
    keeper.close(&memory);
}

#[test]
fn a_client_that_was_killed_while_it_wrote_has_lost_nothing() {
    let (scratch, host) = (Kept::new(), account("a"));
    scratch.session(&host, &[1], &[2]);
    fs::write(scratch.path("prompts.new"), "half of the next fi").unwrap();
    let memory = scratch.memory(&host);
    assert!(memory.knows(1) && memory.is_refused(2));
    scratch.session(&host, &[3], &[]);
    assert!(scratch.memory(&host).knows(1) && scratch.memory(&host).knows(3));
    assert!(!scratch.path("prompts.new").exists());
}

#[test]
fn a_client_that_stands_still_with_the_lock_stops_no_other() {
    let (scratch, host) = (Kept::new(), account("a"));
    scratch.session(&host, &[1], &[]);
    let (mut keeper, mut memory) = scratch.open(&host);
    let held = scratch.file().lock().unwrap();
    memory.refuse(2);
    keeper.note_refusals(&memory);
    assert!(!scratch.memory(&host).is_refused(2), "what is there can be read meanwhile");
    drop(held);
    keeper.close(&memory);
    assert!(scratch.memory(&host).is_refused(2));
}

#[test]
fn a_child_that_has_not_executed_its_program_yet_keeps_no_lock() {
    let scratch = Kept::new();
    let lock = scratch.file().lock().unwrap();
    // As with a fork, both descriptors refer to the same open file.
    let _inherited = lock.0.try_clone().unwrap();
    drop(lock);
    scratch.file().lock().unwrap();
}

#[test]
fn forgotten_prompts_do_not_come_back_from_sessions_that_run() {
    let (scratch, host) = (Kept::new(), account("a"));
    for forget_all in [false, true] {
        scratch.session(&host, &[1], &[2]);
        scratch.session(&account("b"), &[1], &[]);
        let (mut keeper, mut memory) = scratch.open(&host);
        memory.keep(1);
        memory.keep(3);
        if forget_all {
            assert_eq!(scratch.file().remove().unwrap(), 2);
        } else {
            assert!(scratch.file().update(|hosts| hosts.remove(&host)).unwrap());
        }
        assert_eq!(scratch.file().read().unwrap().len(), usize::from(!forget_all));
        // Only a refusal after the deletion is kept.
        memory.refuse(4);
        keeper.note_refusals(&memory);
        keeper.close(&memory);
        let memory = scratch.memory(&host);
        assert!(!memory.knows(1) && !memory.knows(3) && !memory.is_refused(2));
        assert!(memory.is_refused(4), "{forget_all}");
        scratch.file().remove().unwrap();
    }
}

#[test]
fn a_refusal_with_a_salt_that_was_forgotten_counts_for_all_prompts() {
    let (scratch, host) = (Kept::new(), account("a"));
    let (old, mut memory) = scratch.open(&host);
    scratch.file().remove().unwrap();
    scratch.session(&host, &[1], &[]);
    let (idle, unchanged) = scratch.open(&host);
    memory.refuse(1);
    old.close(&memory);
    assert!(scratch.memory(&host).is_refused(1) && scratch.memory(&host).is_refused(9));
    idle.close(&unchanged);
}

/// A change that one of two clients makes to its memory.
#[derive(Clone, Copy, Debug)]
enum Act {
    Keep(u64),
    Refuse(u64),
    End,
}

fn act() -> impl Strategy<Value = (usize, Act)> {
    let act = prop_oneof![
        4 => (0..12_u64).prop_map(Act::Keep),
        2 => (0..12_u64).prop_map(Act::Refuse),
        1 => Just(Act::End),
    ];
    (0..2_usize, act)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn two_clients_at_once_lose_no_refusal_and_no_prompt_that_was_kept(
        acts in proptest::collection::vec(act(), 0..60),
    ) {
        let scratch = Kept::new();
        let host = account("a");
        let mut clients = [scratch.open(&host), scratch.open(&host)];
        let (mut kept, mut refused) = (Vec::new(), Vec::new());
        let end = |client: &mut (PromptKeeper, PromptMemory)| {
            let (keeper, memory) = core::mem::replace(client, scratch.open(&host));
            keeper.close(&memory);
            *client = scratch.open(&host);
        };
        for (at, act) in acts {
            let (keeper, memory) = &mut clients[at];
            match act {
                Act::Keep(name) => {
                    memory.keep(name);
                    kept.push(name);
                }
                Act::Refuse(name) => {
                    memory.refuse(name);
                    keeper.note_refusals(memory);
                    refused.push(name);
                    prop_assert!(scratch.memory(&host).is_refused(name), "not at once");
                }
                Act::End => end(&mut clients[at]),
            }
        }
        clients.iter_mut().for_each(end);
        let memory = scratch.memory(&host);
        for name in 0..12 {
            let is_refused = refused.contains(&name);
            prop_assert_eq!(memory.is_refused(name), is_refused);
            prop_assert_eq!(memory.knows(name), kept.contains(&name) && !is_refused);
        }
    }

    #[test]
    fn any_bytes_are_a_file_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        prop_assert_eq!(Hosts::decode(&bytes), None);
    }

    #[test]
    fn bytes_with_a_right_sum_are_a_file_or_none(
        counts in proptest::collection::vec((0..80_u8, 0..80_u8), 0..4),
        tail in proptest::collection::vec(any::<u8>(), 0..40),
        seed in any::<u8>(),
    ) {
        use sha2::{Digest, Sha256};
        let mut body = Vec::new();
        for (known, refused) in &counts {
            body.extend([seed; 32]);
            body.extend([*known, *refused]);
            let hashes = 8 * (usize::from(*known) + usize::from(*refused));
            body.extend((0..hashes).map(|at| seed.wrapping_mul(31) ^ u8::try_from(at % 251).unwrap()));
        }
        body.extend(&tail);
        let mark = Hosts::default().encode()[..16].to_vec();
        let bytes = [&mark[..], &Sha256::digest(&body)[..], &body].concat();
        let is_whole = tail.is_empty() && counts.iter().all(|(known, refused)| *known <= 64 && *refused <= 65);
        let decoded = Hosts::decode(&bytes);
        if is_whole {
            let hosts = decoded.expect("nothing is wrong with it");
            prop_assert_eq!(Hosts::decode(&hosts.encode()), Some(hosts));
        } else if tail.is_empty() {
            prop_assert_eq!(decoded, None);
        }
    }
}
