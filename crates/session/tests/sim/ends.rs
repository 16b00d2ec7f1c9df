//! How sessions end over paths that lose datagrams: whether both ends learn of the end, and how long that takes.

use rove_link::LinkConfig;
use rove_link::net::Net;
use rove_session::{Client, ClientConfig, ClientOutcome, ExitStatus, ServerOutcome};
use rove_ssp::Config;
use rove_units::{Duration, Instant, Seed};

use crate::common::*;

/// The number of sessions over each path.
const SEEDS: u32 = 20;

/// The party that ends a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// The user leaves.
    User,
    /// The program on the host ends.
    Program,
}

/// How the end of one session went.
#[derive(Clone, Copy, Debug)]
struct End {
    /// Whether both ends know that the session is over.
    is_sure: bool,
    /// The time from the beginning of the end until the client has gone.
    client: Duration,
}

/// Runs a session of some ten seconds in which a user types, and ends it.
fn end(by: By, link: &LinkConfig, client: &Config, seed: Seed) -> End {
    let (near, far) = (near_of(client.clone()), far(rove(Config::server())));
    let mut pair: Pair = Net::new(near, far, link.clone(), link.clone(), seed);
    let pauses = seed.stream("pauses");
    for key in 0..40 {
        pair.run_for(ms(100 + pauses.at(key).below(300)));
        type_text(&mut pair, b"x");
        print(&mut pair, b"x");
    }
    pair.run_for(ms(pauses.at(40).below(2_000)));
    let start = pair.now();
    match by {
        By::User => pair.left.client.handle_input(start, b"\x1e."),
        By::Program => pair.right.server.handle_host_closed(start, Some(ExitStatus::Code(0))),
    }
    assert!(pair.run_until(secs(15), |client, _| client.client.outcome().is_some()));
    let client = pair.now().saturating_since(start);
    assert!(pair.run_until(secs(15), |_, server| server.server.outcome().is_some()));
    let is_sure = matches!(pair.left.client.outcome(), Some(ClientOutcome::Ended(_)))
        && pair.right.server.outcome() == Some(ServerOutcome::Ended);
    pair.run_for(secs(6));
    assert_eq!(pair.right.server.lingers_until(), None, "a server does not stay for ever");
    assert_eq!(pair.right.server.poll_timeout(), None);
    End { is_sure, client }
}

/// Ends sessions over a path with this round trip and this loss each way. Returns how many ends are sure, and the mean
/// time until the client has gone.
fn ends(by: By, rtt: Duration, loss: f64, client: &Config) -> (usize, Duration) {
    let link = LinkConfig { loss, ..LinkConfig::lossless(rtt / 2) };
    let ends = (0..SEEDS).map(|seed| end(by, &link, client, Seed::new(seed.into())));
    let ends: Vec<End> = ends.collect();
    let total: Duration = ends.iter().map(|end| end.client).sum();
    (ends.iter().filter(|end| end.is_sure).count(), total / SEEDS)
}

#[test]
fn no_user_is_left_in_doubt_of_the_end_whatever_is_lost() {
    let all = usize::try_from(SEEDS).expect("a few");
    for client in [rove(Config::client()), stock(Config::client())] {
        for rtt in [ms(10), ms(100), ms(500)] {
            for loss in [0.0, 0.01, 0.05, 0.1, 0.29] {
                let (sure, mean) = ends(By::User, rtt, loss, &client);
                assert_eq!(sure, all, "{rtt:?}, {loss}");
                // At 29 % loss each way, half of the first tries are answered. An announcement takes half a round trip.
                assert!(mean <= 2 * rtt + ms(60), "{rtt:?}, {loss}: {mean:?}");
            }
        }
    }
}

#[test]
fn a_program_that_ends_keeps_no_user_waiting_and_leaves_few_servers_in_doubt() {
    let client = rove(Config::client());
    let mut sure = 0;
    for rtt in [ms(10), ms(100), ms(500)] {
        assert_eq!(ends(By::Program, rtt, 0.0, &client).0, 20);
        let (sure_here, mean) = ends(By::Program, rtt, 0.29, &client);
        sure += sure_here;
        assert!(mean <= rtt + ms(30), "{rtt:?}: {mean:?}");
    }
    // If the server acknowledged only once, 71 % of the 60 ends would be sure.
    assert!(sure >= 49, "{sure}");
}

#[test]
fn a_user_who_insists_does_not_wait_for_a_server_that_does_not_answer() {
    let by_key = |client: &mut Client, now| client.handle_input(now, b"\x1e.");
    let by_signal = |client: &mut Client, now| client.shutdown(now, "Signal received");
    let ways: [fn(&mut Client, Instant); 2] = [by_key, by_signal];
    for (first, second) in ways.into_iter().flat_map(|first| ways.map(|second| (first, second))) {
        for (is_obeyed_twice, pause, waits) in
            [(true, ms(250), ms(0)), (true, ms(249), secs(3)), (false, ms(250), secs(3))]
        {
            let config = client_config(rove(Config::client()));
            let config = ClientConfig { is_end_obeyed_twice: is_obeyed_twice, ..config };
            let link = LinkConfig::lossless(ms(5));
            let mut pair = join(near(config), far(rove(Config::server())), &link);
            pair.run_for(secs(3));
            pair.stop_right(true);
            let now = pair.now();
            first(&mut pair.left.client, now);
            pair.run_for(pause);
            assert_eq!(pair.left.client.wants_input(), waits.is_zero());
            second(&mut pair.left.client, now + pause);
            let has_ended = |client: &ClientEnd| client.client.outcome().is_some();
            assert_eq!(has_ended(&pair.left), waits.is_zero(), "{is_obeyed_twice}, {pause:?}");
            pair.run_for(waits);
            assert_eq!(has_ended(&pair.left), waits.is_zero(), "{is_obeyed_twice}, {pause:?}");
            assert!(pair.run_until(secs(2), |client, _| has_ended(client)));
            assert_eq!(pair.left.client.outcome(), Some(ClientOutcome::Unacknowledged));
        }
    }
}

#[test]
fn a_terminal_that_is_gone_asks_for_the_end_once() {
    let mut pair = pair(&LinkConfig::lossless(ms(5)));
    pair.run_for(secs(3));
    pair.stop_right(true);
    for _ in 0..300 {
        let now = pair.now();
        pair.left.client.handle_input_closed(now);
        assert!(!pair.left.client.wants_input());
        pair.run_for(ms(10));
        assert_eq!(pair.left.client.outcome(), None, "the server may still answer");
    }
}
