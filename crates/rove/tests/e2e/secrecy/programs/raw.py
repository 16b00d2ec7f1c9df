"""Asks in raw mode. Each argument is a field, HOW:PROMPT; the last is the secret, which goes to $OUT.

HOW says what a key shows, and after commas where and when:
at5-3   the field is in row 5, column 3 of a screen of its own, and not in the next row
same    the field is in the row of the last one
auto4   the field ends with its fourth key, without Enter
paste   the terminal marks what is pasted
wait    the field is there only after a second
hide    the cursor is hidden, and a block is drawn in its place
mark    the prompt is marked as shells mark theirs
insert  the last row says that text is inserted
"""

import os
import random
import sys
import termios
import time
import tty

FIXED = {
    "none": "",
    "star": "*",
    "dot": ".",
    "bullet": "\u2022",
    "wide": "\U0001f512",
    "blank": " ",
    "hash": "#",
    "x": "x",
    "triple": "***",
    "block": "\x1b[7m \x1b[m",
    "right": "\x1b[C",
    "holder": "\x1b[C",
}


def show(text):
    os.write(1, text.encode())


def answer(how, key, text):
    """Returns what a field shows when the key has been added to its text."""
    count = len(text)
    if how in FIXED:
        return FIXED[how]
    if how == "echo":
        return key
    if how == "late":
        time.sleep(0.4)
        return key
    if how == "lag":
        time.sleep(0.4)
        return "*"
    if how == "upper":
        return key.upper()
    if how in ("fill", "fillstar"):
        shown = text if how == "fill" else "*" * count
        return "\x1b[20G" + shown.rjust(20) + "\x1b[40G"
    if how == "mute":
        # Tab and Ctrl-T end the echo.
        return "" if "\x14" in text or "\t" in text else key
    if how == "random":
        return "*" * random.randint(0, 3)
    if how == "letters":
        return random.choice("abcdefgh")
    if how == "flicker":
        return "\x1b7\x1b[1;70H" + "-+"[count % 2] + "\x1b8"
    if how == "spin":
        return "/-\\|"[count % 4] + "\b"
    if how == "count":
        return "\x1b7\x1b[2;1H%d typed\x1b8" % count
    if how == "toggle":
        # Ctrl-T hides what is typed.
        if key == "\x14":
            return "\b" * (count - 1) + "*" * (count - 1)
        return "*" if "\x14" in text else key
    if how == "auth":
        return "*" if text[:-1].startswith("auth ") else key
    raise ValueError(how)


def ask(field):
    head, prompt = field.split(":", 1)
    how, *where = head.split(",")
    keys = 0
    if "wait" in where:
        time.sleep(1)
    for word in where:
        if word.startswith("at"):
            show("\x1b[%s;%sH\x1b[K" % tuple(word[2:].split("-")))
        elif word == "same":
            show("\r\x1b[A\x1b[K")
        elif word == "paste":
            show("\x1b[?2004h")
        elif word == "hide":
            show("\x1b[?25l")
        elif word == "insert":
            show("\x1b7\x1b[24;1H-- INSERT --\x1b8")
        elif word.startswith("auto"):
            keys = int(word[4:])
    show("\x1b]133;A\x1b\\" + prompt + "\x1b]133;B\x1b\\" if "mark" in where else prompt)
    if how == "holder":
        show("password" + "\b" * 8)
    text = ""
    while not keys or len(text) < keys:
        key = os.read(0, 1).decode()
        if key in "\r\n":
            break
        text += key
        show(answer(how, key, text))
        if "hide" in where:
            show("\x1b[7m \x1b[m\b")
    if "paste" in where:
        show("\x1b[?2004l")
        text = text.replace("\x1b[200~", "").replace("\x1b[201~", "")
    if "mark" in where:
        show("\x1b]133;C\x1b\\")
    if not any(word.startswith("at") for word in where):
        show("\r\n")
    return text


before = termios.tcgetattr(0)
tty.setraw(0)
open("ready", "w").close()
try:
    if ",at" in sys.argv[1]:
        show("\x1b[?1049h\x1b[2J")
    for field in sys.argv[1:]:
        last = ask(field)
finally:
    termios.tcsetattr(0, termios.TCSADRAIN, before)
with open(os.environ["OUT"], "w") as out:
    out.write(last)
