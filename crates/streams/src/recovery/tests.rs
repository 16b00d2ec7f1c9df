//! Losses, probes and silence, with a controller that only has a window.

use rove_congestion::new_reno::NewReno;

use super::*;

const ID: StreamId = StreamId::new(2);

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn recovery() -> Recovery {
    Recovery::new(Box::new(NewReno::new(Bytes::new(1_000))), 1_000, at(0))
}

/// Sends a packet with one byte of the stream, whose offset is the packet's number.
fn send(recovery: &mut Recovery, millis: u64) -> u64 {
    let number = recovery.next_number().unwrap().get();
    let carried = Carried::Data { id: ID, range: number..number + 1, is_end: false };
    recovery.handle_sent(at(millis), 1_000, true, vec![carried]);
    number
}

fn ack(recovery: &mut Recovery, millis: u64, low: u64, high: u64) -> Fates {
    let frame =
        AckFrame { largest: high, ranges: vec![(0, high - low + 1)], ..AckFrame::default() };
    recovery.handle_ack(at(millis), &frame, at(millis)).unwrap()
}

fn numbers(carried: &[Carried]) -> Vec<u64> {
    carried
        .iter()
        .map(|it| match it {
            Carried::Data { range, .. } => range.start,
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn a_packet_is_lost_after_three_later_ones_or_nine_eighths_of_a_round_trip() {
    let mut recovery = recovery();
    (0..6).for_each(|it| assert_eq!(send(&mut recovery, it), it));
    let fates = ack(&mut recovery, 100, 4, 4);
    assert_eq!((numbers(&fates.acked), numbers(&fates.lost)), (vec![4], vec![0, 1]));
    // The two others count as lost after nine eighths of 96 ms.
    assert_eq!(recovery.poll_timeout(), Some(at(110)));
    assert_eq!(numbers(&recovery.handle_timeout(at(110)).lost), [2]);
    assert_eq!(numbers(&recovery.handle_timeout(at(111)).lost), [3]);
    assert_eq!(recovery.in_flight(), 1_000);
    let again = ack(&mut recovery, 112, 0, 5);
    let acked = (numbers(&again.acked), again.lost);
    assert_eq!(acked, (vec![0, 1, 2, 3, 5], vec![]), "the lost ones have arrived, too");
    assert_eq!(ack(&mut recovery, 113, 0, 5), Fates::default(), "an arrival is told once");
}

#[test]
fn an_acknowledgment_of_what_was_never_sent_is_a_fault() {
    let mut recovery = recovery();
    send(&mut recovery, 0);
    let frame = AckFrame { largest: 1, ranges: vec![(0, 1)], ..AckFrame::default() };
    assert_eq!(recovery.handle_ack(at(1), &frame, at(1)), Err(Violation::AckOfUnsent));
}

#[test]
fn probes_repeat_the_oldest_packets_then_become_rare_and_the_first_sound_begins_again() {
    let mut recovery = recovery();
    (0..3).for_each(|it| assert_eq!(send(&mut recovery, 0), it));
    let mut probes = Vec::new();
    while probes.len() < 9 {
        let due = recovery.poll_timeout().unwrap();
        assert_eq!(numbers(&recovery.handle_timeout(due).lost)[0], 0, "the oldest");
        assert!(recovery.owes_probe() && recovery.permit(due, 1_200) == Permit::Now);
        while recovery.owes_probe() {
            send(&mut recovery, due.as_millis());
        }
        probes.push(due.as_millis());
    }
    let pauses: Vec<u64> = probes.windows(2).map(|it| it[1] - it[0]).collect();
    assert_eq!(pauses[2..], [1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
    assert!(recovery.is_silent() && recovery.permit(at(999_999), 1_200) == Permit::Full);
    let fates = recovery.handle_heard(at(1_000_000), true);
    assert_eq!(numbers(&fates.lost)[..3], [0, 1, 2]);
    assert_eq!((recovery.in_flight(), recovery.permit(at(1_000_000), 1_200)), (0, Permit::Now));
    assert_eq!(recovery.poll_timeout(), None, "nothing is in flight");
    assert_eq!(recovery.handle_heard(at(1_000_001), true), Fates::default());
    // An acknowledgment after the silence shows which packets had arrived and need not be sent again.
    let number = send(&mut recovery, 1_000_001);
    let frame =
        AckFrame { largest: number, ranges: vec![(0, 1), (number - 3, 2)], ..AckFrame::default() };
    let fates = recovery.handle_ack(at(1_000_050), &frame, at(1_000_050)).unwrap();
    assert_eq!((numbers(&fates.acked), fates.lost), (vec![number, 1, 2], vec![]));
    assert_eq!((recovery.sent.len(), recovery.rtt().smoothed()), (0, Duration::from_millis(49)));
}

#[test]
fn packets_to_an_address_that_was_left_go_again_unless_they_are_as_new_as_the_change() {
    let mut recovery = recovery();
    send(&mut recovery, 0);
    ack(&mut recovery, 80, 0, 0);
    // A quarter of a round trip is 20 ms.
    let sent: Vec<u64> = [100, 110, 120, 121].map(|millis| send(&mut recovery, millis)).to_vec();
    let before = recovery.in_flight();
    assert_eq!(numbers(&recovery.handle_path_change(at(140), true).lost), sent[..3]);
    assert_eq!(recovery.in_flight() * 4, before, "the newest is still in flight");
    assert!(!recovery.owes_probe());
    // The other address family answers. The packets that were just sent again are too new to repeat.
    let again: Vec<u64> = (0..3).map(|_| send(&mut recovery, 140)).collect();
    assert_eq!(numbers(&recovery.handle_path_change(at(141), true).lost), sent[3..]);
    assert_eq!(numbers(&recovery.handle_path_change(at(145), true).lost), again[..2]);
    assert!(recovery.owes_probe());
    // A late acknowledgment tells which packets have arrived.
    let fates = ack(&mut recovery, 150, sent[0], sent[1]);
    assert_eq!((numbers(&fates.acked), fates.lost), (vec![sent[0], sent[1]], vec![]));
}

#[test]
fn a_flow_probes_at_once_when_its_path_changes_or_its_peer_is_heard_after_a_timeout() {
    let mut recovery = recovery();
    assert_eq!(recovery.handle_path_change(at(0), true), Fates::default(), "nothing is in flight");
    (0..3).for_each(|it| assert_eq!(send(&mut recovery, 0), it));
    assert_eq!(numbers(&recovery.handle_path_change(at(1), false).lost), [0, 1]);
    let probe = |recovery: &mut Recovery, millis| {
        let mut count = 0;
        while recovery.owes_probe() {
            send(recovery, millis);
            count += 1;
        }
        count
    };
    assert_eq!(probe(&mut recovery, 1), 2);
    assert_eq!(recovery.handle_heard(at(2), true), Fates::default(), "no timeout has passed");
    for timeout in 1..SILENT_AFTER {
        let due = recovery.poll_timeout().unwrap();
        assert_eq!(numbers(&recovery.handle_timeout(due).lost), [0, 1]);
        assert_eq!(probe(&mut recovery, due.as_millis()), 2);
        let pause = recovery.poll_timeout().unwrap().saturating_since(due);
        let heard = due + Duration::from_millis(5);
        assert_eq!(numbers(&recovery.handle_heard(heard, true).lost), [0, 1], "{timeout}");
        assert_eq!(probe(&mut recovery, heard.as_millis()), 2);
        assert_eq!(recovery.poll_timeout(), Some(heard + pause), "as long a pause as before");
        assert_eq!(recovery.handle_heard(heard, true), Fates::default(), "once for each timeout");
    }
    // On another path the pauses begin short again.
    let pause = |recovery: &Recovery, now| recovery.poll_timeout().unwrap().saturating_since(now);
    let (now, long) = (at(100_000), pause(&recovery, recovery.asked_at));
    recovery.handle_path_change(now, false);
    assert_eq!(probe(&mut recovery, 100_000), 2);
    assert_eq!(pause(&recovery, now) * (1 << (SILENT_AFTER - 1)), long);
    // A silent flow sends a single probe, and stays silent until the peer is heard.
    while !recovery.is_silent() {
        let due = recovery.poll_timeout().unwrap();
        recovery.handle_timeout(due);
        probe(&mut recovery, due.as_millis());
    }
    // The contents of the oldest packet are sent again. So are those of the previous probe, because a new one replaces
    // it.
    let former = recovery.next_number().unwrap().get() - 1;
    assert_eq!(numbers(&recovery.handle_path_change(at(200_000), true).lost), [0, former]);
    assert!(probe(&mut recovery, 200_000) == 1 && recovery.is_silent());
    // A datagram of the session lets the flow probe, and send again if no packet of streams follows.
    assert_eq!(numbers(&recovery.handle_heard(at(200_100), false).lost), [0]);
    assert!(probe(&mut recovery, 200_100) == 1 && recovery.is_silent());
    assert_eq!(recovery.handle_heard(at(200_110), false), Fates::default());
    assert_eq!(recovery.poll_timeout(), Some(at(200_100) + NEWS_MAX));
    assert_eq!(numbers(&recovery.handle_timeout(at(200_100) + NEWS_MAX).lost)[..3], [0, 1, 2]);
    assert!(!recovery.is_silent() && recovery.in_flight() == 0);
}

/// Sends until the window is full. Returns the time, in milliseconds.
fn fill(recovery: &mut Recovery, millis: u64) -> u64 {
    let mut now = millis;
    loop {
        match recovery.permit(at(now), 1_000) {
            Permit::Now => drop(send(recovery, now)),
            Permit::At(_) => now += 1,
            Permit::Full => return now,
        }
    }
}

#[test]
fn after_a_silence_the_news_that_given_up_packets_have_arrived_permits_another() {
    let mut recovery = recovery();
    (0..4).for_each(|it| assert_eq!(send(&mut recovery, 0), it));
    while !recovery.is_silent() {
        let due = recovery.poll_timeout().unwrap();
        recovery.handle_timeout(due);
        (recovery.probes, recovery.asked_at) = (0, due);
    }
    assert_eq!(numbers(&recovery.handle_heard(at(60_000), true).lost), [0, 1, 2, 3]);
    // The packets that repeat those bytes fill the window.
    let now = fill(&mut recovery, 60_000);
    assert_eq!(numbers(&ack(&mut recovery, now, 0, 1).acked), [0, 1]);
    assert_eq!(recovery.permit(at(now), 1_000), Permit::Now);
    send(&mut recovery, now);
    assert_eq!(numbers(&ack(&mut recovery, now, 2, 3).acked), [2, 3]);
    assert_eq!(recovery.permit(at(now), 1_000), Permit::Full, "one for each silence");
}

#[test]
fn an_old_acknowledgment_after_several_timeouts_shows_that_the_other_packets_are_lost() {
    let cases = [(2, 300, true), (2, 0, false), (1, 300, false), (2, 60_000, false)];
    for (timeouts, delay_millis, is_outage) in cases {
        let mut recovery = recovery();
        send(&mut recovery, 0);
        ack(&mut recovery, 80, 0, 0);
        let sent: Vec<u64> = (0..6).map(|_| send(&mut recovery, 100)).collect();
        let mut due = at(100);
        for _ in 0..timeouts {
            due = recovery.poll_timeout().unwrap();
            recovery.handle_timeout(due);
            (recovery.probes, recovery.asked_at) = (0, due);
        }
        let newest = due.as_millis();
        let newest = [send(&mut recovery, newest), send(&mut recovery, newest)];
        let frame = AckFrame {
            largest: sent[2],
            delay_micros: delay_millis * 1_000,
            ranges: vec![(0, 3)],
            ..AckFrame::default()
        };
        let fates = recovery.handle_ack(due, &frame, due).unwrap();
        assert_eq!(numbers(&fates.acked), sent[..3]);
        let lost: Vec<u64> = if is_outage { (sent[3]..=newest[1]).collect() } else { Vec::new() };
        assert_eq!(numbers(&fates.lost), lost, "{timeouts} timeouts, {delay_millis} ms");
        assert_eq!(recovery.in_flight(), if is_outage { 0 } else { 5_000 });
    }
}

#[test]
fn what_is_remembered_as_sent_is_bounded() {
    let mut recovery = recovery();
    let huge = usize::try_from(SENT_BYTES_MAX).unwrap();
    recovery.handle_sent(at(0), huge - 1, true, Vec::new());
    assert_eq!(recovery.in_flight(), SENT_BYTES_MAX - 1);
    let mut many = self::recovery();
    (0..SENT_PACKETS_MAX).for_each(|_| many.handle_sent(at(0), 0, true, Vec::new()));
    assert_eq!(many.permit(at(1_000), 1_200), Permit::Full);
    assert_eq!(ack(&mut many, 1_000, 0, 0).acked, []);
    assert_eq!(many.permit(at(1_000), 1_200), Permit::Now);
}

#[test]
fn packets_that_were_given_up_leave_room_for_new_ones() {
    let mut recovery = recovery();
    (0..SENT_PACKETS_MAX).for_each(|_| recovery.handle_sent(at(0), 1, true, Vec::new()));
    while !recovery.is_silent() {
        let due = recovery.poll_timeout().unwrap();
        recovery.handle_timeout(due);
    }
    assert!(recovery.sent.len() >= SENT_PACKETS_MAX);
    recovery.handle_heard(at(9_000), true);
    assert_eq!(recovery.permit(at(9_000), 1_200), Permit::Now);
}

#[test]
fn packets_are_small_after_two_probe_timeouts_until_an_answer() {
    let mut recovery = recovery();
    send(&mut recovery, 0);
    let mut now = at(0);
    for len in [1_000, 1_000, PACKET_MIN, PACKET_MIN] {
        assert_eq!(recovery.packet_len(now), len, "{now:?}");
        now = recovery.poll_timeout().unwrap();
        recovery.handle_timeout(now);
    }
    ack(&mut recovery, now.as_millis(), 0, 0);
    assert_eq!(recovery.packet_len(now), 1_000);
}

/// Acknowledges a packet after three later ones, `late_millis` later than the round trip of 80 ms.
fn overtake(recovery: &mut Recovery, millis: u64, late_millis: u64) {
    let sent: Vec<u64> = (0..4).map(|_| send(recovery, millis)).collect();
    ack(recovery, millis + 80, sent[1], sent[3]);
    ack(recovery, millis + 80 + late_millis, sent[0], sent[3]);
}

#[test]
fn a_path_that_reorders_loses_packets_by_their_age_until_it_keeps_the_order() {
    let mut recovery = recovery();
    overtake(&mut recovery, 0, 16);
    // The round trip is 80 ms, and a packet may now be later by five quarters of 16 ms.
    let sent: Vec<u64> = (0..5).map(|_| send(&mut recovery, 1_000)).collect();
    assert_eq!(ack(&mut recovery, 1_080, sent[4], sent[4]).lost, []);
    assert_eq!(recovery.poll_timeout(), Some(at(1_100)));
    assert_eq!(numbers(&ack(&mut recovery, 1_090, sent[1], sent[4]).acked), sent[1..4]);
    assert_eq!(numbers(&recovery.handle_timeout(at(1_100)).lost), sent[..1], "a real loss");
    // The last packet of a flow is repeated after the same time as on a path that keeps the order.
    let last = send(&mut recovery, 2_000);
    let probe = at(2_000) + recovery.rtt().probe_timeout();
    assert_eq!(recovery.poll_timeout(), Some(probe));
    assert_eq!(numbers(&recovery.handle_timeout(probe).lost), [last]);
    // If lost packets never arrive, the path stops counting as reordering.
    let mut rounds = 0;
    while recovery.rtt().is_reordered() {
        rounds += 1;
        let now = 10_000 * rounds;
        let sent: Vec<u64> = (0..5).map(|_| send(&mut recovery, now)).collect();
        ack(&mut recovery, now + 80, sent[1], sent[4]);
        recovery.handle_timeout(at(now + 200));
    }
    assert!((16..64).contains(&rounds), "{rounds}");
    assert_eq!(recovery.rtt().loss_delay(), Duration::from_millis(90));
}

#[test]
fn late_acknowledgments_delay_repairs_by_no_more_than_a_round_trip_and_take_no_memory() {
    let mut recovery = recovery();
    for round in 1..2_000 {
        overtake(&mut recovery, 10_000 * round, 9_000);
        assert_eq!(recovery.rtt().loss_delay(), Duration::from_millis(160), "{round}");
    }
    let begin = 30_000_000;
    // The peer acknowledges only the last of each five packets.
    for round in 0..20_000 {
        let sent: Vec<u64> = (0..5).map(|_| send(&mut recovery, begin)).collect();
        ack(&mut recovery, begin + round / 1_000, sent[4], sent[4]);
        recovery.detect_losses(at(begin + 300), None, &mut Fates::default());
        assert!(recovery.sent.len() <= SENT_PACKETS_MAX / 2 && recovery.in_flight() == 0);
    }
    assert_eq!(recovery.permit(at(begin + 1_000_000), 1_200), Permit::Now);
}

#[test]
fn the_window_comes_back_when_all_lost_packets_of_a_window_have_arrived() {
    let mut recovery = recovery();
    let window = |recovery: &mut Recovery, now| {
        let before = recovery.in_flight();
        fill(recovery, now);
        recovery.in_flight() - before
    };
    let whole = window(&mut recovery, 0);
    assert_eq!(numbers(&ack(&mut recovery, 80, 5, 9).lost), [0, 1, 2, 3, 4]);
    assert_eq!(window(&mut recovery, 80), whole / 2);
    ack(&mut recovery, 85, 0, 3);
    assert_eq!(window(&mut recovery, 85), 0, "a packet may still be lost");
    ack(&mut recovery, 85, 4, 4);
    assert_eq!(window(&mut recovery, 85), whole / 2);
}

#[test]
fn a_silence_of_a_week_remembers_one_probe() {
    let mut recovery = recovery();
    (0..3).for_each(|it| assert_eq!(send(&mut recovery, 0), it));
    let mut now = at(0);
    let mut most = 0;
    while now < at(7 * 24 * 3_600_000) {
        now = recovery.poll_timeout().unwrap();
        let lost = recovery.handle_timeout(now).lost;
        assert_eq!(numbers(&lost)[0], 0, "the oldest is sent again");
        while recovery.owes_probe() {
            send(&mut recovery, now.as_millis());
        }
        most = most.max(recovery.sent.len());
    }
    // Three packets, two probes at each of the first two timeouts, and the newest probe.
    assert_eq!((most, recovery.in_flight()), (3 + 2 * 2 + 1, 8_000));
    let number = recovery.next_number().unwrap().get() - 1;
    let fates = ack(&mut recovery, now.as_millis() + 80, number, number);
    assert_eq!(numbers(&fates.acked), [number], "an answer to the newest probe counts");
    assert!(!recovery.is_silent());
}
