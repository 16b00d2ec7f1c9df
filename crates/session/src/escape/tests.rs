use proptest::prelude::*;

use super::*;

const DEFAULT: Option<u8> = Some(0x1e);
const NOTHING: Requests = Requests {
    quit: false,
    suspend: false,
    repaint: false,
    status: false,
    login: false,
    yes: false,
    closes_status: false,
    lock: false,
    dismiss: false,
    callback: false,
};
const QUITS: Requests = Requests { quit: true, ..NOTHING };
const SUSPENDS: Requests = Requests { suspend: true, ..NOTHING };
const REPAINTS: Requests = Requests { repaint: true, ..NOTHING };

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// Returns the keys for the program and the requests to the client, after one read of these keys and all timeouts.
fn filtered(key: Option<u8>, typed: &[u8]) -> (Vec<u8>, Requests) {
    read_in_pieces(key, [typed])
}

fn read_in_pieces<'a>(
    key: Option<u8>,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<u8>, Requests) {
    let (mut out, mut escape) = (Vec::new(), EscapeKey::new(key, false));
    let mut all = NOTHING;
    for piece in pieces {
        let requests = escape.handle(at(0), piece, &mut out);
        all.quit |= requests.quit;
        all.suspend |= requests.suspend;
        all.repaint |= requests.repaint;
    }
    assert_eq!(escape.handle(at(50), b"", &mut out), NOTHING);
    assert_eq!(escape.poll_timeout(), None);
    (out, all)
}

#[test]
fn commands_and_the_pass_key_are_told_from_text() {
    let both = Requests { quit: true, suspend: true, ..NOTHING };
    type Case = (Option<u8>, &'static [u8], &'static [u8], Requests);
    let table: [Case; 24] = [
        (DEFAULT, b"ab\r.", b"ab\r.", NOTHING),
        (DEFAULT, b"a\x1e.", b"a", QUITS),
        (DEFAULT, b"a\x1e\x1ab", b"ab", SUSPENDS),
        (DEFAULT, b"\x1e^", b"\x1e", NOTHING),
        (DEFAULT, b"\x1eX", b"\x1eX", NOTHING),
        (DEFAULT, b"\x1e\x1e", b"\x1e\x1e", NOTHING),
        (DEFAULT, b"\x1e\x1e.", b"\x1e\x1e.", NOTHING),
        (DEFAULT, b"\x1e\x1b[A.", b"\x1e\x1b[A.", NOTHING),
        (DEFAULT, b"a\x0c", b"a\x0c", REPAINTS),
        (DEFAULT, b"\x1e\x0c", b"\x1e\x0c", REPAINTS),
        (Some(0x02), b"\x02b\x02B", b"\x02\x02", NOTHING),
        (Some(b'~'), b"~.", b"~.", NOTHING),
        (Some(b'~'), b"a~.", b"a~.", NOTHING),
        (Some(b'~'), b"\r~.", b"\r", QUITS),
        (Some(b'~'), b"\n~.", b"\n", QUITS),
        (Some(b'~'), b"\r~~", b"\r~", NOTHING),
        (Some(b'~'), b"\r~~.", b"\r~.", NOTHING),
        (Some(b'~'), b"\r~\r~.", b"\r~\r", QUITS),
        (Some(b'~'), b"\r~\x1a~.", b"\r", both),
        (Some(0x7f), b"\x7f\x7f", b"\x7f", NOTHING),
        (Some(0x01), b"\x01a\x01.", b"\x01", QUITS),
        (Some(0x1b), b"\x1b.", b"", QUITS),
        (Some(0x1b), b"\x1bOA", b"\x1bOA", NOTHING),
        (None, b"\x1e.\x0c", b"\x1e.\x0c", REPAINTS),
    ];
    for (key, typed, text, requests) in table {
        assert_eq!(filtered(key, typed), (text.to_vec(), requests), "{typed:?}");
    }
}

