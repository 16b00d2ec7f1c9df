//! Keys that the user types, and texts that the host writes.

/// The letters of secrets. No text of the host contains any of them.
pub(super) const SECRET: [char; 8] = ['Q', 'W', 'Z', 'J', 'V', 'K', 'Y', 'B'];

/// Keys that are typed while the program echoes. The letters come first.
#[rustfmt::skip]
pub(super) const OPEN: [&str; 14] = [
    "a", "b", "c", "x", ".", " ", "\x7f", "\x1b[D", "\x1b[C", "\x01", "\x05", "\x15", "\x1b[I",
    "\x1b[M !!",
];

/// Keys whose effect the engine does not know.
pub(super) const UNKNOWN: [&str; 8] =
    ["\t", "\x14", "\x18", "\x0f", "\x1bOP", "\x1b[15~", "\x1c", "\x07"];

/// Keys that are typed between the letters of a secret.
#[rustfmt::skip]
pub(super) const BESIDE: [&str; 14] = [
    "x", "xx", ".", "*", " ", "\x1b[D", "\x01", "\x1b[A", "\x1b[I", "\x1b[M !!", "\x1b[<0;3;3M",
    "\t", "\x7f", "\x15",
];

/// Prompts of shells and of other programs, and no prompt. A number replaces `%`.
#[rustfmt::skip]
pub(super) const PROMPTS: [&str; 16] = [
    "$ ", "ann@host:~/src$ ", "ann@host:/a%$ ", "# ", ">>> ", "Name: ", "[%] value? ", "> ",
    "sql> ", "\x1b[32mann@host\x1b[0m:~$ ", "Password: ", "", "key$ ", "\u{276f} ", "ann@host:src$ ",
    "ann: ",
];

/// Texts and modes that the host sends without a key, mostly from other programs. They do not move the cursor.
pub(super) const OUTPUTS: [&str; 24] = [
    "\x1b[?2004h",
    "\x1b[?2004l",
    "\x1b]2;ann@host: ~/src\x07",
    "\x1b]2;ann@host: ~\x07",
    "\x1b]2;vi\x07",
    "\x1b[?1000h",
    "\x1b[?1000l",
    "\x1b7\x1b[999;1H-- INSERT --\x1b8",
    "\x1b7\x1b[999;1H-- REPLACE --      1,1  All\x1b8",
    "\x1b7\x1b[999;22H-- INSERT --\x1b8",
    "\x1b7\x1b[999;1H\x1b[K\x1b8",
    "\x1b7\x1b[5;1H\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\x1b8",
    "\x1b7\x1b[1;1H\x1b[42m[0] host\x1b[K\x1b[0m\x1b8",
    "\x1b7\x1b[999;1H\x1b[42m[0] host\x1b[K\x1b[0m\x1b8",
    "\x1b7\x1b[1;30Hright\x1b8",
    "\x1b7\x1b[2;1Hsome text\x1b8",
    "\x1b7\x1b[1;1Hpassword\x1b8",
    "\x1b7\x1b[B\x1b[1Gbelow\x1b8",
    "\x1b[90mmore\x1b[0m\x1b[4D",
    "\x1b[K",
    "\x1b[44m",
    "\x1b[0m",
    "\x1b[?25l",
    "\x1b[?25h",
];

/// Returns a prompt. If the prompt contains a number, the number is `number`.
pub(super) fn prompt(which: u8, number: u8) -> String {
    PROMPTS[usize::from(which % 16)].replace('%', &(number & 7).to_string())
}
