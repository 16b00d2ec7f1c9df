//! Deliberate differences of our emulator from the other two, each with a reason.
//!
//! If the other two emulators agree with each other, the reason names an authority: ECMA-48, or xterm, which programs
//! believe to run in.

use rove_terminal::Color;

use crate::context::{Context, has_wide};
use crate::function::Function;

/// The emulators that differ from ours in an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// `alacritty_terminal`.
    Alacritty,
    /// `vt100`.
    Vt100,
    /// Both `alacritty_terminal` and `vt100`.
    Both,
}

impl Who {
    /// Returns whether these emulators include `one`.
    pub fn includes(self, one: Self) -> bool {
        self == one || self == Self::Both
    }
}

/// A deliberate difference of our emulator from the other two.
pub struct Difference {
    /// The emulators that differ from ours in this.
    pub who: Who,
    /// The behaviour of those emulators.
    pub theirs: &'static str,
    /// Our emulator's behaviour, and the authority for it.
    pub ours: &'static str,
    /// A stream that shows the difference on a screen of 10 columns and 6 rows.
    pub shown_by: &'static str,
    /// Returns whether a function would show the difference in a given context.
    pub touches: fn(&Context, &Function) -> bool,
}

const fn of(
    who: Who,
    theirs: &'static str,
    ours: &'static str,
    shown_by: &'static str,
    touches: fn(&Context, &Function) -> bool,
) -> Difference {
    Difference { who, theirs, ours, shown_by, touches }
}

