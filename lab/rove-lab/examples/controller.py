#!/usr/bin/env python3
"""Keeps the round-trip time at a multiple of its least: the first argument, or 1.5."""

import sys

target = float(sys.argv[1]) if len(sys.argv) > 1 else 1.5
window = 10.0
least = float("inf")
next_change = 0.0

for line in sys.stdin:
    event, *numbers = line.split()
    now, sent, received, packets, in_flight = map(float, numbers)
    if event == "start":
        window, least, next_change = 10.0, float("inf"), 0.0
    elif event == "ack":
        rtt = now - sent
        least = min(least, rtt)
        if now >= next_change:
            # Once in a round trip: a packet more, or a tenth less.
            window += 1 if rtt < target * least else -window / 10
            next_change = now + rtt
    elif event == "loss":
        window /= 2
    else:  # "timeout": everything was lost
        window = 1.0
    window = max(window, 1.0)
    # The window in packets, and the least time between two packets in ms.
    pace = 0 if least == float("inf") else least / window / 2
    print(f"{window:.3f} {pace:.6f}", flush=True)