#[test]
fn every_form_of_the_escape_key_takes_every_form_of_a_command() {
    let keys =
        ["\x1e", "\x1b[94;5u", "\x1b[54;6u", "\x1b[54:94;6:1u", "\x1b[27;5;94~", "\x1b[27;6;94~"];
    let commands = [
        (".", QUITS),
        ("\x1b[46u", QUITS),
        ("\x1b[46;1:1;46u", QUITS),
        ("\x1b[46;5u", QUITS),
        ("\x1b[27;5;46~", QUITS),
        ("\x1a", SUSPENDS),
        ("\x1b[122;5u", SUSPENDS),
        ("\x1b[27;5;122~", SUSPENDS),
    ];
    for key in keys {
        for (command, requests) in commands {
            let typed = format!("a{key}{command}");
            assert_eq!(filtered(DEFAULT, typed.as_bytes()), (b"a".to_vec(), requests), "{typed:?}");
        }
        // After the escape key, a pass key sends only the escape key, and any other key sends both.
        for pass in ["^", "\x1b[94u", "\x1b[54:94;2u", "\x1b[54;2u"] {
            let typed = format!("{key}{pass}");
            let passed = (key.as_bytes().to_vec(), NOTHING);
            assert_eq!(filtered(DEFAULT, typed.as_bytes()), passed, "{typed:?}");
        }
        for other in ["x", "\x1b[120u", "\x1b[94;5u", "\x1b[120;3u", "\x1b[A"] {
            let typed = format!("{key}{other}");
            let passed = (typed.clone().into_bytes(), NOTHING);
            assert_eq!(filtered(DEFAULT, typed.as_bytes()), passed, "{typed:?}");
        }
    }
}

#[test]
fn a_printable_escape_key_counts_after_an_enter_in_any_form() {
    for enter in ["\r", "\x1b[13u", "\x1b[13;1:1u\x1b[13;1:3u"] {
        for key in ["~", "\x1b[96:126;2u", "\x1b[96;2;126u", "\x1b[126u", "\x1b[96;2u"] {
            let typed = format!("{enter}{key}.");
            let enter = enter.as_bytes().to_vec();
            assert_eq!(filtered(Some(b'~'), typed.as_bytes()), (enter, QUITS), "{typed:?}");
        }
    }
}

#[test]
fn control_l_repaints_and_passes_in_any_form() {
    for typed in ["\x0c", "\x1b[108;5u", "\x1b[27;5;108~"] {
        for key in [DEFAULT, None] {
            let wanted = (typed.as_bytes().to_vec(), REPAINTS);
            assert_eq!(filtered(key, typed.as_bytes()), wanted, "{typed:?}");
        }
    }
    assert_eq!(filtered(DEFAULT, b"\x1b[108;5:3u"), (b"\x1b[108;5:3u".to_vec(), NOTHING));
}

#[test]
fn keys_released_are_passed_on_and_are_no_command() {
    let release = "\x1b[94;5:3u\x1b[57442;5u";
    let table = [
        (format!("\x1b[94;5u{release}."), release.to_owned(), QUITS),
        (
            format!("\x1b[94;5u{release}\x1b[94;5u"),
            format!("\x1b[94;5u{release}\x1b[94;5u"),
            NOTHING,
        ),
        (format!("\x1b[94;5u{release}^"), format!("\x1b[94;5u{release}"), NOTHING),
        (release.to_owned(), release.to_owned(), NOTHING),
    ];
    for (typed, text, requests) in table {
        assert_eq!(filtered(DEFAULT, typed.as_bytes()), (text.into_bytes(), requests), "{typed:?}");
    }
}

#[test]
fn released_keys_are_kept_for_the_command_up_to_a_bound() {
    let release = b"\x1b[97;1:3u"; // nine bytes
    let kept = SILENT_BYTES_MAX / release.len();
    for (count, requests) in [(kept, QUITS), (kept + 1, NOTHING)] {
        let releases = release.repeat(count);
        let typed = [b"\x1e", releases.as_slice(), b"."].concat();
        let text = if requests == QUITS { releases } else { typed.clone() };
        assert_eq!(filtered(DEFAULT, &typed), (text, requests), "{count} keys");
    }
}

