use proptest::prelude::*;

use rove_terminal::{Copied, ExitStatus, InputNum, Notification, Tty, TtyModes};
use rove_units::Instant;

use super::play::{EFFORT_MAX, RESIZES_MAX};
use super::*;
use crate::message::{self, RESIZE, varint_field};
use crate::part::Part;
use crate::parts::clipboard::{Clipboard, Outbox, PIECE_MAX};
use crate::parts::notifications::{Notifications, Recent};

const ROVE: Capabilities = crate::CAPABILITIES;
/// The extensions of a rove peer that does not support the pty's modes.
const UNTOLD: Capabilities = ROVE.difference(Capabilities::TTY);

fn size(columns: u16, rows: u16) -> Size {
    Size::new(columns, rows).unwrap()
}

fn num(num: u64) -> StateNum {
    StateNum::new(num)
}

/// Returns the state that a server publishes after programs wrote `bytes`.
fn published(size: Size, bytes: &[u8], echo_ack: u64) -> HostScreen {
    let mut terminal = Terminal::host(size);
    terminal.write(bytes);
    HostScreen::published(terminal.screen().clone(), num(echo_ack))
}

/// Returns the state of a server whose program copied `text` (OSC 52) `copies` times. It holds `held` bytes of it.
fn copying(copies: u32, text: &str, held: usize) -> HostScreen {
    let mut outbox = Outbox::default();
    let copied = Copied::new("pc", text).unwrap();
    (0..copies).for_each(|_| outbox.push(&copied));
    let clipboard = outbox.newest().holding(held);
    published(Size::DEFAULT, b"$ ", 0).with(|parts| parts.clipboard = clipboard)
}

/// Returns a client's copy of the screen after it has applied the diffs to these states in turn, and the last diff.
fn followed(window: Size, states: &[&HostScreen]) -> (HostScreen, Vec<u8>) {
    let mut replica = HostScreen::replica(window);
    replica.allow(&Allowed::new([size(4096, 2048)]));
    let mut base = &HostScreen::initial(Size::DEFAULT);
    let mut diff = Vec::new();
    for state in states {
        diff = state.diff_from(base, ROVE);
        replica.apply(&diff).unwrap();
        base = state;
    }
    (replica, diff)
}

/// Returns the field number and the body of each instruction in a diff (a `HostMessage`).
fn members(diff: &[u8]) -> Vec<(u32, &[u8])> {
    let member = |instruction| message::member(instruction, |_| true).unwrap().unwrap();
    message::instructions(diff).map(|instruction| member(instruction.unwrap())).collect()
}

/// Returns the field numbers of the instructions in a diff.
fn numbers(diff: &[u8]) -> Vec<u32> {
    members(diff).into_iter().map(|(number, _)| number).collect()
}

/// Returns a diff with an instruction for each of these fields.
fn diff_of(members: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut message = Vec::new();
    members.iter().for_each(|(number, body)| put_member(&mut message, *number, body));
    message
}

/// Returns the `HostMessage` field with these terminal bytes.
fn host_bytes(bytes: &[u8]) -> (u32, Vec<u8>) {
    (HOST_BYTES, bytes_field(HOST_BYTES_STRING, bytes))
}

fn bells(count: u64) -> (u32, Vec<u8>) {
    (Bells::MEMBER, varint_field(1, count))
}

fn echo_ack(num: u64) -> (u32, Vec<u8>) {
    (EchoAck::MEMBER, varint_field(8, num))
}

#[test]
fn a_diff_says_echo_ack_size_bytes_and_status_in_this_order() {
    let base = published(size(80, 24), b"", 1);
    let mut target = published(size(10, 2), b"x", 2);
    target.parts.exit_status = Some(ExitStatus::Code(3));
    let diff = target.diff_from(&base, ROVE);
    let status = <Option<ExitStatus>>::MEMBER;
    assert_eq!(numbers(&diff), [EchoAck::MEMBER, RESIZE, HOST_BYTES, status]);
    let (replica, _) = followed(Size::DEFAULT, &[&base, &target]);
    assert!(replica.same_as(&target));
    let stock = target.diff_from(&base, Capabilities::empty());
    assert_eq!(members(&stock), members(&diff)[..3]);
}

