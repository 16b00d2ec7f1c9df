//! Colours that programs set, reset and ask for.

use rove_terminal::display::{self, Vocabulary};
use rove_terminal::{
    ColorSlot, OscSupport, Renderer, Screen, Size, Terminal, TerminalCapabilities, UserTerminal,
};

use super::host;

/// Describes the colours that are set.
fn colors(screen: &Screen) -> String {
    let described = screen.colors().iter().map(|(slot, color)| {
        let slot = match slot {
            ColorSlot::Palette(index) => index.to_string(),
            ColorSlot::Foreground => "fg".to_owned(),
            ColorSlot::Background => "bg".to_owned(),
            ColorSlot::Cursor => "cursor".to_owned(),
        };
        format!("{slot} {:02x}{:02x}{:02x}", color.red, color.green, color.blue)
    });
    described.collect::<Vec<_>>().join(", ")
}

#[test]
fn programs_set_and_reset_colours() {
    for (input, set) in [
        ("", ""),
        ("\x1b]4;1;rgb:12/34/56\x07", "1 123456"),
        ("\x1b]4;1;#010203;255;#fff\x1b\\", "1 010203, 255 f0f0f0"),
        ("\x1b]4;1;#010203;256;#fff;x;#fff;2;red;3;#030303;4\x07", "1 010203, 3 030303"),
        ("\x1b]4;1;#010203\x07\x1b]4;1;nonsense\x07", "1 010203"),
        ("\x1b]10;#010203\x07", "fg 010203"),
        ("\x1b]11;#010203\x07", "bg 010203"),
        ("\x1b]12;#010203\x07", "cursor 010203"),
        ("\x1b]10;#010203;#040506;#070809;#0a0b0c\x07", "fg 010203, bg 040506, cursor 070809"),
        ("\x1b]10;;#040506\x07", "bg 040506"),
        ("\x1b]11;#040506;#070809\x07", "bg 040506, cursor 070809"),
        ("\x1b]12;#070809;#070809\x07", "cursor 070809"),
        ("\x1b]13;#010203\x07\x1b]5;0;#010203\x07\x1b]4\x07\x1b]10\x07", ""),
        ("\x1b]4;1;#111111;2;#222222;3;#333333\x07\x1b]104;1;3\x07", "2 222222"),
        ("\x1b]4;1;#111111\x07\x1b]104;x;256\x07", "1 111111"),
        ("\x1b]4;1;#111111;2;#222222\x07\x1b]11;#333333\x07\x1b]104\x07", "bg 333333"),
        ("\x1b]4;1;#111111\x07\x1b]104;\x1b\\", ""),
        ("\x1b]10;#111111;#222222;#333333\x07\x1b]110\x07", "bg 222222, cursor 333333"),
        ("\x1b]10;#111111;#222222;#333333\x07\x1b]111;\x07", "fg 111111, cursor 333333"),
        ("\x1b]10;#111111;#222222;#333333\x07\x1b]112\x1b\\", "fg 111111, bg 222222"),
        ("\x1b]10;#111111\x07\x1b[!p\x1b[m", "fg 111111"),
        ("\x1b]10;#111111\x07\x1b]4;1;#111111\x07\x1bc", ""),
        ("\x1b]10;#111111\x07\x1b[?1049h\x1b]11;#222222\x07\x1b[?1049l", "fg 111111, bg 222222"),
        ("\x1b]10;#111111\x18\x1b]11;#222222\x1b[m", ""),
    ] {
        assert_eq!(colors(host(80, 2, input).screen()), set, "{input:?}");
    }
}

#[test]
fn every_slot_can_be_set_and_no_more() {
    let mut terminal = Terminal::host(Size::DEFAULT);
    for index in 0..=300 {
        terminal.write(format!("\x1b]4;{index};#010203\x07").as_bytes());
    }
    for number in 0..=20 {
        terminal.write(format!("\x1b]{number};#010203\x07\x1b]5;{number};#010203\x07").as_bytes());
    }
    assert_eq!(terminal.screen().colors().iter().count(), 256 + 3);
}

