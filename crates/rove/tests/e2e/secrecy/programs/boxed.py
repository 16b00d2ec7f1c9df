"""Asks in a box that is drawn again for each key, as programs built with Ink do; the last answer goes to $OUT.

The terminal's cursor is hidden and stays below the box; a block in reverse video behind the text stands for it. Each argument is a
field, HOW:PROMPT, all in the same place. HOW says what stands for a key: echo, star, bullet, none, count (their number alone).
"""

import os
import sys
import termios
import tty

ROWS = 3
WIDTH = 60


def shown(how, text):
    return {
        "echo": text,
        "star": "*" * len(text),
        "bullet": "\u2022" * len(text),
        "none": "",
        "count": "",
    }[how]


def draw(how, prompt, text):
    line = " " + prompt + shown(how, text)
    number = "%d typed " % len(text) if how == "count" else ""
    rest = " " * (WIDTH - 1 - len(line) - len(number)) + number
    rows = ["\u256d" + "\u2500" * WIDTH + "\u256e"]
    rows.append("\u2502" + line + "\x1b[7m \x1b[27m" + rest + "\u2502")
    rows.append("\u2570" + "\u2500" * WIDTH + "\u256f")
    return "\r\n".join(rows) + "\r\n"


def show(text):
    os.write(1, text.encode())


def ask(how, prompt, erase):
    text = ""
    while True:
        show(erase + draw(how, prompt, text))
        erase = "\x1b[1A\x1b[2K" * ROWS + "\r"
        key = os.read(0, 1).decode()
        if key in "\r\n":
            return text
        text = text[:-1] if key == "\x7f" else text + key


before = termios.tcgetattr(0)
tty.setraw(0)
show("\x1b[?25l")
erase = ""
try:
    for field in sys.argv[1:]:
        how, prompt = field.split(":", 1)
        last = ask(how, prompt, erase)
        erase = "\x1b[1A\x1b[2K" * ROWS + "\r"
finally:
    show("\x1b[?25h")
    termios.tcsetattr(0, termios.TCSADRAIN, before)
with open(os.environ["OUT"], "w") as out:
    out.write(last)
