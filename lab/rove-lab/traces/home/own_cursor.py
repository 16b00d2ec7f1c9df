"""A prompt of a program that hides the terminal's cursor and draws its own, as those built with Ink do."""
import os, sys, termios, tty
old = termios.tcgetattr(0)
tty.setraw(0)
text, at = "", 0
def out(s):
    sys.stdout.write(s); sys.stdout.flush()
def draw(first=False):
    shown = text + " "
    line = "> " + shown[:at] + "\x1b[7m" + shown[at] + "\x1b[27m" + shown[at + 1:]
    up = "" if first else "\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K\x1b[G"
    box = "-" * 40
    out(up + box + "\r\n" + line + "\r\n" + box + "\r\n  %d characters" % len(text))
out("\x1b[?25l")
draw(True)
try:
    while True:
        key = os.read(0, 64).decode()
        if key == "\x04": break
        if key == "\x7f":
            if at: text = text[:at-1] + text[at:]; at -= 1
        elif key == "\x1b[D": at = max(0, at - 1)
        elif key == "\x1b[C": at = min(len(text), at + 1)
        elif key == "\r":
            out("\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K\x1b[G" + "said: " + text + "\r\n"); text, at = "", 0; draw(True); continue
        elif key.isprintable(): text = text[:at] + key + text[at:]; at += len(key)
        draw()
finally:
    out("\x1b[?25h\r\n"); termios.tcsetattr(0, termios.TCSANOW, old)
