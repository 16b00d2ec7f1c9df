# Asks for a secret until it is typed twice alike, and draws a star for each key.
import os, sys, termios, tty


def ask(prompt):
    secret = b""
    before = termios.tcgetattr(0)
    tty.setcbreak(0)
    os.write(1, prompt)
    try:
        while (key := os.read(0, 1)) not in b"\r\n":
            if key != b"\x7f":
                secret += key
                os.write(1, b"*")
            elif secret:
                secret = secret[:-1]
                os.write(1, b"\b \b")
    finally:
        termios.tcsetattr(0, termios.TCSANOW, before)
    os.write(1, b"\r\n")
    return secret


while ask(b"New password: ") != ask(b"New password: "):
    print("They differ.")
print("Well done.")
