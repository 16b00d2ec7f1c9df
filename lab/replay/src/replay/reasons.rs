//! Why one key was shown before its answer or was not: a sentence for each model of the engine.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rove_session::{Effect, Explanation, Reason, Stop};

use crate::replay::figures::{INSTANT, millis};
use crate::replay::run::Run;
use crate::replay::script::Script;

/// Writes the outcome of a key and the reasons for it.
///
/// # Errors
///
/// Returns the I/O error of `output`.
pub(super) fn write(
    output: &mut impl Write,
    script: &Script,
    run: &Run,
    number: usize,
) -> io::Result<()> {
    let (Some(key), Some(outcome)) = (script.keys.get(number), run.outcomes.get(number)) else {
        let keys = script.keys.len();
        return writeln!(output, "there is no key {number}: the keys are 0 to {}", keys.max(1) - 1);
    };
    let (class, bytes) = (key.class.name(), key.bytes.escape_ascii());
    let waited = match outcome.latency() {
        _ if key.after.is_none() => "has no answer".to_owned(),
        Some(latency) if latency < INSTANT => "was shown at once".to_owned(),
        Some(latency) => format!("waited {:.0} ms", millis(latency)),
        None => "was never seen".to_owned(),
    };
    writeln!(output, "key {number} {class} \"{bytes}\" {waited}")?;
    let explanation = run.notes.as_ref().and_then(|notes| notes.reasons.get(number));
    let Some(Some(explanation)) = explanation else {
        return writeln!(output, "  engine      gives no reason: the key is not on its way to it");
    };
    writeln!(output, "  {:<12}{}", "engine", verdict(explanation))?;
    for reason in &explanation.reasons {
        let (model, sentence) = sentence(reason);
        writeln!(output, "  {model:<12}{sentence}")?;
    }
    Ok(())
}

/// Writes how many keys were not instant, for each rule that kept the engine from showing the key, or a key before it,
/// when it was typed.
///
/// # Errors
///
/// Returns the I/O error of `output`.
pub(super) fn write_losses<'a>(
    output: &mut impl Write,
    runs: impl Iterator<Item = (&'a Script, &'a Run)>,
) -> io::Result<()> {
    let (mut losses, mut keys): (BTreeMap<_, (usize, usize)>, usize) = (BTreeMap::new(), 0);
    for (script, run) in runs {
        let notes = run.notes.iter().flat_map(|notes| &notes.reasons);
        let answers = script.keys.iter().zip(&run.outcomes).zip(notes);
        let answers = answers.filter(|((key, _), _)| key.after.is_some());
        for ((_, outcome), explanation) in answers {
            keys += 1;
            if outcome.latency().is_some_and(|latency| latency < INSTANT) {
                continue;
            }
            let (itself, behind) = losses.entry(loss(explanation.as_ref())).or_default();
            let is_first = explanation.as_ref().is_none_or(|it| it.waiting == 0);
            *(if is_first { itself } else { behind }) += 1;
        }
    }
    writeln!(
        output,
        "keys that were not instant, of {keys}: by themselves, and behind such a key"
    )?;
    for (why, (itself, behind)) in losses {
        let percent = |count: usize| 100.0 * count as f64 / keys.max(1) as f64;
        writeln!(output, "  {:5.2}%  {:5.2}%  {why}", percent(itself), percent(behind))?;
    }
    Ok(())
}

/// Returns why a key was not instant.
fn loss(explanation: Option<&Explanation>) -> &'static str {
    match explanation {
        None => "the engine gives no reason",
        Some(Explanation { stop: Some(stop), .. }) => why(*stop),
        Some(_) => "was shown, and the program drew something else or more",
    }
}

const fn why(stop: Stop) -> &'static str {
    match stop {
        Stop::Doubtful => "may have been answered by the screen already",
        Stop::UnexplainedScreen => "is typed at a screen that nothing explains",
        Stop::MayBeSecret => "may be part of a secret",
        Stop::Distrusted => "is of a kind that was not right often enough here",
        Stop::OtherRow => "follows the cursor to a row where it may mean something else",
        Stop::UnknownEffect => "does something that nobody knows",
    }
}

