//! Whole sessions between real processes, with rove or stock Mosh at each end, over a bad network.
//!
//! The tests assert order and outcome, but never times. Each test waits for its events, with a generous limit. A slow
//! machine therefore makes the tests slow, but does not make them fail.

#![cfg(target_os = "linux")]

mod addresses;
mod agent;
mod always;
mod attach;
mod bootstrap;
mod broken_ends;
mod configuration;
mod display;
mod doctor;
mod drops;
mod exec;
mod exit_status;
mod false_masters;
mod forwarding;
mod forwarding_load;
mod host;
mod host_text;
mod hostile;
mod impostors;
mod input;
mod install;
mod interop;
mod jump_host;
mod keys;
mod leaks;
mod life;
mod login_callbacks;
mod logins;
mod manuals;
mod memory;
mod network;
mod path_size;
mod planted_links;
mod predict;
mod programs;
mod prompt_memory;
mod proxied_programs;
mod query;
mod refusals;
mod remote_editor;
mod resume;
mod secrecy;
mod secrets;
mod sessions;
mod shared_client;
mod signals;
mod ssh_observables;
mod ssh_settings;
mod stdio_forward;
mod stream_paths;
mod support;
mod tunnel;
mod usage;
mod user_terminal;
mod verbose;
mod wine;
