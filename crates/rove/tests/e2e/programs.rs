//! Full-screen programs look the same inside and outside a session.

use std::net::{IpAddr, Ipv4Addr};

use crate::support::{
    Invocation, Maker, SIZE, Scratch, Session, Terminal, Tmux, each_pair, first_difference, lossy,
    require, side_by_side,
};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Runs a program on a terminal of its own and in a session. For each step, types the keys and waits for the step's
/// text on the first terminal. Then waits until both screens are equal.
fn same_with_and_without(
    command: impl Fn(&Scratch) -> Vec<String> + Sync,
    steps: &[(&str, &str)],
    finish: &str,
) {
    each_pair(|(client, server)| {
        let (here, there) = (Scratch::new(), Scratch::new());
        let words = command(&here);
        let direct = Terminal::start(&Invocation::new(&words[0]).args(&words[1..]), SIZE);
        let words = command(&there);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut session = Session::open(client, server, LOCALHOST, lossy(0.1), &words);
        for (keys, drawn) in steps {
            direct.send(keys);
            direct.wait_for_text(drawn);
            session.terminal.send(keys);
            let mut shown = None;
            session.terminal.wait_for("the same picture as without a session", |screen| {
                let difference = first_difference(screen, &direct.screen());
                if let Some(text) = difference.as_ref().filter(|_| shown != difference) {
                    // The test's output appears only if the test fails. The last line then shows why.
                    println!("in the session and without: {text}");
                }
                shown = difference;
                shown.is_none()
            });
        }
        direct.send(finish);
        session.terminal.send(finish);
        session.terminal.wait_exit().assert_code(0).assert_restored(client);
        session.server.assert_gone();
    });
}

#[test]
fn vim_draws_edits_and_quits() {
    let vim = require("vim", "vim");
    let text = "let answer = 42 \" wide 漢字 and é\r";
    same_with_and_without(
        |scratch| {
            // Both runs need the same file name, because it is on the screen. Vim stops colouring a text for good if a
            // redraw lasts longer than `redrawtime` (two seconds unless set). A busy machine may delay one of the two
            // runs so long.
            let script =
                "cd \"$1\" && exec \"$2\" -u NONE -N --cmd 'set redrawtime=1000000' file.vim";
            let folder = scratch.folder();
            let words =
                ["sh".as_ref(), "-c".as_ref(), script.as_ref(), "sh".as_ref(), folder, &vim];
            words.map(|word| word.to_str().expect("paths are text").to_owned()).to_vec()
        },
        &[
            ("", "~"),
            (":set number hlsearch | syntax on\r", "1"),
            ("i", "INSERT"),
            (&text.repeat(30), "30 let answer"),
            ("\x1b", "answer"),
            ("gg/answer\r", "1 let answer"),
            (":vsplit\r\x17l:set list\r", "$"),
        ],
        ":wqa\r",
    );
}

#[test]
fn tmux_draws_splits_and_quits() {
    same_with_and_without(
        |scratch| {
            let config = "set -g destroy-unattached on\nset -g automatic-rename off\n\
                          set -g status-left 'left '\nset -g status-right ''\n\
                          set -g default-command \"PS1='\\$TMUX_PANE ' exec sh\"\n";
            let mut words = Tmux::new(scratch, config).words();
            words.extend(["-n", "window"].map(str::to_owned));
            words
        },
        &[
            ("", "%0 "),
            ("echo o''ne\r", "\none"),
            ("\x02%", "%1 "),
            ("seq 100\r", "100"),
            ("\x02\"", "%2 "),
            ("echo t''wo\r", "two"),
            ("\x02&", "kill-window"),
        ],
        "y",
    );
}

/// `tmux -CC` draws nothing. A rove server tells the user this, and the user continues with Enter.
#[test]
fn tmux_in_control_mode_is_refused_and_left() {
    side_by_side([Maker::Rove, Maker::Stock], |client| {
        let scratch = Scratch::new();
        let config = "set -g destroy-unattached on\nset -g default-command 'exec cat'\n";
        let words =
            Tmux::new(&scratch, config).words().join(" ").replace(" new-session", " -CC new");
        let script = format!("{words}; echo back; exec cat");
        let command = ["sh", "-c", &script];
        let mut session = Session::open(client, Maker::Rove, LOCALHOST, lossy(0.1), &command);
        session.terminal.wait_for_text("press Enter to leave it, and start it over ssh");
        session.terminal.send("\r");
        session.terminal.wait_for_text("back");
        session.terminal.send("typed\r");
        session.terminal.wait_for_text("typed");
        session.terminal.send("\x04");
        session.terminal.wait_exit().assert_code(0).assert_restored(client);
        session.server.assert_gone();
    });
}
