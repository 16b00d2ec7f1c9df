use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use rove_rig::scratch::Scratch;

use super::*;

const USERS: &str = "root:x:0:0:root:/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\n\
                     you:x:1001:1001::/home/you:/bin/sh\nstaff:x:1002:50::/:/bin/sh\n";

#[test]
fn owner_mode_and_group_decide_and_nothing_else() {
    const ME: u32 = 1000;
    use Kind::{File, FolderWithFolder, FolderWithOther, Link};
    for (kind, owner, mode, is_private, flaw) in [
        (File, ME, 0o600, false, None),
        (File, ME, 0o644, false, None),
        (File, 0, 0o644, false, None),
        (File, 1001, 0o600, true, Some(Flaw::Foreign)),
        (File, 65534, 0o600, true, Some(Flaw::Foreign)),
        (File, ME, 0o666, true, Some(Flaw::World)),
        (File, 0, 0o666, true, Some(Flaw::World)),
        (File, ME, 0o602, true, Some(Flaw::World)),
        (File, ME, 0o664, true, None),
        (File, ME, 0o664, false, Some(Flaw::Group)),
        (File, ME, 0o620, false, Some(Flaw::Group)),
        (File, ME, 0o1666, true, Some(Flaw::World)),
        (Link, ME, 0o777, false, None),
        (Link, 0, 0o777, false, None),
        (Link, 1001, 0o777, false, Some(Flaw::Foreign)),
        (FolderWithFolder, ME, 0o755, false, None),
        (FolderWithFolder, ME, 0o775, true, None),
        (FolderWithFolder, ME, 0o775, false, Some(Flaw::Group)),
        (FolderWithFolder, 0, 0o777, false, Some(Flaw::World)),
        (FolderWithFolder, 0, 0o1777, false, None),
        (FolderWithFolder, 0, 0o1775, false, None),
        (FolderWithFolder, 1001, 0o1777, false, Some(Flaw::Foreign)),
        (FolderWithFolder, 1001, 0o700, false, Some(Flaw::Foreign)),
        (FolderWithOther, 0, 0o1777, false, Some(Flaw::World)),
        (FolderWithOther, ME, 0o1775, false, Some(Flaw::Group)),
        (FolderWithOther, ME, 0o1775, true, None),
        (FolderWithOther, 1001, 0o700, false, Some(Flaw::Foreign)),
    ] {
        let evidence = Evidence { kind, owner, group: 1000, mode };
        let judged = evidence.judge(ME, || is_private).err();
        assert_eq!(judged, flaw, "{kind:?} of {owner} with {mode:o}");
    }
}

#[test]
fn a_group_is_private_only_by_name_number_and_members() {
    for (groups, owner, group, is_private) in [
        ("me:x:1000:\n", 1000, 1000, true),
        ("me:x:1000:me\n", 1000, 1000, true),
        ("me:x:1000", 1000, 1000, true),
        ("root:x:0:\n", 0, 0, true),
        ("me:x:1000:me,you\n", 1000, 1000, false),
        ("me:x:1000:you\n", 1000, 1000, false),
        // The group's name is not the user's, or its number is not the expected number.
        ("users:x:1000:\n", 1000, 1000, false),
        ("me:x:1000:\nstaff:x:50:\n", 1000, 50, false),
        ("you:x:1001:\n", 1000, 1001, false),
        ("me:x:1000:\n", 1000, 100, false),
        // Two groups have the same number, and another user is a member of the second.
        ("me:x:1000:\nshared:x:1000:you\n", 1000, 1000, false),
        ("", 1000, 1000, false),
        ("me:x:1000:\n", 4000, 1000, false),
        ("me:x:x:\n::\nme\n", 1000, 1000, false),
    ] {
        assert_eq!(
            super::is_private(USERS, groups, owner, group),
            is_private,
            "{groups:?} {group}"
        );
    }
    // The group is also another user's primary group.
    let users = format!("{USERS}guest:x:1003:1000::/:/bin/sh\n");
    assert!(!super::is_private(&users, "me:x:1000:\n", 1000, 1000));
}

#[test]
fn each_folder_and_each_link_on_the_way_counts() {
    let scratch = Scratch::new();
    let folder = |name: &str, mode| {
        let path = scratch.path(name);
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    };
    let (safe, open) = (folder("safe", 0o700), folder("open", 0o777));
    let (inner, sticky) = (folder("open/inner", 0o700), folder("sticky", 0o1777));
    let in_sticky = folder("sticky/inner", 0o700);
    for folder in [&safe, &open, &inner, &sticky, &in_sticky] {
        fs::write(folder.join("file"), "").unwrap();
    }
    symlink("../open/file", safe.join("to_open")).unwrap();
    symlink("../safe/file", open.join("to_safe")).unwrap();
    symlink("../safe/file", sticky.join("to_safe")).unwrap();
    symlink(safe.join("file"), in_sticky.join("to_safe")).unwrap();
    symlink("loop", safe.join("loop")).unwrap();
    for (path, flaw) in [
        (safe.join("file"), ""),
        (safe.join("../safe/./file"), ""),
        (in_sticky.join("file"), ""),
        (in_sticky.join("to_safe"), ""),
        (open.join("file"), "open"),
        (inner.join("file"), "open"),
        (inner.join("../../safe/file"), "open"),
        (safe.join("../open/file"), "open"),
        (safe.join("to_open"), "open"),
        (open.join("to_safe"), "open"),
        (sticky.join("file"), "sticky"),
        (sticky.join("to_safe"), "sticky"),
    ] {
        let way = way(&path, None);
        match (&way, flaw) {
            (Ok(end), "") => assert_eq!(*end, path.canonicalize().unwrap()),
            (Err(Exposure::World { path }), flaw) => assert!(path.ends_with(flaw), "{way:?}"),
            _ => panic!("{path:?} is judged {way:?}"),
        }
    }
    assert!(way(&safe.join("none"), None).unwrap_err().is_absence());
    assert!(way(&in_sticky.join("none/file"), None).unwrap_err().is_absence());
    assert!(!way(&safe.join("loop"), None).unwrap_err().is_absence());
    // If the file does not exist, nobody else may be able to create it.
    for folder in [&open, &sticky, &inner, &safe.join("../open")] {
        let error = way(&folder.join("none/file"), None).unwrap_err();
        assert!(matches!(error, Exposure::World { .. }), "{error}");
    }
    // The home directory and the folders in it are checked, and no folder above.
    assert!(way(&inner.join("file"), Some(&inner)).is_ok());
    assert!(way(&inner.join("file"), Some(&safe)).is_err());
    assert!(way(&open.join("file"), Some(&open)).is_err());
}

#[test]
fn an_open_file_counts_by_itself_and_a_device_only_by_its_owner() {
    let scratch = Scratch::new();
    let path = scratch.write("file", "");
    for (mode, repair) in [(0o644, None), (0o666, Some("go-w"))] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let found = file(&path, &path.metadata().unwrap()).err();
        let command = found.and_then(|exposure| exposure.repair());
        assert_eq!(command, repair.map(|how| format!("chmod {how} {}", path.display())));
    }
    let null = Path::new("/dev/null");
    file(null, &null.metadata().unwrap()).unwrap();
}
