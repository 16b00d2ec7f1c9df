"""Asks in raw mode. Each argument is a field, HOW:PROMPT; the last is the secret, which goes to $OUT.

HOW says what a key shows, and in front of an @ where the field is: a row and a column, or nothing for the next line.
"""

import os
import random
import sys
import termios
import time
import tty


def show(text):
    os.write(1, text.encode())


def answer(how, key, count):
    """Returns what a field shows for its key number count."""
    if how == "echo":
        return key
    if how == "late":
        time.sleep(0.4)
        return key
    if how == "random":
        return "*" * random.randint(0, 3)
    if how == "flicker":
        return "\x1b7\x1b[1;70H" + "-+"[count % 2] + "\x1b8"
    if how == "spin":
        return "/-\\|"[count % 4] + "\b"
    if how == "count":
        return "\x1b7\x1b[2;1H%d typed\x1b8" % count
    if how == "end":
        return "\x1b7\x1b[5C*\x1b8"
    return {"none": "", "star": "*", "dot": ".", "bullet": "\u2022", "blank": " ", "hash": "#"}[how]


def ask(field):
    how, prompt = field.split(":", 1)
    how, _, place = how.partition("@")
    if place:
        row, column = place.split(",")
        show("\x1b[%s;%sH\x1b[K" % (row, column))
    show(prompt)
    text = ""
    while True:
        key = os.read(0, 1).decode()
        if key in "\r\n":
            break
        text += key
        show(answer(how, key, len(text)))
    if not place:
        show("\r\n")
    return text


before = termios.tcgetattr(0)
tty.setraw(0)
try:
    if "@" in sys.argv[1].split(":")[0]:
        show("\x1b[?1049h\x1b[2J")
    for field in sys.argv[1:]:
        last = ask(field)
finally:
    termios.tcsetattr(0, termios.TCSADRAIN, before)
with open(os.environ["OUT"], "w") as out:
    out.write(last)
