//! Checks the values of a session's options that both a command line and the configuration can set.

use rove_bootstrap::RemoteIp;
use rove_session::{SizeRule, SizeRuleError};
use rove_udp::PortRange;

use crate::escape_key::EscapeKeyError;

/// The possible values of `--predict`.
pub(crate) const MODES: &[&str] = &["adaptive", "always", "never", "experimental"];
/// The possible values of `--family`.
pub(crate) const ADDRESS_FAMILIES: &[&str] =
    &["inet", "inet6", "prefer-inet", "prefer-inet6", "all", "auto"];

/// The possible values of `--experimental-remote-ip`.
pub(crate) const REMOTE_IPS: &[&str] = RemoteIp::NAMES;

/// The words that `--size` accepts besides a size.
pub(crate) const SIZE_RULES: &[&str] = &["owner", "typist", "smallest"];

/// Why the value of an option is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ValueError {
    #[error("this is nothing")]
    Nothing,
    #[error("\"{}\" is none of {}", .text.escape_debug(), .words.join(", "))]
    NoneOf { text: String, words: &'static [&'static str] },
    #[error(
        "\"{}\" is neither a UDP port from 0 to {} nor a range such as 60001:60010",
        .0.escape_debug(),
        u16::MAX
    )]
    Port(String),
    #[error("--ssh: a quote is not closed")]
    OpenQuote,
    #[error("--ssh names no program")]
    NoProgram,
    #[error(transparent)]
    EscapeKey(#[from] EscapeKeyError),
    #[error(transparent)]
    SizeRule(#[from] SizeRuleError),
}

/// Why a text is not a port or a range of ports. A server prints these words, and so does rove as `mosh`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PortError {
    #[error("Server-side port or range ({0}) is not a number or LOW:HIGH.")]
    NoNumber(String),
    #[error("Server-side (low) port ({}) must be within 0 to {}.", .0, u16::MAX)]
    LowOutside(u64),
    #[error("A server-side port range cannot start with port 0 ({0}).")]
    LowZero(String),
    #[error("Server-side high port ({}) must be within 1 to {}.", .0, u16::MAX)]
    HighOutside(u64),
    #[error("Server-side low port ({low}) is above the high port ({high}).")]
    Reversed { low: u64, high: u64 },
}

/// Refuses a text of `--size` (whose window decides a shared session's size) that is no rule.
pub(crate) fn check_size_rule(text: &str) -> Result<(), ValueError> {
    Ok(text.parse::<SizeRule>().map(drop)?)
}

/// Checks that a text is a UDP port or a range, with one error for all reasons. rove passes the text to the server.
pub(crate) fn check_own_port(text: &str) -> Result<(), ValueError> {
    udp_ports(text).map(drop).map_err(|_| ValueError::Port(text.to_owned()))
}

/// Reads a UDP port (0 to 65535), or a range `LOW:HIGH` of them (from 1). The error is why the text is neither.
pub(crate) fn udp_ports(text: &str) -> Result<PortRange, PortError> {
    let number = |digits: &str| -> Result<u64, PortError> {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = is_number.then(|| digits.parse().unwrap_or(u64::MAX));
        number.ok_or_else(|| PortError::NoNumber(text.to_owned()))
    };
    let (low, high) = match text.split_once(':') {
        None => (number(text)?, None),
        Some((low, high)) => (number(low)?, Some(number(high)?)),
    };
    let first = u16::try_from(low).map_err(|_| PortError::LowOutside(low))?;
    let Some(high) = high else { return Ok(PortRange { low: first, high: first }) };
    match u16::try_from(high) {
        _ if first == 0 => Err(PortError::LowZero(text.to_owned())),
        Ok(0) | Err(_) => Err(PortError::HighOutside(high)),
        Ok(last) if first > last => Err(PortError::Reversed { low, high }),
        Ok(last) => Ok(PortRange { low: first, high: last }),
    }
}

/// Splits the value of `--ssh` into words as a shell would. Without a value, the only word is `ssh`. Refuses an open
/// quote and a text without words.
pub(crate) fn ssh_words(text: Option<&str>) -> Result<Vec<String>, ValueError> {
    let words = shell_words::split(text.unwrap_or("ssh")).map_err(|_| ValueError::OpenQuote)?;
    if words.is_empty() { Err(ValueError::NoProgram) } else { Ok(words) }
}