#[test]
fn equal_states_have_nothing_to_say() {
    for state in [published(Size::DEFAULT, b"x", 7), HostScreen::initial(Size::DEFAULT)] {
        assert_eq!(state.diff_from(&state, ROVE), b"");
        assert!(state.same_as(&state));
    }
}

#[test]
fn the_first_diff_says_the_size_whatever_the_client_started_with() {
    for window in [size(80, 24), size(132, 50), size(1, 1)] {
        let first = published(Size::DEFAULT, b"$ ", 0);
        assert!(!first.same_as(&HostScreen::initial(Size::DEFAULT)));
        let (replica, diff) = followed(window, &[&first]);
        assert_eq!(members(&diff)[0], (RESIZE, &b"\x28\x50\x30\x18"[..]));
        assert!(replica.same_as(&first));
        let second = published(Size::DEFAULT, b"$ l", 0);
        let (replica, diff) = followed(window, &[&first, &second]);
        assert_eq!(numbers(&diff), [HOST_BYTES]);
        assert!(replica.same_as(&second));
    }
}

#[test]
fn a_copy_is_told_to_a_rove_apart_from_the_picture_and_to_a_stock_client_within() {
    let copy = b"\x1b]52;c;aGk=\x07\x07";
    let base = published(Size::DEFAULT, b"", 0);
    let copied = copying(1, "aGk=", 4);
    let target = published(Size::DEFAULT, copy, 0)
        .with(|parts| parts.clipboard = copied.parts.clipboard.clone());
    let to_rove = target.diff_from(&base, ROVE);
    let piece = b"\x08\x01\x10\x00\x1a\x04aGk=\x22\x02pc\x28\x04".to_vec();
    assert_eq!(to_rove, diff_of(&[bells(1), (Clipboard::MEMBER, piece)]));
    let to_stock = target.diff_from(&base, Capabilities::empty());
    assert_eq!(to_stock, diff_of(&[host_bytes(b"\x07\x1b]52;c;aGk=\x07")]));
}

#[test]
fn the_same_text_twice_is_told_twice_whatever_the_client_missed() {
    let blank = published(Size::DEFAULT, b"$ ", 0);
    let states = [1, 2, 3].map(|copies| copying(copies, "aGk=", 4));
    for path in [&[0, 1, 2][..], &[0, 2], &[1, 2], &[2]] {
        let mut seen = vec![&blank];
        seen.extend(path.iter().map(|&at| &states[at]));
        let (replica, _) = followed(Size::DEFAULT, &seen);
        assert_eq!(replica.parts.clipboard.number(), 3, "{path:?}");
        assert_eq!(replica.parts.clipboard.whole(), Copied::new("pc", "aGk="));
        assert!(replica.same_as(&states[2]));
    }
}

#[test]
fn a_copy_in_pieces_is_told_from_whatever_the_base_holds() {
    let text = "AbCd".repeat(PIECE_MAX);
    let states = [0, 1, 3, 4].map(|pieces| copying(1, &text, pieces * PIECE_MAX));
    for path in [&[0, 1, 2, 3][..], &[1, 3], &[2, 3], &[3]] {
        let path: Vec<_> = path.iter().map(|&at| &states[at]).collect();
        let (replica, _) = followed(Size::DEFAULT, &path);
        assert_eq!(replica.parts.clipboard.whole(), Copied::new("pc", &text));
    }
    let rest = states[2].diff_from(&states[1], ROVE);
    assert!((2 * PIECE_MAX..2 * PIECE_MAX + 32).contains(&rest.len()), "{}", rest.len());
}

