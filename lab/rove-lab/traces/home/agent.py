"""An agent's screen, drawn as one of four kinds of programs do: agent.py ink|ratatui|stream|filter.

Each frame is a synchronised update. The frames of a spinner come beside those of the keys.
"""
import os, select, sys, termios, time, tty

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
ANSWER = ("The tide tables of the harbour are kept by the pilots. High water comes at seven in the morning, "
          "and the second one a little after half past seven. The keeper of the light writes both down. ").split()
PLACES = [f"{place}/{name}" for place in ("harbour", "lighthouse", "pier", "dunes")
          for name in ("map.txt", "notes.md", "tides.csv", "keeper.md", "log.txt")]
WIDTH = 60


class Program:
    """The state that all four share: a text that is typed, a spinner, and lines that are said."""

    def __init__(self):
        self.text, self.tick, self.said, self.words = "", 0, [], []

    def take(self, key):
        if key == "\x7f":
            self.text = self.text[:-1]
        elif key == "\r":
            self.said.append("> " + self.text)
            self.said.append("")
            self.text, self.words = "", list(ANSWER)
        elif key.isprintable():
            self.text += key

    def step(self):
        self.tick += 1
        if self.words:
            word = self.words.pop(0)
            if len(self.said[-1]) + len(word) > WIDTH - 6:
                self.said.append("")
            self.said[-1] += word + " "

    def spinner(self):
        return SPINNER[self.tick % len(SPINNER)]


class Ink(Program):
    """Erases its lines and writes all of them again; the terminal's cursor stays hidden below them."""
    pause, start, end, height = 0.08, "\x1b[?25l", "\x1b[?25h\r\n", 0

    def frame(self):
        shown = self.text + " "
        lines = [f" {line}" for line in self.said[-6:]]
        lines += ["", f"\x1b[36m{self.spinner()}\x1b[39m Thinking… ({self.tick // 12}s)", "╭" + "─" * (WIDTH - 2) + "╮"]
        typed = f"│ > {shown[:-1]}\x1b[7m{shown[-1]}\x1b[27m"
        lines += [typed + " " * (WIDTH - 6 - len(shown)) + " │", "╰" + "─" * (WIDTH - 2) + "╯"]
        lines += ["\x1b[2m  ? for help\x1b[22m"]
        erased = "\x1b[2K\x1b[1A" * self.height + "\x1b[2K\x1b[G" if self.height else ""
        self.height = len(lines) - 1
        return erased + "\r\n".join(lines)


class Ratatui(Program):
    """Writes the cells that differ, on the alternate screen; the cursor is hidden first and placed last."""
    pause, start, end = 0.1, "\x1b[?1049h\x1b[2J", "\x1b[?1049l\x1b[?25h"

    def __init__(self):
        super().__init__()
        self.cells = {}

    def rows(self):
        said = self.said[-8:]
        yield 1, f" agent  {self.spinner()} {self.tick * 7 % 100:3} % of the budget"
        for row in range(2, 10):
            yield row, " " + (said[row - 2] if row - 2 < len(said) else "")
        yield 11, "┌" + "─" * (WIDTH - 2) + "┐"
        yield 12, "│ " + self.text.ljust(WIDTH - 4) + " │"
        yield 13, "└" + "─" * (WIDTH - 2) + "┘"

    def frame(self):
        out, at = "\x1b[?25l", None
        for row, text in self.rows():
            for column, c in enumerate(text.ljust(WIDTH), 1):
                if self.cells.get((row, column), " ") != c:
                    self.cells[row, column] = c
                    out += c if at == (row, column) else f"\x1b[{row};{column}H{c}"
                    at = row, column + 1
        return out + f"\x1b[12;{len(self.text) + 3}H\x1b[?25h"


class Stream(Program):
    """Lets a text stream above a box with the prompt, at the bottom of what scrolls; the cursor stands in the box."""
    pause, start, end, above = 0.06, "", "\x1b[2B\r\n", None

    def frame(self):
        # What is finished is written once, above; the line that grows is part of what is drawn again.
        done = self.said[:-1] if self.said else []
        out = "\x1b[?25l"
        if self.above is not None:
            out += "\r\x1b[3A\x1b[J"
        out += "".join(line + "\r\n" for line in done[self.above or 0:])
        self.above = len(done)
        grows = self.said[-1] if self.said else ""
        state = f"{self.spinner()} writing" if self.words else "· ready"
        out += f"{grows}\r\n\x1b[35m{state}\x1b[39m\r\n" + "─" * WIDTH + f"\r\n> {self.text}\r\n" + "─" * WIDTH
        return out + f"\x1b[1A\r\x1b[{len(self.text) + 2}C\x1b[?25h"


class Filter(Program):
    """Shows the lines of a list that match what is typed, some of them only with the next frame."""
    pause, start, end, shown = 0.12, "\x1b[?1049h", "\x1b[?1049l", PLACES

    def step(self):
        super().step()
        self.shown = [place for place in PLACES if all(word in place for word in self.text.split())]

    def take(self, key):
        if key == "\r":
            self.text = ""
        else:
            super().take(key)

    def frame(self):
        out = f"\x1b[?25l\x1b[H> {self.text}\x1b[K\r\n\x1b[33m{self.spinner()}\x1b[39m {len(self.shown)}/{len(PLACES)}\x1b[K"
        for number, place in enumerate(self.shown[:12]):
            out += "\r\n" + ("\x1b[7m▌ " if number == 0 else "  ") + place + "\x1b[27m\x1b[K"
        return out + f"\x1b[J\x1b[1;{len(self.text) + 3}H\x1b[?25h"


def main():
    program = {"ink": Ink, "ratatui": Ratatui, "stream": Stream, "filter": Filter}[sys.argv[1]]()
    old = termios.tcgetattr(0)
    tty.setraw(0)

    def write(text):
        out = text.encode()
        while out:
            out = out[os.write(1, out):]

    write(program.start)
    due = time.monotonic()
    try:
        while True:
            write("\x1b[?2026h" + program.frame() + "\x1b[?2026l")
            if select.select([0], [], [], max(0, due - time.monotonic()))[0]:
                keys = os.read(0, 64).decode()
                if keys == "\x04":
                    break
                for key in keys:
                    program.take(key)
            else:
                due = time.monotonic() + program.pause
                program.step()
    finally:
        write(program.end)
        termios.tcsetattr(0, termios.TCSANOW, old)


main()
