//! Cases: a program on the host, and the keys of its user.

/// The secret of most cases. No case shows any of its letters otherwise.
pub(super) const SECRET: &str = "ZWJXVQzj";

/// Most letters that a case may show. Source: SECURITY.md, "at most four in the tests".
const EXCUSED_MAX: usize = 4;

/// Interpreters of scripts: the first word of [`Case::interpreter`], and the Debian package that contains the program.
const INTERPRETERS: [(&str, &str); 7] = [
    ("bash", "bash"),
    ("sh", "dash"),
    ("zsh", "zsh"),
    ("fish", "fish"),
    ("mksh", "mksh"),
    ("node", "nodejs"),
    (PYTHON, "python3"),
];

/// Debian's Python, which finds the modules that Debian packages bring. Another may stand before it in PATH.
pub(super) const PYTHON: &str = "/usr/bin/python3";

/// Programs of large packages. If such a program is not installed, its cases are left out.
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
    /// A phrase that tells this case from others, for messages and for choosing it.
    pub(super) name: &'static str,
    /// The words that run the script.
    pub(super) interpreter: &'static str,
    /// The script that runs in an empty folder on the host. It writes the secret it was given to `$OUT`, the file `out`
    /// there.
    pub(super) script: &'static str,
    /// The user's actions, in order.
    pub(super) steps: &'static [Step],
    /// The programs (or files) it needs beside the interpreter, each with the Debian package that brings it.
    pub(super) needs: &'static [(&'static str, &'static str)],
    /// The files that stand beside the script, each with its text.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// The secret.
    pub(super) secret: &'static str,
    /// The share of datagrams that the path loses, each way.
    pub(super) loss: f64,
    /// Whether the script is the session's own program, not a child of it. Such a script itself ends with `. ./canary`.
    pub(super) is_own: bool,
    /// Whether predictions are shown as `--predict=always` shows them, with fewer proofs.
    pub(super) is_always: bool,
    /// How many letters at the beginning of the secret may be shown, because no client can know better (SECURITY.md).
    /// The program has echoed in this line and stops without a sign. Or it asks with the prompt of the shell before it,
    /// or in an editor's mode.
    pub(super) excused: usize,
}

impl Case {
    /// Creates a case whose script these words run.
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

    /// Adds the programs that it needs.
    pub(super) const fn needs(mut self, needs: &'static [(&'static str, &'static str)]) -> Self {
        self.needs = needs;
        self
    }

    /// Adds files.
    pub(super) const fn with(mut self, files: &'static [(&'static str, &'static str)]) -> Self {
        self.files = files;
        self
    }

    /// Replaces the secret: a screen has letters of [`SECRET`], or the case is about the secret's characters.
    pub(super) const fn secret(mut self, secret: &'static str) -> Self {
        self.secret = secret;
        self
    }

    /// Loses this share of the datagrams.
    pub(super) const fn loss(mut self, loss: f64) -> Self {
        self.loss = loss;
        self
    }

    /// Makes the script the session's own program.
    pub(super) const fn own(mut self) -> Self {
        self.is_own = true;
        self
    }

    /// Predicts as with `--predict=always`.
    pub(super) const fn always(mut self) -> Self {
        self.is_always = true;
        self
    }

    /// Excuses the first letters of the secret, at most [`EXCUSED_MAX`].
    pub(super) const fn excused(mut self, excused: usize) -> Self {
        assert!(excused <= EXCUSED_MAX);
        self.excused = excused;
        self
    }

    /// Returns all programs it needs.
    pub(super) fn programs(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let word = self.interpreter.split(' ').next();
        let interpreters = INTERPRETERS.iter().filter(move |(program, _)| Some(*program) == word);
        interpreters.chain(self.needs).copied()
    }

    /// Returns the large programs that it needs.
    pub(super) fn large_programs(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.programs().filter(|(program, _)| LARGE.contains(program))
    }

    /// Returns the letters that nobody may see: those of [`SECRET`] in the secret, except the excused ones.
    pub(super) fn letters(&self) -> String {
        self.letters_from(self.excused)
    }

    /// Returns the same letters and those that are excused.
    pub(super) fn all_letters(&self) -> String {
        self.letters_from(0)
    }

    fn letters_from(&self, first: usize) -> String {
        let letters = self.secret.chars().skip(first);
        letters.filter(|letter| SECRET.contains(*letter)).collect()
    }
}

/// A thing that the user does.
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
    /// Types text that everybody may see, key by key.
    Type(&'static str),
    /// Types text that everybody may see, and Enter after its answers have arrived.
    Line(&'static str),
    /// Types lines as [`Step::Line`] at this prompt, each when the prompt appears again, and waits for it at the end.
    Lines(&'static str, &'static [&'static str]),
    /// Types lines as [`Step::Lines`], the first when the prompt is there this many times.
    LinesFrom(usize, &'static str, &'static [&'static str]),
    /// Types three commands as [`Step::Lines`].
    Three(&'static str),
    /// Does each of these steps as with [`Step::Settle`] after it.
    Each(&'static [Step]),
    /// Waits for a vim, and inserts text.
    Insert,
    /// Types the secret, key by key, with a pause after half of it in which all answers arrive.
    Secret,
    /// Types the secret as [`Step::Secret`], then Enter.
    Answer,
    /// Sends these bytes at once: a key, or several that were hit together.
    Key(&'static str),
    /// Pastes the secret between the terminal's markers, then Enter.
    Paste,
    /// Sends the secret in one piece without markers, then Enter.
    Burst,
    /// Gives the client's terminal this many rows, with its usual columns, and waits for the answer.
    Rows(u16),
    /// Waits until the answers to all keys have arrived, and a bit more.
    Settle,
}
