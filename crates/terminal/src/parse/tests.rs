use super::*;

/// Records each call as text.
#[derive(Debug, Default, PartialEq, Eq)]
struct Recorder(Vec<String>);

impl Perform for Recorder {
    fn print_ascii(&mut self, text: &[u8]) {
        self.print(str::from_utf8(text).expect("ASCII"));
    }

    fn print(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(last) if last.starts_with("print ") => last.push_str(text),
            _ => self.0.push(format!("print {text}")),
        }
    }

    fn execute(&mut self, control: char) {
        self.0.push(format!("execute {:02x}", u32::from(control)));
    }

    fn escape(&mut self, intermediates: &[u8], last: u8) {
        self.0.push(format!("escape {}{}", intermediates.escape_ascii(), char::from(last)));
    }

    fn csi(&mut self, sequence: &Sequence<'_>) {
        self.0.push(format!("csi {}", described(sequence)));
    }

    fn osc(&mut self, text: &str, cut: bool, terminator: Terminator) {
        let text = if cut { format!("cut at {}", text.len()) } else { text.to_owned() };
        self.0.push(match terminator {
            Terminator::Bel => format!("osc {text}"),
            Terminator::St => format!("osc {text} st"),
        });
    }

    fn dcs(&mut self, sequence: &Sequence<'_>, text: &str) {
        self.0.push(format!("dcs {} {text}", described(sequence)));
    }
}

fn described(sequence: &Sequence<'_>) -> String {
    let private = [sequence.private];
    format!(
        "{}{:?}{}{}",
        if sequence.private == 0 { "".into() } else { private.escape_ascii().to_string() },
        sequence.parameters.values(),
        sequence.intermediates.escape_ascii(),
        char::from(sequence.last)
    )
}

fn parsed(bytes: &[u8]) -> Vec<String> {
    let mut whole = Recorder::default();
    Parser::default().advance(bytes, &mut whole);
    let (mut parser, mut pieces) = (Parser::default(), Recorder::default());
    bytes.iter().for_each(|byte| _ = parser.advance(&[*byte], &mut pieces));
    assert_eq!(whole, pieces, "{} cut into bytes", bytes.escape_ascii());
    whole.0
}

#[test]
fn bytes_become_actions() {
    let cases: &[(&[u8], &[&str])] = &[
        (b"ab\ncd", &["print ab", "execute 0a", "print cd"]),
        (b"a\x7fb\x00", &["print ab", "execute 00"]),
        (b"\x1b[1;2H", &["csi [1, 2]H"]),
        (b"\x1b[?25l", &["csi ?[25]l"]),
        (b"\x1b[4 q\x1b[!p\x1b[?1$p", &["csi [4] q", "csi [0]!p", "csi ?[1]$p"]),
        (b"\x1b[38:2::1:2:3m", &["csi [38, 2, 0, 1, 2, 3]m"]),
        (b"\x1b[2\nC", &["execute 0a", "csi [2]C"]),
        (b"\x1b[1\x182C", &["execute 18", "print 2C"]),
        (b"\x1b[1\x1b[2C", &["csi [2]C"]),
        (b"\x1b[1?2Cx", &["print x"]),
        (b"\x1b[:1mx", &["print x"]),
        (b"\x1b[ 1mx", &["print x"]),
        (b"\x1b[1\xc3\xa9x", &["csi [1]é", "print x"]),
        (b"\x1b(0\x1b#8\x1b7", &["escape (0", "escape #8", "escape 7"]),
        (b"\x1bD\xc2\x84\x1bE", &["execute 84", "execute 84", "execute 85"]),
        (b"\xc2\x9b3A", &["csi [3]A"]),
        (b"a\x9b31mb", &["print a\u{fffd}31mb"]),
        (b"\x1b]2;t\x07x", &["osc 2;t", "print x"]),
        (b"\x1b]2;t\x1b\\x", &["osc 2;t st", "print x"]),
        (b"\x1b]2;t\xc2\x9cx", &["osc 2;t st", "print x"]),
        (b"\xc2\x9d2;t\xc2\x9cx", &["osc 2;t st", "print x"]),
        (b"\x1b]2;a\nb\x7f\x07", &["osc 2;ab"]),
        (b"\x1b]2;t\x18x", &["execute 18", "print x"]),
        (b"\x1b]2;t\x1b[Ax", &["csi [0]A", "print x"]),
        (b"\x1b]2;t\x1b\x1b\\x", &["print x"]),
        (b"\x1bP1$qm\x1b\\x", &["dcs [1]$q m", "print x"]),
        (b"\x1bP1$qm\x1b(0", &["escape (0"]),
        // In a DCS no parameter may follow an intermediate. The malformed string is dropped.
        (b"\x1bP#0;2~\x1b\\x", &["print x"]),
        (b"\x1b_a\x07b\x1b\\x\x1b^c\x1b\\y\x1bXd\x1b\\z", &["print xyz"]),
        (b"\x1b_a\xc2\x84b", &["execute 84", "print b"]),
    ];
    for (bytes, actions) in cases {
        assert_eq!(parsed(bytes), *actions, "{}", bytes.escape_ascii());
    }
}

