use super::*;

/// A reader that hands out at most `step` bytes at once, and is interrupted before each time.
struct Dribble<'a> {
    rest: &'a [u8],
    step: usize,
    is_interrupted: bool,
}

impl Read for Dribble<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.is_interrupted = !self.is_interrupted;
        if self.is_interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let len = self.step.min(buffer.len());
        self.rest.read(&mut buffer[..len])
    }
}

/// A reader and writer that fails at once, as a directory or a full disk does.
struct Broken(io::ErrorKind);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(self.0.into())
    }
}

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn options(columns: u16, rows: u16, json: bool) -> ScreenOptions {
    ScreenOptions { size: Size::new(columns, rows).unwrap(), json, stats: false }
}

fn output(options: ScreenOptions, input: impl Read) -> String {
    let (mut output, mut log) = (Vec::new(), Vec::new());
    run(options, input, &mut output, &mut log).unwrap();
    assert_eq!(log, b"");
    String::from_utf8(output).unwrap()
}

fn text(columns: u16, rows: u16, input: &[u8]) -> String {
    output(options(columns, rows, false), input)
}

fn json(columns: u16, rows: u16, input: &[u8]) -> String {
    output(options(columns, rows, true), input)
}

fn parsed(columns: u16, rows: u16, input: &[u8]) -> serde_json::Value {
    serde_json::from_str(&json(columns, rows, input)).unwrap()
}

#[test]
fn text_is_a_line_for_each_row_without_the_blanks_at_its_end() {
    for (input, expected) in [
        ("", "\n\n\n"),
        ("a", "a\n\n\n"),
        ("a   ", "a\n\n\n"),
        ("\r\n  b", "\n  b\n\n"),
        ("abcdefgh", "abcdef\ngh\n\n"),
        ("\x1b[31mred\x1b[44m   ", "red\n\n\n"),
        ("端末\r\ne\u{301}!", "端末\ne\u{301}!\n\n"),
        ("a\r\nb\r\nc\r\nd", "b\nc\nd\n"),
        ("shell\x1b[?1049h\x1b[Hvim", "vim\n\n\n"),
    ] {
        assert_eq!(text(6, 3, input.as_bytes()), expected, "{}", input.escape_debug());
    }
}

