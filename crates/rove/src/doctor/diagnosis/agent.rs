//! The leg of the agent, which is checked if a session would lend one.

use super::{Finding, ok, problem, unchecked};
use crate::doctor::facts::{Host, Loan, Ssh};

/// Returns the finding. `None` if no agent is to be lent.
pub(super) fn check(host: &Host) -> Option<Finding> {
    let loan = host.loan.as_ref()?;
    let Some(far) = host.far.as_ref().filter(|_| matches!(host.ssh, Ssh::Reached)) else {
        return Some(unchecked("the host was not asked"));
    };
    Some(match loan {
        Loan::Silent => problem(
            "no agent answers on this computer, so -A lends none",
            "start one and give it your key: eval \"$(ssh-agent)\"; ssh-add",
        ),
        Loan::Answers if far.agent.is_empty() => problem(
            "the host's sshd forwards no agent, so -A lends none",
            "have AllowAgentForwarding and DisableForwarding changed in its sshd_config",
        ),
        Loan::Answers if !far.version.is_empty() && !far.version.starts_with("rove ") => problem(
            format!("a session with {} lends no agent", far.version),
            "rove install copies this rove to the host",
        ),
        Loan::Answers => {
            ok("sshd forwards the agent; a session lends it if ssh can log in without a question")
        }
    })
}
