//! How often two ends without changes send datagrams, and how they continue after a long silence.

use rove_link::LinkConfig;
use rove_ssp::{Capabilities, Config};
use rove_units::{Duration, Instant, Seed};

use crate::pair::{Fate, Pair, Party, agree, ms, pair_with};

type End = Party<4096>;

const ROUND_TRIP: u64 = 100;

/// How late the server's datagram may be before the user is told of a lost contact.
const TOLD_AFTER: Duration = ms(3_500);

fn offering(config: Config) -> Config {
    Config { capabilities: Some(Capabilities::ANNOUNCED_HEARTBEAT), ..config }
}

/// Returns two ends, each of which has sent contents.
fn acquainted([client, server]: [Config; 2], loss: f64, seed: u64) -> Pair<4096> {
    let link = LinkConfig { loss, ..LinkConfig::lossless(ms(ROUND_TRIP / 2)) };
    let mut net = pair_with(Seed::new(seed), link, client, server);
    net.left.write(b"80x24");
    net.run_for(ms(1_000));
    net.right.write(b"$ ");
    net.run_for(ms(1_000));
    net
}

fn roves() -> [Config; 2] {
    [offering(Config::client()), offering(Config::server())]
}

/// Returns two ends whose objects have not changed for some minutes.
fn resting() -> Pair<4096> {
    let mut net = acquainted(roves(), 0.0, 1);
    net.run_for(ms(200_000));
    net
}

fn datagrams(net: &Pair<4096>) -> usize {
    net.left.sent.len() + net.right.sent.len()
}

/// Returns the number of datagrams that two ends send in an hour without changes.
fn idle_hour(configs: [Config; 2], loss: f64) -> usize {
    let mut net = acquainted(configs, loss, 1);
    let before = datagrams(&net);
    net.run_for(ms(3_600_000));
    assert!(agree(&net.left, &net.right));
    assert_eq!(net.left.events, [], "no port is changed for a silence that was announced");
    datagrams(&net) - before
}

/// Returns the time within an hour during which the client would report a lost contact to its user.
fn told(net: &mut Pair<4096>, mut each_second: impl FnMut(&mut Pair<4096>)) -> Duration {
    let mut told = Duration::ZERO;
    for _ in 0..36_000 {
        net.run_for(ms(100));
        each_second(net);
        let late = net.now().saturating_since(net.left.transport.remote_due_at());
        told += if late >= TOLD_AFTER { ms(100) } else { Duration::ZERO };
    }
    told
}

#[test]
fn an_idle_hour_takes_a_seventh_of_the_datagrams_of_stock_ends() {
    let stock = idle_hour([Config::client().stock(), Config::server().stock()], 0.0);
    assert!((2_390..=2_400).contains(&stock), "{stock}");
    let rove = idle_hour(roves(), 0.0);
    assert!(rove <= stock / 7, "{rove} beside {stock}");
}

#[test]
fn a_path_that_loses_now_and_then_keeps_long_pauses() {
    for loss in [0.01, 0.05, 0.1] {
        let sent = idle_hour(roves(), loss);
        assert!(sent <= 2_400 / 3, "{sent} at {loss}");
    }
}

#[test]
fn a_contact_that_is_lost_is_noticed_within_the_longest_pause_and_a_moment() {
    for after in (0..24_000).step_by(500) {
        let mut net = resting();
        net.run_for(ms(after));
        net.reconfigure(LinkConfig::outage(), LinkConfig::outage());
        let lost_at = net.now();
        let noticed_at = net.left.transport.remote_due_at() + TOLD_AFTER;
        assert!(noticed_at <= lost_at + ms(24_000) + TOLD_AFTER, "{after}");
        net.run_until(noticed_at.saturating_since(lost_at), |_, _| false);
        let due_at = net.left.transport.remote_due_at();
        assert!(due_at + TOLD_AFTER <= net.now(), "{after}: put off");
    }
}

#[test]
fn an_end_keeps_to_stocks_pace_unless_both_offer_more() {
    let [client, server] = roves();
    let bare = |config| Config { capabilities: Some(Capabilities::empty()), ..config };
    for configs in [
        [client.clone(), Config::server().stock()],
        [Config::client().stock(), server.clone()],
        [client, bare(Config::server())],
        [bare(Config::client()), server],
    ] {
        let sent = idle_hour(configs, 0.0);
        assert!((2_390..=2_400).contains(&sent), "{sent}");
    }
}