#[test]
fn a_lone_escape_is_passed_on_at_once_and_a_longer_beginning_after_its_hold() {
    for (typed, at_once) in
        [("\x1b", "\x1b"), ("a\x1b[", "a\x1b["), ("a\x1b[9", "a"), ("\x1b[27;5;94", "")]
    {
        let (mut out, mut escape) = (Vec::new(), EscapeKey::new(DEFAULT, false));
        escape.handle(at(5), typed.as_bytes(), &mut out);
        assert_eq!(out, at_once.as_bytes());
        let due = (typed != at_once).then_some(at(55));
        assert_eq!(escape.poll_timeout(), due);
        escape.handle(at(54), b"", &mut out);
        assert_eq!(out, at_once.as_bytes());
        escape.handle(at(55), b"", &mut out);
        assert_eq!(out, typed.as_bytes());
        assert_eq!(escape.poll_timeout(), None);
        // Later bytes are no part of the key.
        escape.handle(at(55), b"[94;5u.", &mut out);
        assert_eq!(out, [typed.as_bytes(), b"[94;5u."].concat(), "{typed:?}");
    }
}

#[test]
fn reads_cut_anywhere_leave_the_escape_key_what_it_is() {
    for typed in ["\x1b[94;5u.", "\x1e\x1b[46;5u", "\x1b[27;5;94~\x1b[27;5;46~"] {
        let typed = typed.as_bytes();
        for cut in 1..typed.len() {
            let (text, requests) = read_in_pieces(DEFAULT, [&typed[..cut], &typed[cut..]]);
            // At most the first bytes of a key have passed before the filter could recognise the key.
            let leaked: [&[u8]; 3] = [b"", b"\x1b", b"\x1b["];
            assert!(leaked.contains(&text.as_slice()), "{text:?}");
            assert_eq!(requests, QUITS, "{typed:?} cut at {cut}");
        }
    }
}

#[test]
fn help_names_the_keys_and_stays_until_the_next_one() {
    let mut out = Vec::new();
    for (key, before, typed, help) in [
        (0x1e, "", "\x1e", "Commands: Ctrl-Z suspends, \".\" quits, \"^\" gives literal Ctrl-^"),
        (
            0x1e,
            "",
            "\x1b[94;5u",
            "Commands: Ctrl-Z suspends, \".\" quits, \"^\" gives literal Ctrl-^",
        ),
        (b'~', "\r", "~", "Commands: Ctrl-Z suspends, \".\" quits, \"~\" gives literal \"~\""),
        (b'"', "\r", "\"", "Commands: Ctrl-Z suspends, \".\" quits, '\"' gives literal '\"'"),
    ] {
        let mut escape = EscapeKey::new(Some(key), false);
        escape.handle(at(0), before.as_bytes(), &mut out);
        assert_eq!(escape.help(), None);
        escape.handle(at(0), typed.as_bytes(), &mut out);
        assert_eq!(escape.help().unwrap()[0], help);
        escape.handle(at(0), b"\x1b[94;5:3u", &mut out);
        assert_eq!(escape.help().unwrap()[0], help);
        escape.handle(at(0), b"x", &mut out);
        assert_eq!(escape.help(), None);
    }
}

#[test]
fn the_quit_hint_names_the_configured_key() {
    for (key, hint) in [
        (DEFAULT, Some("[To quit: Ctrl-^ .]")),
        (Some(0x02), Some("[To quit: Ctrl-B .]")),
        (Some(b'~'), Some("[To quit: \"~\" .]")),
        (Some(b'"'), Some("[To quit: '\"' .]")),
        (None, None),
    ] {
        assert_eq!(EscapeKey::new(key, false).quit_hint().as_deref(), hint);
    }
}