#[test]
fn a_list_of_colours_longer_than_a_string_may_be_changes_nothing() {
    for (pairs, set) in [(1_000, "1 010203"), (10_000, "")] {
        let input = format!("\x1b]4{}\x07", ";1;#010203".repeat(pairs));
        let mut terminal = Terminal::host(Size::DEFAULT);
        terminal.write(input.as_bytes());
        assert_eq!(colors(terminal.screen()), set);
    }
}

#[test]
fn colours_are_told_to_who_asks_and_as_he_asks() {
    for (input, reply) in [
        ("\x1b]4;1;?\x07", "\x1b]4;1;rgb:cdcd/0000/0000\x07"),
        ("\x1b]4;67;?\x1b\\", "\x1b]4;67;rgb:5f5f/8787/afaf\x1b\\"),
        ("\u{9d}4;255;?\u{9c}", "\x1b]4;255;rgb:eeee/eeee/eeee\x1b\\"),
        (
            "\x1b]4;0;?;1;#123456;1;?\x07",
            "\x1b]4;0;rgb:0000/0000/0000\x07\x1b]4;1;rgb:1212/3434/5656\x07",
        ),
        ("\x1b]11;#123456\x07\x1b]10;?;?;?\x1b\\", "\x1b]11;rgb:1212/3434/5656\x1b\\"),
        ("\x1b]12;#123456;#fff\x07\x1b]12;?\x07", "\x1b]12;rgb:1212/3434/5656\x07"),
        ("\x1b]4;1;#123456\x07\x1b]104\x07\x1b]4;1;?\x07", "\x1b]4;1;rgb:cdcd/0000/0000\x07"),
    ] {
        let given = host(80, 24, input).take_replies();
        assert_eq!(given.escape_ascii().to_string(), reply.as_bytes().escape_ascii().to_string());
    }
}

#[test]
fn a_stock_client_is_sent_no_colours() {
    let set = host(80, 2, "\x1b]4;1;#010203\x07\x1b]10;#010203\x07");
    let blank = Screen::blank(set.screen().size());
    for (old, new) in [(&blank, set.screen()), (set.screen(), &blank)] {
        assert_eq!(display::diff(old, new, Vocabulary::Stock), b"");
    }
}

#[test]
fn the_users_terminal_gets_the_colours_and_gets_its_own_back() {
    let size = Size::clamped(10, 2);
    let mut program = Terminal::host(size);
    let mut renderer = Renderer::new(TerminalCapabilities {
        osc: OscSupport::ALL,
        ..TerminalCapabilities::default()
    });
    let mut user = Terminal::host(size);
    user.write(&renderer.open());
    user.write(&renderer.frame(program.screen()));
    for input in ["\x1b]4;1;#010203;2;#010203\x07\x1b]11;#123456\x07", "\x1b]104;2\x07"] {
        program.write(input.as_bytes());
        user.write(&renderer.frame(program.screen()));
        assert_eq!(colors(user.screen()), colors(program.screen()));
    }
    // Another program has written to the terminal.
    user.write(b"\x1b]104\x07\x1b]111\x07");
    renderer.invalidate();
    user.write(&renderer.frame(program.screen()));
    assert_eq!(colors(user.screen()), "1 010203, bg 123456");
    user.write(&renderer.close());
    assert_eq!(colors(user.screen()), "");
    // The client draws again after a suspension.
    user.write(&renderer.open());
    user.write(&renderer.frame(program.screen()));
    assert_eq!(colors(user.screen()), "1 010203, bg 123456");
}

