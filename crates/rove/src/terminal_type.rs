//! Finds the capabilities of the user's terminal by its type (`TERM`): from the terminfo entry, and from a table of
//! facts that entries lack.

use anyhow::anyhow;
use rove_bootstrap::ProgramName;
use rove_terminal::display::{Functions, Repertoire};
use rove_terminal::{AlternateScreen, Attributes, ClusterWidths, OscSupport, TerminalCapabilities};
use terminfo_lean::parse::Terminfo;

use crate::terminfo::{self, EntryError};

/// The terminal takes a title from OSC sequences, and ignores unknown ones. Source, also of all facts below: for xterm,
/// rxvt, kterm, Eterm, alacritty, screen and tmux, Mosh 1.4.0 as observed; for the others, their documentation.
const TITLED: u8 = 1;
/// The terminal supports synchronized output (mode 2026), even if its terminfo entry does not say so.
const SYNCHRONIZED: u8 = 1 << 1;
/// The terminal supports all underlines, cursor shapes, and faint, struck and overlined text, whatever terminfo says.
const DECORATING: u8 = 1 << 2;
/// The terminal shows a progress bar (OSC 9;4).
const PROGRESS: u8 = 1 << 3;
/// No version of this terminal prints parts of unknown queries; the Linux console, PuTTY and hardware terminals may.
const ASKABLE: u8 = 1 << 4;
/// The terminal certainly supports modifyOtherKeys. Other terminals named `xterm` may take its sequence for colours.
const MODIFIES_KEYS: u8 = 1 << 5;
/// The terminal has all capabilities in the entry of [`XTERM`]. Its own entry is installed with the terminal, so a
/// computer that the user has reached by ssh often lacks that entry.
const XTERM_LIKE: u8 = 1 << 6;

/// Beginnings of `TERM` names, and the facts about such terminals. All matching lines apply to a name.
const TERMINALS: [(&str, u8); 22] = [
    ("Eterm", TITLED),
    ("alacritty", TITLED | SYNCHRONIZED | DECORATING | ASKABLE | XTERM_LIKE),
    ("contour", TITLED | SYNCHRONIZED | DECORATING | ASKABLE | XTERM_LIKE),
    ("foot", TITLED | SYNCHRONIZED | DECORATING | ASKABLE | MODIFIES_KEYS | XTERM_LIKE),
    ("ghostty", TITLED | ASKABLE | XTERM_LIKE),
    ("iTerm", TITLED | ASKABLE | XTERM_LIKE),
    ("iterm", TITLED | ASKABLE | XTERM_LIKE),
    ("kitty", TITLED | ASKABLE),
    ("konsole", TITLED | DECORATING | ASKABLE),
    ("kterm", TITLED),
    ("mintty", TITLED | DECORATING | PROGRESS | ASKABLE | MODIFIES_KEYS),
    ("nsterm", TITLED | ASKABLE | XTERM_LIKE),
    ("putty", TITLED),
    ("rxvt", TITLED),
    ("rxvt-unicode", ASKABLE),
    ("screen", TITLED | ASKABLE),
    ("st-", TITLED | ASKABLE),
    ("tmux", TITLED | ASKABLE),
    ("wezterm", u8::MAX), // all facts
    ("xterm", TITLED | ASKABLE),
    ("xterm-ghostty", SYNCHRONIZED | DECORATING | PROGRESS | MODIFIES_KEYS | XTERM_LIKE),
    ("xterm-kitty", SYNCHRONIZED | DECORATING | XTERM_LIKE),
];

/// Beginnings of `TERM` names whose terminals may print an OSC sequence as text. Source: their documentation. Terminals
/// that run in a window ignore unknown OSC sequences.
const PLAIN_TERMINALS: [&str; 5] = ["ansi", "cons25", "dumb", "linux", "vt"];

/// The entry that is used for an [`XTERM_LIKE`] terminal without an entry of its own.
const XTERM: &str = "xterm-256color";

/// The user's options for drawing a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RenderOptions {
    /// The program's name, which is in the prefix of titles.
    pub(crate) name: ProgramName,
    /// Whether the session is shown on the alternate screen ([`TerminalCapabilities::init`]).
    pub(crate) init: bool,
    /// Whether lines that scroll off at the host go to the terminal's history ([`TerminalCapabilities::scrollback`]).
    pub(crate) scrollback: bool,
    pub(crate) title_prefix: bool,
}

