//! Tests of a process that is killed in any file operation, of files that are refused, and of a full disk.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::process::{Command, Stdio};
use std::rc::Rc;

use rove_bootstrap::Choices;
use rove_rig::scratch::Scratch;

use super::*;
use crate::session_call::StreamsCall;

const SECRET: [u8; 16] = [5; 16];
const KEY_TEXT: &str = "AAECAwQFBgcICQoLDA0ODw";

/// Folders that are removed when the test ends.
struct Kept(Scratch, Folders);

impl Kept {
    fn new() -> Self {
        let scratch = Scratch::new();
        let memory = Directory::create(&scratch.path("memory")).unwrap();
        let folders = Folders::at(&scratch.path("keys"), memory, &scratch.path("disk")).unwrap();
        Self(scratch, folders)
    }

    /// Returns the name of the only session.
    fn name(&self) -> String {
        let [entry] = &self.files("keys")[..] else { panic!("one session is kept") };
        entry.file_name().unwrap().to_str().unwrap().strip_prefix(PREFIX).unwrap().to_owned()
    }

    fn files(&self, folder: &str) -> Vec<PathBuf> {
        fs::read_dir(self.0.join(folder)).unwrap().map(|it| it.unwrap().path()).collect()
    }

    fn record(&self) -> PathBuf {
        self.1.record_path(&self.name(), false)
    }

    /// Opens the only session, which no client uses. A process that another test forks holds the lock until its exec.
    fn open(&self) -> Result<Saved, ResumeFileError> {
        loop {
            match self.1.open(&self.name()) {
                Err(ResumeFileError::Busy) => std::thread::yield_now(),
                found => return found,
            }
        }
    }

    fn refusal(&self) -> String {
        self.open().map(|_| ()).unwrap_err().to_string()
    }
}

/// Whether the process ends before, within or after its last operation.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Before,
    Half,
    After,
}

/// A disk on which the process ends after `left` further operations.
struct Mortal {
    left: u32,
    fault: Fault,
}

impl Mortal {
    /// Returns whether the process ends now.
    fn ends(&mut self) -> bool {
        let ends = self.left == 0;
        self.left = self.left.wrapping_sub(1);
        ends
    }
}

fn end() -> io::Error {
    io::ErrorKind::StorageFull.into()
}

impl Disk for Mortal {
    fn write(&mut self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        if !self.ends() {
            return System.write(file, bytes, offset);
        }
        let len = match self.fault {
            Fault::Before => 0,
            // The few bytes of the progress are written at once.
            Fault::Half => {
                if bytes.len() > 16 {
                    bytes.len() / 2
                } else {
                    0
                }
            }
            Fault::After => bytes.len(),
        };
        System.write(file, &bytes[..len], offset)?;
        Err(end())
    }

    fn sync(&mut self, _: &File) -> io::Result<()> {
        if self.ends() { Err(end()) } else { Ok(()) }
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let ends = self.ends();
        if !ends || matches!(self.fault, Fault::After) {
            System.rename(from, to)?;
        }
        if ends { Err(end()) } else { Ok(()) }
    }
}

/// A disk that keeps written bytes only after a sync. For each inode, it has the file's contents and the contents that
/// a loss of power would leave.
#[derive(Clone, Default)]
struct Cached(Rc<RefCell<BTreeMap<u64, CachedFile>>>);

type CachedFile = (File, [Vec<u8>; 2]);

impl Cached {
    /// Cuts each file down to its contents on the disk. Returns the inodes of files and folders that were synced.
    fn lose_power(&self) -> Vec<u64> {
        let lose = |(inode, (file, [_, on_disk])): (u64, CachedFile)| {
            if file.metadata().unwrap().is_file() {
                file.set_len(0).unwrap();
                file.write_all_at(&on_disk, 0).unwrap();
            }
            inode
        };
        self.0.take().into_iter().map(lose).collect()
    }

    fn change(&self, file: &File, change: impl FnOnce(&mut [Vec<u8>; 2])) {
        let own = || (file.try_clone().unwrap(), Default::default());
        let mut files = self.0.borrow_mut();
        change(&mut files.entry(file.metadata().unwrap().ino()).or_insert_with(own).1);
    }
}