/// All deliberate differences of our emulator.
pub const DIFFERENCES: [Difference; 38] = [
    of(
        Who::Both,
        "erasing, inserting and deleting cells leave a pending wrap",
        "cancels it, as xterm and stock Mosh do",
        "abcdefghij\x1b[2KX",
        |context, function| {
            context.is_pending()
                && matches!(function, Function::Csi(b'J' | b'K' | b'X' | b'@' | b'P', ..))
        },
    ),
    of(
        Who::Both,
        "EL 0 while a wrap is pending erases nothing",
        "erases the last column, where the cursor is (xterm)",
        "abcdefghij\x1b[K",
        |context, function| context.is_pending() && matches!(function, Function::Csi(b'K', 0, _)),
    ),
    of(
        Who::Both,
        "LF, VT, FF, IND and RI leave a pending wrap",
        "cancels it, as xterm and stock Mosh do",
        "abcdefghij\nX",
        |context, function| {
            context.is_pending()
                && matches!(
                    function,
                    Function::Control(b'\n'..=b'\x0c') | Function::Escape("D" | "M")
                )
        },
    ),
    of(
        Who::Both,
        "IL and DL leave the cursor's column",
        "goes to column 0 (ECMA-48, 8.3.32 and 8.3.67; xterm)",
        "abc\x1b[LX",
        |context, function| {
            (context.column() > 0 || context.is_pending())
                && matches!(function, Function::Csi(b'L' | b'M', ..))
        },
    ),
    of(
        Who::Both,
        "editing that cuts a wide character leaves a half of it or blanks it in other colours",
        "blanks both halves in their background",
        "\x1b[7m漢\x1b[m\x1b[2G\x1b[@",
        Context::cuts_wide,
    ),
    of(
        Who::Both,
        "1049 set on the alternate screen: nothing, or the cursor goes home",
        "clears the screen, the cursor stays (xterm)",
        "\x1b[?1049h\x1b[3;3Hab\x1b[?1049h",
        |context, function| context.alternate && *function == Function::Alternate(true),
    ),
    of(
        Who::Both,
        "margins outside the screen make an empty region or reset the old one",
        "ignored (xterm)",
        "\x1b[2;4r\x1b[8;9r\x1b[4;1H\nx",
        |context, function| matches!(*function, Function::Margins(t, b) if !context.leaves_two_rows(t, b)),
    ),
    of(
        Who::Both,
        "REP repeats the character before translation, also a mark, also across a reset",
        "repeats the last character of a width, as it was printed",
        "\x1b(0q\x1b(B\x1b[b",
        |context, function| {
            context.repeatable.is_none() && matches!(function, Function::Csi(b'b', ..))
        },
    ),
    of(
        Who::Both,
        "REP repeats as often as it is told",
        "a screenful at most: a few bytes must not keep a server busy",
        "ab\x1b[75bX",
        |context, function| {
            let cells = context.size.columns().saturating_mul(context.size.rows());
            matches!(*function, Function::Csi(b'b', count, _) if count > cells)
        },
    ),
    of(
        Who::Both,
        "protects no characters (DECSCA, SPA), and erases all",
        "spares those that are protected (xterm)",
        "ab\x1bVCD\x1bWef\x1b[2K",
        |_, function| matches!(function, Function::Escape("V" | "W")),
    ),
    of(
        Who::Both,
        "BS and CUB stop in the first column also in reverse wraparound (modes 45 and 1045)",
        "go on at the end of the row above (xterm)",
        "\x1b[?45habcdefghijk\x08\x08X",
        // No function of a generated stream sets this mode.
        |_, _| false,
    ),
    of(
        Who::Both,
        "HT while a wrap is pending does not wrap and tab in mode 41",
        "goes to the first stop of the next row (xterm)",
        "\x1b[?41habcdefghij\tX",
        // No function of a generated stream sets this mode.
        |_, _| false,
    ),
    of(
        Who::Both,
        "the head of tmux's control mode (`ESC P 1000 p`) leaves nothing on the screen",
        "a sentence says that it needs ssh",
        "\x1bP1000p\x1b\\X",
        // No function of a generated stream starts this mode.
        |_, _| false,
    ),
    of(
        Who::Alacritty,
        "CUU, CUD, CNL, CPL and VPR pass margins; in origin mode they and CHA add the top margin",
        "stops at a margin passed on the way; CHA stays in its row (xterm)",
        "\x1b[2;3r\x1b[3;1H\x1b[BX",
        |context, function| {
            !context.is_open()
                && matches!(
                    function,
                    Function::Csi(b'A' | b'B' | b'E' | b'F' | b'G' | b'e' | b'`', ..)
                )
        },
    ),
    of(
        Who::Alacritty,
        "DECSC keeps neither origin mode nor the shift in use, and neither does 1049",
        "keeps both (DEC STD 070; xterm)",
        "\x1b7\x1b[2;4r\x1b[?6h\x1b8\x1b[HX",
        |context, function| {
            (context.origin_used || context.shifted)
                && matches!(
                    function,
                    Function::Escape("8") | Function::Csi(b'u', ..) | Function::Alternate(_)
                )
        },
    ),
    of(
        Who::Alacritty,
        "1049 reset on the primary screen does nothing",
        "restores the cursor (xterm)",
        "\x1b[3;3H\x1b7\x1b[H\x1b[?1049lX",
        |context, function| !context.alternate && *function == Function::Alternate(false),
    ),
    of(
        Who::Alacritty,
        "HT while a wrap is pending goes to the next row",
        "stays (xterm)",
        "abcdefghij\t",
        |context, function| context.is_pending() && *function == Function::Control(b'\t'),
    ),
    of(
        Who::Alacritty,
        "CBT moves from a pending wrap and keeps it",
        "cancels it, as every movement does",
        "abcdefghij\x1b[ZX",
        |context, function| context.is_pending() && matches!(function, Function::Csi(b'Z', ..)),
    ),
    of(
        Who::Alacritty,
        "CBT stays where no stop is left of the cursor",
        "goes to column 0 (xterm)",
        "\x1b[3gabc\x1b[ZX",
        |context, function| context.tabs_changed && matches!(function, Function::Csi(b'Z', ..)),
    ),
    of(
        Who::Alacritty,
        "DCH of more cells than follow erases before the cursor",
        "deletes those that are there (ECMA-48, 8.3.26)",
        "abcdefghij\x1b[8G\x1b[6P",
        |context, function| matches!(*function, Function::Csi(b'P', n, _) if context.column() + n.max(1) > context.size.columns()),
    ),
    of(
        Who::Alacritty,
        "ED 1 in the second row leaves the first",
        "erases it (ECMA-48, 8.3.39)",
        "abc\r\nde\x1b[1J",
        |context, function| context.row() == 1 && matches!(function, Function::Csi(b'J', 1, _)),
    ),
    of(
        Who::Alacritty,
        "a wide character in insert mode shifts nothing when it wraps, and breaks others in its row",
        "shifts by two, and never leaves half a character",
        "\x1b[2Habc\x1b[1;10H\x1b[4h漢",
        |context, function| {
            let text = context.printed(function);
            context.insert && text.is_some_and(|text| context.has_wide_ahead() || has_wide(&text))
        },
    ),
    of(
        Who::Alacritty,
        "a wide character that does not fit without autowrap leaves the last column",
        "erases it (as before a wrap)",
        "\x1b[?7labcdefghij\x1b[10G漢",
        |context, function| {
            !context.autowrap && context.printed(function).is_some_and(|text| has_wide(&text))
        },
    ),
    of(
        Who::Alacritty,
        "half of a wide character written over keeps attributes and foreground",
        "becomes an empty cell with its background",
        "\x1b[4m漢\x1b[m\x1b[2GX",
        Context::overwrites_wide,
    ),
    of(
        Who::Alacritty,
        "SGR 21 resets bold",
        "underlines doubly, as xterm does",
        "\x1b[1;21mX",
        |_, function| matches!(function, Function::Sgr(text) if text == "21"),
    ),
    of(
        Who::Vt100,
        "has no insert mode, autowrap mode, character sets, IND, NEL, HTS, TBC, CHT, CBT, HPR, VPR, SCOSC, SCORC",
        "has them (xterm)",
        "ab\r\x1b[4hX",
        |_, function| {
            matches!(
                function,
                Function::Insert(_)
                    | Function::Autowrap(_)
                    | Function::Escape("D" | "E" | "H" | "(0" | ")0")
                    | Function::Csi(b'I' | b'Z' | b'g' | b'a' | b'e' | b's' | b'u', ..)
            )
        },
    ),
    of(
        Who::Vt100,
        "erases with the background only in ED, EL and ECH",
        "wherever cells become empty (background colour erase, xterm)",
        "abc\r\x1b[41m\x1b[2P",
        |context, function| {
            let scrolls = match function {
                Function::Control(b'\n'..=b'\x0c')
                | Function::Escape("M")
                | Function::Alternate(true) => true,
                Function::Csi(last, ..) if b"STLM@P".contains(last) => true,
                _ => context.printed(function).is_some_and(|text| context.overflows(&text)),
            };
            context.background != Color::Default && scrolls
        },
    ),
    of(
        Who::Vt100,
        "from a pending wrap, BS and CUB count from behind the last column, HT and vertical movement keep it",
        "BS and CUB count from the last column, movement cancels it (xterm); HT stays",
        "abcdefghij\x08X",
        |context, function| {
            context.is_pending()
                && matches!(
                    function,
                    Function::Control(b'\x08' | b'\t')
                        | Function::Csi(b'A' | b'B' | b'D' | b'd', ..)
                )
        },
    ),
    of(
        Who::Vt100,
        "a movement that begins outside the margins passes them",
        "stops at a margin passed on the way (xterm)",
        "\x1b[2;3r\x1b[H\x1b[5BX",
        |context, function| match function {
            Function::Csi(b'B' | b'E', ..) => context.row() < context.margins.0,
            Function::Csi(b'A' | b'F', ..) => context.row() > context.margins.1,
            _ => false,
        },
    ),
    of(
        Who::Vt100,
        "VPA counts from the first row in origin mode",
        "from the top margin (xterm)",
        "\x1b[2;4r\x1b[?6h\x1b[dX",
        |context, function| context.origin_used && matches!(function, Function::Csi(b'd', ..)),
    ),
    of(
        Who::Vt100,
        "RI in the first row scrolls margins below it",
        "does nothing (xterm)",
        "\r\na\r\nb\x1b[2;3r\x1b[H\x1bM",
        |context, function| {
            context.row() == 0 && context.margins.0 > 0 && *function == Function::Escape("M")
        },
    ),
    of(
        Who::Vt100,
        "each screen has margins and an origin mode, but both have one saved pen, fresh at each visit",
        "the other way round (xterm)",
        "\x1b[2;3r\x1b[?1049h\x1b[3;1Ha\n\nb",
        |context, function| match function {
            Function::Alternate(_) => context.origin_used || !context.is_open(),
            Function::Escape("7" | "8") => context.alternate,
            _ => false,
        },
    ),
    of(
        Who::Vt100,
        "a wide character that does not fit leaves the last column",
        "erases it",
        "\x1b[1;10Hx\x1b[10G漢",
        |context, function| {
            context
                .printed(function)
                .is_some_and(|text| has_wide(&text) && context.overflows(&text))
        },
    ),
    of(
        Who::Vt100,
        "a wide character partly written over becomes a space in the new colours, or stays",
        "its halves become empty cells with its background",
        "漢\r\x1b[4mX",
        Context::overwrites_wide,
    ),
    of(
        Who::Vt100,
        "U+FE0F makes a narrow character wide",
        "widths are those of single code points (width.rs)",
        "❤\u{fe0f}X",
        |context, function| context.printed(function).is_some_and(|text| text.contains('\u{fe0f}')),
    ),
    of(
        Who::Vt100,
        "knows no sub-parameters but 38:5:n and 38:2:r:g:b, and reads the colour after 58 as attributes",
        "reads ISO 8613-6 colours and underline styles, as xterm does",
        "\x1b[58;5;1mX",
        |_, function| matches!(function, Function::Sgr(text) if text.contains("58") || text.contains("::") || text.starts_with("4:")),
    ),
    of(
        Who::Vt100,
        "SGR 2 takes bold away",
        "text may be bold and faint, as in xterm",
        "\x1b[1;2mX",
        |_, function| matches!(function, Function::Sgr(text) if text == "2"),
    ),
    of(
        Who::Vt100,
        "does not know SGR 21",
        "underlines doubly, as xterm does",
        "\x1b[21mX",
        |_, function| matches!(function, Function::Sgr(text) if text == "21"),
    ),
];
