//! The text of `rove --help-all` and of rove's manual page, except the options.

use rove_cli_docs::{Manual, Words};

use crate::program::ROVE;

/// The manual without the definition of the options.
pub(super) const TEXT: Manual = Manual {
    words: Words::HostAndCommand,
    notes: &[
        "Options may also stand between the host and the command. The command is run as it is, without \
         a shell: rove host -- sh -c 'ls | wc'. Its output stays on the terminal. A session needs \
         a terminal; in scripts and pipes use rove exec.",
        "Letters that are ssh's own are handed to ssh, but for -a, -n and -p, which are rove's: ssh's port \
         is --ssh='ssh -p 2222', which rove offers after a failed login with -p where ssh answers. X11 is not forwarded.",
        "-L, -R and -D take ssh's forms, and LocalForward, RemoteForward and DynamicForward of ssh's configuration count too. \
         Connections survive sleep and a change of network. Other users of the computer can use a listening port, as with \
         ssh. The connections end with the session.",
        "-A, or ForwardAgent in ssh's configuration, lends the agent: the client runs a second ssh -A through the session. Where \
         that cannot log in without a question, a relay of rove's own lends it, without keys that are limited to hosts. SSH_AUTH_SOCK is one path for the life of the session. The host may list keys and \
         have them sign; the notice bar tells of each use, or asks (see agent in rove config).",
        "rove -W host:port gate is for ssh's ProxyCommand: it joins standard input and output with a TCP port that the gate \
         reaches, and the connection survives sleep and roaming. localhost:22 is the gate's own sshd. A gate without such \
         a rove carries the connection by ssh -W. rove proxy-config prints the section for ssh's configuration.",
        "While a client of a gate runs, rove -W and rove exec for that gate go through it without a login. They are cut when a \
         session ends that carries them. -S none keeps a session or a call apart, as it does with ssh.",
        "In the session the escape key is Ctrl-^: then \".\" quits (a second time at once, if the server does not \
         answer), Ctrl-Z suspends, \"s\" shows the path and the peer until the next key or for 15 s, \"l\" locks the session and \"e\" ends the clients that have joined it, \"f\" reads a line such as -L 8080:localhost:80 or -KL 8080, which adds or removes a forwarded port, \"p\" copies files to the host and types their paths, \"o\" opens here the port to which a browser returns from a login, \"y\" agrees to a question in the notice bar, \"^\" sends the key itself, and \"r\" logs in again where ssh needs you for that. \
         Another key shows these commands and is not sent.",
        "Called as mosh, mosh-client or mosh-server (link those names to rove), it behaves like these programs.",
    ],
    examples: &[
        ("rove me@example.org", "log in"),
        ("rove host -- tmux new -A -s main", "run a command there instead of a shell"),
        ("rove -p 60010 --ssh='ssh -p 2222' host", "another UDP port, another ssh port"),
        ("rove -i ~/.ssh/work -J bastion host", "as with ssh: another key, by way of another host"),
        ("rove --tunnel host", "always through ssh, whether UDP passes or not"),
        ("rove -L 8080:localhost:80 host", "reach the host's port 80 at this computer's 8080"),
        ("rove -R 0:localhost:3000 host", "let the host reach this computer's port 3000"),
        ("rove --session work host", "go on with the session that is called work, or start it"),
        ("ssh -o ProxyCommand=\"rove -W '[%h]:%p' gate\" host", "ssh through a gate, by rove"),
        ("rove demo --rtt 500ms --loss 5%", "what it feels like, without any server"),
        ("rove -- demo", "log in to a host that is called demo"),
    ],
    environment: &[
        (
            "COLORTERM",
            "Told to the programs on the host, for which of the terminal's colours to use.",
        ),
        ("MOSH_ESCAPE_KEY", "The escape key as one byte, or nothing for none; see --escape-key."),
        ("MOSH_PREDICTION_DISPLAY", "As --predict."),
        ("MOSH_TITLE_NOPREFIX", "If set, window titles get no name in front."),
        ("ROVE_NO_TERM_QUERY", "If set, the terminal is not asked what it can do."),
        ("ROVE_QUIET", "If set, the client says nothing but what is wrong."),
        ("ROVE_LOG", "File that the client's log is appended to."),
    ],
    files: &[
        ("~/.config/rove/config.toml", "The settings, for every host or one; see rove config."),
        ("~/.local/state/rove/prompts", "Prompts that are remembered, as hashes; see rove forget."),
        ("~/.ssh/config", "ssh's own, which decides how a host is reached."),
    ],
    exit_status: &[
        (
            "0 to 254",
            "The remote command's own, between two roves; 128 and the number of a signal.",
        ),
        (
            "0",
            "The session ended and the far side is stock Mosh, which keeps the status to itself.",
        ),
        ("126, 127", "The remote command cannot be run, or is not there."),
        ("79", "Another client has taken the session over; see rove attach."),
        ("1", "The session failed, or its server never answered."),
        ("2", "The client that --client names cannot be run."),
        ("10", "The session could not be started."),
        (
            "255",
            "The command line or the configuration is wrong, rove -W has failed, or a forward that ExitOnForwardFailure \
             requires.",
        ),
    ],
    ..Manual::of(&ROVE)
};
