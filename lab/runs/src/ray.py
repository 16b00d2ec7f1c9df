"""Does tasks on Ray: ray.py PROGRAM COUNT WORD...

An order comes in on standard input: a line of terms, a line for each task, an empty line. The answers go out on standard output, a line
each in any order. The lines are not looked into: each worker is an actor that keeps one PROGRAM WORD..., which reads and writes
them. Tasks of a worker that is lost are done again by another one. A line on standard output that begins with "!" is the reason why there
are no more answers.
"""

import os
import socket
import subprocess
import sys
import tempfile
import threading

# Output of Ray itself must not mix with the answers.
answers_to = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
# A directory named ray where we are called is no package.
sys.path[:] = [place for place in sys.path if place]


def tell(line):
    try:
        answers_to.write(line + "\n")
        answers_to.flush()
    except BrokenPipeError:
        # The caller has gone, and what was said to it with it.
        os.dup2(2, answers_to.fileno())
        sys.exit(1)


def give_up(reason):
    tell("!" + " ".join(reason.split()))
    sys.exit(1)


try:
    import ray
except ImportError:
    give_up("the Python package ray is not there; get it with: pip install ray")

# How often the same tasks are tried, and in how many parts those of an order go to each worker.
TRIES = 3
PARTS = 4
# How much is told of the last that a process has written to standard error, in bytes.
SAID_BYTES = 2000


@ray.remote(num_cpus=1)
class Worker:
    def __init__(self, program, words):
        self.place = tempfile.TemporaryDirectory()
        copy = os.path.join(self.place.name, "rove-lab")
        with open(copy, "wb") as file:
            file.write(program)
        os.chmod(copy, 0o700)
        self.command = [copy, *words]
        self.start()

    def start(self):
        # A pipe that nobody reads would fill up, and the process would wait for ever.
        self.said = tempfile.TemporaryFile()
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said)
        # Files of a process that is killed go with the worker's own.
        environment = dict(os.environ, TMPDIR=self.place.name)
        self.child = subprocess.Popen(self.command, text=True, env=environment, **pipes)

    def name(self):
        return f"{socket.gethostname()} {self.child.pid}"

    def feed(self, lines):
        try:
            self.child.stdin.write("\n".join(lines) + "\n")
            self.child.stdin.flush()
        except OSError:
            pass

    def run(self, terms, tasks):
        # Answers are read while tasks are written: neither pipe fills up.
        feeder = threading.Thread(target=self.feed, args=([terms, *tasks],))
        feeder.start()
        answers = [self.child.stdout.readline() for _ in tasks]
        feeder.join()
        if all(line.endswith("\n") for line in answers):
            return [line.rstrip("\n") for line in answers], ""
        name, code = self.name(), self.child.wait()
        self.said.seek(max(0, self.said.seek(0, os.SEEK_END) - SAID_BYTES))
        said = self.said.read().decode(errors="replace").strip()
        self.start()
        how = f"signal {-code}" if code < 0 else said or f"exit code {code}"
        return None, f"{name} died of {how}; {self.name()} takes its place"


def order():
    lines = []
    for line in sys.stdin:
        if line == "\n":
            return lines
        lines.append(line.rstrip("\n"))
    sys.exit(0)


program, count, *words = sys.argv[1:]
# Without an address Ray would join whatever cluster runs here, which ends when its owner does.
where = os.environ.get("RAY_ADDRESS") or "local"
ray.init(address=where, log_to_driver=False, logging_level="ERROR")
of = max(1, int(ray.cluster_resources().get("CPU", 1)))
of = min(of, int(count) or of)
with open(program, "rb") as file:
    shared = ray.put(file.read())
pool = [Worker.remote(shared, words) for _ in range(of)]
tell(" ".join(["ready", *ray.get([worker.name.remote() for worker in pool])]))
while True:
    terms, *tasks = order()
    terms = ray.put(terms)
    size = max(1, -(-len(tasks) // (PARTS * len(pool))))
    parts = [(tasks[begin : begin + size], 1) for begin in range(0, len(tasks), size)]
    free, running = list(pool), {}
    while parts or running:
        while parts and free:
            worker, (part, tried) = free.pop(), parts.pop()
            running[worker.run.remote(terms, part)] = worker, part, tried
        [done, *_], _ = ray.wait(list(running))
        worker, part, tried = running.pop(done)
        try:
            answers, reason = ray.get(done)
            free.append(worker)
        except ray.exceptions.RayError as error:
            # Its computer is gone, and the actor with it.
            pool.remove(worker)
            answers, reason = None, f"a computer is lost ({type(error).__name__})"
        if answers is not None:
            for line in answers:
                tell(line)
            continue
        if tried == TRIES or not pool:
            give_up(f"{reason}; {tried} workers were lost over the same tasks" if pool else f"{reason}; no worker is left")
        print(f"a worker is lost, and its tasks are done again: {reason}", file=sys.stderr, flush=True)
        parts.append((part, tried + 1))
