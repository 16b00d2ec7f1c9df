//! `rove-lab emulate` and its testbed with real processes and packets: order and outcome, never times.
//!
//! All of it needs namespaces; where the system grants none, each test says so and is done.
#![cfg(target_os = "linux")]

mod common;

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Barrier;
use std::thread;

use common::copy_of_program;
use rove_link::{Link, LinkConfig};
use rove_net::Far;
use rove_net::testbed::{End, Testbed, TestbedOptions};
use rove_rig::guard::{HANG_GUARD, within_guard};
use rove_rig::scratch::Scratch;
use rove_rig::session::Client;
use rove_rig::window::{Observed, Window, text as screen_text};
use rove_terminal::{Screen, Size};
use rove_units::{Bytes, Duration, Instant, Seed};
use rustix::process::{Pid, Signal, geteuid, kill_process};

/// The user without rights. Source: Debian's and everybody's "nobody".
const NOBODY: u32 = 65_534;

/// Returns a testbed, or `None` with a sentence where there can be none.
fn testbed(uplink: LinkConfig, downlink: LinkConfig, seed: u64) -> Option<Testbed> {
    testbed_with(TestbedOptions::new(uplink, downlink, Seed::new(seed)))
}

fn testbed_with(options: TestbedOptions) -> Option<Testbed> {
    if !is_root() {
        return None;
    }
    Some(Testbed::new(options).expect("root may make a testbed"))
}

fn is_root() -> bool {
    let is_root = geteuid().is_root();
    if !is_root {
        println!("skipped: only root may make network namespaces in a process with threads");
    }
    is_root
}

/// A socket at an end, bound to its address, which waits as long as the hang guard.
fn socket(testbed: &Testbed, end: End) -> UdpSocket {
    let address = testbed.address(end);
    let socket = testbed.run(end, || UdpSocket::bind((address, 7_000))).expect("it is entered");
    let socket = socket.expect("the port is free");
    socket.set_read_timeout(Some(HANG_GUARD)).expect("sockets have time-outs");
    socket
}

fn emulate(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
    command.arg("emulate").args(args).stdin(Stdio::null());
    command
}

fn output(mut command: Command) -> Output {
    within_guard("the end", move || command.output().expect("the program starts"))
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("UTF-8").trim_end()
}

/// Returns a folder of one test that others may read.
fn open_folder() -> Scratch {
    let folder = Scratch::new();
    fs::set_permissions(&*folder, Permissions::from_mode(0o755)).expect("it is ours");
    folder
}

#[test]
fn packets_arrive_in_order_both_ways_over_tun_and_over_veth() {
    use rove_net::Device;
    let delayed = LinkConfig::lossless(Duration::from_millis(5));
    // While such a link sends a packet, others are left unread.
    let rate = rove_units::BitRate::from_bits_per_second(50_000_000);
    let busy = LinkConfig { rate, ..LinkConfig::default() };
    for (device, link) in [
        (Device::Any, &delayed),
        (Device::Any, &busy),
        (Device::Veth, &delayed),
        (Device::Veth, &busy),
    ] {
        let options = TestbedOptions::new(link.clone(), link.clone(), Seed::new(1));
        let Some(testbed) = testbed_with(TestbedOptions { device, ..options }) else { return };
        let report = within_guard("the end", move || {
            let (near, far) = (socket(&testbed, End::Near), socket(&testbed, End::Far));
            near.connect(far.local_addr().unwrap()).unwrap();
            let mut buffer = [0; 2_000];
            for number in 0..50_u8 {
                near.send(&[number; 1_472]).unwrap();
            }
            for number in 0..50 {
                let (len, from) = far.recv_from(&mut buffer).unwrap();
                assert_eq!((len, buffer[0]), (1_472, number));
                far.send_to(&buffer[..1], from).unwrap();
            }
            for number in 0..50 {
                assert_eq!(near.recv(&mut buffer).unwrap(), 1);
                assert_eq!(buffer[0], number);
            }
            testbed.finish().unwrap()
        });
        assert_eq!((report.uplink.delivered, report.downlink.delivered), (50, 50));
        assert_eq!(report.uplink.delivered_bytes, 75_000);
        assert_eq!(report.uplink.lost_by_machine + report.downlink.lost_by_machine, 0);
    }
}