#[test]
fn nobody_is_told_of_a_lost_contact_that_is_not_lost() {
    assert_eq!(told(&mut acquainted(roves(), 0.0, 1), |_| {}), Duration::ZERO);
    for (loss, most) in [(0.01, ms(1_000)), (0.05, ms(10_000))] {
        let shown: Duration =
            (0..5).map(|seed| told(&mut acquainted(roves(), loss, seed), |_| {})).sum();
        assert!(shown <= 5 * most, "{loss}: {shown:?}");
    }
}

#[test]
fn a_path_that_loses_much_keeps_short_pauses_and_is_told_no_more_than_with_stock() {
    let stock = [Config::client().stock(), Config::server().stock()];
    let [mut with_stock, mut with_rove] = [Duration::ZERO; 2];
    for seed in 0..5 {
        with_stock += told(&mut acquainted(stock.clone(), 0.29, seed), |_| {});
        with_rove += told(&mut acquainted(roves(), 0.29, seed), |_| {});
    }
    assert!(with_rove <= with_stock + with_stock / 10, "{with_rove:?} beside {with_stock:?}");
}

#[test]
fn a_nat_that_forgets_a_silent_flow_is_found_out_and_kept_awake() {
    for kept in [5_000, 10_000, 20_000] {
        let mut net = acquainted(roves(), 0.0, 1);
        let whole = LinkConfig::lossless(ms(ROUND_TRIP / 2));
        let mut is_known = true;
        let shown = told(&mut net, |net| {
            let spoke_at = net.left.sent.last().map_or(0, |(at, _)| *at);
            let knows = net.now().as_millis() < spoke_at + kept;
            if knows != is_known {
                is_known = knows;
                let down = if knows { whole.clone() } else { LinkConfig::outage() };
                net.reconfigure(whole.clone(), down);
            }
        });
        assert_eq!(shown, Duration::ZERO, "{kept}");
        let late = net.left.sent.windows(2).filter(|two| two[1].0 - two[0].0 > kept).count();
        assert!(late <= 2, "{kept}: tried {late} times");
    }
}

#[test]
fn the_first_word_after_a_long_silence_is_sent_again_as_soon_as_any_other() {
    for is_key in [false, true] {
        for after in [1_000, 15_000, 23_000] {
            let mut net = resting();
            net.run_for(ms(after));
            let speaker: &mut End = if is_key { &mut net.left } else { &mut net.right };
            speaker.fates.push_back(Fate::Lost);
            speaker.write(b"word");
            assert!(net.run_until(ms(1_000), agree), "{is_key} {after}");
            assert_eq!(net.left.events, [], "{is_key} {after}");
        }
    }
}

#[test]
fn a_word_that_nobody_answers_ends_the_silence_that_was_announced() {
    let mut net = resting();
    net.run_for(ms(2_000));
    net.reconfigure(LinkConfig::outage(), LinkConfig::outage());
    net.left.write(b"k");
    net.run_for(ms(1));
    assert!(net.left.transport.remote_due_at() <= net.now() + ms(3_000));
}

#[test]
fn contact_is_back_soon_after_an_outage() {
    for outage in [10_000, 30_000, 120_000] {
        let mut net = resting();
        net.reconfigure(LinkConfig::outage(), LinkConfig::outage());
        net.run_for(ms(outage));
        let whole = LinkConfig::lossless(ms(ROUND_TRIP / 2));
        net.reconfigure(whole.clone(), whole);
        let back_at = net.now();
        let heard = |end: &End| end.transport.path().heard_at;
        // A short outage may fall into a pause of both ends, and then no announcement is broken.
        let by = net.left.transport.remote_due_at().max(back_at) + ms(3_000 + ROUND_TRIP);
        let limit = by.saturating_since(back_at);
        assert!(net.run_until(limit, |left, _| heard(left) > Some(back_at)), "{outage}");
    }
}

#[test]
fn a_client_that_has_another_network_is_answered_at_once_in_a_long_silence() {
    for after in [2_000, 9_000, 20_000] {
        let mut net = resting();
        net.run_for(ms(after));
        let told_at = net.now();
        net.left.transport.handle_network_change(told_at);
        let heard = |end: &End| end.transport.path().heard_at > Some(told_at);
        assert!(net.run_until(ms(ROUND_TRIP + 1), |left, _| heard(left)), "{after}");
    }
}

#[test]
fn ends_whose_clocks_jump_speak_again() {
    let mut net = resting();
    net.stop_left(true);
    net.run_for(ms(3_600_000));
    net.stop_left(false);
    let woken_at: Instant = net.now();
    net.left.write(b"k");
    assert!(net.run_until(ms(5_000), agree), "{woken_at}");
}
