use super::*;

const ALL: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

#[test]
fn every_option_and_command_is_completed_in_every_shell() {
    for shell in ALL {
        let script = shell.script();
        for manual in crate::cli::manuals() {
            assert!(script.contains(manual.word), "{shell:?} {}", manual.word);
            for option in manual.options() {
                for spelling in option.spellings() {
                    let wanted = match (shell, spelling.strip_prefix("--")) {
                        (Shell::Fish, Some(name)) => format!(" -l {name} "),
                        (Shell::Fish, None) => format!(" -s {} ", &spelling[1..]),
                        _ => spelling.clone(),
                    };
                    assert!(script.contains(&wanted), "{shell:?} {} {spelling}", manual.called());
                }
            }
        }
        for value in ["adaptive", "experimental", "prefer-inet6", "remote"] {
            assert!(script.contains(value), "{shell:?} {value}");
        }
    }
}

#[test]
fn a_shell_is_asked_for_by_its_name() {
    for (name, shell) in ["bash", "zsh", "fish"].into_iter().zip(ALL) {
        assert_eq!(parse(vec![name.into()]).unwrap(), shell);
    }
    for words in [vec![], vec!["csh".into()], vec!["bash".into(), "zsh".into()]] {
        assert!(parse(words).is_err());
    }
    let error = parse(vec!["csh".into()]).unwrap_err().to_string();
    assert!(error.contains("know bash, zsh, fish"), "{error}");
}
