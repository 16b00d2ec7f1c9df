//! The prompts of earlier sessions.

use super::*;

/// Returns the state with which the next session with this host begins.
fn next_session(secrecy: &Secrecy) -> Secrecy {
    let memory = secrecy.memory().expect("a memory was set");
    let (known, refused) = (memory.known().to_vec(), memory.refused().to_vec());
    with_memory(PromptMemory::new([7; 16], known, refused))
}

fn with_memory(memory: PromptMemory) -> Secrecy {
    let mut secrecy = Secrecy::default();
    secrecy.set_memory(memory);
    secrecy
}

fn new_session() -> Secrecy {
    with_memory(PromptMemory::new([7; 16], Vec::new(), Vec::new()))
}

#[test]
fn a_shells_prompt_is_known_from_the_first_line_of_the_next_session_and_no_other_is() {
    for prompt in [SHELL, QUESTION] {
        let mut secrecy = new_session();
        enter(&mut secrecy, prompt, LINES_MIN - 1);
        assert!(!may_begin(&next_session(&secrecy), prompt), "a line too few");
        enter(&mut secrecy, prompt, 1);
        assert_eq!(may_begin(&next_session(&secrecy), prompt), prompt == SHELL);
        // The memory permits nothing at a prompt without a shell's sign.
        let question = Prompt { sort: Sort::Other, ..prompt };
        assert!(!may_begin(&next_session(&secrecy), question));
    }
}

#[test]
fn a_refused_prompt_is_not_known_in_the_next_session_nor_is_one_that_ends_alike() {
    let mut secrecy = new_session();
    enter(&mut secrecy, SHELL, LINES_MIN);
    secrecy = next_session(&secrecy);
    assert!(may_begin(&secrecy, SHELL));
    secrecy.note_mask(Some(SHELL));
    assert!(!may_begin(&secrecy, SHELL));
    for prompt in [SHELL, Prompt { whole: 9, text: 9, ..SHELL }] {
        let mut next = next_session(&secrecy);
        enter(&mut next, prompt, 1000);
        assert!(!may_begin(&next, prompt) && !may_begin(&next_session(&next), prompt));
    }
}

#[test]
fn words_for_secrets_take_the_permission_of_a_remembered_prompt_away() {
    let mut secrecy = new_session();
    enter(&mut secrecy, SHELL, LINES_MIN);
    let next = next_session(&secrecy);
    assert!(may_begin_on(&next, SHELL, "$ ") && !may_begin_on(&next, SHELL, "Password\r\n$ "));
}