#[test]
fn a_terminal_that_takes_no_colours_gets_none() {
    let mut renderer = Renderer::new(TerminalCapabilities::default());
    renderer.open();
    renderer.frame(&Screen::blank(Size::DEFAULT));
    let bytes = renderer.frame(host(80, 24, "\x1b]4;1;#010203\x07").screen());
    assert_eq!((bytes, renderer.close().windows(2).any(|pair| pair == b"\x1b]")), (vec![], false));
}

/// Colours in every colour space, with the answers of xterm 379 for two palette entries and for the colours of text,
/// background and cursor.
const SPACES: [(&str, &str); 7] = [
    ("rgbi:0.5/0.5/0.5", "c1c1/bbbb/bbbb"),
    ("CIEXYZ:0.69460/0.66400/1.06350", "ebeb/caca/e2e2"),
    ("CIEuvY:0.23813/0.52005/0.25780", "bdbd/8888/4f4f"),
    ("CIExyY:0.44431/0.25589/0.18609", "dfdf/3d3d/7777"),
    ("CIELab:7.2195/20.7834/17.7003", "ecec/e4e4/e4e4"),
    ("CIELuv:18.0144/35.4730/23.2430", "5e5e/2e2e/0e0e"),
    ("TekHVC:304.4900/56.9737/13.5433", "a7a7/8383/9c9c"),
];

#[test]
fn colours_of_every_space_are_told_as_the_screen_shows_them() {
    for (text, told) in SPACES {
        for slot in ["4;0", "4;255", "10", "11", "12"] {
            let input = format!("\x1b]{slot};{text}\x07\x1b]{slot};?\x07");
            let given = host(80, 24, input).take_replies();
            let reply = format!("\x1b]{slot};rgb:{told}\x07");
            assert_eq!(String::from_utf8_lossy(&given), reply, "{text}");
        }
    }
}

/// Bold, underlined, blinking, reversed and slanted text has a colour that programs can only ask for. They do so by OSC
/// 5, or by the entries after the end of the palette. The answers are those of xterm 379 with colours for all of them.
#[test]
fn colours_of_renditions_are_told_as_they_were_set() {
    let digits = [
        ("rgb:f0/f0/f0", "f0f0/f0f0/f0f0"),
        ("#123", "1010/2020/3030"),
        ("#102030", "1010/2020/3030"),
        ("#111222333", "1111/2222/3333"),
        ("#111122223333", "1111/2222/3333"),
    ];
    for (text, told) in digits.into_iter().chain(SPACES) {
        for rendition in 0..5 {
            for (set, ask) in [(5, 5), (5, 4), (4, 5), (4, 4)] {
                let number = |command: i32| if command == 4 { 256 + rendition } else { rendition };
                let (to, of) = (number(set), number(ask));
                let input = format!("\x1b]{set};{to};{text}\x07\x1b]{ask};{of};?\x1b\\");
                let given = host(80, 24, input).take_replies();
                let reply = format!("\x1b]{ask};{of};rgb:{told}\x1b\\");
                assert_eq!(String::from_utf8_lossy(&given), reply, "{text}");
            }
        }
    }
}