/// Returns the capabilities of a terminal of the type `term`.
///
/// # Errors
///
/// Returns an error if the terminfo database has no entry of this name, or a damaged entry. The caller may then use
/// [`plain_capabilities`].
pub(crate) fn capabilities(
    term: &str,
    options: RenderOptions,
) -> anyhow::Result<TerminalCapabilities> {
    let look_up = |entry| terminfo::look_up(entry, |info| described_by(info, term, options));
    let found = match look_up(term) {
        Err(EntryError::Unknown) if is(term, XTERM_LIKE) => look_up(XTERM),
        found => found,
    };
    found.map_err(|error| match error {
        EntryError::Unknown if term.is_empty() => anyhow!(
            "TERM is not set, and the terminal is taken for a plain one: try TERM=xterm-256color"
        ),
        EntryError::Unknown => anyhow!(
            "the terminal type {term:?} (TERM) is not in this computer's terminfo database and is \
             taken for a plain one: install its entry (often in a package ncurses-term), or try \
             TERM=xterm-256color"
        ),
        EntryError::Damaged => anyhow!(
            "the terminfo entry of the terminal type {term:?} (TERM) is damaged, and the terminal is \
             taken for a plain one: install the entry again (infocmp -D names the folders), or try \
             TERM=xterm-256color"
        ),
    })
}

/// Returns a terminal's capabilities from its terminfo entry and its name.
fn described_by(info: &Terminfo<'_>, term: &str, options: RenderOptions) -> TerminalCapabilities {
    let text = |name| info.strings.get(name).map(|it| without_delays(it)).unwrap_or_default();
    TerminalCapabilities {
        synchronized_output: has(info, "Sync") || is(term, SYNCHRONIZED),
        functions: Functions {
            erase_characters: has(info, "ech"),
            background_color_erase: has(info, "bce"),
            absolute_rows: has(info, "vpa"),
            absolute_columns: has(info, "hpa"),
            application_keypad: text("smkx").windows(2).any(|it| it == b"\x1b="),
        },
        repertoire: repertoire(info, term),
        osc: OscSupport {
            any: !PLAIN_TERMINALS.iter().any(|beginning| term.starts_with(beginning)),
            window: is(term, TITLED),
            progress: is(term, PROGRESS),
        },
        title_prefix: title_prefix(options),
        alternate_screen: AlternateScreen { enter: text("smcup"), leave: text("rmcup") },
        init: options.init,
        scrollback: options.scrollback,
        cursor_styles: has(info, "Ss") || is(term, DECORATING),
        modify_other_keys: is(term, MODIFIES_KEYS),
        // These are known only after the terminal has answered queries.
        kitty_keyboard: false,
        pixel_mouse: false,
        alternate_scroll: None,
        cluster_widths: ClusterWidths::CODE_POINTS,
    }
}

/// Returns whether the entry has a flag or a text of this name.
fn has(info: &Terminfo<'_>, name: &str) -> bool {
    info.booleans.contains(name) || info.strings.contains_key(name)
}

/// Returns the capabilities in a compiled terminfo entry.
///
/// # Errors
///
/// Returns an error if the bytes are no entry, or a damaged entry.
pub(crate) fn read_entry(
    entry: &[u8],
    term: &str,
    options: RenderOptions,
) -> Result<TerminalCapabilities, EntryError> {
    terminfo::read(entry, |info| described_by(info, term, options))
}

/// Returns the capabilities of a terminal without a terminfo entry: only OSC sequences, the keypad's modes and xterm's
/// alternate screen. Today's terminals support or ignore them.
pub(crate) fn plain_capabilities(options: RenderOptions) -> TerminalCapabilities {
    TerminalCapabilities {
        osc: OscSupport { any: true, ..OscSupport::default() },
        functions: Functions { application_keypad: true, ..Functions::default() },
        title_prefix: title_prefix(options),
        alternate_screen: AlternateScreen::xterm(),
        init: options.init,
        scrollback: options.scrollback,
        ..TerminalCapabilities::default()
    }
}

/// Returns whether a terminal may be sent queries about its capabilities.
pub(crate) fn can_be_asked(term: &str) -> bool {
    is(term, ASKABLE)
}

