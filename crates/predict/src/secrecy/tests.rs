use rove_terminal::{Size, Terminal};

use super::*;

mod prompt_memory;

const SHELL: Prompt = Prompt { whole: 1, text: 1, end: 2, sort: Sort::Shell };
const QUESTION: Prompt = Prompt { whole: 3, text: 3, end: 4, sort: Sort::Other };
const MODE: Prompt = Prompt { whole: 5, text: 5, end: 5, sort: Sort::Mode };

/// Returns a screen on which `output` was printed.
fn screen(output: &str) -> Screen {
    let mut terminal = Terminal::host(Size::DEFAULT);
    terminal.write(output.as_bytes());
    terminal.snapshot()
}

/// Returns whether the first character of a new line may be shown before its echo.
fn may_begin(secrecy: &Secrecy, prompt: Prompt) -> bool {
    may_begin_on(secrecy, prompt, "$ ")
}

fn may_begin_on(secrecy: &Secrecy, prompt: Prompt, output: &str) -> bool {
    secrecy.may_show(&spot(prompt, &screen(output)))
}

/// Returns the spot of a line's first character, at which a second fact shows that a line editor asks.
fn spot(prompt: Prompt, screen: &Screen) -> Spot<'_> {
    let line = Line::default();
    Spot { line, prompt: Some(prompt), is_ahead: false, is_vouched: true, screen }
}

/// Types `lines` lines of one character, which are echoed and entered.
fn enter(secrecy: &mut Secrecy, prompt: Prompt, lines: u16) {
    for _ in 0..lines {
        secrecy.note_echo(Some(prompt), 'l', true);
        secrecy.note_enter(Some(prompt));
    }
}

fn known(prompt: Prompt) -> Secrecy {
    let mut secrecy = Secrecy::default();
    enter(&mut secrecy, prompt, LINES_MIN);
    assert!(may_begin(&secrecy, prompt));
    secrecy
}

#[test]
fn the_next_character_of_a_line_is_shown_once_text_was_echoed_in_it() {
    for (echoed, may_show) in [
        ("", false),
        ("a", true),
        (" ", false),
        ("*", false),
        ("\u{2022}*", false),
        // These characters may be masks. Two different ones are no mask.
        ("x", false),
        ("xxx", false),
        ("..", false),
        ("./", true),
        ("ox", true),
    ] {
        let mut line = Line::default();
        echoed.chars().for_each(|c| line.note_echo(c));
        let screen = screen("key: ");
        let spot = Spot { line, ..spot(QUESTION, &screen) };
        let secrecy = Secrecy::default();
        assert_eq!(secrecy.may_show(&spot), may_show, "{echoed:?}");
        // In a row that the cursor is only predicted to reach, another question may follow.
        assert!(!secrecy.may_show(&Spot { is_ahead: true, ..spot }));
    }
    let mut line = Line::default();
    line.note_echo('a');
    for end in [Line::end, Line::spoil] {
        let mut ended = line;
        end(&mut ended);
        assert!(!ended.may_show());
    }
}

#[test]
fn a_shells_prompt_is_known_after_so_many_lines_and_not_one_before() {
    let mut secrecy = Secrecy::default();
    for lines in 0..=LINES_MIN {
        assert_eq!(may_begin(&secrecy, SHELL), lines == LINES_MIN, "{lines}");
        enter(&mut secrecy, SHELL, 1);
    }
    secrecy.note_key(Some(QUESTION));
    assert!(may_begin(&secrecy, SHELL), "another prompt has taken a key");
    enter(&mut secrecy, QUESTION, 1000);
    assert!(!may_begin(&secrecy, QUESTION), "no shell asks there");
}

#[test]
fn a_line_counts_only_where_a_second_fact_spoke_for_the_prompt() {
    let mut secrecy = Secrecy::default();
    for _ in 0..1000 {
        secrecy.note_echo(Some(SHELL), 'l', false);
        secrecy.note_enter(Some(SHELL));
    }
    assert!(!may_begin(&secrecy, SHELL), "a title may have come since");
    enter(&mut secrecy, SHELL, LINES_MIN);
    assert!(may_begin(&secrecy, SHELL));
}

