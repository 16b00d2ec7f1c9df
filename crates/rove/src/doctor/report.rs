//! Formats a diagnosis as text for people, and as JSON for programs.

use serde_json::{Value, json};

use crate::doctor::diagnosis::{Check, Diagnosis};
use crate::doctor::facts::{Facts, Large, Sessions};
use crate::messages::{escaped, wrapped};
use crate::sessions::computer::Computer;

/// Width of the column with the names of legs, in characters.
const LEG_WIDTH: usize = 14;
/// Width of the column with the statuses, in characters.
const STATUS_WIDTH: usize = 9;

/// Returns the report for people: a line for each leg, the user's sessions on the host, and then the verdict. Lines
/// longer than `columns` are broken between words.
pub(crate) fn text(facts: &Facts, diagnosis: &Diagnosis, columns: usize) -> String {
    let mut text = String::new();
    let before = STATUS_WIDTH + LEG_WIDTH + 4;
    for Check { leg, status, detail, .. } in &diagnosis.checks {
        let status = status.word();
        let detail = wrapped(detail, columns.saturating_sub(before));
        let detail = detail.replace('\n', &format!("\n{:before$}", ""));
        text.push_str(&format!("{status:<STATUS_WIDTH$}  {leg:<LEG_WIDTH$}  {detail}\n"));
    }
    text.push('\n');
    if let Some(host) = &facts.host {
        let sessions = match host.far.as_ref().map(|far| &far.sessions) {
            Some(Sessions::Listed(listing)) => {
                listing.text(&Computer::host(&host.name), None, true)
            }
            Some(Sessions::Unreadable) => {
                format!("rove list {} shows your sessions there.\n", host.name)
            }
            Some(Sessions::Unknown) | None => String::new(),
        };
        if !sessions.is_empty() {
            text += &(wrapped(&sessions, columns) + "\n");
        }
    }
    text + &wrapped(&verdict(facts, diagnosis), columns)
}

fn verdict(facts: &Facts, diagnosis: &Diagnosis) -> String {
    let mut text = String::new();
    match diagnosis.problem() {
        Some(problem) => {
            // A message of another program may already end in a full stop.
            text.push_str(&format!("Problem: {}.\n", problem.detail.trim_end_matches('.')));
            if let Some(meanwhile) = &diagnosis.meanwhile {
                text.push_str(&format!("Meanwhile {meanwhile}.\n"));
            }
            if let Some(remedy) = &problem.remedy {
                text.push_str(&format!("What to do: {remedy}.\n"));
            }
        }
        None => text.push_str(&format!("{}.\n", all_well(facts))),
    }
    text
}

/// Returns the report for programs, as JSON. Names of fields and legs never change; new names may be added.
pub(crate) fn json(facts: &Facts, diagnosis: &Diagnosis) -> String {
    let checks: Vec<Value> = diagnosis
        .checks
        .iter()
        .map(|check| {
            json!({
                "leg": check.leg,
                "status": check.status.word(),
                "detail": check.detail,
                "remedy": check.remedy,
            })
        })
        .collect();
    let problem = diagnosis.problem();
    let host = facts.host.as_ref();
    let report = json!({
        "host": host.map(|host| &host.name),
        "verdict": if problem.is_some() { "problem" } else { "ok" },
        "leg": problem.map(|problem| problem.leg),
        "detail": problem.map_or_else(|| all_well(facts), |problem| problem.detail.clone()),
        "remedy": problem.and_then(|problem| problem.remedy.as_ref()),
        "meanwhile": diagnosis.meanwhile,
        "checks": checks,
        "server": server(facts),
        "path": path(facts),
        "sessions": sessions(facts),
    });
    escaped(&format!("{report:#}\n"))
}

fn all_well(facts: &Facts) -> String {
    match &facts.host {
        Some(host) => format!("All is well: sessions with {} work", host.name),
        None => {
            "All is well on this computer; rove doctor HOST looks at the way to a host".to_owned()
        }
    }
}

fn server(facts: &Facts) -> Option<Value> {
    let host = facts.host.as_ref()?;
    let far = host.far.as_ref();
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Some(json!({
        "program": far.and_then(|far| known(&far.server)),
        "version": far.and_then(|far| known(&far.version)),
        "path": far.and_then(|far| known(&far.path)),
        "system": far.and_then(|far| known(&far.system)),
        "port": host.server.as_ref().map(|server| server.port),
    }))
}

/// Returns the sessions in the form of `rove list --json`. `None` if they are unknown.
fn sessions(facts: &Facts) -> Option<Value> {
    match &facts.host.as_ref()?.far.as_ref()?.sessions {
        Sessions::Listed(listing) => Some(json!(listing.sessions)),
        Sessions::Unknown | Sessions::Unreadable => None,
    }
}

fn path(facts: &Facts) -> Option<Value> {
    let path = facts.host.as_ref()?.path.as_ref()?;
    let tried: Vec<String> = path.tried.iter().map(|address| address.ip().to_string()).collect();
    Some(json!({
        "tried": tried,
        "answered": path.answered.and_then(|index| tried.get(index)),
        "datagrams_sent": path.sent,
        "round_trip_ms": path.round_trip.map(|time| time.as_secs_f64() * 1000.0),
        "datagram_bytes_up": passed(path.up),
        "datagram_bytes_down": passed(path.down),
        "rebinding": path.rebinding,
    }))
}

fn passed(large: Large) -> Option<usize> {
    match large {
        Large::Pass(len) | Large::Only { passed: len, .. } => Some(len),
        Large::Unknown | Large::Stuck(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::diagnosis::Status;

    #[test]
    fn lines_of_the_report_end_between_words() {
        let detail = "ssh did not log in: the name is not known".to_owned();
        let check = Check { leg: "ssh", status: Status::Problem, detail, remedy: None };
        let meanwhile = Some("sessions with far work through ssh".to_owned());
        let diagnosis = Diagnosis { checks: vec![check], meanwhile };
        let lines = "\
problem    ssh             ssh did not log
                           in: the name is
                           not known

Problem: ssh did not log in: the name is not
known.
Meanwhile sessions with far work through
ssh.
";
        assert_eq!(text(&Facts::default(), &diagnosis, 44), lines);
    }
}
