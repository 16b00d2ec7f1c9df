//! A user's actions during which the bytes on the wire are counted.

use rove_units::Duration;

/// An action of the user.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Types these keys one by one, with this time between keys.
    Type(&'static str, Duration),
    /// Waits until this text is on the screen.
    Expect(&'static str),
    /// Waits for the shell's prompt.
    Prompt,
    /// Waits for this time, and meanwhile reads the window's output.
    Watch(Duration),
}

/// A part of the script whose bytes are counted together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scene {
    /// The scene's name in the table.
    pub(super) name: &'static str,
    /// The actions, in order.
    pub(super) steps: &'static [Step],
}

/// The file that the script opens in vim: its name in the home folder, and its text, which is a source file of rove.
pub(super) const FILE: (&str, &str) = ("link.rs", include_str!("../../../link/src/link.rs"));

/// Time between two keys of a practised typist: seven keys a second.
const KEY_INTERVAL: Duration = Duration::from_millis(140);
/// Time between two repeats of a key that is held down, at the rate of most keyboards.
const HELD: Duration = Duration::from_millis(40);
/// Time between two keys of a user who reads the screen between them.
const READING: Duration = Duration::from_millis(700);
/// No time between keys, which are pasted or written by a program.
const AT_ONCE: Duration = Duration::ZERO;
/// How long a scene's bytes count after its last step. Chosen: long enough for all acknowledgments.
pub(super) const REST: Duration = Duration::from_secs(2);

/// The script.
pub(super) const SCRIPT: [Scene; 4] = [
    Scene {
        name: "typing",
        steps: &[
            Step::Type(": the quick brown fox jumps over the lazy dog", KEY_INTERVAL),
            Step::Type("\x7f\x7f\x7fcat, which \x08\x08 sleeps\r", KEY_INTERVAL),
            Step::Prompt,
            Step::Type("echo what is typed comes back\r", KEY_INTERVAL),
            Step::Prompt,
            Step::Watch(REST),
        ],
    },
    Scene {
        name: "ls",
        steps: &[
            Step::Type("ls --color=always /etc\r", KEY_INTERVAL),
            Step::Prompt,
            Step::Type("ls -l --color=always /usr/bin\r", KEY_INTERVAL),
            Step::Prompt,
            Step::Type("clear\r", KEY_INTERVAL),
            Step::Prompt,
            Step::Watch(REST),
        ],
    },
    Scene {
        name: "vim",
        steps: &[
            Step::Type("vim --clean -n ~/link.rs\r", AT_ONCE),
            Step::Expect("//! A direction of a path"),
            Step::Watch(REST),
            // These keys move by a page, by half a page and by a line, then to the end and back.
            Step::Type("\x06\x06\x06\x06\x02\x02", READING),
            Step::Type("\x04\x04\x15", READING),
            Step::Type("jjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjj", HELD),
            Step::Type("Ggg", READING),
            Step::Type("/handle\rnn", KEY_INTERVAL),
            Step::Type("Oa new line of text\x1bu", KEY_INTERVAL),
            Step::Type(":q!\r", KEY_INTERVAL),
            Step::Prompt,
            Step::Watch(REST),
        ],
    },
    Scene {
        name: "htop, 10 s",
        steps: &[
            Step::Type("htop\r", AT_ONCE),
            Step::Expect("Tasks"),
            Step::Watch(Duration::from_secs(10)),
            Step::Type("q", AT_ONCE),
            Step::Prompt,
            Step::Watch(REST),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scene_ends_at_the_prompt_and_lets_its_acknowledgments_pass() {
        for scene in SCRIPT {
            let [.., Step::Prompt, Step::Watch(rest)] = scene.steps else {
                panic!("{} leaves something behind", scene.name);
            };
            assert_eq!(*rest, REST);
        }
    }

    #[test]
    fn vim_shows_what_the_script_waits_for() {
        let Some(Step::Expect(first)) = SCRIPT[2].steps.get(1) else { panic!("vim has a file") };
        assert!(FILE.1.starts_with(first));
    }
}