/// Returns random keys, none of which is the escape key.
fn any_keys() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => any::<u8>().prop_map(|byte| vec![if byte == 0x1e { b'x' } else { byte }]),
        1 => "\x1b\\[[0-9;:]{0,8}[u~A]?".prop_map(String::into_bytes),
        1 => "\x1b\\[(97|46|122);[0-9]{1,3}(:[123])?u".prop_map(String::into_bytes),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn all_other_keys_pass_byte_for_byte(keys in any_keys(), cuts in any::<[prop::sample::Index; 4]>()) {
        // Keys with a key code of Ctrl-^ are excluded.
        let numbers: [&[u8]; 3] = [b"94", b"54", b"30"];
        prop_assume!(!numbers.iter().any(|number| keys.windows(2).any(|pair| pair == *number)));
        let mut cuts = cuts.map(|cut| cut.index(keys.len() + 1));
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut from = 0;
        for cut in cuts.into_iter().chain([keys.len()]) {
            pieces.push(&keys[from..cut]);
            from = cut;
        }
        let (text, requests) = read_in_pieces(DEFAULT, pieces.iter().copied());
        prop_assert_eq!((&text, requests.quit | requests.suspend), (&keys, false));
        let (text, _) = read_in_pieces(None, pieces);
        prop_assert_eq!(text, keys);
    }
}

#[test]
fn the_status_is_shown_where_it_is_offered_and_no_other_command_has_its_key() {
    let shows = Requests { status: true, ..NOTHING };
    for (key, is_offered, typed, out, requests) in [
        (0x1e, true, "a\x1es", "a", shows),
        (0x1e, true, "\x1eS", "", NOTHING),
        (0x1e, true, "\x1e\x1b[115u", "", shows),
        (0x1e, false, "\x1es", "\x1es", NOTHING),
        // With Ctrl-S as the escape key, "s" sends Ctrl-S itself.
        (0x13, true, "\x13s", "\x13", NOTHING),
        (b'~', true, "\r~s", "\r", shows),
    ] {
        let (mut read, mut escape) = (Vec::new(), EscapeKey::new(Some(key), is_offered));
        assert_eq!(escape.handle(at(0), typed.as_bytes(), &mut read), requests, "{key} {typed:?}");
        assert_eq!(String::from_utf8(read).unwrap(), out, "{key} {typed:?}");
    }
    for (key, named) in [
        (0x1e, &["s status, ", "l lock, ", ", e end others"][..]),
        (0x13, &[]),
        (0x0c, &["s status, ", ", e end others"]),
        (0x05, &["s status, ", "l lock, "]),
    ] {
        let mut escape = EscapeKey::new(Some(key), true);
        escape.handle(at(0), &[key], &mut Vec::new());
        let help = &escape.help().unwrap()[0];
        for words in ["s status, ", "l lock, ", ", e end others"] {
            assert_eq!(help.contains(words), named.contains(&words), "{key}: {help}");
        }
    }
}

#[test]
fn the_help_fits_the_usual_window() {
    for (key, is_offered) in (1..=0x7f).flat_map(|key| [(key, true), (key, false)]) {
        let mut escape = EscapeKey::new(Some(key), is_offered);
        // A printable escape key counts only after Enter.
        let typed = if key < 0x20 { vec![key] } else { vec![b'\r', key] };
        escape.handle(at(0), &typed, &mut Vec::new());
        for offers_login in [false, true] {
            escape.offer_login(offers_login);
            let help = escape.help().unwrap();
            for (text, columns) in [(&help[help.len() - 2], 80), (help.last().unwrap(), 40)] {
                let bar = format!("rove: {text}");
                assert!(bar.chars().count() <= columns && bar.contains("quit"), "{bar}");
            }
        }
    }
}

