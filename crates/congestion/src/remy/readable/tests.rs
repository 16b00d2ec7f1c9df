//! Tests of valid readable tables, and of errors with their positions in the file.

use super::*;

const TWO_RULES: &str = r#"form = "rove-remy-1"
about = """
Made by hand: "two" rules \\ no more.
"""

[[rule]]
when = { rtt_ratio = [0.0, 1.5] }
window_multiple = 1.0
window_increment = 2
intersend_ms = 0.25

[[rule]]
when = { rtt_ratio = [1.5, 163840.0] }
window_multiple = 0.5
window_increment = -1
intersend_ms = 3.0
"#;

#[test]
fn a_readable_table_is_written_as_it_was_read() {
    let table = Table::from_readable(TWO_RULES).expect("two rules");
    assert!(table.about.contains("\"two\" rules \\ no more"), "{}", table.about);
    assert_eq!(table.to_readable(), TWO_RULES);
}

#[test]
fn each_fault_of_a_readable_table_is_told_with_its_place() {
    for (right, wrong, told) in [
        ("rove-remy-1", "rove-remy-2", "only \"rove-remy-1\" is known"),
        ("window_increment = -1", "window_increment = 1.5", "line 15"),
        ("intersend_ms = 3.0", "", "intersend_ms"),
        ("rtt_ratio = [0.0", "rtt = [0.0", "there is no signal \"rtt\""),
        ("[0.0, 1.5]", "[0.0, 1.6]", "rules 1 and 2 overlap"),
        ("[0.0, 1.5]", "[0.0, 1.4]", "no rule is for memories around"),
        ("window_multiple = 0.5", "window_multiple = nan", "window multiple is NaN"),
        ("[[rule]]", "[[rules]]", "unknown field `rules`"),
    ] {
        let text = TWO_RULES.replace(right, wrong);
        assert_ne!(text, TWO_RULES, "{right}");
        let sentence = Table::from_readable(&text).expect_err(wrong).to_string();
        assert!(sentence.contains(told), "{sentence}");
    }
}
