//! Everything that travels with the picture.

pub(crate) mod clipboard;
pub(crate) mod exit_status;
pub(crate) mod notifications;
pub(crate) mod scrollback;
