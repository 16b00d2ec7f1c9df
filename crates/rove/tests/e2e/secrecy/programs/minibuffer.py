"""A pager whose last row asks: `:` opens a line that is echoed, `s` one with the same prompt that is hidden.

Arguments: the prompt, what a key of a hidden line shows, and perhaps which line opened by `:` is the hidden one.
"""

import os
import sys
import termios
import tty


def show(text):
    os.write(1, text.encode())


def ask(hidden):
    show("\x1b[24;1H\x1b[K" + prompt)
    text = ""
    while True:
        key = os.read(0, 1).decode()
        if key == "\r":
            break
        text += key
        show(mask if hidden else key)
    show("\x1b[24;1H\x1b[K\x1b[7mend of text\x1b[m")
    return text


prompt = sys.argv[1]
mask = {"none": "", "star": "*"}[sys.argv[2]]
last = int(sys.argv[3]) if len(sys.argv) > 3 else 0
before = termios.tcgetattr(0)
tty.setraw(0)
show("\x1b[?1049h\x1b[2J\x1b[H")
for number in range(22):
    show("a line of the text, number %d\r\n" % number)
show("\x1b[24;1H\x1b[7mend of text\x1b[m")
count = 0
while True:
    key = os.read(0, 1).decode()
    count += key == ":"
    if key == "s" or key == ":" and count == last:
        break
    if key == ":":
        ask(False)
answer = ask(True)
show("\x1b[?1049l")
termios.tcsetattr(0, termios.TCSADRAIN, before)
with open(os.environ["OUT"], "w") as out:
    out.write(answer)
