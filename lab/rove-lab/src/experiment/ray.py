"""Runs shards of a sweep on Ray: ray.py PROGRAM RUNS ARGUMENT...

Each task runs PROGRAM with the arguments and a shard of its own, in a directory of its own. The lines of its runs.jsonl
come back and are appended to RUNS. Ray runs a task again whose computer is lost; a run that comes twice does no harm.
"""

import os
import subprocess
import sys
import tempfile

# A directory named ray where we are called is no package.
sys.path[:] = [place for place in sys.path if place]

try:
    import ray
except ImportError:
    sys.exit("the Python package ray is not there; get it with: pip install ray")


@ray.remote(num_cpus=1, max_retries=3)
def shard(program, index, of, arguments):
    with tempfile.TemporaryDirectory() as place:
        copy = os.path.join(place, "rove-lab")
        with open(copy, "wb") as file:
            file.write(program)
        os.chmod(copy, 0o700)
        out = os.path.join(place, "out")
        command = [copy, "figures", *arguments, "--out", out, "--shard", f"{index}/{of}"]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            return None, done.stderr.strip()
        with open(os.path.join(out, "runs.jsonl")) as file:
            return file.read(), ""


program, runs, *arguments = sys.argv[1:]
# Without an address Ray would join whatever cluster runs here, which ends when its owner does.
where = os.environ.get("RAY_ADDRESS") or "local"
ray.init(address=where, log_to_driver=False, logging_level="ERROR")
with open(program, "rb") as file:
    shared = ray.put(file.read())
of = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))
waiting = [shard.remote(shared, index, of, arguments) for index in range(1, of + 1)]
while waiting:
    ready, waiting = ray.wait(waiting)
    lines, complaint = ray.get(ready[0])
    if lines is None:
        sys.exit(f"a shard has failed: {complaint}")
    with open(runs, "a") as file:
        file.write(lines)
    if sys.stderr.isatty():
        end = "" if waiting else "\r\033[K"
        print(f"\r{of - len(waiting)} of {of} shards{end}", end="", file=sys.stderr, flush=True)