#[test]
fn a_window_of_80_columns_names_the_keys_for_ports_files_and_logins_and_the_escape_key_itself() {
    for (key, words) in [
        (0x1e, "l lock, f ports, p files, o login, ^ literal"),
        (0x10, "l lock, f ports, o login, P literal"),
        (0x7f, "l lock, f ports, p files, o login"),
    ] {
        let mut escape = EscapeKey::new(Some(key), true);
        escape.handle(at(0), &[key], &mut Vec::new());
        let help = escape.help().unwrap();
        let shown = help.iter().find(|it| it.len() + "rove: ".len() <= 80).unwrap();
        assert_eq!(*shown, format!(". quit, ^Z suspend, s status, {words}"));
    }
}

#[test]
fn another_login_is_asked_for_only_where_it_is_offered() {
    let asks = Requests { login: true, ..NOTHING };
    for (key, is_offered, typed, out, requests) in [
        (0x1e, true, "a\x1erb", "ab", asks),
        (0x1e, true, "\x1e\x1b[114u", "", asks),
        (0x1e, false, "\x1er", "", NOTHING),
        // With Ctrl-R as the escape key, "r" sends Ctrl-R itself.
        (0x12, true, "\x12r", "\x12", NOTHING),
    ] {
        let (mut read, mut escape) = (Vec::new(), EscapeKey::new(Some(key), true));
        assert!(escape.login_hints().is_empty());
        escape.offer_login(is_offered);
        let names_key = escape.login_hints().iter().any(|hint| hint.contains("Ctrl-^ r"));
        assert_eq!(names_key, is_offered && key == 0x1e);
        assert_eq!(escape.handle(at(0), typed.as_bytes(), &mut read), requests, "{key} {typed:?}");
        assert_eq!(String::from_utf8(read).unwrap(), out, "{key} {typed:?}");
    }
}

#[test]
fn a_yes_counts_only_while_something_is_asked() {
    let agrees = Requests { yes: true, ..NOTHING };
    for (key, is_asking, typed, out, requests) in [
        (0x1e, true, "a\x1eyb", "ab", agrees),
        (0x1e, true, "y\r", "y\r", NOTHING),
        (0x1e, false, "\x1ey", "", NOTHING),
        // Pasted text cannot say yes.
        (0x1e, true, "\x1b[200~\x1ey\x1b[201~", "\x1b[200~\x1ey\x1b[201~", NOTHING),
        (0x1e, true, "\x1b[200~\x1el\x1ee\x1b[201~", "\x1b[200~\x1el\x1ee\x1b[201~", NOTHING),
        // With Ctrl-Y as the escape key, "y" sends Ctrl-Y itself.
        (0x19, true, "\x19y", "\x19", NOTHING),
    ] {
        let (mut read, mut escape) = (Vec::new(), EscapeKey::new(Some(key), true));
        escape.ask(at(0), is_asking);
        assert_eq!(escape.yes_hints().len(), usize::from(is_asking && key == 0x1e));
        assert_eq!(escape.handle(at(0), typed.as_bytes(), &mut read), requests, "{key} {typed:?}");
        assert_eq!(String::from_utf8(read).unwrap(), out, "{key} {typed:?}");
    }
}

#[test]
fn pasted_text_is_text_and_neither_ends_the_session_nor_stops_it() {
    for key in [0x1e, b'~'] {
        for command in [".", "\x1a", "r", "x", "^", "\x1e"] {
            let pasted = format!("\x1b[200~a\r{}{command}b\x1b[201~", char::from(key));
            let mut modal = Modal::new(key);
            modal.escape.offer_login(true);
            // The paste arrives in pieces of three bytes, too.
            for piece in pasted.as_bytes().chunks(3) {
                assert_eq!(modal.type_text(0, piece), NOTHING, "{key} {command:?}");
            }
            assert_eq!(String::from_utf8_lossy(&modal.out), pasted);
        }
    }
    // If the paste's end mark is lost, the user can quit after a pause. But a yes after a pause gives no permission.
    let mut modal = Modal::new(0x1e);
    modal.escape.ask(at(0), true);
    assert_eq!(modal.type_text(0, b"\x1b[200~text"), NOTHING);
    assert_eq!(modal.type_text(4_000, b"\x1e."), NOTHING);
    assert_eq!(modal.type_text(9_500, b"\x1ey"), NOTHING);
    assert_eq!(modal.type_text(15_000, b"\x1e.\rmore"), NOTHING);
    assert_eq!(modal.type_text(20_500, b"\x1e"), NOTHING);
    assert!(modal.type_text(20_700, b".").quit);
}

