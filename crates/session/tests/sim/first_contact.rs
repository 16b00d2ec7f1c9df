//! The time from a client's start to the server's first frame, if the path loses the first datagrams.

use core::net::SocketAddr;

use rove_headless::{Program, ServerEnd};
use rove_link::LinkConfig;
use rove_link::net::{End, Net};
use rove_session::{Server, ServerEvent};
use rove_ssp::{Config, Mechanism};
use rove_units::{Duration, Instant, Seed};

use crate::common::*;

/// An end whose first datagrams are lost.
struct Losing<E> {
    end: E,
    left: u32,
}

/// A program that prints a line when it is started.
#[derive(Default)]
struct Printf {
    is_started: bool,
}

impl Program for Printf {
    fn turn(&mut self, now: Instant, server: &mut Server) {
        if core::mem::take(&mut self.is_started) {
            server.handle_host_output(now, b"hello\r\n");
        }
    }

    fn handle_event(&mut self, event: ServerEvent) {
        self.is_started |= event == ServerEvent::Start;
    }
}

impl<E: End> End for Losing<E> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        self.end.handle_datagram(now, source, payload);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.end.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        while let Some(transmit) = self.end.poll_transmit(now) {
            if self.left == 0 {
                return Some(transmit);
            }
            self.left -= 1;
        }
        None
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.end.poll_timeout()
    }
}

/// Returns the time until the user sees the printed line, and how many datagrams both ends send in five seconds.
fn first_frame(
    rtt: Duration,
    [client, server]: [Config; 2],
    [lost_up, lost_down]: [u32; 2],
) -> (Duration, u64) {
    let left = Losing { end: near_of(client), left: lost_up };
    let right = ServerEnd::new(server_config(server), Printf::default(), Instant::ZERO);
    let right = Losing { end: right, left: lost_down };
    let link = LinkConfig::lossless(rtt / 2);
    let mut net = Net::new(left, right, link.clone(), link, Seed::new(1));
    assert!(net.run_until(secs(20), |near, _| near.end.row_text(0) == "hello"), "{rtt:?}");
    let shown_at = net.now().saturating_since(Instant::ZERO);
    net.run_for(secs(5));
    (shown_at, net.left.end.traffic.datagrams + net.right.end.traffic.datagrams)
}

const RTTS: [u64; 6] = [0, 20, 100, 300, 500, 1_000];

fn roves() -> [Config; 2] {
    [rove(Config::client()), rove(Config::server())]
}

/// Returns a rove client with a stock server, and the other way round.
fn mixed() -> [[Config; 2]; 2] {
    let (client, server) = (Config::client(), Config::server());
    [[rove(client.clone()), server.clone().stock()], [client.stock(), rove(server)]]
}

#[test]
fn the_first_frame_takes_a_round_trip() {
    for rtt in RTTS {
        let [_, to_stock_client] = mixed();
        for ends in [roves(), to_stock_client] {
            let (shown_after, _) = first_frame(ms(rtt), ends, [0, 0]);
            assert!(shown_after <= ms(rtt + 20), "{rtt}: {shown_after:?}");
        }
    }
}

#[test]
fn lost_first_datagrams_cost_less_than_another_round_trip_and_a_quarter_of_a_second() {
    for rtt in RTTS {
        for lost in [[1, 0], [0, 1], [0, 2], [1, 1]] {
            let (shown_after, _) = first_frame(ms(rtt), roves(), lost);
            assert!(shown_after < ms(2 * rtt + 250), "{rtt} {lost:?}: {shown_after:?}");
        }
    }
}

#[test]
fn stock_ends_lose_no_more_time_when_the_first_datagram_to_them_is_lost() {
    let [to_stock_server, to_stock_client] = mixed();
    for rtt in RTTS {
        for (ends, lost) in [(&to_stock_server, [1, 0]), (&to_stock_client, [0, 2])] {
            let (unlost, _) = first_frame(ms(rtt), ends.clone(), [0, 0]);
            let (shown_after, _) = first_frame(ms(rtt), ends.clone(), lost);
            assert!(shown_after <= unlost + ms(rtt + 250), "{rtt}: {shown_after:?} for {unlost:?}");
        }
    }
}

#[test]
fn a_path_that_loses_nothing_carries_no_more_where_the_round_trip_is_short() {
    // Without `Quiet`, fewer datagrams at the start do not shift the times of later heartbeats.
    let roves = roves().map(|config| config.without(Mechanism::Quiet));
    let bare = roves.clone().map(|config| config.without(Mechanism::FirstContact));
    for rtt in [0, 20, 100, 180] {
        let (_, datagrams) = first_frame(ms(rtt), roves.clone(), [0, 0]);
        assert_eq!(datagrams, first_frame(ms(rtt), bare.clone(), [0, 0]).1, "{rtt}");
    }
    for rtt in [300, 500, 1_000] {
        let (_, datagrams) = first_frame(ms(rtt), roves.clone(), [0, 0]);
        assert!(datagrams <= first_frame(ms(rtt), bare.clone(), [0, 0]).1 + 5, "{rtt}");
    }
}
