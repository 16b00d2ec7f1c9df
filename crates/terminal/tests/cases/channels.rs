//! State that is not part of the picture: titles, bell, clipboard.

use rove_terminal::{COPY_CHARS_MAX, Notification, Size, Terminal, UserTerminal};

use super::follow::Follow;
use super::host;

#[test]
fn titles_and_icon_names_are_kept() {
    for (input, title, icon_name, titled) in [
        ("", "", "", false),
        ("\x1b]2;hello\x07", "hello", "", true),
        ("\x1b]0;h\u{e9}llo\x1b\\", "h\u{e9}llo", "h\u{e9}llo", true),
        ("\x1b]1;icon\x07", "", "icon", true),
        ("\x1b];semi\x07", "semi", "semi", true),
        ("\x1b]2;a;b\x07", "a;b", "", true),
        ("\x1b]2;abc\x18def", "", "", false),
        ("\x1b]3;x\x07\x1b]02;x\x07\x1b]22;x\x07\x1b]2\x07", "", "", false),
    ] {
        let terminal = host(80, 2, input);
        let screen = terminal.screen();
        assert_eq!(
            (screen.title(), screen.icon_name(), screen.titled()),
            (title, icon_name, titled)
        );
    }
}

#[test]
fn titles_are_cut_at_254_characters() {
    for (given, kept) in [(253, 253), (254, 254), (255, 254), (20_000, 254)] {
        let terminal = host(80, 2, format!("\x1b]2;{}\x07", "é".repeat(given)));
        assert_eq!(terminal.screen().title().chars().count(), kept);
    }
}

#[test]
fn a_title_hides_nothing_and_turns_nothing_around() {
    for (input, title) in [
        ("\x1b]2;\u{202e}evil\u{202c}\x07", "evil"),
        ("\x1b]2;\u{2028}\u{2067}evil\x07", "evil"),
        ("\x1b]0;a\u{200b}b\u{e0061}\x07", "ab"),
        ("\x1b]2;\u{5e9}\u{5dc}\u{200f}\x07", "\u{5e9}\u{5dc}"),
    ] {
        let mut terminal = host(80, 2, input);
        assert_eq!(terminal.screen().title(), title, "{input:?}");
        terminal.write(b"\x1b[22t\x1b]2;x\x07\x1b[23t");
        assert_eq!(terminal.screen().title(), title, "put aside and taken back");
        let mut replica = Terminal::replica(Size::DEFAULT);
        replica.write(input.as_bytes());
        assert_eq!(replica.screen().title(), title, "replica {input:?}");
    }
    // Characters that are left out do not count towards the limit.
    let terminal = host(80, 2, format!("\x1b]2;{}\x07", "\u{200b}a".repeat(300)));
    assert_eq!(terminal.screen().title(), "a".repeat(254));
}

/// In xterm 379, bytes that are not UTF-8 are Latin-1.
#[test]
fn titles_may_be_set_in_hexadecimal_digits() {
    for (input, title) in [
        ("\x1b[>0t\x1b]2;616263\x07", "abc"),
        ("\x1b[>0t\x1b]2;6162zz\x07", "old"),
        ("\x1b[>0t\x1b]2;616\x07", "old"),
        ("\x1b[>0t\x1b]2;\x07", "old"),
        ("\x1b[>0t\x1b]2;zz\x07", "old"),
        ("\x1b[>0t\x1b]2;61 62\x07", "old"),
        ("\x1b[>0t\x1b]2;c3a9\x07", "é"),
        ("\x1b[>0t\x1b]2;C3A9\x07", "é"),
        ("\x1b[>0t\x1b]2;61ff\x07", "a\u{fffd}"),
        ("\x1b[>0t\x1b]2;611b5b6d\x07", "a[m"),
        ("\x1b[>0;1t\x1b]2;616263\x07", "abc"),
        ("\x1b[>0t\x1b[>0T\x1b]2;616263\x07", "616263"),
        ("\x1b[>0t\x1b[>T\x1b]2;616263\x07", "abc"),
        ("\x1b[>0t\x1bc\x1b]2;616263\x07", "616263"),
        ("\x1b[>0t\x1b[!p\x1b]2;616263\x07", "abc"),
        ("\x1b[>t\x1b]2;616263\x07", "616263"),
        ("\x1b[>1;2;3;5t\x1b]2;ab\x07", "ab"),
        ("\x1b[>0t\x1b]0;6162\x07\x1b[22t\x1b]0;6364\x07\x1b[23t", "ab"),
    ] {
        let terminal = host(80, 2, format!("\x1b]0;old\x07{input}"));
        assert_eq!(terminal.screen().title(), title, "{input:?}");
    }
    let both = host(80, 2, "\x1b[>0t\x1b]0;6162\x07\x1b]1;63\x07");
    assert_eq!((both.screen().title(), both.screen().icon_name()), ("ab", "c"));
    let replica = {
        let mut replica = Terminal::replica(Size::DEFAULT);
        replica.write(b"\x1b[>0t\x1b]2;6162\x07");
        replica
    };
    assert_eq!(replica.screen().title(), "6162", "a difference says a title as it is");
}

