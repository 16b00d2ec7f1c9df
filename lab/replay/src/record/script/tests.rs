use super::*;

fn steps(text: &str) -> Vec<Step> {
    Script::parse(text).expect(text).steps.into_iter().map(|(_, step)| step).collect()
}

fn typed(text: &str, slips: bool) -> Step {
    Step::Type { text: text.to_owned(), slips }
}

#[test]
fn each_verb_is_a_step() {
    let enter = Key::named("Enter").unwrap();
    for (line, wanted) in [
        ("", vec![]),
        ("  # a remark", vec![]),
        ("type ls -la ", vec![typed("ls -la ", true)]),
        ("type \" x \"", vec![typed(" x ", true)]),
        ("type \"", vec![typed("\"", true)]),
        ("exactly q", vec![typed("q", false)]),
        ("line ls", vec![typed("ls", true), Step::Press(enter, 1)]),
        ("burst 你好", vec![Step::Burst("你好".to_owned())]),
        ("prompt \"$ \"", vec![Step::WaitPrompt("$ ".to_owned())]),
        ("see INSERT", vec![Step::WaitText("INSERT".to_owned())]),
        ("quiet 300ms", vec![Step::Quiet(Duration::from_millis(300))]),
        ("pause 1.5s", vec![Step::Pause(Duration::from_millis(1_500))]),
        ("resize 100x30", vec![Step::Resize(Size::clamped(100, 30))]),
        ("slips 5%", vec![Step::Slips(0.05)]),
        ("hold Left*9 33ms", vec![Step::Hold(Key::Cursor(b'D'), 9, Duration::from_millis(33))]),
        (
            "press Enter Left*3 Ctrl-a",
            vec![
                Step::Press(enter, 1),
                Step::Press(Key::Cursor(b'D'), 3),
                Step::Press(Key::Control(1), 1),
            ],
        ),
        (
            "press Alt-* Alt-**2",
            vec![Step::Press(Key::Alt(b'*'), 1), Step::Press(Key::Alt(b'*'), 2)],
        ),
    ] {
        assert_eq!(steps(line), wanted, "{line}");
    }
}

#[test]
fn steps_know_their_lines() {
    let script = Script::parse("\nline a\n# b\npress Tab\n").unwrap();
    let lines: Vec<usize> = script.steps.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [2, 2, 4]);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    for (line, words) in [
        ("hello", "line 3: there is no `hello`"),
        ("type", "line 3: `type` wants a text"),
        ("press", "wants keys"),
        ("press Entre", "no key `Entre`"),
        ("press Left*0", "1 to 4096 times"),
        ("press Left*4097", "1 to 4096 times"),
        ("press Left*x", "1 to 4096 times"),
        ("hold Left*9", "a key and a time"),
        ("hold Leff 33ms", "no key `Leff`"),
        ("hold Left 33x", "a time such as"),
        ("quiet", "a time such as"),
        ("pause 601s", "no more than 600 seconds"),
        ("resize 80", "columns and rows"),
        ("slips 51%", "0% to 50%"),
        ("slips 5", "0% to 50%"),
        ("slips NaN%", "0% to 50%"),
    ] {
        let found = Script::parse(&format!("line ls\n\n{line}\n")).expect_err(line);
        assert!(found.contains(words), "{line}: {found}");
    }
    assert!(Script::parse("press Left*4096\npause 600s").is_ok());
    let long = "#".repeat(SCRIPT_BYTES_MAX);
    assert!(Script::parse(&long).is_ok());
    assert!(Script::parse(&(long + "#")).is_err());
}
