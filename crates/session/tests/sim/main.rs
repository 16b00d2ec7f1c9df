//! Client and server of a session in virtual time.

#[path = "../common/mod.rs"]
mod common;
mod contract;
mod display;
mod effort;
mod ends;
mod events;
mod first_contact;
mod hostile;
mod input;
mod joined_datagrams;
mod joined_rights;
mod modes;
mod predict;
mod query;
mod record_cost;
mod resume;
mod schedule;
mod scrollback;
mod secret;
mod session;
mod shared_link;
mod sharing;
mod status;
mod succession;
mod tty;
