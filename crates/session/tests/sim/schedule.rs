//! Every combination of what may happen to a session's first and last datagrams: delivered, lost, doubled or delayed.

use core::net::SocketAddr;
use std::collections::VecDeque;
use std::thread;

use rove_link::LinkConfig;
use rove_link::net::{End, Net};
use rove_session::{ClientConfig, ClientOutcome, ExitStatus, ServerOutcome};
use rove_ssp::Config;
use rove_units::{Instant, Seed};

use crate::common::*;

/// How many datagrams of each direction go through all combinations: `FIRST` at the start, `LAST` at the end.
const FIRST: u32 = 4;
const LAST: u32 = 3;

#[derive(Clone, Copy, Debug)]
enum Fate {
    Delivered,
    Lost,
    Duplicated,
    DelayedPastNext,
}

const FATES: [Fate; 4] = [Fate::Delivered, Fate::Lost, Fate::Duplicated, Fate::DelayedPastNext];

type Datagram = (SocketAddr, Vec<u8>);

/// An end, and the fate of each of its next datagrams: delivered, lost, doubled or delayed.
struct Fated<E> {
    end: E,
    fates: VecDeque<Fate>,
    delayed: Vec<Datagram>,
    /// The delayed datagrams that the network delivers after the datagram just sent.
    behind: VecDeque<Datagram>,
}

/// Returns the fates that the base-four digits of `number` encode.
fn fates(number: u32, datagrams: u32) -> impl Iterator<Item = Fate> {
    (0..datagrams).map(move |digit| FATES[number as usize >> (2 * digit) & 3])
}

impl<E> Fated<E> {
    fn new(end: E) -> Self {
        Self { end, fates: VecDeque::new(), delayed: Vec::new(), behind: VecDeque::new() }
    }

    /// Chooses the fates of the next datagrams by this number.
    fn meet(&mut self, number: u32, datagrams: u32) {
        self.fates = fates(number, datagrams).collect();
    }
}

impl<E: End> End for Fated<E> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        self.end.handle_datagram(now, source, payload);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.end.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Datagram> {
        loop {
            if let Some(datagram) = self.behind.pop_front() {
                return Some(datagram);
            }
            let datagram = self.end.poll_transmit(now)?;
            let fate = self.fates.pop_front().unwrap_or(Fate::Delivered);
            match fate {
                Fate::Lost => continue,
                Fate::DelayedPastNext => {
                    self.delayed.push(datagram);
                    continue;
                }
                Fate::Delivered => {}
                Fate::Duplicated => self.behind.push_back(datagram.clone()),
            }
            self.behind.extend(self.delayed.drain(..));
            return Some(datagram);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.end.poll_timeout()
    }
}

type FatedPair = Net<Fated<ClientEnd>, Fated<ServerEnd>>;

/// Runs all combinations of fates in both directions, on two threads.
fn for_all(datagrams: u32, run: impl Fn(u32, u32) + Sync) {
    let all = 4_u32.pow(datagrams);
    let run_half = |first: u32| {
        for up in (first..all).step_by(2) {
            (0..all).for_each(|down| run(up, down));
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| run_half(0));
        run_half(1);
    });
}

fn fated_pair() -> FatedPair {
    // A small window makes the many sessions fast, and does not change their course.
    let window = size(12, 2);
    let config = ClientConfig { size: window, ..client_config(rove(Config::client())) };
    let client = near(config);
    let client = Fated::new(client);
    let server = Fated::new(far(rove(Config::server())));
    let wire = LinkConfig::lossless(ms(40));
    Net::new(client, server, wire.clone(), wire, Seed::new(1))
}

#[test]
fn every_fate_of_the_first_four_datagrams_each_way_leaves_every_key_once_and_in_order() {
    for_all(FIRST, |up, down| {
        let mut net = fated_pair();
        net.left.meet(up, FIRST);
        net.right.meet(down, FIRST);
        net.left.end.client.handle_input(Instant::ZERO, b"a");
        let mut echoed = 0;
        for key in [b"b", b"c", b"d", b"\r"] {
            net.run_for(ms(60));
            let now = net.now();
            net.left.end.client.handle_input(now, key);
            echo(&mut net, &mut echoed);
        }
        let arrived = net.run_until(secs(20), |_, server| server.end.program.typed.len() == 5);
        assert!(arrived, "up {up}, down {down}: {:?}", net.right.end.program.typed);
        echo(&mut net, &mut echoed);
        let agreed = net.run_until(secs(20), |client, server| in_sync(&client.end, &server.end));
        assert!(agreed, "up {up}, down {down}: the pictures differ");
        // The heartbeats use up the remaining fates.
        net.run_until(secs(30), |client, server| {
            client.fates.is_empty() && server.fates.is_empty()
        });
        assert_eq!(close(&mut net).1, Some(ServerOutcome::Ended), "up {up}, down {down}");
        assert_eq!(net.right.end.program.typed, b"abcd\r", "up {up}, down {down}");
    });
}

#[test]
fn every_fate_of_the_last_three_datagrams_each_way_ends_both_ends() {
    for_all(LAST, |up, down| {
        let mut net = fated_pair();
        net.run_for(secs(1));
        net.left.meet(up, LAST);
        net.right.meet(down, LAST);
        print_last(&mut net);
        let (client, server) = close(&mut net);
        let told = ClientOutcome::Ended(Some(ExitStatus::Code(7)));
        assert_eq!(client, Some(told), "up {up}, down {down}");
        assert_eq!(net.left.end.client.screen().row_text(0), "bye", "up {up}, down {down}");
        // The client cannot know whether its last datagram arrives.
        let is_heard = server == Some(ServerOutcome::Ended);
        let is_whole =
            fates(up, LAST).all(|fate| matches!(fate, Fate::Delivered | Fate::Duplicated));
        let is_lost = server == Some(ServerOutcome::Unacknowledged) && !is_whole;
        assert!(is_heard || is_lost, "up {up}, down {down}: {server:?}");
    });
}

/// Lets the program echo the keys that it has read since the last echo.
fn echo(net: &mut FatedPair, echoed: &mut usize) {
    let now = net.now();
    let server = &mut net.right.end;
    server.server.handle_host_output(now, &server.program.typed[*echoed..]);
    *echoed = server.program.typed.len();
}

fn print_last(net: &mut FatedPair) {
    let now = net.now();
    net.right.end.server.handle_host_output(now, b"bye");
}

/// Ends the program. Returns the outcomes of both ends.
fn close(net: &mut FatedPair) -> (Option<ClientOutcome>, Option<ServerOutcome>) {
    let now = net.now();
    net.right.end.server.handle_host_closed(now, Some(ExitStatus::Code(7)));
    net.run_until(secs(30), |client, server| {
        client.end.client.outcome().is_some() && server.end.server.outcome().is_some()
    });
    (net.left.end.client.outcome(), net.right.end.server.outcome())
}