#[test]
fn a_yes_counts_for_no_question_that_has_just_taken_the_place_of_another() {
    let mut modal = Modal::new(0x1e);
    modal.escape.ask(at(0), true);
    modal.escape.ask(at(5_000), false);
    modal.escape.ask(at(5_000), true);
    assert_eq!(modal.type_text(5_050, b"\x1ey"), NOTHING);
    assert!(modal.type_text(5_700, b"\x1ey").yes);
    assert!(modal.out.is_empty());
}

#[test]
fn a_letter_that_a_terminal_sends_as_a_key_event_belongs_to_the_line() {
    let mut modal = Modal::new(0x1e);
    modal.type_text(0, b"\x1ep\x1b[233u\x1b[116u\x1b[233;5u\r");
    assert_eq!(modal.escape.take_line().map(|(_, line)| line).as_deref(), Some("\u{e9}t"));
}

/// The escape key's filter in a session of rove, and the keys that it has passed to the program.
struct Modal {
    escape: EscapeKey,
    out: Vec<u8>,
}

impl Modal {
    fn new(key: u8) -> Self {
        Self { escape: EscapeKey::new(Some(key), true), out: Vec::new() }
    }

    fn type_text(&mut self, millis: u64, typed: &[u8]) -> Requests {
        self.escape.handle(at(millis), typed, &mut self.out)
    }

    fn shows_help(&self) -> bool {
        self.escape.help().is_some()
    }
}

/// Keys that are no commands, each as the bytes that terminals send.
const UNKNOWN: [&[u8]; 13] = [
    b"x",
    b"S",
    b"\r",
    b"\x0c",
    b"\x1b",
    b"\x1b[",
    b"\x1b[A",
    b"\x1b[1;5C",
    b"\x1bOP",
    b"\x1bx",
    b"\x1b[120u",
    "\u{e9}".as_bytes(),
    "\u{1f600}".as_bytes(),
];

#[test]
fn a_key_that_is_no_command_shows_the_help_and_sends_nothing() {
    for key in UNKNOWN {
        for cut in 0..key.len() {
            let mut modal = Modal::new(0x1e);
            modal.type_text(0, b"a\x1e");
            modal.type_text(1, &key[..cut]);
            modal.type_text(2, &key[cut..]);
            assert_eq!(modal.type_text(110, b""), NOTHING);
            assert_eq!(modal.out, b"a", "{} cut at {cut}", key.escape_ascii());
            assert!(modal.shows_help());
            modal.type_text(120, b"b");
            assert_eq!(modal.out, b"ab");
            assert!(!modal.shows_help(), "the next key ends it");
        }
    }
}

#[test]
fn the_help_goes_by_itself() {
    let mut modal = Modal::new(0x1e);
    modal.type_text(0, b"\x1ex");
    let gone = modal.escape.poll_timeout().unwrap();
    assert_eq!(gone, at(0) + HELP_SHOWN);
    modal.type_text(4_999, b"");
    assert!(modal.shows_help());
    modal.type_text(5_000, b"");
    assert!(!modal.shows_help());
    assert_eq!(modal.escape.poll_timeout(), None);
}

#[test]
fn the_escape_key_hit_again_waits_for_its_command_still() {
    for typed in [&b"\x1e\x1e."[..], b"\x1e\x1b[94;5u.", b"\x1ex\x1e."] {
        let mut modal = Modal::new(0x1e);
        assert!(modal.type_text(0, typed).quit, "{}", typed.escape_ascii());
        assert!(modal.out.is_empty());
    }
    let mut modal = Modal::new(b'~');
    assert!(modal.type_text(0, b"\r~x~.").quit, "the line has not begun");
    assert_eq!(modal.out, b"\r");
}