#[test]
fn colours_without_an_effect_are_set_and_reset() {
    let set = "\x1b]5;0;#123456;1;#234567;4;#345678\x07";
    let ask = "\x1b]5;0;?;1;?;4;?\x07";
    for (input, told) in [
        ("", ["1212/3434/5656", "2323/4545/6767", "3434/5656/7878"]),
        ("\x1b]105;0\x07", ["0000/0000/0000", "2323/4545/6767", "3434/5656/7878"]),
        ("\x1b]105;0;1\x07", ["0000/0000/0000", "0000/0000/0000", "3434/5656/7878"]),
        ("\x1b]105;0;x;5;1\x07", ["0000/0000/0000", "0000/0000/0000", "3434/5656/7878"]),
        ("\x1b]104;256;260\x07", ["0000/0000/0000", "2323/4545/6767", "0000/0000/0000"]),
        ("\x1b]104;0;261\x07", ["1212/3434/5656", "2323/4545/6767", "3434/5656/7878"]),
        ("\x1b]105\x07", ["0000/0000/0000"; 3]),
        ("\x1b]105;\x1b\\", ["0000/0000/0000"; 3]),
        ("\x1b]104\x07", ["0000/0000/0000"; 3]),
        ("\x1b]104;\x07", ["0000/0000/0000"; 3]),
        ("\x1bc", ["0000/0000/0000"; 3]),
        ("\x1b[!p\x1b]110\x07\x1b]115\x07", ["1212/3434/5656", "2323/4545/6767", "3434/5656/7878"]),
        ("\x1b]5;0;nonsense;1;;4;red\x07", ["1212/3434/5656", "2323/4545/6767", "3434/5656/7878"]),
        (
            "\x1b]5;5;#fff;x;#fff;99999999999;#fff;4;#010101\x07",
            ["1212/3434/5656", "2323/4545/6767", "0101/0101/0101"],
        ),
    ] {
        let given = host(80, 24, [set, input, ask].concat()).take_replies();
        let [bold, underlined, slanted] = told;
        let replies = [(0, bold), (1, underlined), (4, slanted)]
            .map(|(number, told)| format!("\x1b]5;{number};rgb:{told}\x07"));
        assert_eq!(String::from_utf8_lossy(&given), replies.concat(), "{input:?}");
    }
}

#[test]
fn dynamic_colours_without_an_effect_are_told_as_they_were_set() {
    for number in 13..=19 {
        let ask = format!("\x1b]{number};?\x07");
        let told = format!("\x1b]{number};rgb:1212/3434/5656\x07");
        for (input, reply) in [
            (format!("\x1b]{number};#123456\x07"), &*told),
            (format!("\x1b]{};#000000;#123456\x07", number - 1), &told),
            (format!("\x1b]{number};#123456\x07\x1b]{}\x07", 100 + number), ""),
            (format!("\x1b]{number};#123456\x07\x1b]{};\x07", 100 + number), ""),
            (format!("\x1b]{number};#123456\x07\x1bc"), ""),
            (format!("\x1b]{number};#123456\x07\x1b]104\x07\x1b]105\x07"), &told),
        ] {
            let given = host(80, 24, [input.clone(), ask.clone()].concat()).take_replies();
            assert_eq!(String::from_utf8_lossy(&given), reply, "{input:?}");
        }
    }
    let given = host(80, 24, "\x1b]19;#111111;#222222\x07\x1b]19;?;?\x07").take_replies();
    assert_eq!(given, b"\x1b]19;rgb:1111/1111/1111\x07");
}

/// A colour that was not set equals the user's text or background.
#[test]
fn colours_without_an_effect_look_as_text_at_the_start() {
    let mut terminal = Terminal::host(Size::DEFAULT);
    terminal.set_user_terminal(UserTerminal {
        foreground: Some((1, 2, 3)),
        background: Some((4, 5, 6)),
        ..UserTerminal::default()
    });
    terminal.write(b"\x1b]10;#ffffff\x07\x1b]5;0;?;4;?\x07\x1b]13;?;?;?;?;?;?;?\x07");
    let (text, behind) = ("0101/0202/0303", "0404/0505/0606");
    let told = [
        ("5;0", text),
        ("5;4", text),
        ("13", text),
        ("14", behind),
        ("15", text),
        ("16", behind),
        ("17", text),
        ("18", text),
        ("19", behind),
    ];
    let replies = told.map(|(name, color)| format!("\x1b]{name};rgb:{color}\x07"));
    assert_eq!(String::from_utf8_lossy(&terminal.take_replies()), replies.concat());
}

#[test]
fn a_colour_without_an_effect_is_no_part_of_the_screen() {
    let set = host(80, 2, "\x1b]5;0;#010203\x07\x1b]13;#010203\x07\x1b]4;258;#010203\x07");
    assert!(set.screen().colors().is_empty());
}