#[test]
fn a_text_is_forgotten_where_both_ends_are_known_to_hold_it() {
    let mut state = copying(1, "aGk=", 4);
    let (mut replica, _) = followed(Size::DEFAULT, &[&state]);
    for unlike in [copying(1, "aGk=", 2), copying(2, "aGk=", 4), published(Size::DEFAULT, b"", 0)] {
        replica.drop_prefix(&unlike);
        assert!(replica.parts.clipboard.whole().is_some());
    }
    let before = replica.clone();
    replica.drop_prefix(&before);
    state.drop_prefix(&before);
    assert_eq!(replica.parts.clipboard.whole(), None);
    assert!(replica.same_as(&before) && state.same_as(&before));
    assert_eq!(state.diff_from(&before, ROVE), b"");
}

#[test]
fn bells_are_counted_whatever_the_client_missed() {
    let states = [1, 2, 3].map(|bells| published(Size::DEFAULT, &vec![7; bells], 0));
    for path in [&[0, 1, 2][..], &[0, 2], &[2]] {
        let path: Vec<_> = path.iter().map(|&at| &states[at]).collect();
        let (replica, _) = followed(Size::DEFAULT, &path);
        assert_eq!((replica.parts.bells.0, replica.screen().bells()), (3, 0));
    }
}

fn notification(number: u64) -> Notification {
    Notification::new(&format!("9;done {number}th")).unwrap()
}

/// Returns the state that a server publishes after `count` notifications.
fn notifying(count: u64) -> HostScreen {
    let mut recent = Recent::default();
    (1..=count).for_each(|number| recent.push(Instant::ZERO, notification(number)));
    published(Size::DEFAULT, b"$ ", 0).with(|parts| parts.notifications = recent.state().clone())
}

#[test]
fn notifications_are_told_whatever_the_client_missed() {
    let blank = published(Size::DEFAULT, b"$ ", 0);
    let states = [1, 2, 3].map(notifying);
    for (path, told) in [(&[0, 1, 2][..], 3..=3), (&[0, 2], 2..=3), (&[2], 1..=3)] {
        let mut seen = vec![&blank];
        seen.extend(path.iter().map(|&at| &states[at]));
        let (replica, _) = followed(Size::DEFAULT, &seen);
        assert_eq!(replica.parts.notifications.newest(), 3);
        assert_eq!(
            replica.parts.notifications.after(0),
            told.map(notification).collect::<Vec<_>>()
        );
        assert!(replica.same_as(&states[2]));
    }
    let (_, diff) = followed(Size::DEFAULT, &[&blank, &notifying(1_000)]);
    assert!(diff.len() < 150, "{}", diff.len());
    assert_eq!(states[2].diff_from(&blank, Capabilities::empty()), b"");
}

#[test]
fn notifications_that_break_a_rule_are_refused_and_unknown_ones_passed_over() {
    let message = |newest: u64, count: u64| {
        let told =
            (1..=count).map(|number| bytes_field(2, notification(number).command().as_bytes()));
        let body = [varint_field(1, newest)].into_iter().chain(told).collect::<Vec<_>>().concat();
        diff_of(&[(Notifications::MEMBER, body)])
    };
    for (newest, count, is_refused) in
        [(5, 8, false), (6, 0, false), (u64::MAX, 8, false), (4, 1, true), (6, 9, true)]
    {
        let mut replica = HostScreen::replica(Size::DEFAULT);
        replica.apply(&message(5, 1)).unwrap();
        assert_eq!(replica.apply(&message(newest, count)).is_err(), is_refused, "{newest} {count}");
    }
    let mut strange = message(1, 1);
    let at = strange.windows(4).position(|window| window == b"done").unwrap();
    strange[at] = 0x9b;
    let mut replica = HostScreen::replica(Size::DEFAULT);
    replica.apply(&strange).unwrap();
    assert_eq!(
        (replica.parts.notifications.newest(), replica.parts.notifications.after(0).len()),
        (1, 0)
    );
}

