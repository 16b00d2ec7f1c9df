//! The command `rove forget`: deletes the remembered prompts of one host or of all hosts.

use anyhow::Context;
use rove_bootstrap::HostOptions;

use crate::bootstrap::ssh_query;
use crate::prompt_store;

/// Deletes the remembered prompts of `host`, or of all hosts for `None`. Returns the result as a sentence for the user.
///
/// # Errors
///
/// Returns an error if `ssh -G` does not name the account, or the file of prompts cannot be changed.
pub(crate) fn run(host: Option<&HostOptions>) -> anyhow::Result<String> {
    let Some(options) = host else {
        return Ok(match prompt_store::forget(None)? {
            0 => "nothing was remembered".to_owned(),
            1 => "the prompts of one host are forgotten".to_owned(),
            count => format!("the prompts of {count} hosts are forgotten"),
        });
    };
    let host = options.host.to_string_lossy();
    let host = host.escape_debug();
    let account = ssh_query::ask(&options.ssh, &options.host).account().with_context(|| {
        let ssh = shell_words::join(&options.ssh);
        format!("{ssh} -G {host} does not name user, host and port; rove forget without a host forgets all")
    })?;
    let count = prompt_store::forget(Some(&account))?;
    let account = account.to_string();
    let account = account.escape_debug();
    Ok(match count {
        0 => format!("nothing was remembered of {account}"),
        _ => format!("the prompts of {account} are forgotten"),
    })
}