#[test]
fn titles_are_put_aside_and_taken_back() {
    for (input, title, icon_name) in [
        ("\x1b]0;a\x07\x1b[22t\x1b]0;b\x07\x1b[23t", "a", "a"),
        ("\x1b]0;a\x07\x1b[22;0t\x1b]0;b\x07\x1b[23;2t", "a", "b"),
        ("\x1b]0;a\x07\x1b[22;2t\x1b]0;b\x07\x1b[23;1t", "b", "a"),
        ("\x1b]0;a\x07\x1b[23t", "a", "a"),
        ("\x1b]0;a\x07\x1b[22;9t\x1b]0;b\x07\x1b[23;0t", "b", "b"),
    ] {
        let terminal = host(80, 2, input);
        assert_eq!((terminal.screen().title(), terminal.screen().icon_name()), (title, icon_name));
    }
}

#[test]
fn the_title_stack_has_ten_places() {
    for (pushed, oldest) in [(10, "0"), (11, "1")] {
        let mut terminal = Terminal::host(Size::DEFAULT);
        for n in 0..pushed {
            terminal.write(format!("\x1b]2;{n}\x07\x1b[22t").as_bytes());
        }
        terminal.write("\x1b[23t".repeat(20).as_bytes());
        assert_eq!(terminal.screen().title(), oldest);
    }
}

#[test]
fn the_bell_is_counted() {
    assert_eq!(host(80, 2, "a\x07\x07b").screen().bells(), 2);
}

#[test]
fn a_bell_alone_is_worth_a_frame() {
    let mut follow = Follow::new(Size::DEFAULT);
    follow.write(b"a");
    for bells in 1..=3 {
        follow.write(b"\x07\x07");
        assert_eq!(follow.host().screen().bells(), 2 * bells);
        // Two bells in a frame become a single one. The renderer does not decide when the user hears it.
        assert_eq!((follow.replica().bells(), follow.user().bells()), (bells, 0));
    }
}

#[test]
fn the_users_terminal_follows_modes_and_titles() {
    let mut follow = Follow::new(Size::DEFAULT);
    for (input, title) in [
        ("\x1b]1;icon\x07", ""),
        ("\x1b]2;hello\x07", "hello"),
        ("\x1b]0;h\u{e9}\x1b\\", "h\u{e9}"),
    ] {
        follow.write(input.as_bytes());
        assert_eq!(follow.replica().title(), title);
        follow.assert_seen(input.as_bytes());
    }
    for mode in [9, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 2004, 5, 25] {
        for last in ["h", "l"] {
            let input = format!("\x1b[?{mode}{last}");
            follow.write(input.as_bytes());
            follow.assert_seen(input.as_bytes());
            let (user, host) = (follow.user(), follow.host().screen());
            assert_eq!(user.input_modes(), host.input_modes(), "{input:?}");
        }
    }
}