#[test]
fn a_servers_statement_permits_a_shells_sign_after_one_line_and_any_prompt_after_one_there() {
    let mut secrecy = Secrecy::default();
    let bare = |secrecy: &Secrecy, prompt| {
        let screen = screen("$ ");
        secrecy.may_show(&Spot { is_vouched: false, ..spot(prompt, &screen) })
    };
    secrecy.handle_statement(Some(InputNum::new(1)));
    assert!(!bare(&secrecy, QUESTION));
    secrecy.note_echo(Some(SHELL), 'l', false);
    secrecy.note_enter(Some(SHELL));
    let other = Prompt { whole: 9, text: 9, end: 9, ..SHELL };
    assert!(bare(&secrecy, other) && !bare(&secrecy, QUESTION));
    enter(&mut secrecy, QUESTION, 1);
    assert!(bare(&secrecy, QUESTION) && bare(&secrecy, SHELL));
    secrecy.note_barrier(InputNum::new(2));
    assert!(!bare(&secrecy, QUESTION), "the key may have called a widget");
    secrecy.handle_statement(Some(InputNum::new(2)));
    assert!(bare(&secrecy, QUESTION));
    secrecy.note_miss(Some(QUESTION));
    secrecy.note_enter(Some(QUESTION));
    assert!(!bare(&secrecy, SHELL), "a script has left the echo off");
}

#[test]
fn a_masked_or_silent_answer_ends_what_is_known_for_the_session() {
    let masked = |secrecy: &mut Secrecy| secrecy.note_mask(Some(SHELL));
    let silent = |secrecy: &mut Secrecy| secrecy.note_miss(Some(SHELL));
    for answer in [masked, silent] {
        let mut secrecy = known(SHELL);
        answer(&mut secrecy);
        secrecy.note_enter(Some(SHELL));
        enter(&mut secrecy, SHELL, 1000);
        assert!(!may_begin(&secrecy, SHELL));
        let alike = Prompt { whole: 9, text: 9, ..SHELL };
        enter(&mut secrecy, alike, 1000);
        assert!(!may_begin(&secrecy, alike), "it ends alike");
    }
}

#[test]
fn a_line_answered_late_at_a_shell_neither_counts_nor_ends_what_is_known() {
    let mut secrecy = known(SHELL);
    secrecy.note_miss(Some(SHELL));
    enter(&mut secrecy, SHELL, 1);
    assert!(may_begin(&secrecy, SHELL));
}

#[test]
fn a_line_that_was_given_up_is_none() {
    let mut secrecy = Secrecy::default();
    for _ in 0..=LINES_MIN {
        secrecy.note_echo(Some(SHELL), 'l', true);
        secrecy.note_end();
        secrecy.note_enter(Some(SHELL));
    }
    assert!(!may_begin(&secrecy, SHELL));
}

#[test]
fn a_line_counts_for_the_prompt_that_echoed_it_whatever_the_terminal_is_like_at_its_end() {
    let mut secrecy = Secrecy::default();
    for _ in 0..LINES_MIN {
        secrecy.note_echo(Some(SHELL), 'l', true);
        secrecy.note_enter(Some(QUESTION));
    }
    assert!(may_begin(&secrecy, SHELL));
}

/// Returns the state after a mode line has appeared and a character was echoed under it.
fn inserting() -> Secrecy {
    let mut secrecy = Secrecy::default();
    let window = Window::default();
    secrecy.observe(Pane::default(), Some(window));
    secrecy.observe(Pane::default(), Some(Window { inserts: true, ..window }));
    assert!(!may_begin(&secrecy, MODE));
    secrecy.note_echo(Some(MODE), 'a', true);
    secrecy.note_enter(Some(MODE));
    secrecy
}

#[test]
fn text_is_shown_in_a_mode_after_an_echo_and_until_it_is_answered_otherwise() {
    let mut secrecy = inserting();
    assert!(may_begin_on(&secrecy, MODE, "the password\r\n"), "a text may be about them");
    let screen = screen("");
    assert!(!secrecy.may_show(&Spot { is_ahead: true, ..spot(MODE, &screen) }));
    let mut line = Line::default();
    line.spoil();
    assert!(!secrecy.may_show(&Spot { line, ..spot(MODE, &screen) }));
    line.note_echo('a');
    assert!(secrecy.may_show(&Spot { line, ..spot(MODE, &screen) }));
    secrecy.note_miss(Some(MODE));
    assert!(!may_begin(&secrecy, MODE));
    let mut secrecy = inserting();
    secrecy.note_nothing();
    assert!(!may_begin(&secrecy, MODE), "another program may have begun to read");
}

