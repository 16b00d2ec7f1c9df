//! The values that a session's options may have, on a command line and in the configuration.

/// The values of `--predict`.
pub(crate) const MODES: &[&str] = &["adaptive", "always", "never", "experimental"];
/// The values of `--family`.
pub(crate) const ADDRESS_FAMILIES: &[&str] =
    &["inet", "inet6", "prefer-inet", "prefer-inet6", "all", "auto"];

/// The values of `--experimental-remote-ip`.
pub(crate) const REMOTE_IPS: &[&str] = &["proxy", "remote", "local"];

/// Checks a port as [`check_port`] does, for users of rove's own names.
///
/// # Errors
///
/// Returns what is wrong.
pub(crate) fn check_own_port(text: &str) -> Result<(), String> {
    check_port(text).map_err(|_| {
        let (text, max) = (text.escape_debug(), u16::MAX);
        format!("\"{text}\" is neither a UDP port from 0 to {max} nor a range such as 60001:60010")
    })
}

/// Checks `PORT` or `LOW:HIGH`; the text itself goes to the server.
///
/// # Errors
///
/// Returns what is wrong.
pub(crate) fn check_port(text: &str) -> Result<(), String> {
    let number = |digits: &str| -> Option<u64> {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().unwrap_or(u64::MAX))
    };
    let (low, high) = match text.split_once(':') {
        None => (number(text), None),
        Some((low, high)) => (number(low), Some(number(high))),
    };
    let max = u64::from(u16::MAX);
    match (low, high) {
        (None, _) | (_, Some(None)) => {
            Err(format!("Server-side port or range ({text}) is not a number or LOW:HIGH."))
        }
        (Some(low), _) if low > max => {
            Err(format!("Server-side (low) port ({low}) must be within 0 to {max}."))
        }
        (Some(_), None) => Ok(()),
        (Some(0), _) => Err(format!("A server-side port range cannot start with port 0 ({text}).")),
        (Some(_), Some(Some(high))) if high == 0 || high > max => {
            Err(format!("Server-side high port ({high}) must be within 1 to {max}."))
        }
        (Some(low), Some(Some(high))) if low > high => {
            Err(format!("Server-side low port ({low}) is above the high port ({high})."))
        }
        (Some(_), Some(Some(_))) => Ok(()),
    }
}

/// Splits `--ssh` as a shell would.
///
/// # Errors
///
/// Returns what is wrong.
pub(crate) fn ssh_words(text: Option<&str>) -> Result<Vec<String>, String> {
    let words = shell_words::split(text.unwrap_or("ssh"))
        .map_err(|_| "--ssh: a quote is not closed".to_owned())?;
    if words.is_empty() {
        return Err("--ssh names no program".to_owned());
    }
    Ok(words)
}