#[test]
fn json_shows_a_person_all_there_is() {
    let input = "a\x1b[7mb\x1b[0m \x1b[1;4;38;5;208;48;2;1;2;255mwörld\x1b[0m\r\n\
                 端末e\u{301}x\x1b[41m\x1b[K\x1b]0;the title\x07\x1b[?25l\x07\x07\x1b[6n";
    insta::assert_snapshot!(json(12, 3, input.as_bytes()).replace("{\"", "\n{\"").trim_start(), @r##"
    {"size":
    {"columns":12,"rows":3},"cursor":
    {"row":1,"column":6,"visible":false},"modes":
    {"reverse_video":false,"bracketed_paste":false,"focus_reporting":false,"mouse_reporting":"off","mouse_encoding":"default","alternate_screen":false,"application_cursor_keys":false,"synchronized_output":false,"cursor_style":0,"application_keypad":false,"alternate_scroll":null,"kitty_keyboard":0,"modify_other_keys":0},"title":"the title","icon_name":"the title","colors":{},"directory":"","clipboard":"","bells":2,"replies":"\\x1b[2;7R","reply_bytes":6,"rows":[
    {"text":"ab wörld","wrapped":false,"runs":[
    {"column":0,"cells":1,"width":1,"text":"a","foreground":"default","background":"default","attributes":[]},
    {"column":1,"cells":1,"width":1,"text":"b","foreground":"default","background":"default","attributes":["inverse"]},
    {"column":2,"cells":1,"width":1,"text":" ","foreground":"default","background":"default","attributes":[]},
    {"column":3,"cells":5,"width":1,"text":"wörld","foreground":208,"background":"#0102ff","attributes":["bold"],"underline":"straight"}]},
    {"text":"端末éx","wrapped":false,"runs":[
    {"column":0,"cells":2,"width":2,"text":"端末","foreground":"default","background":"default","attributes":[]},
    {"column":4,"cells":1,"width":1,"text":"é","foreground":"default","background":"default","attributes":[]},
    {"column":5,"cells":1,"width":1,"text":"x","foreground":"default","background":"default","attributes":[]},
    {"column":6,"cells":6,"width":1,"text":"","foreground":"default","background":1,"attributes":[]}]},
    {"text":"","wrapped":false,"runs":[]}]}
    "##);
}

#[test]
fn json_of_nothing_is_a_blank_screen() {
    insta::assert_snapshot!(json(2, 1, b"").replace("{\"", "\n{\"").trim_start(), @r##"
    {"size":
    {"columns":2,"rows":1},"cursor":
    {"row":0,"column":0,"visible":true},"modes":
    {"reverse_video":false,"bracketed_paste":false,"focus_reporting":false,"mouse_reporting":"off","mouse_encoding":"default","alternate_screen":false,"application_cursor_keys":false,"synchronized_output":false,"cursor_style":0,"application_keypad":false,"alternate_scroll":null,"kitty_keyboard":0,"modify_other_keys":0},"title":"","icon_name":"","colors":{},"directory":"","clipboard":"","bells":0,"replies":"","reply_bytes":0,"rows":[
    {"text":"","wrapped":false,"runs":[]}]}
    "##);
}

#[test]
fn modes_titles_clipboard_and_bells_are_told() {
    for (input, pointer, expected) in [
        ("\x1b[?5h", "/modes/reverse_video", "true"),
        ("\x1b[?2004h", "/modes/bracketed_paste", "true"),
        ("\x1b[?1004h", "/modes/focus_reporting", "true"),
        ("\x1b[?9h", "/modes/mouse_reporting", "\"x10\""),
        ("\x1b[?1000h", "/modes/mouse_reporting", "\"normal\""),
        ("\x1b[?1001h", "/modes/mouse_reporting", "\"highlight\""),
        ("\x1b[?1002h", "/modes/mouse_reporting", "\"button-motion\""),
        ("\x1b[?1003h", "/modes/mouse_reporting", "\"any-motion\""),
        ("\x1b[?1005h", "/modes/mouse_encoding", "\"utf8\""),
        ("\x1b[?1006h", "/modes/mouse_encoding", "\"sgr\""),
        ("\x1b[?1015h", "/modes/mouse_encoding", "\"urxvt\""),
        ("\x1b[?1049h", "/modes/alternate_screen", "true"),
        ("\x1b[?1h", "/modes/application_cursor_keys", "true"),
        ("\x1b[?1016h", "/modes/mouse_encoding", "\"sgr-pixels\""),
        ("\x1b[4 q", "/modes/cursor_style", "4"),
        ("\x1b=", "/modes/application_keypad", "true"),
        ("\x1b[?1007h", "/modes/alternate_scroll", "true"),
        ("\x1b[?1007l", "/modes/alternate_scroll", "false"),
        ("\x1b[>5u", "/modes/kitty_keyboard", "5"),
        ("\x1b[?u", "/replies", r#""\\x1b[?0u""#),
        ("\x1b[>4;2m", "/modes/modify_other_keys", "2"),
        ("\x1b[?2026h", "/modes/synchronized_output", "true"),
        ("\x1b]2;\"t\"\x07", "/title", r#""\"t\"""#),
        ("\x1b]1;i\x07", "/icon_name", "\"i\""),
        ("\x1b]4;10;#102030;2;#fff\x07", "/colors/10", "\"#102030\""),
        ("\x1b]10;#010203;#040506;#070809\x07", "/colors/background", "\"#040506\""),
        ("\x1b]7;file://host/a\x07", "/directory", "\"file://host/a\""),
        ("\x1b]9;4;4;7\x07", "/progress/kind", "\"paused\""),
        ("\x1b]9;4;4;7\x07", "/progress/percent", "7"),
        ("\x1b]52;c;aGk=\x07", "/clipboard", "\"aGk=\""),
        ("\x07\x07", "/bells", "2"),
        ("\x1b[c", "/replies", r#""\\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c""#),
        ("\x1b[c", "/reply_bytes", "35"),
        ("abc", "/rows/0/wrapped", "true"),
    ] {
        let report = parsed(2, 2, input.as_bytes());
        let value = report.pointer(pointer).map(ToString::to_string);
        assert_eq!(value.as_deref(), Some(expected), "{}", input.escape_debug());
    }
}

#[test]
fn runs_end_where_the_paint_the_width_or_the_kind_of_cell_changes() {
    for (input, expected) in [
        ("", &[][..]),
        ("ab", &[(0, 2, 1, "ab")]),
        ("a b ", &[(0, 4, 1, "a b ")]),
        ("a\x1b[Cb", &[(0, 1, 1, "a"), (2, 1, 1, "b")]),
        ("a\x1b[1mb", &[(0, 1, 1, "a"), (1, 1, 1, "b")]),
        ("端末x", &[(0, 2, 2, "端末"), (4, 1, 1, "x")]),
        ("ae\u{301}b", &[(0, 1, 1, "a"), (1, 1, 1, "e\u{301}"), (2, 1, 1, "b")]),
        ("\x1b[3C\u{301}", &[(3, 1, 1, "\u{a0}\u{301}")]),
        ("\x1b[41ma\x1b[K", &[(0, 1, 1, "a"), (1, 5, 1, "")]),
    ] {
        let report = parsed(6, 1, input.as_bytes());
        let runs: Vec<_> = report["rows"][0]["runs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| {
                let number = |field: &str| run[field].as_u64().unwrap();
                let text = run["text"].as_str().unwrap();
                (number("column"), number("cells"), number("width"), text)
            })
            .collect();
        assert_eq!(runs, expected, "{}", input.escape_debug());
    }
}

#[test]
fn how_the_input_is_cut_makes_no_difference() {
    let input = "plain \x1b[1;31mred\x1b[0m 端末 e\u{301}\r\n\x1b]0;title\x1b\\\x1b[6n\x1b[?1006h\
                 \x1bP$qm\x1b\\\x1b[5;3Hthere\x1b[c \u{1f600} \x1b["
        .repeat(20);
    let whole = json(20, 6, input.as_bytes());
    for step in (1..=9).chain([PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1]) {
        let dribble = Dribble { rest: input.as_bytes(), step, is_interrupted: false };
        assert_eq!(output(options(20, 6, true), dribble), whole, "{step} bytes at once");
    }
}

#[test]
fn no_question_goes_unanswered_however_close_they_stand() {
    let pen = "\x1b[1;3;4;5;7;8;38;2;255;255;255;48;2;255;255;255m";
    for (question, reply_bytes) in
        [("\x1bP$qm\x1b\\", 57), ("\x1b[>q", 17), ("\x1b[>c", 10), ("\x1bZ", 35), ("\x1b[6n", 6)]
    {
        let input = pen.to_owned() + &question.repeat(500);
        let report = parsed(80, 24, input.as_bytes());
        assert_eq!(report["reply_bytes"], 500 * reply_bytes, "{}", question.escape_debug());
    }
}

#[test]
fn replies_are_kept_up_to_the_bound_and_counted_past_it() {
    let mut replies = Replies::default();
    replies.push(&vec![b'a'; REPLIES_BYTES_MAX - 1]);
    replies.push(b"b");
    assert_eq!((replies.kept.len(), replies.bytes), (REPLIES_BYTES_MAX, Bytes::kib(64)));
    replies.push(b"cd");
    assert_eq!(replies.kept.len(), REPLIES_BYTES_MAX);
    assert_eq!(replies.kept.last(), Some(&b'b'));
    assert_eq!(replies.bytes, Bytes::new(64 * 1024 + 2));
}

#[test]
fn what_cannot_be_read_or_written_is_told_in_one_sentence() {
    use io::ErrorKind::{BrokenPipe, IsADirectory, StorageFull};
    let failure = |json, input: &mut dyn Read, output: &mut dyn Write| {
        let error = run(options(80, 24, json), input, output, io::sink()).unwrap_err();
        format!("{error:#}")
    };
    let unread = failure(false, &mut Broken(IsADirectory), &mut io::sink());
    assert_eq!(unread, "cannot read standard input: is a directory");
    for json in [false, true] {
        let full = failure(json, &mut io::empty(), &mut Broken(StorageFull));
        assert_eq!(full, "cannot write standard output: no storage space");
        let closed = failure(json, &mut io::empty(), &mut Broken(BrokenPipe));
        assert_eq!(
            closed,
            "standard output was closed by its reader before the screen was written"
        );
    }
}

#[test]
fn stats_tell_bytes_time_and_rate() {
    for (bytes, millis, expected) in [
        (50_000_000, 500, "50000000 bytes, 0.500 s of processor time in the emulator, 100.0 MB/s"),
        (0, 0, "0 bytes, 0.000 s of processor time in the emulator, too little to tell a rate"),
        (1, 0, "1 bytes, 0.000 s of processor time in the emulator, too little to tell a rate"),
    ] {
        assert_eq!(stats(Bytes::new(bytes), Duration::from_millis(millis)), expected);
    }
    let mut log = Vec::new();
    let asked = ScreenOptions { stats: true, ..options(80, 24, false) };
    run(asked, &b"hello"[..], io::sink(), &mut log).unwrap();
    let log = String::from_utf8(log).unwrap();
    assert!(log.starts_with("rove-lab: 5 bytes, ") && log.lines().count() == 1, "{log}");
}

#[test]
fn sizes_are_read_up_to_the_largest_screen_and_no_further() {
    for (text, size) in [
        ("80x24", Some((80, 24))),
        ("1x1", Some((1, 1))),
        ("4096x2048", Some((4096, 2048))),
        ("4097x2048", None),
        ("4096x2049", None),
        ("0x24", None),
        ("80x0", None),
        ("-1x24", None),
        ("99999999999999999999x24", None),
        ("80", None),
        ("80x", None),
        ("x24", None),
        ("80x24x2", None),
        ("80 x 24", None),
        ("80X24", None),
        ("", None),
    ] {
        let read = parse_size(text).ok().map(|size| (size.columns(), size.rows()));
        assert_eq!(read, size, "{text}");
    }
}