#[test]
fn the_terminal_of_the_programs_is_told_on_change_and_to_no_stock_client() {
    let with = |bytes, tty| published(Size::DEFAULT, bytes, 0).with(|parts| parts.tty = tty);
    let secret = Tty { modes: TtyModes::USUAL.difference(TtyModes::ECHO), ..Tty::USUAL };
    let (unknown, usual) = (with(b"$ ", None), with(b"$ ", Some(Tty::USUAL)));
    let asking = with(b"Password: ", Some(secret));
    for (base, target, wanted) in
        [(&unknown, &usual, 1), (&usual, &asking, 2), (&asking, &asking, 0)]
    {
        let diff = target.diff_from(base, ROVE);
        assert_eq!(members(&diff).len(), wanted);
        let without = target.diff_from(base, UNTOLD);
        assert_eq!(members(&without).len(), wanted.saturating_sub(1));
    }
    assert!(!usual.same_as(&unknown));
    let (replica, _) = followed(Size::DEFAULT, &[&unknown, &usual, &asking]);
    assert_eq!(replica.parts.tty, Some(secret));
    // The midpoint picture does not show the prompt yet. Its part already says that echo is off, so the client knows
    // this in time. The midpoint omits the report of the shell's prompt.
    let secret = Some(secret);
    let waiting = secret.map(|tty| Tty { prompt: Some(InputNum::new(3)), ..tty });
    let long = [&b"\r\nx".repeat(20)[..], b"Password: "].concat();
    for tty in [secret, waiting] {
        let middle = with(&long, tty).midpoint(&usual).expect("something between");
        assert_eq!(middle.parts.tty, secret);
    }
}

#[test]
fn a_character_may_be_cut_between_two_diffs() {
    let mut replica = HostScreen::replica(Size::DEFAULT);
    for bytes in [&b"\xe5\xba"[..], &b"\x83"[..]] {
        replica = replica.clone();
        replica.apply(&diff_of(&[host_bytes(bytes)])).unwrap();
    }
    assert_eq!(replica.screen().row_text(0), "広");
}

#[test]
fn a_diff_that_breaks_a_rule_is_refused() {
    let refused = |diff: &[u8]| {
        let (mut replica, _) = followed(Size::DEFAULT, &[&published(Size::DEFAULT, b"", 5)]);
        replica.apply(diff).is_err()
    };
    assert!(!refused(&diff_of(&[echo_ack(5)])) && !refused(&diff_of(&[echo_ack(6)])));
    assert!(refused(&diff_of(&[echo_ack(4)])), "an echo ack that goes back");
    for (dimensions, is_refused) in
        [(b"\x28\x50\x30\x18", false), (b"\x28\x00\x30\x18", true), (b"\x28\x50\x30\x00", true)]
    {
        let resize = [&b"\x0a\x06\x1a\x04"[..], dimensions].concat();
        assert_eq!(refused(&resize), is_refused, "{dimensions:?}");
    }
    assert!(refused(b"\x0a\x7f"), "malformed");
    assert!(!refused(&diff_of(&[bells(2)])));
    assert!(refused(&diff_of(&[bells(2), bells(1)])), "bells that go back");
    assert!(
        refused(&diff_of(&[(Clipboard::MEMBER, varint_field(1, 1))])),
        "no beginning of a copy"
    );
}

#[test]
fn a_diff_may_resize_so_often_and_no_more() {
    for (resizes, is_refused) in [(RESIZES_MAX, false), (RESIZES_MAX + 1, true)] {
        let mut message = Vec::new();
        for columns in (1_u16..).take(resizes) {
            put_resize(&mut message, size(columns, 1));
        }
        let result = HostScreen::replica(Size::DEFAULT).apply(&message);
        assert_eq!(result.is_err(), is_refused, "{resizes}");
    }
}

#[test]
fn a_published_state_follows_nothing_and_a_hostile_size_is_cut_where_it_is_allowed() {
    let mut state = published(Size::DEFAULT, b"", 0);
    assert!(state.apply(b"").is_err());
    let mut replica = HostScreen::replica(size(1, 1));
    replica.allow(&Allowed::new([size(4096, 2048)]));
    replica.apply(b"\x0a\x0c\x1a\x0a\x28\xff\xff\xff\x7f\x30\xff\xff\xff\x7f").unwrap();
    assert_eq!(replica.screen().size(), size(4096, 2048));
}