#[test]
fn no_prompt_is_known_without_a_second_fact() {
    let screen = screen("$ ");
    let secrecy = known(SHELL);
    assert!(!secrecy.may_show(&Spot { is_vouched: false, ..spot(SHELL, &screen) }));
}

#[test]
fn after_a_key_that_may_have_called_a_program_nothing_is_permitted_until_an_echo() {
    for end in [Secrecy::note_nothing, Secrecy::note_command, Secrecy::note_report] {
        let mut secrecy = known(SHELL);
        end(&mut secrecy);
        assert!(!may_begin(&secrecy, SHELL));
        for mask in ["*", "x", "xx"] {
            mask.chars().for_each(|c| secrecy.note_echo(Some(SHELL), c, true));
            assert!(!may_begin(&secrecy, SHELL), "a mask is no echo");
        }
        secrecy.note_echo(Some(SHELL), 'a', true);
        assert!(may_begin(&secrecy, SHELL));
    }
}

#[test]
fn an_echo_in_one_pane_tells_nothing_of_the_program_in_another() {
    let [left, right] = [1, 2].map(|left| Pane { left, ..Pane::default() });
    let mut secrecy = known(SHELL);
    secrecy.observe(left, None);
    assert!(may_begin(&secrecy, SHELL));
    secrecy.note_nothing();
    secrecy.observe(right, None);
    secrecy.note_echo(Some(SHELL), 'a', true);
    assert!(may_begin(&secrecy, SHELL));
    secrecy.observe(left, None);
    assert!(!may_begin(&secrecy, SHELL));
}

#[test]
fn words_for_secrets_near_a_prompt_take_what_is_known_away() {
    let secrecy = known(SHELL);
    for (output, may_show) in [
        ("files\r\n$ ", true),
        ("Your new password\r\n\r\n$ ", false),
        ("Passwort\r\n$ ", false),
        ("mot de passe ?\r\n\r\n$ ", false),
        ("contraseña\r\n$ ", false),
        ("пароль\r\n$ ", false),
        ("密码\r\n$ ", false),
        ("パスワード\r\n$ ", false),
        ("password\r\n\r\n\r\n\r\n$ ", true),
        ("token $ ", false),
        ("$ pwd\r\n/home\r\n$ ", true),
        ("pwd:\r\n$ ", false),
        ("new pwd : $ ", false),
        ("cwd: pwd\r\n$ ", true),
    ] {
        assert_eq!(may_begin_on(&secrecy, SHELL, output), may_show, "{output:?}");
    }
    let mut secrecy = secrecy;
    secrecy.note_answer("Passphrase:".into());
    for (output, may_show) in [
        ("Passphrase: \r\nfiles\r\n$ ", true),
        ("Passphrase: again\r\n$ ", false),
        ("Passphrase:\r\nNew passphrase:\r\n$ ", false),
        ("Passphrase: $ ", false),
    ] {
        assert_eq!(may_begin_on(&secrecy, SHELL, output), may_show, "{output:?}");
    }
}

#[test]
fn no_more_places_are_remembered_than_there_is_room_for() {
    let prompt =
        |name: usize| Prompt { whole: name as u64, text: name as u64, end: 0, sort: Sort::Shell };
    let mut secrecy = Secrecy::default();
    for name in 0..=PLACES_MAX {
        enter(&mut secrecy, prompt(name), LINES_MIN);
        assert_eq!(secrecy.places.len(), (name + 1).min(PLACES_MAX));
    }
    assert!(!may_begin(&secrecy, prompt(0)), "the one used least recently is unknown again");
    assert!(may_begin(&secrecy, prompt(1)));
}

#[test]
fn where_more_was_refused_than_there_is_room_for_nothing_is_known() {
    let mut secrecy = known(SHELL);
    for name in 0..REFUSED_MAX {
        assert!(may_begin(&secrecy, SHELL), "{name}");
        let name = 100 + name as u64;
        secrecy.refuse(Prompt { whole: name, text: name, end: name, sort: Sort::Other });
    }
    assert!(may_begin(&secrecy, SHELL));
    secrecy.refuse(Prompt { whole: 99, text: 99, end: 98, sort: Sort::Other });
    assert!(!may_begin(&secrecy, SHELL));
    secrecy.refuse(Prompt { whole: 97, text: 97, end: 96, sort: Sort::Other });
    assert_eq!(secrecy.refused.len(), REFUSED_MAX + 1);
}