#[test]
fn a_replica_follows_copied_text_and_no_frame_copies() {
    let mut follow = Follow::new(Size::DEFAULT);
    for text in ["aGVsbG8=", "YQ=="] {
        follow.write(format!("\x1b]52;c;{text}\x07").as_bytes());
        assert_eq!([follow.replica(), follow.user()].map(|it| &**it.clipboard()), [text, ""]);
    }
}

#[test]
fn only_base64_reaches_the_clipboard() {
    for (input, clipboard) in [
        ("\x1b]52;c;aGVsbG8=\x07", "aGVsbG8="),
        ("\x1b]52;c;aGVsbG8=\x1b\\", "aGVsbG8="),
        ("\x1b]52;;aGVsbG8\x07", "aGVsbG8"),
        ("\x1b]52;p;aGVsbG8=\x07", ""),
        ("\x1b]52;s0;aGVsbG8=\x07", "aGVsbG8="),
        ("\x1b]52;x;aGVsbG8=\x07", ""),
        ("\x1b]52;c;?\x07", ""),
        ("\x1b]52;c;aGk=\x07\x1b]52;c;?\x07", "aGk="),
        ("\x1b]52;c;aGk=\x07\x1b]52;c;\x07", "aGk="),
        ("\x1b]52;c;not base64\x07", ""),
        ("\x1b]52;aGk=\x07", ""),
    ] {
        assert_eq!(&**host(80, 2, input).screen().clipboard(), clipboard, "{input:?}");
        let mut replica = Terminal::replica(Size::DEFAULT);
        replica.write(input.as_bytes());
        assert_eq!(&**replica.screen().clipboard(), clipboard, "replica {input:?}");
    }
}

#[test]
fn a_clipboard_too_long_is_ignored_whole() {
    for (len, kept) in [(16_376, 16_376), (16_379, 16_379), (16_380, 0), (16_384, 0), (40_000, 0)] {
        let terminal = host(80, 2, format!("\x1b]52;cpqs01234567;{}\x07", "A".repeat(len)));
        assert_eq!(terminal.screen().clipboard().len(), kept, "{len}");
    }
}

#[test]
fn a_copy_is_an_event_with_its_selections() {
    for (input, wanted) in [
        ("\x1b]52;c;aGVsbG8=\x07", Some(("c", "aGVsbG8="))),
        ("\x1b]52;c;aGVsbG8=\x1b\\", Some(("c", "aGVsbG8="))),
        ("\x1b]52;;aGVsbG8\x07", Some(("", "aGVsbG8"))),
        ("\x1b]52;p;aGVsbG8=\x07", Some(("p", "aGVsbG8="))),
        ("\x1b]52;s0;aGVsbG8=\x07", Some(("s0", "aGVsbG8="))),
        ("\x1b]52;c;aGk=\x07\x1b]52;pp;YQ==\x07\x1bc", Some(("p", "YQ=="))),
        ("\x1b]52;c;aGk=\x07\x1b]52;c;\x07", Some(("c", "aGk="))),
        ("\x1b]52;c;\x07", None),
        ("\x1b]52;x;aGVsbG8=\x07", None),
        ("\x1b]52;c;?\x07", None),
    ] {
        let mut terminal = host(80, 2, input);
        let copied = terminal.take_copied();
        let parts = copied.as_ref().map(|copied| (&**copied.selections(), &**copied.text()));
        assert_eq!(parts, wanted, "{input:?}");
        assert_eq!(terminal.take_copied(), None, "taken once");
        let mut replica = Terminal::replica(Size::DEFAULT);
        replica.write(input.as_bytes());
        assert_eq!(replica.take_copied(), None, "replica {input:?}");
    }
}

#[test]
fn a_copy_of_a_mebibyte_is_taken_and_a_longer_one_ignored_whole() {
    for (len, kept) in [(16_384, true), (COPY_CHARS_MAX, true), (COPY_CHARS_MAX + 4, false)] {
        let input = format!("\x1b]52;cpqs01234567;{}\x07", "A".repeat(len));
        let copied = host(80, 2, input).take_copied();
        assert_eq!(copied.map(|copied| copied.text().len()), kept.then_some(len), "{len}");
    }
}

