//! Another user's links where a process of root stores files or listens. The process follows no such link and says so.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::path::Path;

use crate::support::{Far, Invocation, Scratch, Sshd, Terminal, rove, within_guard};

/// The user number of `nobody`.
const NOBODY: u32 = 65_534;

/// Creates a link that belongs to another user and leads to `target`, which does not exist.
fn plant(link: &Path, target: &Path) {
    fs::create_dir_all(link.parent().expect("a link is in a folder")).expect("it is ours");
    symlink(target, link).expect("the folder takes links");
    lchown(link, Some(NOBODY), Some(NOBODY)).expect("only root tries this");
}

#[test]
fn a_file_and_a_socket_of_roots_go_through_no_link_of_another_users() {
    if !rustix::process::geteuid().is_root() {
        return; // only root can make another user's links
    }
    let (sshd, theirs, public) = (Sshd::start(Far::default()), Scratch::new(), Scratch::new());
    fs::set_permissions(public.folder(), Permissions::from_mode(0o1777)).expect("it is ours");
    let [here, there] = ["here", "there"].map(|name| public.path(name));
    for (link, name) in
        [(&here, "listener"), (&there, "far-listener"), (&sshd.path(".cache/rove/drop"), "files")]
    {
        plant(link, &theirs.path(name));
    }
    fs::create_dir(theirs.path("files")).expect("a folder that would take files");
    let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh()));
    let (near, far) = (here.display(), there.display());
    let call = call.args([&format!("-L{near}:localhost:9"), &format!("-R{far}:localhost:9")]);
    let call = call.args(["-oStreamLocalBindUnlink=yes", "far", "--"]);
    let call = call.args(["sh", "-c", "echo; echo; echo ready; cat"]);
    let mut terminal = Terminal::start(&call, (24, 160));
    terminal.wait_for_text("ready");
    for sentence in [
        format!("-L {near}:localhost:9: cannot listen here"),
        "the host cannot listen: ".to_owned(),
    ] {
        terminal.wait_for_output_times(&sentence, 1);
    }
    let file = theirs.write("picture", "x");
    let put = Invocation::new(rove()).arg("put").arg(format!("--ssh={}", sshd.ssh()));
    let put = put.args(["far", file.to_str().expect("it is text")]);
    let output = within_guard("rove put", move || put.command().output().expect("rove starts"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("the host has no folder for it: "), "{said}");
    for link in [&here, &there, &sshd.path(".cache/rove/drop")] {
        assert!(link.is_symlink(), "{link:?} is left alone");
    }
    let names = fs::read_dir(theirs.folder()).expect("it is ours").flatten().count();
    assert_eq!((names, theirs.path("files").read_dir().expect("it is ours").count()), (2, 0));
    terminal.send("\x04");
    terminal.wait_exit().assert_code(0);
}
