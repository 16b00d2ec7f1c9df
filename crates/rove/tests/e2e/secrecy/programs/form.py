"""A curses form of name, user and password. With "same", all are asked for in the same place."""

import curses
import os
import sys


def field(window, row, label, hidden):
    window.addstr(row, 4, label + ": ")
    window.clrtoeol()
    text = ""
    while True:
        window.refresh()
        key = window.getch()
        if key in (10, 13):
            return text
        text += chr(key)
        if hidden != "none":
            window.addstr("*" if hidden else chr(key))


def main(window):
    curses.noecho()
    place = sys.argv[1]
    hidden = sys.argv[2]
    window.addstr(1, 4, "an account for the machine")
    labels = ["name", "user", "word"]
    for number, label in enumerate(labels):
        row = 4 if place == "same" else 4 + 2 * number
        label = "field" if place == "same" else label
        last = field(window, row, label, hidden if number == 2 else "")
    return last


last = curses.wrapper(main)
with open(os.environ["OUT"], "w") as out:
    out.write(last)