#[test]
fn ill_formed_text_becomes_replacement_characters() {
    let cases: &[(&[u8], &str)] = &[
        (b"a\xffb", "a\u{fffd}b"),
        (b"\xc3(", "\u{fffd}("),
        (b"\xe4\xb8|", "\u{fffd}|"),
        (b"\xc0\xaf", "\u{fffd}\u{fffd}"),
        (b"\xed\xa0\x80", "\u{fffd}\u{fffd}\u{fffd}"),
        (b"\xf5\x80|", "\u{fffd}\u{fffd}|"),
        (b"\xf0\x9f\x98x", "\u{fffd}x"),
        (b"\xf0\x9f\x98\xf0\x9f\x98\x80", "\u{fffd}\u{1f600}"),
        (b"\xe4\xb8\xe4\xb8\x80", "\u{fffd}\u{4e00}"),
        ("aé一\u{1f600}".as_bytes(), "aé一\u{1f600}"),
    ];
    for (bytes, text) in cases {
        assert_eq!(parsed(bytes), [format!("print {text}")], "{}", bytes.escape_ascii());
    }
}

#[test]
fn a_character_cut_by_a_control_is_replaced_before_it() {
    assert_eq!(parsed(b"\xe4\xb8\n"), ["print \u{fffd}", "execute 0a"]);
    assert_eq!(parsed(b"\xe4\xb8\x1b[A"), ["print \u{fffd}", "csi [0]A"]);
}

#[test]
fn strings_are_kept_to_their_bounds() {
    let osc = |len: usize| parsed(&[b"\x1b]", &*vec![b'a'; len], b"\x07"].concat());
    assert_eq!(osc(OSC_BYTES_MAX)[0].len(), "osc ".len() + OSC_BYTES_MAX);
    assert_eq!(osc(OSC_BYTES_MAX + 1), [format!("osc cut at {OSC_BYTES_MAX}")]);

    let dcs = |len: usize| parsed(&[b"\x1bP$q", &*vec![b'a'; len], b"\x1b\\"].concat());
    assert_eq!(dcs(DCS_BYTES_MAX), [format!("dcs [0]$q {}", "a".repeat(DCS_BYTES_MAX))]);
    assert!(dcs(DCS_BYTES_MAX + 1).is_empty());
}

#[test]
fn only_a_copy_may_be_long_and_its_room_is_given_back() {
    let (mut parser, mut recorder) = (Parser::default(), Recorder::default());
    for (len, is_cut) in [(OSC_COPY_BYTES_MAX, false), (OSC_COPY_BYTES_MAX + 1, true)] {
        let copy = ["52;c;".to_owned(), "A".repeat(len - 5)].concat();
        parser.advance(format!("\x1b]{copy}").as_bytes(), &mut recorder);
        assert!(parser.text.capacity() <= if is_cut { 0 } else { 2 * OSC_COPY_BYTES_MAX });
        parser.advance(b"\x07", &mut recorder);
        let wanted = if is_cut { "osc cut at 0".to_owned() } else { format!("osc {copy}") };
        assert!(recorder.0.pop() == Some(wanted), "{len}");
        assert!(parser.text.capacity() <= OSC_BYTES_MAX);
    }
    for other in ["2;", "520;", "5"] {
        let long = [other.to_owned(), "A".repeat(OSC_COPY_BYTES_MAX)].concat();
        parser.advance(format!("\x1b]{long}\x07").as_bytes(), &mut recorder);
        assert_eq!(recorder.0.pop(), Some(format!("osc cut at {OSC_BYTES_MAX}")));
    }
}

#[test]
fn a_character_that_does_not_fit_whole_is_left_out() {
    let text = ["a".repeat(OSC_BYTES_MAX - 1), "é".into(), "b".into()].concat();
    let actions = parsed(format!("\x1b]{text}\x07").as_bytes());
    assert_eq!(actions, [format!("osc cut at {}", OSC_BYTES_MAX - 1)]);
}

#[test]
fn sequences_with_too_many_intermediates_are_ignored() {
    assert_eq!(parsed(b"\x1b[1 !p"), ["csi [1] !p"]);
    assert!(parsed(b"\x1b[1 !$p").is_empty());
    assert_eq!(parsed(b"\x1b !0"), ["escape  !0"]);
    assert!(parsed(b"\x1b !$0").is_empty());
    assert!(parsed(b"\x1bP !$qm\x1b\\").is_empty());
}

#[test]
fn grounding_forgets_what_is_unfinished() {
    for cut in [&b"\x1b[3"[..], b"\x1b]2;t", b"\xe4\xb8", b"\x1b", b"\x1bPq"] {
        let (mut parser, mut recorder) = (Parser::default(), Recorder::default());
        parser.advance(cut, &mut recorder);
        parser.ground();
        parser.advance(b"m", &mut recorder);
        assert_eq!(recorder.0, ["print m"], "{}", cut.escape_ascii());
    }
}