#[test]
fn a_midpoint_shows_half_and_acknowledges_nothing() {
    let base = published(size(4, 4), b"", 1);
    let target = published(size(4, 4), b"a\r\nb\r\nc\r\nd", 2);
    let middle = target.midpoint(&base).unwrap();
    assert_eq!(middle.screen().row_text(0), "a");
    assert_eq!(middle.screen().row_text(3), "");
    assert_eq!(middle.echo_ack(), num(1));
    assert!(base.midpoint(&base).is_none());
}

#[test]
fn a_diff_that_leads_elsewhere_fails_the_self_check() {
    let state = |text: &str| published(Size::DEFAULT, text.as_bytes(), 0);
    let (base, target, other) = (state("a"), state("ab"), state("ac"));
    for peer in [ROVE, Capabilities::empty()] {
        assert_eq!(target.check(&base, &target.diff_from(&base, peer), peer), Ok(()));
        for wrong in [other.diff_from(&base, peer), Vec::new(), b"\xff\xff".to_vec()] {
            assert!(target.check(&base, &wrong, peer).is_err(), "{wrong:?}");
        }
    }
}

/// Returns random host output of all kinds.
fn any_output() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => "[ -~é広\r\n\t]{0,12}",
        2 => "\x1b\\[[0-9]{0,2}(;[0-9]{0,2})?[A-HJKLMPSTXdm@r]",
        1 => Just("\x1b]2;title\x1b\\".to_owned()),
        1 => Just("\x07".to_owned()),
        1 => "\x1b\\[\\?(5|25|1000|1006|2004|1004)[hl]",
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat().into_bytes())
}

