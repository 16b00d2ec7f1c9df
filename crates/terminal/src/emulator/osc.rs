//! Operating system commands: titles, hyperlinks, colours, the clipboard and more. And the title stack.
//!
//! A title longer than a diff can carry is cut here already, and is [`plain`] text from here on.

use std::sync::Arc;

use crate::clipboard::Copied;
use crate::display::{CLIPBOARD_CHARS_MAX, TITLE_CHARS_MAX};
use crate::emulator::Emulator;
use crate::emulator::hexadecimal::decoded;
use crate::emulator::reply::REPLIES_BYTES_MAX;
use crate::notification::{NOTIFICATIONS_MAX, Notification};
use crate::parse::Terminator;
use crate::plain::plain;
use crate::screen::decoration::Hyperlink;

/// Most titles put aside; one more displaces the oldest.
/// Source: xterm's stack has 10 places.
pub(crate) const TITLE_STACK_MAX: usize = 10;

impl Emulator {
    /// Performs an operating system command. Of one that was `cut`, only a title is of use.
    pub(crate) fn operating_system_command(
        &mut self,
        text: &str,
        cut: bool,
        terminator: Terminator,
    ) {
        let Some((number, rest)) = text.split_once(';') else {
            return self.color_command(text, "", terminator);
        };
        match number {
            "" | "0" => self.set_titles(Some(rest), Some(rest)),
            "1" => self.set_titles(Some(rest), None),
            "2" => self.set_titles(None, Some(rest)),
            "7" if !cut => self.set_directory(rest),
            "9" if !cut => {
                if let Some(progress) = rest.strip_prefix("4;") {
                    self.set_progress(progress);
                } else {
                    self.notify(text);
                }
            }
            "8" if !cut => self.screen.decoration.link = Hyperlink::parse(rest).map(Arc::new),
            "52" if !cut => match rest.strip_suffix(";?") {
                Some(selections) => self.tell_copied(selections, terminator),
                None => self.copy(rest),
            },
            "66" if !cut => self.print_sized(rest),
            "99" | "777" if !cut => self.notify(text),
            _ if !cut => self.color_command(number, rest, terminator),
            _ => {}
        }
    }

    /// XTWINOPS: 14, 16 and 18, which ask for sizes; 22 and 23, which put titles aside and take them back; 0
    /// both, 1 icon name, 2 title. What asks for a title is never answered: it would be
    /// typed at the prompt, and any file that is shown can set it.
    pub(crate) fn window_operation(&mut self, operation: u16, what: u16) {
        let screen = &mut self.screen;
        match operation {
            14 | 16 | 18 => self.report_window(operation),
            _ if what > 2 => {}
            22 => {
                if self.title_stack.len() == TITLE_STACK_MAX {
                    self.title_stack.remove(0);
                }
                self.title_stack.push((Arc::clone(&screen.icon_name), Arc::clone(&screen.title)));
            }
            23 => {
                if let Some((icon_name, title)) = self.title_stack.pop() {
                    if what != 2 {
                        screen.icon_name = icon_name;
                    }
                    if what != 1 {
                        screen.title = title;
                    }
                }
            }
            _ => {}
        }
    }

    /// XTSMTITLE and XTRMTITLE: 0, titles are set in hexadecimal digits. The others are about titles
    /// that are told, which none is, and about UTF-8, which all are.
    pub(crate) fn set_title_mode(&mut self, mode: u16, set: bool) {
        if mode == 0 && self.is_host() {
            self.modes.hexadecimal_titles = set;
        }
    }

    fn set_titles(&mut self, icon_name: Option<&str>, title: Option<&str>) {
        if self.modes.hexadecimal_titles {
            let text = icon_name.or(title).and_then(decoded).filter(|bytes| !bytes.is_empty());
            let Some(bytes) = text else { return };
            let text = String::from_utf8_lossy(&bytes);
            let [icon_name, title] = [icon_name, title].map(|name| name.map(|_| &*text));
            return self.take_titles(icon_name, title);
        }
        self.take_titles(icon_name, title);
    }

    fn take_titles(&mut self, icon_name: Option<&str>, title: Option<&str>) {
        let screen = &mut self.screen;
        screen.titled = true;
        for (text, name) in [(icon_name, &mut screen.icon_name), (title, &mut screen.title)] {
            if let Some(text) = text {
                let text = plain(text);
                let end = text.char_indices().nth(TITLE_CHARS_MAX).map_or(text.len(), |(at, _)| at);
                *name = text[..end].into();
            }
        }
    }

    /// OSC 9, 99 and 777.
    fn notify(&mut self, command: &str) {
        let Some(notification) = Notification::new(command).filter(|_| self.is_host()) else {
            return;
        };
        if self.notifications.len() == NOTIFICATIONS_MAX {
            self.notifications.pop_front();
        }
        self.notifications.push_back(notification);
    }

    /// OSC 52. The screen keeps what a stock client may be told; the copy itself is an event.
    fn copy(&mut self, text: &str) {
        let parts = text.split_once(';');
        let Some(copied) = parts.and_then(|(to, text)| Copied::new(to, text)) else { return };
        if copied.is_for_clipboard() {
            if copied.text().len() <= CLIPBOARD_CHARS_MAX {
                self.screen.clipboard = Arc::clone(copied.text());
            }
            let is_readable =
                self.user_terminal.read_copied && copied.text().len() <= REPLIES_BYTES_MAX;
            self.readable_copy = is_readable.then(|| Arc::clone(copied.text()));
        }
        // Copying nothing is no reason to take the user's own clipboard away.
        if self.is_host() && !copied.text().is_empty() {
            self.copied = Some(copied.after(self.copied.take()));
        }
    }

    /// OSC 52 with a question: tells what a program of this session copied last, where the user lets programs read that. The
    /// user's own clipboard is never told.
    fn tell_copied(&mut self, selections: &str, terminator: Terminator) {
        let is_allowed = self.user_terminal.read_copied;
        let is_for_clipboard =
            Copied::new(selections, "").is_some_and(|copied| copied.is_for_clipboard());
        if let Some(text) = self.readable_copy.clone().filter(|_| is_allowed && is_for_clipboard) {
            self.reply(&format!("\x1b]52;{selections};{text}{}", terminator.as_str()));
        }
    }
}
