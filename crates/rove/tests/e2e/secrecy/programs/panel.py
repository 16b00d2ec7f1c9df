"""A form that draws the whole screen for each key, as programs with widgets do. The last field is the secret.

Each argument is a field: HOW:LABEL. Tab and Enter go to the next one. With "one" first, one field is there at a time.
"""

import os
import sys
import termios
import tty

MASKS = {"bullet": "\u2022", "star": "*", "none": ""}


def draw(fields, texts, current, one):
    rows = ["\u256d" + "\u2500" * 40 + "\u256e", "\u2502" + " an account for it".ljust(40) + "\u2502"]
    cursor = (1, 1)
    for number, (how, label) in enumerate(fields):
        if one and number != current:
            continue
        mask = MASKS.get(how)
        text = texts[number] if mask is None else mask * len(texts[number])
        row = " " + label + " " + text
        if number == current:
            cursor = (len(rows) + 1, len(row) + 2)
        rows.append("\u2502" + row.ljust(40) + "\u2502")
    rows.append("\u2570" + "\u2500" * 40 + "\u256f")
    screen = "\x1b[?2026h\x1b[?25l\x1b[H" + "\r\n".join(row + "\x1b[K" for row in rows) + "\x1b[J"
    screen += "\x1b[%d;%dH\x1b[?25h\x1b[?2026l" % cursor
    os.write(1, screen.encode())


one = sys.argv[1] == "one"
fields = [field.split(":", 1) for field in sys.argv[1 + one :]]
texts = [""] * len(fields)
before = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, b"\x1b[?1049h\x1b[?2004h\x1b[2J")
current = 0
try:
    while current < len(fields):
        draw(fields, texts, current, one)
        key = os.read(0, 1).decode()
        if key in "\r\t":
            current += 1
        else:
            texts[current] += key
finally:
    os.write(1, b"\x1b[?2004l\x1b[?1049l")
    termios.tcsetattr(0, termios.TCSADRAIN, before)
with open(os.environ["OUT"], "w") as out:
    out.write(texts[-1])