#[test]
fn the_key_that_closes_the_status_is_kept_from_the_program() {
    let closes = Requests { closes_status: true, ..NOTHING };
    for key in UNKNOWN.into_iter().chain([&b"q"[..], b"."]) {
        let mut modal = Modal::new(0x1e);
        assert!(modal.type_text(0, b"\x1es").status);
        // The release of "s" does not count as a key.
        assert_eq!(modal.type_text(1, b"\x1b[115;1:3u"), NOTHING);
        let at_once = modal.type_text(2, key);
        let later = modal.type_text(110, b"");
        assert!([at_once, later].contains(&closes), "{}", key.escape_ascii());
        modal.type_text(120, b"b");
        assert_eq!(modal.out, b"\x1b[115;1:3ub", "{}", key.escape_ascii());
        assert!(!modal.shows_help());
    }
    let mut modal = Modal::new(0x1e);
    assert_eq!(modal.type_text(0, b"\x1esq"), closes, "one read");
    modal.type_text(1, b"\x1es");
    assert_eq!(modal.type_text(2, b"\x1e"), closes);
    assert!(modal.shows_help(), "the escape key is what it is");
    assert!(modal.type_text(3, b".").quit && modal.out.is_empty());
}

#[test]
fn a_status_that_has_gone_by_itself_keeps_no_key() {
    let mut modal = Modal::new(0x1e);
    modal.type_text(0, b"\x1es");
    modal.escape.status_gone();
    assert_eq!(modal.type_text(1, b"x"), NOTHING);
    assert_eq!(modal.out, b"x");
}

#[test]
fn bytes_that_are_no_key_reach_the_program_and_change_nothing() {
    let messages: [&[u8]; 6] = [
        b"\x1b[<0;3;4M",
        b"\x1b[M !!",
        b"\x1b[I",
        b"\x1b[1;1:3A",
        b"\x1b[115;1:3u",
        b"\x1b]52;c;eA==\x07",
    ];
    for message in messages {
        let mut modal = Modal::new(0x1e);
        modal.type_text(0, b"\x1e");
        modal.type_text(1, message);
        assert!(modal.shows_help());
        assert!(modal.type_text(2, b"s").status, "{}", message.escape_ascii());
        assert_eq!(modal.out, message);
        modal.type_text(3, message);
        assert!(modal.type_text(4, b"x").closes_status, "{}", message.escape_ascii());
        assert_eq!(modal.out, message.repeat(2));
    }
    let mut modal = Modal::new(0x1e);
    modal.type_text(0, b"\x1e");
    let moves = b"\x1b[<35;3;4M".repeat(1_000);
    modal.type_text(1, &moves);
    assert!(modal.type_text(2, b".").quit, "however many there are");
    assert_eq!(modal.out, moves);
}

#[test]
fn a_paste_arrives_whole() {
    for before in [&b"\x1e"[..], b"\x1es"] {
        let mut modal = Modal::new(0x1e);
        modal.type_text(0, before);
        modal.type_text(1, b"\x1b[200~one\rtwo\x1b[201~");
        assert_eq!(modal.out, b"\x1b[200~one\rtwo\x1b[201~");
        assert!(!modal.shows_help());
    }
}

#[test]
fn escape_as_the_escape_key_lets_all_others_pass() {
    let mut modal = Modal::new(ESC);
    modal.type_text(0, b"\x1bOA\x1bx");
    assert_eq!(modal.out, b"\x1bOA\x1bx");
    assert!(modal.type_text(1, b"\x1b.").quit);
}

