"""Echoes keys until something happens, then nothing; the eight last characters go to $OUT with Enter.

The first argument says what ends the echo: a character, or
first   the first character
right   the arrow to the right, which goes to another column
erased  the erasing of the last character, or of the line with Ctrl-U
home    Home or Ctrl-A
winch   a new size of the window
"""

import os
import signal
import sys
import termios
import tty


def show(text):
    os.write(1, text.encode())


def hide(*_):
    global is_hidden
    is_hidden = how == "winch"
    open("begun", "w").close()


how = sys.argv[1]
is_hidden = False
before = termios.tcgetattr(0)
tty.setraw(0)
signal.signal(signal.SIGWINCH, hide)
show("value: ")
shown = text = ""
while True:
    key = os.read(0, 1).decode()
    key += os.read(0, 2).decode() if key == "\x1b" else ""
    if key == "\r":
        break
    if is_hidden:
        text += key
    elif len(key) > 1:
        is_hidden = how == "right" or how == "home" and key != "\x1b[C"
        show("\x1b[40G" if how == "right" else "\r\x1b[7C")
    elif key == "\x01":
        show("\r\x1b[7C")
        is_hidden = how == "home"
    elif key in "\x7f\x15":
        count = 1 if key == "\x7f" else len(shown)
        show("\b \b" * count)
        shown = shown[: len(shown) - count]
        is_hidden = how == "erased" and not shown
    else:
        show(key)
        text += key
        shown += key
        is_hidden = key == how or how == "first"
termios.tcsetattr(0, termios.TCSADRAIN, before)
with open(os.environ["OUT"], "w") as out:
    out.write(text[-8:])
