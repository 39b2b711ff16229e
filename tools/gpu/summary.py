"""Sums up a run on a GPU: summary.py RESULTS writes results.json there and prints the speed table."""
import json
import os
import subprocess
import sys

folder = sys.argv[1]


def rows(name):
    path = os.path.join(folder, name)
    return [line.split() for line in open(path)] if os.path.exists(path) else []


def numbers(name):
    path = os.path.join(folder, name)
    return json.load(open(path)) if os.path.exists(path) else {}


try:
    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True).stdout.strip()
except OSError:
    gpu = ""
ours, theirs = numbers("speed.json"), numbers("pytorch.json")  # the more the better
steps, their_steps = numbers("training.json"), numbers("libtorch.json")  # milliseconds
with open(os.path.join(folder, "results.json"), "w") as file:
    json.dump({"gpu": gpu, "parity": {r[0]: r[1] for r in rows("parity.txt")}, "unit": {r[0]: r[1] for r in rows("unit.txt")},
               "sanitizer": [" ".join(r) for r in rows("sanitizer.txt")], "speed": ours, "pytorch": theirs, "milliseconds": steps,
               "libtorch_milliseconds": their_steps}, file, indent=1)
for name, value in ours.items():
    beside = f", PyTorch {theirs[name]:.4g}, ratio {value / theirs[name]:.2f}" if name in theirs else ""
    print(f"{name}: {value:.4g}{beside}")
for name, value in steps.items():
    beside = f", LibTorch {their_steps[name]:.4g}, ratio {their_steps[name] / value:.2f}" if name in their_steps else ""
    print(f"{name}: {value:.4g} ms{beside}")
