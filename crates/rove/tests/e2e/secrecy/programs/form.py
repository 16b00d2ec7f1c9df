"""A curses form of name, user and a secret; the first argument says where the fields are, the second what the last shows.

same    all in one place with one label
rows    a row for each
row     all in one row; Tab or Enter goes on
moves   one label, in another place each time
string  asked for with curses' own getstr, with and without echo
"""

import curses
import os
import sys

LAYOUTS = {
    "same": [(4, 4, "field")] * 3,
    "rows": [(4, 4, "name"), (6, 4, "user"), (8, 4, "word")],
    "row": [(4, 2, "name"), (4, 24, "user"), (4, 46, "word")],
    "moves": [(4, 4, "field"), (9, 20, "field"), (14, 36, "field")],
    "string": [(4, 4, "field"), (5, 4, "field"), (6, 4, "field")],
}


def field(window, row, column, label, mask):
    window.addstr(row, column, label + ": ")
    if place != "row":
        window.clrtoeol()
    text = ""
    while True:
        window.refresh()
        key = window.getch()
        if key in (9, 10, 13):
            return text
        text += chr(key)
        window.addstr(chr(key) if mask is None else mask)


def string(window, row, column, label, mask):
    window.addstr(row, column, label + ": ")
    if mask is None:
        curses.echo()
    else:
        curses.noecho()
    return window.getstr().decode()


def main(window):
    curses.noecho()
    window.addstr(1, 4, "an account for the machine")
    ask = string if place == "string" else field
    masks = [None, None, {"star": "*", "none": ""}[sys.argv[2]]]
    return [ask(window, *where, mask) for where, mask in zip(LAYOUTS[place], masks)][-1]


place = sys.argv[1]
last = curses.wrapper(main)
with open(os.environ["OUT"], "w") as out:
    out.write(last)
