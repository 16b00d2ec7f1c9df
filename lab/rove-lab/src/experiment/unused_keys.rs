//! Keys of a scenario that have no effect on its figure, and links that its figure cannot compare.

use anyhow::{Result, bail};
use rove_replay::replay::Pace;

use crate::experiment::measure::Measure;
use crate::experiment::mistake::line;
use crate::experiment::scenario::{Plot, Scenario};
use crate::experiment::traffic::VALUE;

/// Refuses a scenario with a key that has no effect, or with flows over both recorded and other links.
///
/// # Errors
///
/// Returns a sentence with the file, the line and the thing that the key needs.
pub(super) fn check(scenario: &Scenario, file: &str) -> Result<()> {
    let body = &scenario.body;
    let mut paths = body.links.iter().filter_map(|link| link.path.as_ref());
    let is_varied = body.measure.needs_values()
        || paths.any(|path| path.get_ref().contains(VALUE))
        || body.traffic.as_ref().is_some_and(|traffic| traffic.mean_pause.contains(VALUE));
    let plays = body.measure.needs_recordings();
    let keys = [
        ("values", !body.values.is_empty() && !is_varied, "{value} in a path or in mean-pause"),
        (
            "shown",
            body.shown.is_some() && body.plot != Plot::MeanByValue,
            "plot = \"mean-by-value\"",
        ),
        ("quantity", body.quantity.is_some() && body.plot != Plot::Course, "plot = \"course\""),
        (
            "pace",
            body.pace != Pace::Look && body.measure != Measure::Response,
            "measure = \"response\"",
        ),
        ("recordings", !body.recordings.is_empty() && !plays, "a measure that plays them"),
        ("wanted", !body.wanted.is_empty() && !plays, "a measure that plays them"),
        (
            "[traffic]",
            body.traffic.is_some() && body.measure != Measure::Shared,
            "measure = \"shared\"",
        ),
    ];
    if let Some((key, _, need)) = keys.into_iter().find(|(_, is_unused, _)| *is_unused) {
        let at = scenario.text.find(key).unwrap_or(0);
        bail!("{file}:{}: {key} needs {need}", line(&scenario.text, at));
    }
    let recorded = body.links.iter().filter(|link| link.is_recorded()).count();
    let are_flows = matches!(body.measure, Measure::Flow | Measure::FlowSetting);
    if are_flows && recorded > 0 && recorded < body.links.len() {
        let at = scenario.text.find("[[link]]").unwrap_or(0);
        bail!(
            "{file}:{}: the delay over recorded links is self-inflicted, and over others the whole one: make two figures",
            line(&scenario.text, at)
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_without_effect_is_named_with_its_line_and_its_need() {
        let said = |more: &str| {
            let text = format!(
                "title = \"t\"\nabout = \"a\"\nmeasure = \"flow\"\nplot = \"use-by-time\"\nsystems = [\"cubic\"]\n\
                 {more}\n[[link]]\nname = \"l\"\npath = \"rtt=1ms\"\n"
            );
            let scenario = Scenario::parse("s", "s.toml", &text).expect("a scenario");
            check(&scenario, "s.toml").err().map(|error| error.to_string())
        };
        assert_eq!(said("seeds = 2"), None);
        for (key, words) in [
            ("values = [1, 2]", "values needs {value} in a path"),
            ("shown = \"kbit/s\"", "shown needs plot = \"mean-by-value\""),
            ("quantity = \"rate\"", "quantity needs plot = \"course\""),
            ("recordings = [\"fish\"]", "recordings needs a measure that plays them"),
            ("wanted = [\"joe\"]", "wanted needs a measure that plays them"),
            ("pace = \"closed\"", "pace needs measure = \"response\""),
            (
                "[traffic]\nsenders = 2\nmean-pause = \"1s\"\nlength = \"9s\"",
                "[traffic] needs measure = \"shared\"",
            ),
        ] {
            let said = said(key).expect(key);
            assert!(said.starts_with("s.toml:6: ") && said.contains(words), "{said}");
        }
    }

    #[test]
    fn flows_over_recorded_links_and_over_others_are_two_figures() {
        let text = "title = \"t\"\nabout = \"a\"\nmeasure = \"flow\"\nplot = \"use-by-time\"\nsystems = [\"cubic\"]\n\
                    [[link]]\nname = \"l\"\npath = \"rtt=1ms\"\n[[link]]\nname = \"m\"\npath = \"rtt=1ms\"\n\
                    cellular = \"any\"\n";
        let scenario = Scenario::parse("s", "s.toml", text).expect("a scenario");
        let error = check(&scenario, "s.toml").expect_err("two kinds of delays");
        assert!(error.to_string().starts_with("s.toml:6: the delay over recorded"), "{error}");
    }

    #[test]
    fn every_key_of_the_scenarios_that_we_bring_has_an_effect() {
        for scenario in Scenario::built_in() {
            check(&scenario, &scenario.name).expect("no key is unused");
        }
    }
}
