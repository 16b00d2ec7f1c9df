//! Cases: a program on the host, and the actions of its user.

/// The secret of most cases. No case shows a letter of it except as a part of the secret.
pub(super) const SECRET: &str = "ZWJXVQzj";

/// Most letters of a secret that a case may show. Source: SECURITY.md, "at most four in the tests".
const EXCUSED_MAX: usize = 4;

/// Interpreters of scripts: the first word of [`Case::interpreter`], and the Debian package with the program.
const INTERPRETERS: [(&str, &str); 7] = [
    ("bash", "bash"),
    ("sh", "dash"),
    ("zsh", "zsh"),
    ("fish", "fish"),
    ("mksh", "mksh"),
    ("node", "nodejs"),
    (PYTHON, "python3"),
];

/// Debian's Python, which finds the modules of Debian packages. Another Python may come first in PATH.
pub(super) const PYTHON: &str = "/usr/bin/python3";

/// Programs of large packages. If a program is not installed, the tests leave out its cases.
const LARGE: [&str; 11] = [
    "node",
    "emacs",
    "gdb",
    "systemd-ask-password",
    "kak",
    "lftp",
    "mc",
    "nvim",
    "psql",
    "redis-cli",
    "ruby",
];

/// A program that asks for a secret, and what its user does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    /// A phrase for messages and for `ROVE_SECRECY_CASE`, different for each case.
    pub(super) name: &'static str,
    /// The command line that runs the script.
    pub(super) interpreter: &'static str,
    /// The script that runs in an empty folder on the host. It writes the secret that it received to `$OUT`, which is
    /// the file `out` in that folder.
    pub(super) script: &'static str,
    /// The user's actions, in order.
    pub(super) steps: &'static [Step],
    /// The programs or files that the case needs besides the interpreter, each with its Debian package.
    pub(super) needs: &'static [(&'static str, &'static str)],
    /// The name and text of each file that is in the script's folder.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// The secret that the user types.
    pub(super) secret: &'static str,
    /// The share of datagrams that the path loses in each direction.
    pub(super) loss: f64,
    /// Whether the script replaces the session's shell. Such a script must itself end with `. ./canary`.
    pub(super) is_own: bool,
    /// Whether the client runs with `--predict=always`, which shows predictions after fewer proofs.
    pub(super) is_always: bool,
    /// How many letters at the beginning of the secret may be shown, because no client can know better (SECURITY.md).
    /// In such a case, the program stops its echo within a line and without a sign. In another case, it asks with the
    /// prompt of the shell that started it, or in an editor's mode.
    pub(super) excused: usize,
}

impl Case {
    /// Creates a case whose `script` the command line `interpreter` runs.
    pub(super) const fn new(
        name: &'static str,
        interpreter: &'static str,
        script: &'static str,
        steps: &'static [Step],
    ) -> Self {
        let (needs, files): (&[_], &[_]) = (&[], &[]);
        Self {
            name,
            interpreter,
            script,
            steps,
            needs,
            files,
            secret: SECRET,
            loss: 0.0,
            is_own: false,
            is_always: false,
            excused: 0,
        }
    }

    /// Adds programs that the case needs.
    pub(super) const fn needs(mut self, needs: &'static [(&'static str, &'static str)]) -> Self {
        self.needs = needs;
        self
    }

    /// Adds files to the script's folder.
    pub(super) const fn with(mut self, files: &'static [(&'static str, &'static str)]) -> Self {
        self.files = files;
        self
    }

    /// Replaces the secret, if a screen shows letters of [`SECRET`] or the secret's characters matter.
    pub(super) const fn secret(mut self, secret: &'static str) -> Self {
        self.secret = secret;
        self
    }

    /// Makes the path lose this share of the datagrams in each direction.
    pub(super) const fn loss(mut self, loss: f64) -> Self {
        self.loss = loss;
        self
    }

    /// Makes the script the session's own program.
    pub(super) const fn own(mut self) -> Self {
        self.is_own = true;
        self
    }

    /// Makes the client predict with `--predict=always`.
    pub(super) const fn always(mut self) -> Self {
        self.is_always = true;
        self
    }

    /// Excuses `excused` letters at the beginning of the secret, at most [`EXCUSED_MAX`].
    pub(super) const fn excused(mut self, excused: usize) -> Self {
        assert!(excused <= EXCUSED_MAX);
        self.excused = excused;
        self
    }

    /// Returns all programs that the case needs, each with its Debian package.
    pub(super) fn programs(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let word = self.interpreter.split(' ').next();
        let interpreters = INTERPRETERS.iter().filter(move |(program, _)| Some(*program) == word);
        interpreters.chain(self.needs).copied()
    }

    /// Returns the programs in [`LARGE`] that the case needs, each with its Debian package.
    pub(super) fn large_programs(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.programs().filter(|(program, _)| LARGE.contains(program))
    }

    /// Returns the letters that must not be seen: the secret's letters in [`SECRET`], without the excused letters.
    pub(super) fn letters(&self) -> String {
        self.letters_from(self.excused)
    }

    /// Returns the secret's letters in [`SECRET`], including the excused letters.
    pub(super) fn all_letters(&self) -> String {
        self.letters_from(0)
    }

    fn letters_from(&self, first: usize) -> String {
        let letters = self.secret.chars().skip(first);
        letters.filter(|letter| SECRET.contains(*letter)).collect()
    }
}

/// An action of the user.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Waits until the text is on the client's screen.
    See(&'static str),
    /// Waits until the text is on the client's screen this many times.
    Times(usize, &'static str),
    /// Waits until the text is no longer on the client's screen.
    Gone(&'static str),
    /// Waits until the host's script has created the file with this name.
    Host(&'static str),
    /// Types public text, key by key.
    Type(&'static str),
    /// Types public text. After the answers to its keys, types Enter.
    Line(&'static str),
    /// Types lines as [`Step::Line`] does, each when the prompt is there once more. Then waits for a last prompt.
    Lines(&'static str, &'static [&'static str]),
    /// Types lines as [`Step::Lines`] does, the first when the screen has the prompt this many times.
    LinesFrom(usize, &'static str, &'static [&'static str]),
    /// Types three `echo` commands at this prompt, as [`Step::Lines`] does.
    Three(&'static str),
    /// Does these steps, with a [`Step::Settle`] after each.
    Each(&'static [Step]),
    /// Waits for a vim and types text in its insert mode.
    Insert,
    /// Types the secret key by key. Waits in the middle until all answers have arrived.
    Secret,
    /// Types the secret as [`Step::Secret`] does, then Enter.
    Answer,
    /// Sends these bytes at once: a key, or several keys that the user hits together.
    Key(&'static str),
    /// Pastes the secret between the terminal's paste markers, then types Enter.
    Paste,
    /// Sends the secret in one piece without paste markers, then types Enter.
    Burst,
    /// Gives the client's terminal this many rows and its usual columns, and waits for the program's answer.
    Rows(u16),
    /// Waits for the answers to all keys: the path's round-trip time, and the time of a slow program.
    Settle,
}