/// Returns why the key is shown or not, as the engine has decided.
fn verdict(explanation: &Explanation) -> String {
    let Some(stop) = explanation.stop else {
        return "predicts the key and all before it likely enough to be shown".to_owned();
    };
    let why = why(stop);
    match explanation.waiting {
        0 => format!("does not show the key, which {why}"),
        1 => format!("does not show the key, as the one before it {why}"),
        keys => format!("does not show the key, as the one that is {keys} keys before it {why}"),
    }
}

/// Returns the name of the model that gives a reason, and the reason.
fn sentence(reason: &Reason) -> (&'static str, String) {
    let pick = |is: bool, yes: &str, no: &str| if is { yes } else { no }.to_owned();
    match *reason {
        Reason::Simulation { behind, effect } => ("simulation", of_simulation(behind, effect)),
        Reason::Secrecy { may_be_seen, has_echoed } => {
            ("secrecy", of_secrecy(may_be_seen, has_echoed).to_owned())
        }
        Reason::Context { right, wrong, threshold, is_trusted } => {
            let verdict = if is_trusted { "enough" } else { "not enough" };
            let percent = threshold * 100.0;
            let seen = format!("has seen {right:.1} such keys right and {wrong:.1} wrong");
            ("context", format!("{seen} at such prompts, which is {verdict} for {percent:.1} %"))
        }
        Reason::Suggestion { stands } => {
            let yes = "sees a suggestion behind the input";
            ("suggest", pick(stands, yes, "sees no suggestion"))
        }
        Reason::Wrap { crosses, is_known } => ("wrap", of_wrap(crosses, is_known).to_owned()),
        Reason::Navigation { is_motion, is_known_place } => {
            ("navigation", of_navigation(is_motion, is_known_place).to_owned())
        }
        Reason::DrawnCursor { is_found } => {
            let yes = "takes a cell in reverse video for the cursor, as the terminal's is hidden";
            ("own cursor", pick(is_found, yes, "finds no cursor that the program draws"))
        }
        Reason::Ruler { follows } => {
            let yes = "turns the numbers that follow the cursor";
            ("ruler", pick(follows, yes, "knows of no numbers that follow the cursor"))
        }
        Reason::History { is_step: false, .. } => {
            ("history", "is not asked: the key goes to no other line".to_owned())
        }
        Reason::History { is_step: true, is_expected } => {
            let no = "does not know which line comes back";
            ("history", pick(is_expected, "knows the line that comes back", no))
        }
        Reason::Late { wait, is_awaited } => {
            let more = if is_awaited { ", and still expects answers to earlier keys" } else { "" };
            let wait = millis(wait);
            ("late", format!("waits {wait:.0} ms for an answer after its acknowledgment{more}"))
        }
        Reason::Policy { shows } => {
            let no = "shows none on so quick a path";
            ("policy", pick(shows, "lets predictions be shown on this path", no))
        }
    }
}

fn of_simulation(behind: Option<usize>, effect: Effect) -> String {
    match (behind, effect) {
        (Some(keys), _) => {
            format!("cannot play the key: what the key {keys} before it does is unknown")
        }
        (None, Effect::Drawn) => "has drawn what the key does".to_owned(),
        (None, Effect::Nothing) => "expects that the key changes nothing".to_owned(),
        (None, Effect::Unknown) => "does not know what the key does".to_owned(),
    }
}

const fn of_secrecy(may_be_seen: bool, has_echoed: bool) -> &'static str {
    match (may_be_seen, has_echoed) {
        (true, true) => "lets characters be shown: text was echoed in this line",
        (true, false) => "lets characters be shown: this prompt is known to echo",
        (false, true) => "shows no characters, though text was echoed in this line",
        (false, false) => "shows no characters: nothing was echoed in this line yet",
    }
}

const fn of_wrap(crosses: bool, is_known: bool) -> &'static str {
    match (crosses, is_known) {
        (false, _) => "sees no text go over the edge of its row",
        (true, true) => "follows the text over the edge of its row as the program was seen to",
        (true, false) => "does not know how the program goes on over the edge of a row",
    }
}

const fn of_navigation(is_motion: bool, is_known_place: bool) -> &'static str {
    match (is_motion, is_known_place) {
        (true, _) => "believes that the key moves the cursor on the screen",
        (false, true) => "has not seen the key move the cursor in this window",
        (false, false) => "has seen no key move the cursor in this window",
    }
}
