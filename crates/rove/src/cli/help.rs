//! The commands `rove help` and `rove version`, and the text of `rove --help`.

use clap::{Arg, ArgAction, Command};
use rove_cli_docs::{Manual, Words};

use crate::program::ROVE;

/// The text of `rove --help`: the options that a beginner needs, on one screen.
pub(crate) const BRIEF: &str = "\
Usage: rove [options] [--] [user@]host [command...]

A remote shell that survives the network: sleep, roaming, loss and outages

  rove me@example.org                  log in by your own ssh and its settings
  rove host -- tmux new -A -s main     run a command there instead of a shell
  rove --ssh='ssh -p 2222' host        another port of ssh; -p is the UDP port
  rove -i ~/.ssh/work -J bastion host  as with ssh, so are -l -F -o -C -v -4 -6
  rove --tunnel host                   always through ssh, never by UDP
  rove --scrollback host               scroll into the terminal's own history
  rove -n host                         show no key ahead of the host; -a: all

  rove doctor host                     name what fails on the way to a session
  rove install host                    copy rove to a host, without root
  rove attach host                     go on with a session of yours there
  rove resume                          go on after a client that was killed here
  rove list [host]                     show your sessions, here or on a host
  rove kill [host] PORT                end one of them
  rove config check                    check the file ~/.config/rove/config.toml

In the session press Ctrl-^ and then \".\" to quit, \"s\" to see the status.
rove --help-all shows all options, commands, variables and files, and
rove COMMAND --help those of a command.";

pub(crate) static HELP: Manual = Manual {
    word: "help",
    definition: || {
        Command::new("rove help")
            .about("Prints the help of rove, or of one of its commands")
            .override_usage("rove help [COMMAND]")
            .arg(Arg::new("command").hide(true))
    },
    words: Words::OurCommands,
    text: include_str!("../../manuals/help.toml"),
    ..Manual::of(&ROVE)
};

pub(crate) static VERSION: Manual = Manual {
    word: "version",
    definition: || {
        Command::new("rove version").about("Prints the version").override_usage("rove version")
    },
    text: include_str!("../../manuals/version.toml"),
    ..Manual::of(&ROVE)
};

/// Returns the option `--help-all`, which only `rove` without a command has.
pub(super) fn all() -> Arg {
    let arg = Arg::new("help_all").long("help-all").action(ArgAction::SetTrue);
    arg.help("Print all options, commands, variables and files")
}