#[test]
fn a_beginning_that_nothing_follows_is_a_key_if_a_user_may_have_hit_it() {
    let keys: [&[u8]; 4] = [b"\x1b", b"\x1b[", b"\x1b]", b"\xc3"];
    for bytes in keys.into_iter().chain([&b"\x1b[<0;3"[..], b"\x1b]52;c;eA"]) {
        let is_key = keys.contains(&bytes);
        let mut modal = Modal::new(0x1e);
        modal.type_text(0, b"\x1es");
        modal.type_text(1, bytes);
        assert!(modal.out.is_empty(), "{}", bytes.escape_ascii());
        assert_eq!(modal.type_text(51, b"").closes_status, is_key, "{}", bytes.escape_ascii());
        assert_eq!(modal.out, if is_key { b"" } else { bytes });
    }
}

#[test]
fn only_what_may_become_a_key_event_is_held_in_text() {
    let whole = b"\x1b[54:94:54;6:1;1u";
    assert!((1..whole.len()).all(|len| is_beginning(&whole[..len])));
    // The filter does not hold the beginning of a mouse report or of an answer.
    #[rustfmt::skip]
    let others: [&[u8]; 12] = [
        b"x", b"\x1bO", b"\x1b\x1b", b"\x1b[A", b"\x1b[1;5A", b"\x1b[?", b"\x1b[<0;3", b"\x1b[9\x1b", b"\x1b[M ",
        b"\x1b]52;c;eA", b"\xf0\x9f", b"\x1b[>0;1",
    ];
    for bytes in others {
        let (mut out, mut escape) = (Vec::new(), EscapeKey::new(DEFAULT, true));
        escape.handle(at(0), bytes, &mut out);
        assert_eq!((&out[..], escape.poll_timeout()), (bytes, None));
    }
}

#[test]
fn a_line_is_read_after_its_key_and_no_key_of_it_goes_to_the_program() {
    for (typed, out, requests, line) in [
        ("a\x1ef-L 1:h:2\rb", "ab", NOTHING, Some("-L 1:h:2")),
        ("\x1ef\x1b[A-D 9\x1b[1;5C\rb", "b", NOTHING, Some("-D 9")),
        ("\x1ef-L\x03b", "b", NOTHING, None),
        ("\x1ef-L\x1e.", "", QUITS, None),
        ("\x1epa.txt\rb", "b", NOTHING, Some("a.txt")),
        ("\x1ep\u{e9}\u{754c}\rb", "b", NOTHING, Some("\u{e9}\u{754c}")),
        ("a\x1eob", "ab", Requests { callback: true, ..NOTHING }, None),
        // Pasted text neither begins nor ends a line for the client, and starts no search for a login.
        ("\x1b[200~\x1eo\x1b[201~", "\x1b[200~\x1eo\x1b[201~", NOTHING, None),
        ("\x1b[200~\x1ef-D 9\r\x1b[201~", "\x1b[200~\x1ef-D 9\r\x1b[201~", NOTHING, None),
        ("\x1ef\x1b[200~-D 9\r\x1b[201~0\rb", "b", NOTHING, Some("-D 90")),
    ] {
        let (mut read, mut escape) = (Vec::new(), EscapeKey::new(DEFAULT, true));
        assert_eq!(escape.handle(at(0), typed.as_bytes(), &mut read), requests, "{typed:?}");
        assert_eq!(String::from_utf8(read).unwrap(), out, "{typed:?}");
        assert_eq!(escape.take_line().map(|(_, text)| text).as_deref(), line, "{typed:?}");
        assert_eq!(escape.take_line(), None, "{typed:?}");
    }
    let mut escape = EscapeKey::new(DEFAULT, true);
    escape.handle(at(0), b"\x1ef-L 1", &mut Vec::new());
    assert!(escape.help().unwrap()[0].ends_with(": -L 1_"));
    let (mut read, mut stock) = (Vec::new(), EscapeKey::new(DEFAULT, false));
    stock.handle(at(0), b"\x1ef", &mut read);
    assert_eq!((read.as_slice(), stock.take_line()), (&b"\x1ef"[..], None));
}
