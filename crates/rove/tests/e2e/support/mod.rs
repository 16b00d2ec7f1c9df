//! Parts that the tests share: the user's terminal, servers, clients, links and an sshd.

mod border;
mod impostor;
mod invocation;
mod notices;
mod report;
mod screen;
mod server;
mod session;
mod sshd;
mod terminal;
mod tmux;

pub(crate) use border::{Bastion, Border};
pub(crate) use impostor::Impostor;
pub(crate) use invocation::{Invocation, WITH_A_COPY, is_installed, require};
pub(crate) use report::{ANSWERING, Report};
pub(crate) use rove_rig::guard::{HANG_GUARD, side_by_side, wait_until, within_guard};
pub(crate) use rove_rig::ports::{ClosedPort, free_port, leave_dead_socket};
pub(crate) use rove_rig::process::Process;
pub(crate) use rove_rig::scratch::{Scratch, install_script};
pub(crate) use rove_rig::tap::{Extra, Tap, Treatment, Way};
pub(crate) use screen::{draw, emulator, first_difference, lines, same_picture};
pub(crate) use server::{Maker, Server, answered, each_pair, examined_until, process, rove};
pub(crate) use session::{SIZE, Session, lossy, relay_to, with_quick_login};
pub(crate) use sshd::{Far, PASSWORD, Sshd};
pub(crate) use terminal::{Exit, Terminal, pause};
pub(crate) use tmux::Tmux;