impl Disk for Cached {
    fn write(&mut self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        let place = usize::try_from(offset).unwrap()..;
        self.change(file, |[cached, _]| {
            cached.resize(cached.len().max(place.start + bytes.len()), 0);
            cached[place][..bytes.len()].copy_from_slice(bytes);
        });
        System.write(file, bytes, offset)
    }

    fn sync(&mut self, file: &File) -> io::Result<()> {
        self.change(file, |[cached, on_disk]| on_disk.clone_from(cached));
        Ok(())
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        System.rename(from, to)
    }
}

fn facts(is_on_disk: bool) -> SessionFacts {
    let call = SessionCall {
        choices: Choices::default(),
        escape_key: None,
        quiet: false,
        host: Some("secret-host".to_owned()),
        command: None,
        account: None,
        ssh: Vec::new(),
        way: Vec::new(),
        others: Vec::new(),
        tunnel: None,
        resumed: None,
        attached_by: Some("rove attach".to_owned()),
        no_program: false,
        background: false,
        streams: StreamsCall::default(),
    };
    let Origin { computer, boot, .. } = Origin::ours();
    SessionFacts {
        server: "192.0.2.1:60001".to_owned(),
        key: Some(format::seal_key(&SECRET, &Key::from_text(KEY_TEXT).unwrap())),
        call,
        client: String::new(),
        is_on_disk,
        computer,
        boot,
        files: [(0, 0); 2],
    }
}

#[test]
fn hosts_that_only_the_ssh_command_or_the_address_tells_apart_have_sessions_of_their_own() {
    let at = |port: &str| {
        let ssh = ["ssh", "-p", port].map(str::to_owned).to_vec();
        SessionFacts { key: None, call: SessionCall { ssh, ..facts(false).call }, ..facts(false) }
    };
    assert!(at("2222").is_same_rove(&at("2222")));
    assert!(!at("2222").is_same_rove(&at("2223")));
    let server = "192.0.2.2:60001".to_owned();
    assert!(!at("2222").is_same_rove(&SessionFacts { server, ..at("2222") }));
}

fn record(text: &str, is_whole: bool) -> Record {
    Record { bytes: text.repeat(3000).into_bytes(), is_whole }
}

/// Writes records until one fails. Returns the contents that should be readable after each written record.
fn write_all<D: Disk>(
    folders: &Folders,
    disk: D,
    is_on_disk: bool,
    records: &[Record],
) -> Vec<Vec<u8>> {
    let mut states = Vec::new();
    let Ok(mut store) = Store::create(folders.clone(), Zeroizing::new(SECRET), is_on_disk, disk)
    else {
        return states;
    };
    let mut held = Vec::new();
    for record in records {
        if record.is_whole {
            held.clear();
        }
        held.extend(&record.bytes);
        if store.write(&facts(is_on_disk), record).is_err() {
            break;
        }
        states.push(held.clone());
    }
    states
}

fn records() -> Vec<Record> {
    vec![
        record("a", true),
        record("b", false),
        record("c", false),
        record("d", true),
        record("e", false),
    ]
}

#[test]
fn a_process_that_ends_in_any_operation_leaves_what_was_written_or_more() {
    let all = write_all(&Kept::new().1, System, false, &records());
    assert_eq!(all.len(), 5);
    let mut ends = 0;
    for is_on_disk in [false, true] {
        for fault in [Fault::Before, Fault::Half, Fault::After] {
            for left in 0.. {
                let scratch = Kept::new();
                let states = write_all(&scratch.1, Mortal { left, fault }, is_on_disk, &records());
                if states.len() == all.len() {
                    break;
                }
                ends += 1;
                if scratch.files("keys").is_empty() {
                    assert!(states.is_empty(), "{fault:?} after {left}");
                    continue;
                }
                let found = scratch.open();
                let may_be = [states.len().checked_sub(1), Some(states.len())];
                let may_be = may_be.into_iter().flatten().map(|index| &all[index]);
                match found {
                    Ok(saved) => assert!(
                        may_be.into_iter().any(|state| *state == *saved.records),
                        "{fault:?} after {left}"
                    ),
                    Err(error) => assert!(states.is_empty(), "{fault:?} after {left}: {error}"),
                }
            }
        }
    }
    assert!(ends > 80, "{ends}");
}

