"""Runs a command on a terminal whose output comes so many milliseconds late, as over another slow link."""
import collections, os, pty, select, sys, termios, time, tty

delay = int(sys.argv[1]) / 1000
pid, master = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
found = termios.tcgetattr(0)
tty.setraw(0)
late = collections.deque()
try:
    while True:
        wait = max(0, late[0][0] - time.monotonic()) if late else None
        ready = select.select([0, master], [], [], wait)[0]
        while late and late[0][0] <= time.monotonic():
            os.write(1, late.popleft()[1])
        if 0 in ready:
            os.write(master, os.read(0, 4096))
        if master in ready:
            late.append((time.monotonic() + delay, os.read(master, 4096)))
except OSError:
    for due, data in late:
        time.sleep(max(0, due - time.monotonic()))
        os.write(1, data)
finally:
    termios.tcsetattr(0, termios.TCSADRAIN, found)
