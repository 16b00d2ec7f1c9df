#!/usr/bin/env python3
"""Draws bars of one metric of figures.csv, with their 95 % intervals: figure.py figures/figures.csv 'use (%)' > bars.svg

With pandas: read_csv("figures/figures.csv").query("metric == 'use (%)'").plot.barh("system", "number")
"""

import csv
import signal
import sys
from html import escape

# A reader that goes away, as head does, ends this program.
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
path, metric = sys.argv[1:]
with open(path, newline="") as file:
    rows = [row for row in csv.DictReader(file) if row["metric"] == metric]
if not rows:
    sys.exit(f"{path} has no metric {metric!r}")
several = len({row["figure"] for row in rows}) > 1
longest = max(float(row["high95"] or row["number"]) for row in rows) or 1
print(f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{24 * len(rows) + 40}" font-family="sans-serif" font-size="12">')
print(f'<text x="260" y="20">{escape(metric)}</text>')
for place, row in enumerate(rows):
    top, scale = 24 * place + 32, 400 / longest
    length = float(row["number"]) * scale
    names = [row["figure"] if several else "", row["system"], row["link"], row["recording"], row["value"]]
    label = ", ".join(filter(None, names))
    print(f'<text x="250" y="{top + 12}" text-anchor="end">{escape(label)}</text>')
    print(f'<rect x="260" y="{top}" width="{length:.1f}" height="16" fill="#0072b2"/>')
    if row["low95"]:
        low, high = float(row["low95"]) * scale, float(row["high95"]) * scale
        print(f'<path d="M{260 + low:.1f} {top + 8}H{260 + high:.1f}" stroke="currentColor"/>')
    print(f'<text x="{266 + length:.1f}" y="{top + 12}">{float(row["number"]):.3g}</text>')
print("</svg>")
