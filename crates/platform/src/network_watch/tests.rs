//! Watches changes of a network namespace.

use super::*;
use rove_net::namespace::Namespace;
use rove_net::netlink::Netlink;

/// Returns a network that nobody else changes.
fn own_network() -> Option<Namespace> {
    let made = Namespace::create();
    if made.is_err() {
        println!("skipped: only root may make network namespaces in a process with threads");
    }
    made.ok()
}

#[test]
fn an_interface_that_comes_up_is_a_change_and_is_told_once() {
    let Some(namespace) = own_network() else { return };
    namespace
        .run(|| {
            let watch = NetworkWatch::open().expect("Linux tells everybody");
            assert!(!watch.take().expect("nothing is wrong"));
            Netlink::open().and_then(|mut it| it.set_loopback_up()).expect("it is ours");
            assert!(watch.take().expect("nothing is wrong"));
            assert!(!watch.take().expect("nothing is wrong"), "all of it was taken");
        })
        .expect("a thread");
}

#[test]
fn more_changes_than_the_system_keeps_are_a_change() {
    let Some(namespace) = own_network() else { return };
    namespace
        .run(|| {
            let watch = NetworkWatch::open().expect("Linux tells everybody");
            let mut netlink = Netlink::open().expect("Linux talks to everybody");
            netlink.set_loopback_up().expect("it is ours");
            let loopback = netlink.interface("lo").expect("it is always there").index;
            // The kernel reports each of these changes, and keeps some 200 kB of reports.
            for turn in 0..2_000 {
                netlink.set_up(loopback, 1_500 + turn % 2, 1_000, false).expect("it is ours");
            }
            let mut calls = 0;
            while watch.take().expect("losing some is no failure") {
                calls += 1;
            }
            assert!(calls > 1, "one call takes no more than its share");
        })
        .expect("a thread");
}