#[test]
fn tcp_streams_are_whole_over_tun_and_over_veth() {
    use rove_net::Device;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    for device in [Device::Any, Device::Veth] {
        let link = LinkConfig::default();
        let options = TestbedOptions::new(link.clone(), link, Seed::new(1));
        let Some(testbed) = testbed_with(TestbedOptions { device, ..options }) else { return };
        within_guard("the end", move || {
            let address = (testbed.address(End::Far), 7_000);
            let listener = testbed.run(End::Far, || TcpListener::bind(address)).unwrap().unwrap();
            let mut near = testbed.run(End::Near, || TcpStream::connect(address)).unwrap().unwrap();
            let sent: Vec<u8> =
                (0..1_000_000_u32).map(|n| n.to_le_bytes()[n as usize % 3]).collect();
            let copy = sent.clone();
            let writer = thread::spawn(move || near.write_all(&copy));
            let (mut far, _) = listener.accept().unwrap();
            let mut received = Vec::new();
            far.read_to_end(&mut received).unwrap();
            writer.join().unwrap().unwrap();
            assert!(received == sent, "{} bytes of {} arrived", received.len(), sent.len());
        });
    }
}

#[test]
fn nothing_passes_a_link_that_loses_everything() {
    let Some(testbed) = testbed(LinkConfig::outage(), LinkConfig::default(), 1) else { return };
    within_guard("the end", move || {
        let (near, far) = (socket(&testbed, End::Near), socket(&testbed, End::Far));
        for _ in 0..10 {
            near.send_to(b"lost", far.local_addr().unwrap()).unwrap();
        }
        // The other direction is open: what comes back arrives, and after it nothing else can be on its way.
        far.send_to(b"back", near.local_addr().unwrap()).unwrap();
        assert_eq!(near.recv(&mut [0; 9]).unwrap(), 4);
        let report = testbed.finish().unwrap();
        far.set_nonblocking(true).unwrap();
        assert_eq!(far.recv(&mut [0; 9]).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!((report.uplink.entered, report.uplink.dropped), (10, 10));
        assert_eq!(report.downlink.dropped, 0);
    });
}

#[test]
fn a_real_run_and_a_virtual_run_of_its_arrivals_have_the_same_events() {
    let folder = open_folder();
    let link = LinkConfig {
        loss: 0.2,
        duplicate: 0.1,
        jitter: Duration::from_millis(3),
        reorder: true,
        rate: rove_units::BitRate::from_bits_per_second(20_000_000),
        queue_max: Bytes::new(20_000),
        ..LinkConfig::lossless(Duration::from_millis(2))
    };
    let mut options = TestbedOptions::new(link.clone(), LinkConfig::default(), Seed::new(11));
    options.log = Some(folder.path("run"));
    let Some(testbed) = testbed_with(options) else { return };
    let report = within_guard("the end", move || {
        let (near, far) = (socket(&testbed, End::Near), socket(&testbed, End::Far));
        for number in 0..1_000_usize {
            near.send_to(&vec![0; 100 + number % 1_000], far.local_addr().unwrap()).unwrap();
        }
        // However long this computer takes, the link is empty once all that entered it is out or lost.
        loop {
            let stats = testbed.flows()[0].stats;
            let gone = stats.delivered + stats.dropped();
            if stats.entered == 1_000 && gone == stats.entered + stats.duplicated {
                break;
            }
            thread::yield_now();
        }
        testbed.finish().unwrap()
    });
    let events = fs::read_to_string(folder.path("run.uplink.events")).unwrap();
    let real: Vec<&str> = events.lines().filter(|line| !line.starts_with('#')).collect();
    let mut virtual_link = Link::new(link, Seed::new(11).stream("uplink"));
    virtual_link.record_events();
    for line in real.iter().filter(|line| line.contains(" enter ")) {
        let words: Vec<&str> = line.split(' ').collect();
        let (at, size) = (words[0].parse().unwrap(), words[3].parse().unwrap());
        virtual_link.handle_packet(Instant::from_nanos(at), vec![0_u8; size]);
    }
    let end = Instant::FAR_FUTURE;
    let replayed: Vec<String> =
        core::iter::from_fn(|| virtual_link.poll_event(end)).map(|event| event.line()).collect();
    assert!(report.uplink.dropped > 100, "{} of 1000 dropped", report.uplink.dropped);
    assert_eq!(real, replayed);
    assert!(
        fs::read_to_string(folder.path("run.uplink.log")).unwrap().starts_with("# link: uplink\n")
    );
}

#[test]
fn processes_of_both_ends_end_with_the_testbed() {
    let Some(testbed) = testbed(LinkConfig::default(), LinkConfig::default(), 1) else { return };
    // A process ignores every request to end, and its parent is gone.
    let script =
        "trap '' TERM HUP; sh -c 'trap \"\" TERM HUP; echo $$; while :; do sleep 1000; done' &";
    let mut pids = Vec::new();
    for end in [End::Near, End::Far] {
        let mut shell = testbed.command(end, "sh").unwrap();
        shell.args(["-c", script]);
        let (mut shell, pid) = started(shell);
        pids.push(pid);
        within_guard("the end", move || shell.wait().unwrap());
    }
    assert!(pids.iter().all(|pid| is_running(pid)));
    within_guard("the end", move || drop(testbed));
    assert!(!pids.iter().any(|pid| is_running(pid)), "{pids:?}");
}

/// Returns whether a process runs; one that has ended but was not waited for does not.
fn is_running(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[test]
fn a_command_speaks_to_a_server_on_the_far_side_and_its_exit_code_is_passed_on() {
    if !is_root() {
        return;
    }
    let script = "test \"$ROVE_PEER\" = 100.64.0.1 && echo in; exit 7";
    let found =
        output(emulate(&["--rtt", "20ms", "--far", "exec sleep 1000", "--", "sh", "-c", script]));
    assert_eq!((found.status.code(), text(&found.stdout)), (Some(7), "in"));
    let killed = output(emulate(&["--far", "exec sleep 1000", "--", "sh", "-c", "kill -KILL $$"]));
    assert_eq!(killed.status.code(), Some(128 + 9));
}

#[test]
fn the_far_side_is_this_computer_and_emulators_nest() {
    if !is_root() {
        return;
    }
    // Another emulator may run on this computer: the address is the one that the command is told.
    let server = UdpSocket::bind("0.0.0.0:0").unwrap();
    server.set_read_timeout(Some(HANG_GUARD)).unwrap();
    let port = server.local_addr().unwrap().port();
    let lab = env!("CARGO_BIN_EXE_rove-lab");
    // The command waits for an answer, because a packet on the way would end with the emulators.
    let send =
        format!("bash -c 'exec 3<>/dev/udp/$ROVE_PEER/{port}; echo hello >&3; head -c 1 <&3'");
    let nested =
        emulate(&["--rtt", "4ms", "--", lab, "emulate", "--rtt", "4ms", "--", "sh", "-c", &send]);
    let running = thread::spawn(move || output(nested));
    let mut buffer = [0; 99];
    let (len, from) = server.recv_from(&mut buffer).expect("the packet passes both links");
    assert_eq!(text(&buffer[..len]), "hello");
    assert!(from.ip().to_string().starts_with("100."), "{from}");
    server.send_to(b"!", from).expect("the way back is open");
    assert_eq!(running.join().unwrap().status.code(), Some(0));
}

#[test]
fn emulators_that_are_started_together_have_addresses_of_their_own() {
    if !is_root() {
        return;
    }
    let start = Barrier::new(8);
    let made = || {
        start.wait();
        let link = LinkConfig::default;
        let options = TestbedOptions::new(link(), link(), Seed::new(1));
        Testbed::new(TestbedOptions { far: Far::Here, ..options }).expect("root may make it")
    };
    let testbeds: Vec<Testbed> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(made)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let mut addresses: Vec<Ipv4Addr> = testbeds.iter().map(|it| it.address(End::Far)).collect();
    addresses.sort();
    addresses.dedup();
    assert_eq!(addresses.len(), testbeds.len(), "{addresses:?}");
}

/// The command has a session of its own, so the only signals of keys that reach it are those that the emulator sends.
#[test]
fn a_key_of_the_terminal_is_not_handed_on_whatever_standard_input_is() {
    if !is_root() {
        return;
    }
    let lab = env!("CARGO_BIN_EXE_rove-lab");
    let count = "n=0; trap 'n=$((n+1))' INT; trap 'echo heard $n keys; exit' TERM; echo ready; \
                 while :; do sleep 1000 & wait; done";
    let call = "exec \"$1\" emulate --far 'exec sleep 1000' -- setsid sh -c \"$2\" </dev/null";
    let mut command = Command::new("setsid");
    command.args(["--ctty", "sh", "-c", call, "sh", lab, count]);
    let mut window = Window::open(Size::DEFAULT).expect("a terminal");
    let client = Client::on(&mut command, &window.terminal).expect("it starts");
    let shows = |words: &'static str| move |screen: &Screen| screen_text(screen).contains(words);
    window.wait_for("the command", shows("ready")).expect("it runs");
    window.send(b"\x03").expect("it is typed");
    // The terminal shows a key after it has sent the signal.
    window.wait_for("the key", shows("^C")).expect("it is shown");
    let pid = i32::try_from(client.pid()).ok().and_then(Pid::from_raw).expect("a process id");
    kill_process(pid, Signal::TERM).expect("it runs");
    window.wait_for("the count", shows(" keys")).expect("it ends");
    let shown = screen_text(window.screen());
    assert!(shown.contains("heard 0 keys"), "{shown}");
}

#[test]
fn a_signal_is_handed_on_and_nothing_is_left() {
    if !is_root() {
        return;
    }
    for (signal, code) in [(Signal::TERM, 43), (Signal::INT, 42)] {
        let script = "trap 'exit 42' INT; trap 'exit 43' TERM; sleep 1000 & echo $!; wait";
        let (mut child, sleeper) =
            started(emulate(&["--far", "exec sleep 1000", "--", "sh", "-c", script]));
        kill_process(Pid::from_child(&child), signal).unwrap();
        let status = within_guard("the end", move || child.wait().unwrap());
        assert_eq!(status.code(), Some(code));
        assert!(!is_running(&sleeper));
    }
}

#[test]
fn nothing_is_left_of_a_killed_emulator() {
    if !is_root() {
        return;
    }
    // Another run of this test on the same computer has another process number, and so another pair of addresses. The
    // block is that of benchmarks (RFC 2544).
    let pair = std::process::id() % (1 << 16);
    let address = Ipv4Addr::from(u32::from(Ipv4Addr::new(198, 18, 0, 1)) + 2 * pair).to_string();
    let address = address.as_str();
    // The near side runs a command, a background process in a session of its own, and a process that ignores requests
    // to end. Another emulator, within them, runs the same.
    let lab = env!("CARGO_BIN_EXE_rove-lab");
    let linger =
        "trap '' TERM HUP; setsid sh -c 'while :; do sleep 1000; done' & readlink /proc/$$/ns/net";
    let script = format!(
        "eval \"$LINGER\"; {lab} emulate --far 'readlink /proc/$$/ns/net; exec sleep 1000' \
         -- sh -c 'eval \"$LINGER\"; wait'; wait"
    );
    let mut command = emulate(&["--peer", address, "--", "sh", "-c", &script]);
    command.env("LINGER", linger);
    assert!(leaves_nothing_when_killed(command, 3, || assert!(has_address(address))));
    let address = address.to_owned();
    within_guard("the end", move || {
        while has_address(&address) {
            thread::yield_now();
        }
    });
}

#[test]
fn nothing_is_left_of_a_killed_emulator_without_rights() {
    if !is_root() {
        return;
    }
    let folder = open_folder();
    let program = copy_of_program(&folder);
    let far = "readlink /proc/$$/ns/net; exec sleep 1000";
    let near = "setsid sh -c 'while :; do sleep 1000; done' & readlink /proc/$$/ns/net; wait";
    let mut command = Command::new(&program);
    command.args(["emulate", "--veth", "--far", far, "--", "sh", "-c", near]);
    command.stdin(Stdio::null()).uid(NOBODY).gid(NOBODY);
    if !leaves_nothing_when_killed(command, 2, || {}) {
        println!("skipped: users may not make namespaces here");
    }
}

/// Processes that leave the network for one of their own: alone and with other namespaces, in the background, without a
/// parent and without the environment. Each prints its number, and ignores requests to end.
const LEAVERS: &str = r#"
    trap '' TERM HUP
    say='read pid rest < /proc/self/stat; echo $pid; while :; do sleep 1000; done'
    $LEAVE -n sh -c "$say" &
    unshare -Urnp -f sh -c "$say" &
    $LEAVE -nmuip -f sh -c "$say" &
    $LEAVE -n setsid sh -c "$say" &
    nohup $LEAVE -n sh -c "$say" 2>/dev/null &
    env -i $LEAVE -n sh -c "($say) & exit" &
    $LEAVE -n sh -c "(setsid sh -c '$say' &)" &
"#;

/// The number of processes in [`LEAVERS`].
const LEAVERS_COUNT: usize = 7;

/// Starts an emulator with [`LEAVERS`] at both ends, and returns their process numbers. Empty if it did not start.
fn with_leavers(mut command: Command, end: &str) -> (Child, Vec<String>) {
    command.args(["emulate", "--veth", "--far", &format!("{LEAVERS} wait")]);
    command.args(["--", "sh", "-c", &format!("{LEAVERS} {end}")]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let stdout = child.stdout.take().expect("it has a pipe");
    let pids = within_guard("the end", move || {
        let lines = BufReader::new(stdout).lines().take(2 * LEAVERS_COUNT);
        lines.map(|line| line.expect("UTF-8")).collect::<Vec<String>>()
    });
    (child, pids)
}

#[test]
fn processes_that_have_left_for_another_network_end_with_the_emulator() {
    if !is_root() {
        return;
    }
    let folder = open_folder();
    let program = copy_of_program(&folder);
    let root = || {
        let mut command = Command::new(&program);
        command.env("LEAVE", "unshare");
        command
    };
    let nobody = || {
        let mut command = Command::new(&program);
        command.env("LEAVE", "unshare -U").uid(NOBODY).gid(NOBODY);
        command
    };
    // The command ends with its standard input, or by a signal, or is not asked to end.
    for (command, signal) in [
        (root(), None),
        (root(), Some(Signal::TERM)),
        (root(), Some(Signal::KILL)),
        (nobody(), None),
        (nobody(), Some(Signal::KILL)),
    ] {
        let shown = format!("{command:?}, {signal:?}");
        let (mut child, pids) = with_leavers(command, "trap 'exit 0' TERM; read line; exit 0");
        if pids.is_empty() {
            println!("skipped: users may not make namespaces here");
            within_guard("the end", move || child.wait().expect("it is a child"));
            continue;
        }
        assert_eq!(pids.len(), 2 * LEAVERS_COUNT, "{shown}: {pids:?}");
        assert!(pids.iter().all(|pid| is_running(pid)), "{shown}: {pids:?}");
        match signal {
            Some(signal) => kill_process(Pid::from_child(&child), signal).expect("it runs"),
            None => drop(child.stdin.take()),
        }
        within_guard("the end", move || {
            child.wait().expect("it is a child");
            // The killed emulator has ended, but the end of its processes has only begun.
            while signal == Some(Signal::KILL) && pids.iter().any(|pid| is_running(pid)) {
                thread::yield_now();
            }
            let left: Vec<&String> = pids.iter().filter(|pid| is_running(pid)).collect();
            assert!(left.is_empty(), "{shown}: {left:?} are left");
        });
    }
}

/// Starts an emulator whose commands write their namespaces, one in each line. Kills it, and waits until nothing holds
/// these namespaces. Returns false if it did not start.
fn leaves_nothing_when_killed(mut command: Command, lines: usize, check: impl FnOnce()) -> bool {
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
    let stdout = child.stdout.take().expect("it has a pipe");
    let namespaces: Vec<String> = within_guard("the end", move || {
        BufReader::new(stdout).lines().take(lines).map(|line| line.expect("UTF-8")).collect()
    });
    if namespaces.is_empty() {
        within_guard("the end", move || child.wait().expect("it is a child"));
        return false;
    }
    assert!(namespaces.iter().all(|it| it.starts_with("net:[")), "{namespaces:?}");
    assert!(namespaces.iter().all(|namespace| !holders(namespace).is_empty()));
    check();
    child.kill().expect("it is a child");
    within_guard("the end", move || {
        child.wait().expect("it is a child");
        while namespaces.iter().any(|namespace| !holders(namespace).is_empty()) {
            thread::yield_now();
        }
    });
    true
}

/// Returns what holds a network namespace: processes in it, and descriptors of it.
fn holders(namespace: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for process in fs::read_dir("/proc").expect("it is mounted").flatten() {
        let descriptors = fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
        let all = descriptors.map(|entry| entry.path()).chain([process.path().join("ns/net")]);
        let is_held =
            |path: &PathBuf| fs::read_link(path).is_ok_and(|to| to == Path::new(namespace));
        found.extend(all.filter(is_held));
    }
    found
}

/// Returns whether this computer has an address.
fn has_address(address: &str) -> bool {
    fs::read_to_string("/proc/net/fib_trie")
        .expect("Linux has it")
        .contains(&format!("{address}\n"))
}

/// Starts a command, and returns it with its first line.
fn started(mut command: Command) -> (Child, String) {
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
    let stdout = child.stdout.take().expect("it has a pipe");
    let line = within_guard("the end", move || {
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).expect("it is UTF-8");
        line
    });
    (child, line.trim().to_owned())
}

#[test]
fn a_user_without_rights_has_a_testbed_over_tun_and_over_veth() {
    if !is_root() {
        return;
    }
    let folder = open_folder();
    let node = folder.path("tun");
    let program = copy_of_program(&folder);
    let made = Command::new("mknod").arg(&node).args(["c", "10", "200"]).status().unwrap();
    if !made.success() {
        println!("skipped: this root may not make device nodes");
        return;
    }
    fs::set_permissions(&node, Permissions::from_mode(0o666)).unwrap();
    let tun = ["--tun", node.to_str().unwrap()];
    for device in [&tun[..], &["--veth"]] {
        let found = output(as_nobody(&program, device));
        if text(&found.stderr).contains("cannot make a network namespace") {
            println!("skipped: users may not make namespaces here");
            return;
        }
        assert_eq!(text(&found.stdout), NOBODY.to_string(), "{}", text(&found.stderr));
        assert_eq!(found.status.code(), Some(5), "{device:?}: {}", text(&found.stderr));
    }
    fs::set_permissions(&node, Permissions::from_mode(0o600)).unwrap();
    let refused = output(as_nobody(&program, &tun));
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        text(&refused.stderr).contains("that you may read and write"),
        "{}",
        text(&refused.stderr)
    );
}

/// Sends packets to the far side as a user without rights until an answer comes. The exit code is then 5.
fn as_nobody(program: &Path, device: &[&str]) -> Command {
    let server = "exec sleep 1000";
    // The far side refuses the port, which the near side learns from a packet back.
    let client = "id -u; exec 3<>/dev/udp/$ROVE_PEER/7000; while echo hello >&3; do :; done 2>/dev/null; exit 5";
    let mut command = Command::new(program);
    command.arg("emulate").args(device).args(["--far", server, "--", "bash", "-c", client]);
    command.stdin(Stdio::null()).uid(NOBODY).gid(NOBODY);
    command
}

#[test]
fn bad_input_gets_a_sentence_and_its_exit_code() {
    let folder = open_folder();
    let file = |name: &str, text: &str| {
        let path = folder.path(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (empty, zeros, words) =
        (file("empty", ""), file("zeros", "0\n0\n"), file("words", "1\nx\n"));
    let plain = file("plain", "#!/bin/sh\n");
    let steps = file("steps", "[{\"delay_ms\": 5},\n{\"loss\": 5}]");
    for (args, code, sentence) in [
        (&["--rate", "0"][..], 2, "a rate above zero"),
        (&["--loss", "101%"], 2, "not a share between"),
        (&["--rtt", "1s,loss=1%"], 2, "contains a comma"),
        (&["--link", "rtt=5ms", "--rtt", "6ms"], 2, "given twice"),
        (&["--uplink", "/nowhere"], 1, "cannot open /nowhere"),
        (&["--uplink", &empty], 1, "empty is no list of delivery opportunities: it is empty"),
        (&["--downlink", &zeros], 1, "its last line is not above zero"),
        (&["--downlink", &words], 1, "words is no list of delivery opportunities: line 2"),
        (&["--schedule", "/nowhere"], 1, "cannot open /nowhere"),
        (
            &["--schedule", &steps],
            1,
            "steps is no schedule of a link: line 2, column 7: unknown field",
        ),
        (&["--schedule", &steps, "--rtt", "5ms"], 2, "a schedule describes the whole link"),
        (&["--", "no-such-program-anywhere"], 127, "there is no such program"),
        (&["--", &plain], 126, "no program that you may execute"),
        (&["--", "/"], 126, "no program that you may execute"),
        (&["--json", "/nowhere/file", "--", "true"], 1, "cannot write /nowhere/file"),
    ] {
        let found = output(emulate(args));
        let said = text(&found.stderr);
        assert_eq!(found.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(sentence) && said.lines().count() == 1, "{args:?}: {said}");
    }
    if is_root() {
        let found = output(emulate(&["--peer", "127.0.0.1", "--", "true"]));
        assert!(text(&found.stderr).contains("no address that a host may have"));
        assert_eq!(found.status.code(), Some(1));
    }
}
