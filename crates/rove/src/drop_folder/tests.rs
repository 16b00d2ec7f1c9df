use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};

use proptest::prelude::*;
use rove_rig::scratch::Scratch;

use super::*;

fn folder(home: &Scratch) -> DropFolder {
    opened(home).unwrap()
}

fn opened(home: &Scratch) -> Result<DropFolder, DropError> {
    let home = home.folder().as_os_str().to_owned();
    DropFolder::open(|name| (name == "HOME").then(|| home.clone()))
}

fn names(home: &Scratch) -> Vec<String> {
    let entries = fs::read_dir(home.path(".cache/rove/drop")).unwrap();
    let mut names: Vec<String> =
        entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn keep(home: &Scratch, name: &[u8], bytes: &[u8]) -> (String, PathBuf) {
    let mut file = folder(home).begin(name, bytes.len() as u64).unwrap();
    file.write(bytes).unwrap();
    file.keep().unwrap()
}

#[test]
fn a_file_is_for_its_user_alone_and_a_taken_name_gets_a_number() {
    let home = Scratch::new();
    for (bytes, name) in [("1", "a.tar.gz"), ("2", "a-1.tar.gz"), ("3", "a-2.tar.gz")] {
        let (kept, path) = keep(&home, b"a.tar.gz", bytes.as_bytes());
        assert_eq!((kept.as_str(), fs::read_to_string(&path).unwrap().as_str()), (name, bytes));
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(folder(&home).path_of(name), Some(path));
    }
    let path = home.path(".cache/rove/drop");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
    folder(&home);
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
}

#[test]
fn nothing_is_left_of_a_file_that_was_cut_or_whose_process_was_killed() {
    let home = Scratch::new();
    let mut cut = folder(&home).begin(b"a", 9).unwrap();
    cut.write(b"half").unwrap();
    assert_eq!(names(&home).len(), 1, "it has a name of its own");
    // A second copy does not remove the file of a copy that still runs.
    let other = folder(&home).begin(b"b", 1).unwrap();
    assert_eq!(names(&home).len(), 2);
    drop((cut, other));
    assert_eq!(names(&home), [""; 0]);
    fs::write(home.path(".cache/rove/drop/.part-1-0"), "half").unwrap();
    keep(&home, b"c", b"whole");
    assert_eq!(names(&home), ["c"]);
}

#[test]
fn a_file_that_another_copy_removes_before_it_is_locked_is_made_again() {
    let home = Scratch::new();
    let folder = folder(&home);
    let part = ".part-1-0";
    let swept = folder.create(part).unwrap();
    folder.sweep();
    assert_eq!(folder.lock(part, &swept), Ok(false), "it has lost its name");
    let newer = folder.create(part).unwrap();
    assert_eq!(folder.lock(part, &swept), Ok(false), "another file has its name");
    assert_eq!(folder.lock(part, &newer), Ok(true));
    let seen_by_another = File::open(home.path(".cache/rove/drop/.part-1-0")).unwrap();
    assert_eq!(folder.lock(part, &seen_by_another), Ok(false), "another copy has locked it");
    // A sweep locks the file that it removes, and opens it for writing, as NFS requires.
    let part = ".part-1-1";
    let new = folder.create(part).unwrap();
    let mut left = folder.lock_left(part).expect("nobody has locked it");
    assert_eq!(folder.lock(part, &new), Ok(false), "it is being removed");
    left.write_all(b"x").unwrap();
}

#[test]
fn no_link_is_followed_and_no_other_thing_replaced() {
    let (home, other) = (Scratch::new(), Scratch::new());
    keep(&home, b"a", b"a");
    let drop = home.path(".cache/rove/drop");
    fs::write(other.path("secret"), "secret").unwrap();
    symlink(other.path("secret"), drop.join("link")).unwrap();
    symlink(other.path("new"), drop.join("dangling")).unwrap();
    fs::create_dir(drop.join("dir")).unwrap();
    for name in ["link", "dangling", "dir"] {
        assert_eq!(folder(&home).path_of(name), None, "{name}");
        assert_eq!(keep(&home, name.as_bytes(), b"x").0, format!("{name}-1"));
    }
    assert_eq!(fs::read_to_string(other.path("secret")).unwrap(), "secret");
    assert!(!other.path("new").exists());
    for name in ["../a", "/a", "nowhere", "", ".", ".."] {
        assert_eq!(folder(&home).path_of(name), None, "{name}");
    }
    fs::remove_dir_all(&drop).unwrap();
    symlink(other.folder(), &drop).unwrap();
    let error = opened(&home).unwrap_err().to_string();
    assert!(error.starts_with("the host has no folder for it: "), "{error}");
    assert!(error.contains("/.cache/rove/drop: "), "{error}");
}

#[test]
fn root_follows_no_link_and_takes_no_folder_of_another_users() {
    if !rustix::process::geteuid().is_root() {
        return; // only root can give files to another user
    }
    let theirs = Scratch::new();
    let give = |path: &Path| lchown(path, Some(12_345), None).unwrap();
    give(theirs.folder());
    for name in [".cache/rove", ".cache/rove/drop"] {
        for is_link in [true, false] {
            let home = Scratch::new();
            let path = home.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match is_link {
                true => symlink(theirs.folder(), &path).unwrap(),
                false => fs::create_dir(&path).unwrap(),
            }
            give(&path);
            let error = opened(&home).unwrap_err().to_string();
            assert!(error.starts_with("the host has no folder for it: "), "{name}: {error}");
        }
    }
    // The links are in the folder itself, which may once have been open to everybody.
    let home = Scratch::new();
    keep(&home, b"a", b"a");
    let drop = home.path(".cache/rove/drop");
    let part = format!("{PART}{}-0", std::process::id());
    for name in ["b", &part] {
        symlink(theirs.path("new"), drop.join(name)).unwrap();
        give(&drop.join(name));
    }
    assert_eq!(keep(&home, b"b", b"b").0, "b-1");
    assert!(drop.join(&part).is_symlink(), "it has another name");
    assert_eq!(fs::read_dir(theirs.folder()).unwrap().count(), 0);
}

#[test]
fn a_file_that_has_no_room_is_refused_before_it_comes() {
    let home = Scratch::new();
    let refused = |len| folder(&home).begin(b"a", len).map(|_| ()).map_err(|it| it.to_string());
    assert_eq!(refused(0), Ok(()));
    let large = refused(FILE_BYTES_MAX + 1).unwrap_err();
    assert_eq!(large, "it has more than 1024 MiB; rsync -e 'rove exec' copies it");
    // This file system has no room for anything.
    let proc = || DropFolder { folder: File::open("/proc").unwrap().into(), path: "/proc".into() };
    if cfg!(target_os = "linux") {
        assert!(matches!(proc().begin(b"a", 1), Err(DropError::Full(0))));
    }
    let full = DropError::Full(5 << 20).to_string();
    assert_eq!(full, "the host has only 5 MiB left for it");
    assert_eq!(names(&home), [""; 0]);
}

#[test]
fn a_name_loses_what_could_hide_or_lead_elsewhere() {
    let long = format!("{}.png", "é".repeat(80));
    let cut = format!("{}.png", "é".repeat(48));
    // If such a name is cut, its last part becomes so short that it counts as a file name's extension.
    let (dot, dot_cut) =
        (["a".repeat(90), "b".repeat(50)].join(" ."), "a".repeat(90) + " .bbbbbbbb");
    for (name, kept) in [
        (&b"a b'c\".txt"[..], "a b'c\".txt"),
        (b"-rf", "-rf"),
        (b"..", "_"),
        (b".bashrc", "_bashrc"),
        (b"../../etc/x", "__.._etc_x"),
        (b"a\nb\x1b[2J", "a_b_[2J"),
        (b"\xff\xfe", "__"),
        ("a\u{202e}gnp.exe".as_bytes(), "agnp.exe"),
        (b"  ", "file"),
        (" \u{300}".as_bytes(), "file"),
        (b"", "file"),
        (long.as_bytes(), &cut),
        (dot.as_bytes(), &dot_cut),
        (dot_cut.as_bytes(), &dot_cut),
    ] {
        assert_eq!(kept_name(name), kept, "{}", name.escape_ascii());
    }
}

proptest! {
    #[test]
    fn any_name_becomes_one_that_is_kept_as_it_is(
        name in proptest::collection::vec(any::<u8>(), 0..300),
        text in "[ -~éа界.]{0,150}|[a ]{70,95}[.][a ]{20,40}",
        number in 0..NUMBER_MAX,
    ) {
        for name in [&name[..], text.as_bytes()] {
            for kept in [0, number].map(|number| numbered(&kept_name(name), number)) {
                prop_assert!((1..=NAME_MAX).contains(&kept.len()), "{kept}");
                prop_assert!(!kept.contains(|c: char| c.is_control() || c == '/'), "{kept}");
                prop_assert_eq!(kept_name(kept.as_bytes()), kept);
            }
        }
    }
}
