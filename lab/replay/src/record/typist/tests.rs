use rove_terminal::Terminal;

use super::*;

/// A typist before a program that answers with `answer`, in virtual time.
struct Desk {
    typist: Typist,
    terminal: Terminal,
    written_at: Instant,
    now: Instant,
    typed: Vec<(Instant, Action)>,
}

impl Desk {
    fn new(script: &str) -> Self {
        let script = Script::parse(script).unwrap();
        Self {
            typist: Typist::new(script, Seed::new(1), Instant::ZERO),
            terminal: Terminal::host(Size::DEFAULT),
            written_at: Instant::ZERO,
            now: Instant::ZERO,
            typed: Vec::new(),
        }
    }

    /// Lets the program write `bytes`.
    fn write(&mut self, bytes: &str) {
        self.terminal.write(bytes.as_bytes());
        self.written_at = self.now;
    }

    /// Lets the typist type until it waits for the program or is done.
    fn run(&mut self) -> Result<(), Stuck> {
        self.run_until(Instant::FAR_FUTURE)
    }

    fn run_until(&mut self, end: Instant) -> Result<(), Stuck> {
        loop {
            let seen = Observation { screen: self.terminal.screen(), written_at: self.written_at };
            while let Some(action) = self.typist.poll(self.now, seen)? {
                self.typed.push((self.now, action));
            }
            match self.typist.poll_timeout(self.now, self.written_at) {
                Some(next) if next <= end => {
                    assert!(next > self.now, "time goes on");
                    self.now = next;
                }
                _ => return Ok(()),
            }
        }
    }

    fn keys(&self) -> String {
        let keys = self.typed.iter().map(|(_, action)| match action {
            Action::Keys(bytes) => String::from_utf8(bytes.clone()).unwrap(),
            Action::Resize(size) => format!("[{}x{}]", size.columns(), size.rows()),
        });
        keys.collect()
    }
}

#[test]
fn a_script_is_followed_to_its_end() {
    let mut desk = Desk::new("slips 0%\nline ls\nburst 你好\nresize 90x30\npress Left*2 Ctrl-c");
    desk.run().unwrap();
    assert_eq!(desk.keys(), "ls\r你好[90x30]\x1b[D\x1b[D\x03");
    assert_eq!(desk.typed.len(), 8, "characters are keys of their own, a burst is one");
    assert!(desk.typist.is_done());
}

#[test]
fn arrows_follow_the_mode_that_the_program_has_set_meanwhile() {
    let mut desk = Desk::new("press Up\nprompt >\npress Up");
    desk.run_until(Instant::from_millis(5_000)).unwrap();
    desk.write("\x1b[?1h>");
    desk.run().unwrap();
    assert_eq!(desk.keys(), "\x1b[A\x1bOA");
}

#[test]
fn a_prompt_is_waited_for_until_it_is_there_and_nothing_more_comes() {
    let mut desk = Desk::new("prompt \"$ \"\nexactly a");
    desk.write("user$");
    desk.run_until(Instant::from_millis(1_000)).unwrap();
    assert_eq!(desk.keys(), "");
    desk.now = Instant::from_millis(1_000);
    desk.write(" ");
    desk.run_until(Instant::from_millis(1_050)).unwrap();
    desk.now = Instant::from_millis(1_050);
    desk.write("x\x1b[D"); // the cursor is where a prompt would have it
    desk.run().unwrap();
    assert_eq!(desk.keys(), "a");
    assert!(desk.typed[0].0 >= Instant::from_millis(1_050) + SETTLED);
}

#[test]
fn a_text_is_waited_for_wherever_it_is() {
    let mut desk = Desk::new("see INSERT\nexactly a");
    desk.run_until(Instant::from_millis(500)).unwrap();
    desk.write("\x1b[24;1H-- INSERT --\x1b[1;1H");
    desk.run().unwrap();
    assert_eq!(desk.keys(), "a");
}

#[test]
fn what_never_comes_is_given_up_with_its_line() {
    for (script, line) in [("line x\nprompt \"$ \"", 2), ("\nsee nothing", 2)] {
        assert_eq!(Desk::new(script).run(), Err(Stuck { line, waited: WAIT_MAX }), "{script}");
    }
    let mut desk = Desk::new("prompt $");
    desk.run_until(Instant::ZERO + WAIT_MAX - Duration::from_millis(1)).unwrap();
    desk.write("$");
    desk.run().unwrap();
    assert!(desk.typist.is_done());
}

#[test]
fn a_program_that_never_falls_silent_is_given_up() {
    for (script, quiet) in [("quiet 300ms", 300), ("quiet 40s", 40_000)] {
        let mut desk = Desk::new(script);
        let stuck = loop {
            desk.write("x");
            let next = desk.now + Duration::from_millis(100);
            if let Err(stuck) = desk.run_until(next) {
                break stuck;
            }
            desk.now = next;
        };
        let waited = Duration::from_millis(quiet) + WAIT_MAX;
        assert_eq!(stuck, Stuck { line: 1, waited });
        let given_up = Instant::ZERO + waited;
        assert!((given_up - Duration::from_millis(100)..=given_up).contains(&desk.now));
    }
}

#[test]
fn a_long_silence_may_begin_after_half_a_minute() {
    let mut desk = Desk::new("quiet 40s\nexactly a");
    desk.now = Instant::from_millis(31_000);
    desk.write("x");
    desk.run().unwrap();
    assert!(desk.typed[0].0 > Instant::from_millis(71_000), "{:?}", desk.typed);
}

#[test]
fn times_are_kept() {
    let mut desk = Desk::new("pause 2s\nexactly a\nquiet 700ms\nexactly b");
    desk.run().unwrap();
    let (a, b) = (desk.typed[0].0, desk.typed[1].0);
    assert!(a > Instant::from_millis(2_000));
    assert!(b > a + Duration::from_millis(700));
    assert!(b < a + Duration::from_millis(700 + 6_000), "{b}");
}
