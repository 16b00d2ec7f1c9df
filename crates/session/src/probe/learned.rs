//! Applies the answers of the user's terminal to the renderer's capabilities, and makes reports of them for the server.

use rove_terminal::TerminalCapabilities;
use rove_terminal::display::Repertoire;

use super::Answer;
use crate::report::TerminalReport;

/// Beginnings of the names of terminals that support every graphic rendition a screen can hold, or ignore the ones that
/// they lack. Source: their documentation. tmux tells its name since 3.2, supports kinds and colours of underlines and
/// overlined text since 3.0, and ignores links before 3.4. Source: its change log; tmux 3.3a as observed.
const DECORATING: [&str; 11] = [
    "contour", "foot", "ghostty", "iterm2", "kitty", "konsole", "mintty", "rio", "tmux ", "vte",
    "wezterm",
];

/// Beginnings of the names of terminals that support xterm's modifyOtherKeys. Source: their documentation.
const KEY_MODIFYING: [&str; 7] =
    ["contour", "foot", "ghostty", "iterm2", "mintty", "wezterm", "xterm("];

impl Answer {
    /// Adds the answer to the terminal's known capabilities. Returns a report for the server, or `None` if no program
    /// on the host can make use of the answer.
    pub(crate) fn teach(self, capabilities: &mut TerminalCapabilities) -> Option<TerminalReport> {
        match &self {
            Self::Report(TerminalReport::KittyKeyboard) => capabilities.kitty_keyboard = true,
            Self::SynchronizedOutput(known) => capabilities.synchronized_output = *known,
            Self::AlternateScroll(set) => capabilities.alternate_scroll = *set,
            Self::PixelMouse(known) => capabilities.pixel_mouse = *known,
            Self::Version(version) => {
                // Every terminal that answers XTVERSION supports DECSCUSR.
                capabilities.cursor_styles = true;
                capabilities.modify_other_keys |= begins_with(version, &KEY_MODIFYING);
                if begins_with(version, &DECORATING) {
                    capabilities.repertoire = Repertoire::FULL;
                }
            }
            Self::Columns(kinds) => {
                capabilities.cluster_widths = capabilities.cluster_widths.union(*kinds);
            }
            _ => {}
        }
        match self {
            Self::Report(report) => Some(report),
            Self::PixelMouse(known) => known.then_some(TerminalReport::PixelMouse),
            Self::Newer(c, is_wide) => is_wide.then_some(TerminalReport::NewerWide(c)),
            Self::End => Some(TerminalReport::ClusterWidths(capabilities.cluster_widths)),
            _ => None,
        }
    }
}

/// Returns whether a terminal's name and version (from XTVERSION: `kitty(0.31.0)`, `tmux 3.4`) begin with one of
/// `names`, in upper or lower case.
fn begins_with(version: &str, names: &[&str]) -> bool {
    let version = version.to_ascii_lowercase();
    names.iter().any(|name| version.starts_with(name))
}

#[cfg(test)]
mod tests {
    use rove_terminal::ClusterWidths;

    use super::*;

    #[test]
    fn terminals_are_known_by_name_and_version() {
        for (version, knows) in [
            ("kitty(0.31.0)", true),
            ("ghostty 1.0.1", true),
            ("foot(1.16.2)", true),
            ("WezTerm 20240203-110809-5046fc22", true),
            ("VTE(7402)", true),
            ("iTerm2 3.4.20", true),
            ("mintty 3.6.1", true),
            ("Konsole 22.12.3", true),
            ("tmux 3.4", true),
            ("tmux 3.5a", true),
            ("tmux next-3.5", true),
            ("tmux 3.3a", true),
            ("tmux 3.2", true),
            ("tmuxinator 3", false),
            ("XTerm(379)", false),
            ("", false),
        ] {
            assert_eq!(begins_with(version, &DECORATING), knows, "{version}");
        }
        for (version, knows) in
            [("XTerm(379)", true), ("foot(1.16.2)", true), ("kitty(0.31.0)", false), ("", false)]
        {
            assert_eq!(begins_with(version, &KEY_MODIFYING), knows, "{version}");
        }
    }

    #[test]
    fn the_renderer_learns_what_it_draws_with_and_the_server_the_rest() {
        let mut capabilities =
            TerminalCapabilities { synchronized_output: true, ..TerminalCapabilities::default() };
        let background = TerminalReport::Background((1, 2, 3));
        let both = ClusterWidths::JOINED.union(ClusterWidths::FLAGS);
        for (answer, report) in [
            (Answer::SynchronizedOutput(false), None),
            (Answer::AlternateScroll(Some(false)), None),
            (Answer::Version("ghostty 1".to_owned()), None),
            (Answer::PixelMouse(true), Some(TerminalReport::PixelMouse)),
            (Answer::Report(TerminalReport::KittyKeyboard), Some(TerminalReport::KittyKeyboard)),
            (Answer::Report(background), Some(background)),
            (Answer::Columns(ClusterWidths::JOINED), None),
            (Answer::Columns(ClusterWidths::FLAGS), None),
            (Answer::End, Some(TerminalReport::ClusterWidths(both))),
        ] {
            assert_eq!(answer.clone().teach(&mut capabilities), report, "{answer:?}");
        }
        let learned = TerminalCapabilities {
            kitty_keyboard: true,
            pixel_mouse: true,
            alternate_scroll: Some(false),
            cursor_styles: true,
            modify_other_keys: true,
            repertoire: Repertoire::FULL,
            cluster_widths: both,
            ..TerminalCapabilities::default()
        };
        assert_eq!(capabilities, learned);
    }
}