/// Returns the graphic renditions (SGR) that a terminal supports. An old terminal may misread others. For example, it
/// takes the sub-parameters of an underline's kind for other attributes.
fn repertoire(info: &Terminfo<'_>, term: &str) -> Repertoire {
    let is_decorated = is(term, DECORATING);
    let has = |name| is_decorated || has(info, name);
    let attributes = [
        (Attributes::FAINT, has("dim")),
        (Attributes::STRIKE, has("smxx")),
        (Attributes::OVERLINE, has("Smol")),
    ];
    let known = attributes.into_iter().filter(|(_, known)| *known);
    Repertoire {
        attributes: known.fold(Attributes::NONE, |set, (attribute, _)| set.with(attribute)),
        underlines: has("Smulx") || has("Su"),
        underline_colors: has("Setulc"),
        // A `TITLED` terminal ignores unknown OSC sequences, so a link does no harm.
        links: is(term, TITLED),
        ..Repertoire::PLAIN
    }
}

fn is(term: &str, fact: u8) -> bool {
    let mut known = TERMINALS.iter().filter(|(beginning, _)| term.starts_with(beginning));
    known.any(|(_, facts)| facts & fact != 0)
}

fn title_prefix(options: RenderOptions) -> String {
    if options.title_prefix { format!("[{}] ", options.name.as_str()) } else { String::new() }
}

/// Removes terminfo's delays (`$<5/>`), which no present terminal needs.
fn without_delays(capability: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(capability.len());
    let mut rest = capability;
    while let Some((&byte, after)) = rest.split_first() {
        let delay = rest.strip_prefix(b"$<").and_then(|r| r.iter().position(|&b| b == b'>'));
        if let Some(end) = delay {
            rest = &rest[b"$<".len() + end + 1..];
        } else {
            text.push(byte);
            rest = after;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_taken_out_of_capabilities() {
        for (capability, text) in [
            (b"\x1b[?5h$<100/>\x1b[?5l" as &[u8], b"\x1b[?5h\x1b[?5l" as &[u8]),
            (b"$<5>", b""),
            (b"cost: $<", b"cost: $<"),
            (b"plain", b"plain"),
        ] {
            assert_eq!(without_delays(capability), text);
        }
    }

    #[test]
    fn only_terminals_that_show_nothing_of_a_question_are_asked() {
        for (term, asked) in [
            ("xterm-256color", true),
            ("xterm-kitty", true),
            ("tmux-256color", true),
            ("screen", true),
            ("rxvt-unicode-256color", true),
            ("st-256color", true),
            ("nsterm-256color", true),
            ("rxvt", false),
            ("linux", false),
            ("putty-256color", false),
            ("vt220", false),
            ("dumb", false),
            ("stterm", false),
            ("", false),
        ] {
            assert_eq!(can_be_asked(term), asked, "{term}");
        }
    }

    #[test]
    fn a_terminal_is_used_as_far_as_it_goes() {
        let options = RenderOptions {
            name: ProgramName::Mosh,
            init: true,
            title_prefix: true,
            ..RenderOptions::default()
        };
        let Ok(xterm) = capabilities("xterm-256color", options) else {
            return; // a computer without a terminfo database
        };
        assert!(xterm.functions == Functions::ALL && xterm.osc.window);
        assert_eq!(xterm.title_prefix, "[mosh] ");
        assert!(xterm.init && xterm.alternate_screen.enter.starts_with(b"\x1b[?1049h"));

        let options = RenderOptions::default();
        let plain = capabilities("xterm-256color", options).unwrap();
        assert!(!plain.init && plain.title_prefix.is_empty());
        let dumb = capabilities("dumb", options).unwrap();
        assert!(!dumb.osc.any && !dumb.osc.window && dumb.functions == Functions::default());
        // No computer has an entry of these names.
        let ghostty = capabilities("xterm-ghostty+none", options).unwrap();
        assert!(ghostty.functions == Functions::ALL && ghostty.synchronized_output);
        assert_eq!(ghostty.alternate_screen, xterm.alternate_screen);
        let unknown = capabilities("no-such-terminal", options).unwrap_err();
        assert!(unknown.to_string().contains("TERM=xterm-256color"), "{unknown}");
        let unset = capabilities("", options).unwrap_err().to_string();
        assert!(unset.starts_with("TERM is not set"), "{unset}");
    }
}