#[test]
fn a_computer_that_loses_power_leaves_what_was_written() {
    for count in 1..=5 {
        let (scratch, disk) = (Kept::new(), Cached::default());
        let states = write_all(&scratch.1, disk.clone(), true, &records()[..count]);
        let synced = disk.lose_power();
        assert_eq!(Some(&*scratch.open().unwrap().records), states.last());
        let folder = scratch.0.path("keys").metadata().unwrap().ino();
        assert!(synced.contains(&folder), "the name of the key file is on the disk");
    }
}

#[test]
fn a_disk_may_have_another_number_after_a_restart() {
    let is_of = |is_on_disk, files| {
        SessionFacts { files: [(1, 5), (1, 6)], ..facts(is_on_disk) }.is_of(files)
    };
    assert!(is_of(false, [(1, 5), (1, 6)]) && !is_of(false, [(1, 5), (2, 6)]));
    assert!(is_of(true, [(2, 5), (3, 6)]) && !is_of(true, [(1, 5), (1, 7)]));
}

#[test]
fn the_next_client_writes_a_generation_of_its_own_under_the_same_lock() {
    let scratch = Kept::new();
    write_all(&scratch.1, System, false, &records());
    let Saved { mut store, facts, .. } = scratch.open().unwrap();
    assert!(matches!(scratch.1.open(&scratch.name()), Err(ResumeFileError::Busy)));
    let before = fs::read(scratch.record()).unwrap();
    store.write(&facts, &record("f", true)).unwrap();
    drop(store);
    let saved = scratch.open().unwrap();
    assert_eq!(saved.key.as_ref().map(|key| key.to_text().to_string()).as_deref(), Some(KEY_TEXT));
    assert_eq!(*saved.records, record("f", true).bytes);
    drop(saved);
    // The former generation of the record is written back into the same file.
    fs::write(scratch.record(), before).unwrap();
    assert!(scratch.refusal().contains("older"), "{}", scratch.refusal());
}

#[test]
fn the_lock_is_held_over_the_login_and_over_the_exec() {
    let scratch = Kept::new();
    write_all(&scratch.1, System, false, &records());
    let lock = scratch.open().unwrap().store.into_lock();
    let is_busy = || matches!(scratch.1.open(&scratch.name()), Err(ResumeFileError::Busy));
    keep_lock(lock).unwrap();
    // A program that another test starts at this moment also inherits the lock, but ends soon.
    let mut next = Command::new("sh").args(["-c", "read -r line"]).stdin(Stdio::piped()).spawn();
    let next = next.as_mut().unwrap();
    let saved = scratch.1.open_locked(&scratch.name(), lock).unwrap();
    assert!(saved.store.name() == scratch.name() && is_busy());
    drop(saved);
    assert!(is_busy(), "the program that was started has inherited it");
    drop(next.stdin.take());
    next.wait().unwrap();
    assert!(scratch.open().is_ok());
    assert!(keep_lock(1_000_001).is_err() && scratch.1.open_locked("x", 1_000_001).is_err());
}

