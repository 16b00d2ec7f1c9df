//! Cases: what runs on the host, and what its user does.

/// A program that asks for a secret, and what its user does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    /// What is special about it, for messages and for choosing it.
    pub(super) name: &'static str,
    /// The programs it runs, each with the Debian package that brings it.
    pub(super) needs: &'static [(&'static str, &'static str)],
    /// The files that stand beside the script, each with its text.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// The shell script that the server runs in an empty folder. It writes the secret it was given to `$OUT`.
    pub(super) script: &'static str,
    /// What the user does.
    pub(super) steps: &'static [Step],
    /// The secret. No other text on the screen has a letter of it.
    pub(super) secret: &'static str,
}

/// The usual secret. None of its letters is on any screen of a case.
pub(super) const SECRET: &str = "ZWJXVQzj";

impl Case {
    /// A case without files, packages and peculiarities.
    pub(super) const PLAIN: Self =
        Self { name: "", needs: &[], files: &[], script: "", steps: &[], secret: SECRET };
}

/// A thing that the user does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Waits until the text is on the client's screen.
    See(&'static str),
    /// Waits until the text is on the client's screen this many times.
    SeeTimes(&'static str, usize),
    /// Waits until the host's script has created the file with this name.
    Host(&'static str),
    /// Types text that everybody may see, key by key.
    Type(&'static str),
    /// Types the secret, key by key, with a pause after half of it in which all answers arrive.
    Secret,
    /// Sends these bytes at once, such as one key or something that is pasted.
    Key(&'static str),
    /// Pastes the secret between the terminal's markers.
    PasteSecret,
    /// Sends the secret in one piece without markers.
    BurstSecret,
    /// Waits until the answers to all keys have arrived, and a bit more.
    Settle,
}