fn any_state() -> impl Strategy<Value = HostScreen> {
    let status = prop_oneof![Just(None), any::<u8>().prop_map(|code| Some(ExitStatus::Code(code)))];
    (1_u16..40, 1_u16..12, any_output(), status).prop_map(|(columns, rows, output, exit_status)| {
        published(size(columns, rows), &output, 0).with(|parts| parts.exit_status = exit_status)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_diff_leads_from_any_state_to_any_later_one(
        mut first in any_state(),
        mut second in any_state(),
        acks in (0_u64..9, 0_u64..9),
        columns in 1_u16..40,
        copies in (0_u32..3, 0_u32..2),
        held in (1_usize..300, 1_usize..300),
    ) {
        first.parts.echo_ack = EchoAck(num(acks.0));
        second.parts.echo_ack = EchoAck(num(acks.0 + acks.1));
        second.parts.exit_status = second.parts.exit_status.or(first.parts.exit_status);
        second.parts.bells.0 += first.parts.bells.0;
        let text = "AbCd".repeat(50);
        first.parts.clipboard = copying(copies.0, &text, held.0.min(200)).parts.clipboard;
        second.parts.clipboard =
            copying(copies.0 + copies.1, &text, held.0.max(held.1).min(200)).parts.clipboard;
        let (replica, _) = followed(size(columns, 5), &[&first, &second]);
        prop_assert_eq!(replica.echo_ack(), second.echo_ack());
        prop_assert_eq!(replica.parts.exit_status, second.parts.exit_status);
        prop_assert_eq!(replica.parts.bells.0, second.parts.bells.0);
        prop_assert!(replica.parts.clipboard.same_as(&second.parts.clipboard));
        let (shown, wanted) = (replica.screen(), second.screen());
        prop_assert_eq!(shown.size(), wanted.size());
        prop_assert_eq!(shown.cursor(), wanted.cursor());
        for row in 0..wanted.size().rows() {
            prop_assert_eq!(shown.row(row).unwrap().cells(), wanted.row(row).unwrap().cells());
        }
        // Rows may still differ in whether they wrap, which no diff can always express.
        prop_assert_eq!(second.diff_from(&replica, ROVE), b"");
        for peer in [ROVE, Capabilities::empty()] {
            prop_assert_eq!(second.check(&first, &second.diff_from(&first, peer), peer), Ok(()));
        }
    }
}

/// Applies a diff with these terminal bytes to a client's copy of this size.
fn play(window: Size, bytes: &[u8]) -> Result<(), ApplyError> {
    HostScreen::replica(window).apply(&diff_of(&[host_bytes(bytes)]))
}

/// Returns the effort of a replica for these terminal bytes.
fn spent(window: Size, bytes: &[u8]) -> u64 {
    let mut terminal = Terminal::replica(window);
    terminal.write(bytes);
    terminal.effort()
}

#[test]
fn a_diff_may_cost_so_much_work_and_no_more() {
    // A line feed in the last of 200 rows moves all rows; an empty row need not be cleared.
    let window = size(500, 200);
    let scrolls = |count| [b"\x1b[200H".as_slice(), &vec![b'\n'; count]].concat();
    let each = spent(window, &scrolls(1)) - spent(window, &scrolls(0));
    let most = usize::try_from((EFFORT_MAX - spent(window, &scrolls(0))) / each).unwrap() - 1;
    assert!(spent(window, &scrolls(most)) < EFFORT_MAX);
    assert_eq!(play(window, &scrolls(most)), Ok(()));
    let refusal = play(window, &scrolls(most + 4096)).expect_err("it is refused");
    assert!(refusal.reason.contains("more work"), "{refusal}");
}

#[test]
fn a_diff_in_parts_does_what_it_does_at_once() {
    let window = size(40, 6);
    let text = "\x1b[3;4Hab\x1b[41mc\x1b[2@\u{301}\r\n\x1b]2;title\x07一二三x".repeat(20);
    let resize = (RESIZE, b"\x28\x1e\x30\x05".to_vec());
    let last = host_bytes(b"\x1b[Hlast");
    let diff = diff_of(&[echo_ack(3), resize, host_bytes(text.as_bytes()), bells(7), last]);
    let mut whole = HostScreen::replica(window);
    whole.apply(&diff).unwrap();
    for effort in [1, 7, 100, 1000, 5000, 1_000_000] {
        let mut state = HostScreen::replica(window);
        let mut sum = 0;
        let parts = (1..).find(|_| {
            let part = state.apply_part(&diff, effort).unwrap();
            sum += part.effort;
            part.is_whole
        });
        assert!(state.same_as(&whole) && state.screen() == whole.screen(), "{effort}");
        // A part of the work exceeds its limit by at most the cost of a sequence and a row of text.
        assert!(sum / effort <= parts.unwrap() * (1 + 10_000 / effort), "{effort}");
        assert!(parts.unwrap() > 1 || effort >= sum, "{effort}");
    }
}

#[test]
fn a_replica_is_no_larger_than_the_window_whatever_a_diff_says() {
    let resize = |to: Size| {
        let mut message = Vec::new();
        put_resize(&mut message, to);
        message
    };
    let refusal = ApplyError { reason: "a screen larger than the window".to_owned() };
    let window = size(100, 50);
    for (to, outcome) in [
        (window, Ok(())),
        (size(1, 1), Ok(())),
        (Size::DEFAULT, Ok(())),
        (size(101, 50), Err(refusal.clone())),
        (size(100, 51), Err(refusal.clone())),
        (size(4096, 2048), Err(refusal.clone())),
    ] {
        assert_eq!(HostScreen::replica(window).apply(&resize(to)), outcome, "{to:?}");
    }
    // Once only a smaller window is allowed, a diff of an older, larger state must resize the screen.
    let mut older = HostScreen::replica(window);
    older.allow(&Allowed::new([size(90, 30)]));
    assert_eq!(older.clone().apply(&diff_of(&[host_bytes(b"x")])), Err(refusal));
    assert_eq!(older.apply(&resize(size(90, 30))), Ok(()));
}

#[test]
fn a_string_without_an_end_counts_as_memory_of_its_state() {
    let string = [b"\x1b]52;c;".to_vec(), vec![b'A'; 1_000_000]].concat();
    let mut state = HostScreen::replica(Size::DEFAULT);
    state.apply(&diff_of(&[host_bytes(&string)])).unwrap();
    assert!(state.bytes_beyond(Some(&state.clone())).get() > 1_000_000);
}

#[test]
fn small_sequences_cannot_keep_a_client_busy_with_a_large_screen() {
    for sequence in [
        "\x1bc",
        "\x1b[2J",
        "\x1b#8",
        "\x1b[L",
        "\x1b[M",
        "\x1b[S",
        "\x1b[T",
        "\x1bM",
        "\x1b[ A",
        "\x1b['}",
        "\x1b[65$x",
        "\x1b[1;1;200;500;2;1$v",
        "\x1b[65$x\x1b[$z",
    ] {
        let hostile = sequence.repeat(1_000_000 / sequence.len());
        assert!(play(size(500, 200), hostile.as_bytes()).is_err(), "{sequence:?}");
    }
    for sequence in ["\x1b[H\x1b[@", "\x1b[H\x1b[P", "x\r\x1b[K", "\x1b[3g\r\t", "\x1b[3g\x1b[Z"] {
        let hostile = sequence.repeat(4_000_000 / sequence.len());
        assert!(play(size(500, 200), hostile.as_bytes()).is_err(), "{sequence:?}");
    }
}

#[test]
fn small_sequences_cannot_keep_a_client_busy_with_a_long_row() {
    let marked = "x\u{301}".repeat(500);
    for sequence in
        ["x\r\n", "\x1bMx", "\x1b[4h\x1b[Hx\u{301}", "\x1b[H\x1b[@x\u{301}", "\x1b[2K\rx"]
    {
        let hostile = marked.clone() + &sequence.repeat(4_000_000 / sequence.len());
        assert!(play(size(500, 1), hostile.as_bytes()).is_err(), "{sequence:?}");
    }
}

#[test]
fn a_picture_of_many_pieces_costs_a_client_little() {
    // Every row of a screen larger than any wall of monitors has shifts, gaps and colors.
    let piece = "\x1b[44;31mx\u{301}\x1b[20X\x1b[20C\x1b[mgap\x1b[9C";
    let row = piece.repeat(30) + "\r\n";
    let mut host = rove_terminal::Terminal::host(size(1000, 300));
    host.write(row.repeat(300).as_bytes());
    let first = HostScreen::published(host.snapshot(), num(0));
    host.write("\x1b[2@".repeat(2).as_bytes());
    (1..=300).for_each(|row| host.write(format!("\x1b[{row};3H\x1b[2@").as_bytes()));
    let second = HostScreen::published(host.snapshot(), num(0));
    let (replica, _) = followed(size(80, 24), &[&first, &second]);
    assert!(second.diff_from(&replica, ROVE).is_empty());
    let Picture::Replica(terminal) = &replica.picture else { panic!("a replica") };
    assert!(terminal.effort() < EFFORT_MAX / 4, "{} of {EFFORT_MAX}", terminal.effort());
}

#[test]
fn a_replica_hides_no_second_picture_and_counts_its_memory() {
    let text: String = (1..=300).map(|row| format!("\x1b[{row}Hx")).collect();
    let text = format!("\x1b[?47h{text}\x1b[?1049l");
    let blank = HostScreen::replica(size(1000, 300));
    let mut written = blank.clone();
    written.apply(&diff_of(&[host_bytes(text.as_bytes())])).unwrap();
    assert_eq!(written.screen().row_text(299), "x");
    let cells = 300 * 1000 * 16;
    assert!(written.bytes_beyond(Some(&blank)).get() > cells);
    assert!((cells..2 * cells).contains(&written.bytes_beyond(None).get()));
    assert!(written.clone().bytes_beyond(Some(&written)).get() < cells / 50);
}

#[test]
fn an_echo_ack_alone_is_urgent_to_a_client_that_learns_from_it() {
    let state = |text: &[u8], ack| published(Size::DEFAULT, text, ack);
    let before = state(b"a", 1);
    for (after, untold, told) in [
        (state(b"a", 2), false, true),
        (state(b"ab", 1), true, true),
        (state(b"ab", 2), true, true),
    ] {
        assert_eq!(after.is_urgent_to(UNTOLD, &before), untold);
        assert_eq!(after.is_urgent_to(ROVE, &before), told);
    }
}