#[test]
fn a_record_that_is_old_cut_copied_or_foreign_is_refused_in_a_sentence() {
    type Change = fn(&Kept, &[u8]);
    let changes: [(Change, &str); 9] = [
        (|it, old| fs::write(it.record(), old).unwrap(), "older"),
        (
            |it, _| File::options().write(true).open(it.record()).unwrap().set_len(5000).unwrap(),
            "older",
        ),
        (
            |it, _| File::options().write(true).open(it.record()).unwrap().set_len(9).unwrap(),
            "cut short",
        ),
        (|it, _| fs::write(it.record(), [7; 9000]).unwrap(), "not one of rove's"),
        (
            |it, _| {
                fs::copy(it.record(), it.0.join("copy")).unwrap();
                fs::rename(it.0.join("copy"), it.record()).unwrap();
            },
            "copied",
        ),
        (
            |it, _| {
                fs::copy(it.1.key_path(&it.name()), it.0.join("copy")).unwrap();
                fs::rename(it.0.join("copy"), it.1.key_path(&it.name())).unwrap();
            },
            "copied",
        ),
        (
            |it, _| {
                let file = File::options().write(true).open(it.1.key_path(&it.name())).unwrap();
                file.write_all_at(&[1; 16], 8).unwrap();
            },
            "another session",
        ),
        (
            |it, _| fs::set_permissions(it.record(), fs::Permissions::from_mode(0o640)).unwrap(),
            "not one of rove's",
        ),
        (|it, _| fs::remove_file(it.record()).unwrap(), "No such file"),
    ];
    for (change, part) in changes {
        let scratch = Kept::new();
        let mut store =
            Store::create(scratch.1.clone(), Zeroizing::new(SECRET), false, System).unwrap();
        store.write(&facts(false), &record("a", true)).unwrap();
        let old = fs::read(scratch.record()).unwrap();
        store.write(&facts(false), &record("b", false)).unwrap();
        drop(store);
        assert!(scratch.open().is_ok());
        change(&scratch, &old);
        assert!(scratch.refusal().contains(part), "{part}: {}", scratch.refusal());
    }
}

#[test]
fn a_record_of_another_computer_or_another_start_of_it_is_refused() {
    for (computer, boot, is_on_disk, part) in [
        ("x", Origin::ours().boot, false, Some("another computer")),
        ("", "x".to_owned(), false, Some("started again")),
        ("", "x".to_owned(), true, None),
    ] {
        let scratch = Kept::new();
        let mut facts = facts(is_on_disk);
        facts.boot = boot;
        facts.computer.push_str(computer);
        let mut store =
            Store::create(scratch.1.clone(), Zeroizing::new(SECRET), is_on_disk, System).unwrap();
        store.write(&facts, &record("a", true)).unwrap();
        drop(store);
        match part {
            Some(part) => assert!(scratch.refusal().contains(part), "{}", scratch.refusal()),
            None => assert!(scratch.open().is_ok()),
        }
    }
}

#[test]
fn neither_file_alone_tells_anything_and_both_go_at_the_end() {
    let scratch = Kept::new();
    write_all(&scratch.1, System, false, &records());
    let files = [scratch.record(), scratch.1.key_path(&scratch.name())];
    for path in &files {
        assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o600);
        let bytes = fs::read(path).unwrap();
        for text in ["secret-host", KEY_TEXT, "aaaa", "eeee"] {
            let holds = bytes.windows(text.len()).any(|window| window == text.as_bytes());
            assert!(!holds, "{text} in {path:?}");
        }
    }
    scratch.open().unwrap().store.remove();
    assert!(files.iter().all(|path| !path.exists()));
}

#[test]
fn a_key_whose_record_is_elsewhere_is_kept() {
    let here = Kept::new();
    write_all(&here.1, System, false, &records());
    let memory = Directory::create(&here.0.path("other memory")).unwrap();
    let elsewhere = Folders::at(&here.0.path("keys"), memory, &here.0.path("other disk")).unwrap();
    assert!(here.open().is_ok());
    assert!(elsewhere.sessions().is_empty());
    assert!(here.open().is_ok(), "the session can still be resumed here");
}

#[test]
fn a_session_whose_record_is_from_the_future_is_listed_and_one_without_a_record_is_forgotten() {
    let scratch = Kept::new();
    write_all(&scratch.1, System, false, &records());
    let future = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1 << 40);
    File::options().write(true).open(scratch.record()).unwrap().set_modified(future).unwrap();
    let found = loop {
        match &scratch.1.sessions()[..] {
            [] => std::thread::yield_now(),
            [(_, found)] => break found.is_ok(),
            more => panic!("{} sessions", more.len()),
        }
    };
    assert!(found);
    fs::remove_file(scratch.record()).unwrap();
    while !scratch.files("keys").is_empty() {
        assert!(scratch.1.sessions().is_empty());
    }
}