#[test]
fn the_newest_notifications_wait_to_be_taken() {
    let mut terminal = host(80, 2, "");
    for number in 0..1000 {
        terminal.write(format!("\x1b]9;done {number}\x07\x1b]9;4;1;{number}\x07").as_bytes());
    }
    terminal.write(b"\x1b]777;notify;a;b\x1b\\\x1b]99;i=1:p=?;\x07\x1b]99;i=1;hi\x07\x1bc");
    let taken: Vec<_> = terminal.take_notifications().collect();
    let commands: Vec<&str> = taken.iter().map(Notification::command).collect();
    let wanted = ["9;done 994", "9;done 995", "9;done 996", "9;done 997", "9;done 998"];
    assert_eq!(commands[..5], wanted);
    assert_eq!(commands[5..], ["9;done 999", "777;notify;a;b", "99;i=1;hi"]);
    assert_eq!(terminal.take_notifications().count(), 0);
    let mut replica = Terminal::replica(Size::DEFAULT);
    replica.write(b"\x1b]9;done\x07");
    assert_eq!(replica.take_notifications().count(), 0);
}

/// The answers are those of xterm 379 with `allowWindowOps`, except that text too long for an answer gets none.
#[test]
fn copied_text_is_told_only_where_the_user_lets_programs_read_it() {
    let (fits, does_not) = ("A".repeat(4080), "A".repeat(4096));
    let [fits, does_not] = [fits, does_not].map(|text| format!("\x1b]52;c;{text}\x07"));
    for (input, told) in [
        ("\x1b]52;s0;aGVsbG8=\x07\x1b]52;s0;?\x07", "\x1b]52;s0;aGVsbG8=\x07"),
        ("\x1b]52;c;aGVsbG8=\x07\x1b]52;c;?\x1b\\", "\x1b]52;c;aGVsbG8=\x1b\\"),
        ("\x1b]52;c;aGVsbG8=\x07\x1b]52;pc;?\x07", "\x1b]52;pc;aGVsbG8=\x07"),
        ("\x1b]52;c;aGVsbG8=\x07\x1b]52;;?\x07", "\x1b]52;;aGVsbG8=\x07"),
        ("\x1b]52;;YQ==\x07\x1b]52;c;Yg==\x07\x1b]52;c;?\x07", "\x1b]52;c;Yg==\x07"),
        ("\x1b]52;c;YQ==\x07\x1bc\x1b]52;c;?\x07", "\x1b]52;c;YQ==\x07"),
        ("\x1b]52;c;YQ==\x07\x1b]52;c;\x07\x1b]52;c;?\x07", "\x1b]52;c;\x07"),
        ("\x1b]52;c;YQ==\x07\x1b]52;c;?;?\x07\x1b]52;x;?\x07\x1b]52;?\x07", ""),
        // Other selections than the clipboard are not kept.
        ("\x1b]52;p;YQ==\x07\x1b]52;p;?\x07\x1b]52;c;?\x07\x1b]52;0;?\x07", ""),
        ("\x1b]52;c;?\x07", ""),
        (&[&*fits, "\x1b]52;c;?\x07"].concat(), &fits),
        // If the last text is too long, no earlier text is reported instead.
        (&["\x1b]52;c;YQ==\x07", &*does_not, "\x1b]52;c;?\x07"].concat(), ""),
    ] {
        let allows = UserTerminal { read_copied: true, ..UserTerminal::default() };
        for (user_terminal, told) in [(allows, told), (UserTerminal::default(), "")] {
            let mut terminal = Terminal::host(Size::DEFAULT);
            terminal.set_user_terminal(user_terminal);
            terminal.write(input.as_bytes());
            assert_eq!(String::from_utf8_lossy(&terminal.take_replies()), told, "{input:?}");
        }
    }
}

#[test]
fn text_copied_before_the_user_allowed_it_stays_unread() {
    let mut terminal = host(80, 2, "\x1b]52;c;YQ==\x07");
    terminal.set_user_terminal(UserTerminal { read_copied: true, ..UserTerminal::default() });
    terminal.write(b"\x1b]52;c;?\x07");
    assert_eq!(terminal.take_replies(), b"");
}
