//! Editors that show their mode while another pane, a popup, a terminal or a question gets the keys.

use super::case::Step::{
    Answer, Each, Gone, Host, Insert, Key, Line, Rows, See, Settle, Three, Type,
};
use super::case::{Case, Step};

const TMUX: &[(&str, &str)] = &[("tmux", "tmux"), ("vim", "vim"), ("bash", "bash")];
const SCREEN: &[(&str, &str)] = &[("screen", "screen"), ("vim", "vim"), ("bash", "bash")];
const VIM: &[(&str, &str)] = &[("vim", "vim"), ("bash", "bash")];
const NVIM: &[(&str, &str)] = &[("nvim", "neovim"), ("bash", "bash")];

/// A vimrc with several functions that read a secret while vim is in insert mode.
const RC: &str = r#"set nocompatible noswapfile shortmess+=I ttimeoutlen=50
func Silent()
  call writefile([], 'begun')
  let word = ''
  while len(word) < 8 | let word .= getcharstr() | endwhile
  call writefile([word], 'out')
  return ''
endfunc
let g:word = ''
func Filter(id, key)
  if a:key ==# "\r"
    call writefile([g:word], 'out')
    call popup_close(a:id)
  else
    let g:word .= a:key
  endif
  return 1
endfunc
func Popup(...)
  call popup_create('one word, please', #{line: 3, col: 30, filter: 'Filter', mapping: 0})
  call writefile([], 'begun')
  return ''
endfunc
func Later()
  call timer_start(2500, 'Popup')
  return ''
endfunc
func Floating()
  let buffer = term_start('bash asker', #{hidden: 1, term_finish: 'close'})
  call popup_create(buffer, #{line: 5, col: 10, minwidth: 40, minheight: 5})
  return ''
endfunc
func Secret()
  call writefile([inputsecret('value: ')], 'out')
  return ''
endfunc
inoremap <expr> <F5> Silent()
inoremap <F6> <C-R>=Popup()<CR>
inoremap <F7> <C-R>=Later()<CR>
inoremap <F8> <Cmd>call Floating()<CR>
inoremap <F9> <C-R>=Secret()<CR>
inoremap <F10> <C-O>:!bash asker<CR>
inoremap <expr> <F12> system('kill -9 ' . getpid())
inoremap <expr> : ':' . Silent()
"#;
/// A script that asks for a name, and then for the secret at the same place. It clears the screen before each question.
const ASKER: &str = "\
clear; read -p 'value: ' name; clear; : > asked; read -s -p 'value: ' word; echo \"$word\" > \"$OUT\"
sh ./end";

const FILES: &[(&str, &str)] = &[
    ("rc", RC),
    ("asker", ASKER),
    (
        "kept",
        "printf '\\033[3H\\033[K'; read -p 'value: ' name; printf '\\033[3H\\033[K'
read -s -p 'value: ' word; echo \"$word\" > \"$OUT\"; sh ./end",
    ),
    ("secret", "read -s -p 'value: ' word; echo \"$word\" > \"$OUT\"; sh ./end"),
    ("end", "[ -z \"$TMUX\" ] || tmux kill-server; [ -z \"$STY\" ] || screen -X quit"),
    ("edit", "exec vim -N -u rc -i NONE \"$@\" text"),
    ("bare.conf", "set -g status off\nset -s exit-unattached on\n"),
    (
        "plain.conf",
        "set -g status off\nset -s exit-unattached on\nset -g pane-border-lines simple\n",
    ),
    (
        "number.conf",
        "set -g status off\nset -s exit-unattached on\nset -g pane-border-lines number\n",
    ),
    (
        "named.conf",
        "set -g status off\nset -s exit-unattached on\nset -g pane-border-lines simple
set -g pane-border-status bottom\nset -g pane-border-format '-- INSERT --'\n",
    ),
    (
        "popup.conf",
        "set -g status off\nset -s exit-unattached on\nbind p display-popup -B -w 40 -h 6 -E 'bash asker'\n",
    ),
    (
        "plain.screen",
        "startup_message off\ncaption always ' '\nrendition so =00 dd\nscreen -t ask bash asker\nsplit
focus down\nscreen -t text sh edit\n",
    ),
    (
        "dump",
        "printf '\\033[24Hinsert into t values (1);\\n\\n-- INSERT --'; exec bash kept",
    ),
    ("bar", "set laststatus=2 statusline=%{mode()=='n'?'NORMAL':'INSERT'}\\ %f\n"),
    (
        "rc.el",
        "(setq inhibit-startup-screen t echo-keystrokes 0) (add-hook 'find-file-hook 'overwrite-mode)
(global-set-key [f6] 'kill-emacs)
(global-set-key [f5] (lambda () (interactive) (write-region \"\" nil \"begun\" nil 0)
  (let ((word \"\")) (dotimes (n 8) (setq word (concat word (string (read-char)))))
    (write-region word nil \"out\" nil 0))))
(global-set-key [f7] (lambda () (interactive)
  (write-region (read-passwd \"value: \") nil \"out\" nil 0)))
(defun terminal () (require 'term) (switch-to-buffer (make-term \"t\" \"bash\" nil \"asker\"))
  (term-mode) (term-char-mode) (overwrite-mode 1)
  (set-process-sentinel (get-buffer-process (current-buffer)) (lambda (&rest _) (kill-emacs))))\n",
    ),
    ("says.conf", "set -g status-left 'INSERT '\nset -s exit-unattached on\n"),
    ("form", "exec dialog --passwordbox value: 8 36 2> \"$OUT\""),
    ("boxed", "dialog --inputbox value: 8 36 2> name; sh form; sh ./end"),
];

/// Creates a case of an `sh` script with the files [`FILES`].
const fn case(
    name: &'static str,
    needs: &'static [(&'static str, &'static str)],
    script: &'static str,
    steps: &'static [Step],
) -> Case {
    Case::new(name, "sh", script, steps).needs(needs).with(FILES)
}

/// The user types text in a vim, changes the pane, and there enters a name and the secret at the same place.
macro_rules! in_another_pane {
    ($key:literal) => {
        &[
            See("value: "),
            Insert,
            Key($key),
            Settle,
            Line("anna"),
            Host("asked"),
            Gone("anna"),
            See("value: "),
            Settle,
            Answer,
        ]
    };
}
/// The user types text in a vim. After the given steps, which start a question, the user types the secret.
macro_rules! inserted {
    ($($step:expr),+) => {
        &[
            Each(&[See("~"), Key("i"), Type("some text")]),
            $($step,)+
            Each(&[Answer, Key("\x1b")]),
            Line(":q!"),
        ]
    };
}
/// The user enters a name, and the secret at the same place.
const SAME_PLACE: &[Step] =
    &[See("value: "), Line("anna"), Gone("anna"), See("value: "), Settle, Answer];

/// Cases with several panes.
pub(super) const PANES: &[Case] = &[
    case(
        "tmux, borders of dashes, vim inserts below",
        TMUX,
        "tmux -S sock -f plain.conf new-session 'bash asker' ';' \\
            split-window -v 'sh edit'",
        in_another_pane!("\x02o"),
    ),
    case(
        "tmux, borders of dashes, vim inserts below, --predict=always",
        TMUX,
        "tmux -S sock -f plain.conf new-session 'bash asker' ';' \\
            split-window -v 'sh edit'",
        in_another_pane!("\x02o"),
    )
    .always(),
    case(
        "tmux, lines of boxes, vim inserts below",
        TMUX,
        "tmux -S sock -f bare.conf new-session 'bash asker' ';' \\
            split-window -v 'sh edit'",
        in_another_pane!("\x02o"),
    ),
    case(
        "tmux, borders of digits, vim inserts on the left",
        TMUX,
        "tmux -S sock -f number.conf new-session 'bash asker' ';' \\
            split-window -hb 'sh edit'",
        in_another_pane!("\x02o"),
    ),
    case(
        "tmux, vim inserts on the left, the question on the right",
        TMUX,
        "tmux -S sock -f bare.conf new-session 'bash asker' ';' \\
            split-window -hb 'sh edit'",
        in_another_pane!("\x02o"),
    ),
    case(
        "tmux, a border that reads as a mode",
        TMUX,
        "tmux -S sock -f named.conf new-session 'bash asker' ';' \\
            split-window -v -l 5 'sh edit'",
        in_another_pane!("\x02o"),
    ),
    case(
        "screen, no caption between regions, vim inserts below",
        SCREEN,
        "SCREENDIR=$HOME/screens screen -q -c plain.screen",
        in_another_pane!("\x01\t"),
    )
    .secret("WJXVQj"),
    case(
        "tmux, borders of dashes, vim inserts below, the window shrinks",
        TMUX,
        "tmux -S sock -f plain.conf new-session 'bash asker' ';' split-window -v 'sh edit'",
        &[
            See("value: "),
            Insert,
            Rows(18),
            Key("\x02o"),
            Settle,
            Line("anna"),
            Gone("anna"),
            See("value: "),
            Rows(22),
            Answer,
        ],
    ),
    case(
        "tmux, a popup without a border over a vim that inserts",
        TMUX,
        "tmux -S sock -f popup.conf new-session 'sh edit'",
        &[
            Insert,
            Key("\x02p"),
            See("value: "),
            Settle,
            Line("anna"),
            Gone("anna"),
            See("value: "),
            Settle,
            Answer,
        ],
    ),
    case(
        "tmux, a dialog in the pane above a vim that inserts",
        &[("tmux", "tmux"), ("vim", "vim"), ("dialog", "dialog")],
        "tmux -S sock -f plain.conf new-session 'sh boxed' ';' split-window -v -l 8 'sh edit'",
        &[See("value:"), Insert, Key("\x02o"), Settle, Line("anna"), Gone("anna"), Settle, Answer],
    ),
    case(
        "tmux, a dump that ends as a mode, the question at the top",
        TMUX,
        "tmux -S sock -f bare.conf new-session 'bash dump'",
        SAME_PLACE,
    ),
    case(
        "tmux, a status line that says INSERT, a name and the secret in one place",
        TMUX,
        "tmux -S sock -f says.conf new-session 'bash asker'",
        SAME_PLACE,
    ),
    case(
        "tmux, a status line that says INSERT, a shell, then read -s on a cleared screen",
        TMUX,
        "tmux -S sock -f says.conf new-session 'bash --norc --noprofile -i'",
        &[
            Three("$ "),
            Line("clear"),
            Gone("three"),
            Line("clear; bash secret"),
            See("value: "),
            Answer,
        ],
    ),
    case(
        "tmux, borders of dashes, vim inserts below, datagrams lost",
        TMUX,
        "tmux -S sock -f plain.conf new-session 'bash asker' ';' split-window -v 'sh edit'",
        in_another_pane!("\x02o"),
    )
    .loss(0.2),
];

/// Cases with a single editor.
pub(super) const EDITORS: &[Case] = &[
    case(
        "vim, a key that takes keys in silence while it inserts",
        VIM,
        "sh edit",
        inserted!(Key("\x1b[15~"), Host("begun"), Settle),
    ),
    case(
        "vim, a key that takes keys in silence, typed on at once",
        VIM,
        "sh edit",
        inserted!(Key("\x1b[15~")),
    ),
    case(
        "vim, a key that takes keys in silence, at once, --predict=always",
        VIM,
        "sh edit",
        inserted!(Key("\x1b[15~")),
    )
    .always(),
    case(
        "vim, a popup takes the keys while it inserts",
        VIM,
        "sh edit",
        inserted!(Key("\x1b[17~"), See("one word"), Settle),
    ),
    case(
        "vim, a popup takes the keys, typed on at once",
        VIM,
        "sh edit",
        inserted!(Key("\x1b[17~")),
    ),
    case(
        "vim, a colon that is inserted, then silence",
        VIM,
        "sh edit",
        inserted!(Key(":"), Host("begun"), Settle),
    )
    .excused(4),
    case(
        "vim, inputsecret() while it inserts, three rows for commands",
        VIM,
        "sh edit -c 'set cmdheight=3'",
        inserted!(Key("\x1b[20~"), See("value: ")),
    ),
    case(
        "vim, inputsecret() while it inserts, its mode in a bar",
        VIM,
        "sh edit -c 'set laststatus=2 statusline=INSERT\\ %f'",
        inserted!(Key("\x1b[20~"), See("value: ")),
    ),
    case(
        "vim, a command that asks, from the midst of inserting",
        VIM,
        "sh edit",
        inserted!(
            Key("\x1b[21~"),
            See("value: "),
            Line("anna"),
            Gone("anna"),
            See("value: "),
            Settle
        ),
    ),
    case(
        "vim, a terminal in a popup while it inserts",
        VIM,
        "sh edit",
        inserted!(
            Key("\x1b[19~"),
            See("value: "),
            Line("anna"),
            Gone("anna"),
            See("value: "),
            Settle
        ),
    ),
    case(
        "neovim, a key that takes keys in silence while it inserts",
        NVIM,
        "nvim --clean -n -c 'source rc' text",
        inserted!(Key("\x1b[15~"), Host("begun"), Settle),
    ),
    case(
        "neovim, inputsecret() while it inserts",
        NVIM,
        "nvim --clean -n -c 'source rc' text",
        inserted!(Key("\x1b[20~"), See("value: ")),
    ),
    case(
        "vim, inputsecret() while it inserts, typed on at once",
        VIM,
        "sh edit",
        inserted!(Key("\x1b[20~")),
    ),
    case(
        "vim, a click on a terminal above while it inserts",
        VIM,
        "sh edit -c 'set mouse=a ttymouse=sgr' -c 'term ++close bash asker' -c 'wincmd j'",
        inserted!(
            Key("\x1b[<0;20;3M\x1b[<0;20;3m"),
            Settle,
            Line("anna"),
            Gone("anna"),
            See("value: "),
            Settle
        ),
    ),
    case(
        "vim, a terminal in a window whose bar says INSERT",
        VIM,
        "sh edit -c 'source bar' -c 'term ++curwin bash asker'",
        &[
            See("value: "),
            Settle,
            Line("anna"),
            Gone("anna"),
            Each(&[See("value: "), Answer]),
            Line(":qa!"),
        ],
    ),
    case(
        "vim that was killed leaves its mode, a name and the secret in one place",
        VIM,
        "sh edit; stty sane; exec bash kept",
        &[
            Insert,
            Key("\x1b[24~"),
            See("value: "),
            Line("anna"),
            Gone("anna"),
            See("value: "),
            Settle,
            Answer,
        ],
    ),
    case(
        "vim that was killed leaves its mode, a shell below, then read -s",
        VIM,
        "sh edit; stty sane; printf '\\r$ \\033[J\\033[24H-- INSERT --\\033[2H'; PS1='$ ' exec bash --norc --noprofile -i",
        &[
            Insert,
            Key("\x1b[24~"),
            Each(&[See("$ "), Line("echo one"), Line("echo two")]),
            Line("bash secret"),
            See("value: "),
            Answer,
            Settle,
            Line("exit"),
        ],
    ),
    case(
        "kakoune's prompt, then its prompt for passwords",
        &[("kak", "kakoune")],
        "kak -n -e 'prompt value:\\  %{ prompt -password value:\\  %{ echo -to-file out %val{text}; quit! } }'",
        &[See("value: "), Line("anna"), Gone("anna"), See("value: "), Settle, Answer],
    ),
    case(
        "emacs overwrites, a key that takes keys in silence",
        EMACS,
        "emacs -nw -Q -l rc.el text",
        &[
            Each(&[See("Ovwrt"), Type("some text")]),
            Key("\x1b[15~"),
            Each(&[Host("begun"), Answer]),
            Key("\x1b[17~"),
        ],
    ),
    case(
        "emacs overwrites, then read-passwd",
        EMACS,
        "emacs -nw -Q -l rc.el text",
        &[
            Each(&[See("Ovwrt"), Type("some text")]),
            Key("\x1b[18~"),
            See("value: "),
            Answer,
            Settle,
            Key("\x1b[17~"),
        ],
    ),
    case(
        "emacs, a terminal in a buffer that overwrites",
        EMACS,
        "emacs -nw -Q -l rc.el -f terminal",
        SAME_PLACE,
    ),
];

/// A popup appears by itself in an editor's mode, after an echo and with the cursor in the text. It takes the keys.
/// Until the client sees that the popup is silent, letters look like text.
pub(super) const BY_ITSELF: &[Case] = &[case(
    "vim, a popup that comes by itself takes the keys while it inserts",
    VIM,
    "sh edit",
    inserted!(Key("\x1b[18~"), Type(" more"), See("one word"), Settle),
)
.excused(4)];

const EMACS: &[(&str, &str)] = &[("emacs", "emacs-nox"), ("bash", "bash")];
