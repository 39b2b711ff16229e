#!/usr/bin/env python3
"""Makes random calls with LibTorch and with Halfbridge and compares what came of them.

Functions, shapes, dtypes, layouts and parameters are drawn from a seed (inputs.cpp). A call counts as alike where both
libraries give the same dtypes, shapes, values and gradients, or both refuse. Reported are

  values    both compute, and the results differ
  refuses   Halfbridge refuses what LibTorch computes
  computes  Halfbridge computes what LibTorch refuses (counted; listed with --lenient)

Differences that are meant to be are in known.tsv: kind, the call, and why; they are not counted as failures.
"""
import argparse
import collections
import csv
import math
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOLERANCE = 1e-4
HALF_TOLERANCE = {"BFloat16": 4e-2, "Half": 5e-3}  # of what was computed from such numbers, beside the line's largest


def known_differences():
    with open(HERE / "known.tsv", encoding="utf-8") as file:
        rows = csv.reader((line for line in file if not line.startswith("#")), delimiter="\t", quoting=csv.QUOTE_NONE)
        return {(kind, call) for kind, call, _ in rows}


def lines(program, seed, calls):
    run = subprocess.run([program, str(seed), "0", str(calls)], capture_output=True, text=True, check=False)
    if run.returncode:  # otherwise there are warnings alone
        last = run.stdout.rstrip().rsplit("\n", 1)[-1]
        sys.exit(f"error: {program} ended with {run.returncode}, after the line: {last}\n{run.stderr[-2000:]}")
    return run.stdout.splitlines()


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def close(a, b, tolerance, scale):
    x, y = number(a), number(b)
    if x is None or y is None:
        return a == b
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    return x == y or abs(x - y) <= tolerance * (1 + max(abs(x), abs(y), scale))


def kind_of(arguments, ours, theirs):
    """None where the two are alike."""
    refused = ["error:" in text for text in (ours, theirs)]
    if all(refused):
        return None
    if any(refused):
        return "refuses" if refused[0] else "computes"
    a, b = ours.split(), theirs.split()
    tolerance, scale = TOLERANCE, 0
    for dtype, half in HALF_TOLERANCE.items():
        if dtype in arguments or dtype in theirs:
            numbers = (number(text) for text in a)
            tolerance = half
            scale = max((abs(x) for x in numbers if x is not None and math.isfinite(x)), default=0)
            break
    return None if len(a) == len(b) and all(close(x, y, tolerance, scale) for x, y in zip(a, b)) else "values"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libtorch", help="the program random_calls_libtorch")
    parser.add_argument("halfbridge", help="the program random_calls_halfbridge")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=20000)
    parser.add_argument("--lenient", action="store_true", help="list also what only LibTorch refuses")
    options = parser.parse_args()

    theirs = lines(options.libtorch, options.seed, options.calls)
    ours = lines(options.halfbridge, options.seed, options.calls)
    known = known_differences()
    counts = collections.Counter()
    found = collections.defaultdict(list)
    for a, b in zip(ours, theirs):
        a, b = a.split("\t"), b.split("\t")
        if a[:2] != b[:2]:
            sys.exit(f"error: the programs make different calls (number {a[0]}): build both again")
        call, arguments, gave = a[1], a[2], (a[3], b[3])
        kind = kind_of(arguments, *gave)
        if kind is None:
            counts["alike"] += 1
        elif (kind, call) in known:
            counts["known"] += 1
        else:
            counts[kind] += 1
            found[kind, call].append((arguments, *gave))

    for (kind, call), rows in sorted(found.items()):
        if kind == "computes" and not options.lenient:
            continue
        print(f"{kind}: {call} ({len(rows)})")
        print("  of{}\n  Halfbridge{}\n  LibTorch  {}".format(*rows[0]))
    print(f"{len(theirs)} calls: {counts['alike']} alike, {counts['known']} differ as known.tsv says, "
          f"{counts['computes']} refused by LibTorch alone, {counts['refuses']} refused by Halfbridge alone, "
          f"{counts['values']} with other results")
    return 1 if counts["refuses"] or counts["values"] else 0


if __name__ == "__main__":
    sys.exit(main())
