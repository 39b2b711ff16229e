#!/usr/bin/env python3
"""Makes random calls with LibTorch and with Halfbridge and compares what came of them.

Functions, shapes, dtypes, layouts and parameters are drawn from a seed (inputs.cpp). A call counts as alike where both
libraries give the same dtypes, shapes, values and gradients, or both refuse. Reported are

  values    both compute, and the results differ (dtypes, shapes, values or gradients)
  strides   the results have their elements in another order of memory (listed with --strides)
  crashes   Halfbridge ends; what ends LibTorch counts as refused
  refuses   Halfbridge refuses what LibTorch computes
  computes  Halfbridge computes what LibTorch refuses, or a gradient that it lacks (counted; listed with --lenient)
  error     both refuse, with errors of two types (counted; listed with --errors)

Differences that are meant to be are in known.tsv: kind, the call, and why; they are not counted as failures.
"""
import argparse
import collections
import concurrent.futures
import csv
import math
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOLERANCE = 1e-4
REFUSED = "-77777"
HALF_TOLERANCE = {"BFloat16": 4e-2, "Half": 5e-3}  # of what was computed from such numbers, beside the line's largest
ENVIRONMENTS = {
    "cpu": {},
    "fake": {"HALFBRIDGE_FAKE_DEVICE": "default", "OMP_NUM_THREADS": "1"},
    "cuda": {"HALFBRIDGE_DEFAULT_DEVICE": "cuda", "SOFTWARE_CUDA_RANDOM": "cpu", "CUDA_LAUNCH_BLOCKING": "1"},
}


def known_differences():
    with open(HERE / "known.tsv", encoding="utf-8") as file:
        rows = csv.reader((line for line in file if not line.startswith("#")), delimiter="\t", quoting=csv.QUOTE_NONE)
        return {(kind, call) for kind, call, _ in rows}


def lines(program, options, environment=None):
    """The program is started again after a call that ended it, or that does not end."""
    made = []
    while len(made) < options.calls:
        command = [program, str(options.seed), str(len(made)), str(options.calls), options.only]
        try:
            run = subprocess.run(command, capture_output=True, text=True, check=False,
                                 timeout=options.patience, env={**os.environ, **(environment or {})})
            output, status, errors = run.stdout, run.returncode, run.stderr.strip()
        except subprocess.TimeoutExpired as stopped:
            output, status, errors = (stopped.stdout or b"").decode(), 124, "takes too long"
            output = output[:output.rfind("\n") + 1]
        if status == 2:
            sys.exit(f"error: {program}: {errors}")
        made += [line for line in output.split("\n") if re.match(r"\d+\t", line)]
        if status:
            made.append(f"{len(made)}\t\t\t crash: {status} {errors[-300:]}".replace("\n", " "))
    return made


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


def numbers(tokens):
    return [x for x in map(number, tokens) if x is not None and math.isfinite(x)]


def tame(pairs, complex_numbers):
    """Without what NaN and infinities make of gradients and of products of complex numbers: it depends on the order
    of terms, some of which vanish."""
    at = next((i for i, (_, y) in enumerate(pairs) if y == "gradients"), len(pairs))

    def is_finite(text):
        return number(text) is None or math.isfinite(number(text))

    first = 0 if complex_numbers else at
    return pairs[:first] + [(x, y) for x, y in pairs[first:] if is_finite(x) and is_finite(y)]


def differ(arguments, ours, theirs):
    """Whether two lists of words and numbers differ by more than rounding errors."""
    if len(ours) != len(theirs):
        return True
    tolerance, scale = TOLERANCE, 0
    largest = max(map(abs, numbers(ours)), default=0)
    if "second" in ours:
        scale = largest / 10  # what is left of the first gradient's terms
    for dtype, half in HALF_TOLERANCE.items():
        if dtype in arguments or any(dtype in token for token in theirs):
            tolerance, scale = half, largest
            break
    pairs = list(zip(ours, theirs))
    if "second" in theirs:  # where a formula ends, LibTorch's are often NaN
        at = theirs.index("second")
        pairs = pairs[:at] + [(x, y) for x, y in pairs[at:] if y not in ("nan", "-nan")]
    if " large" in arguments or " wild" in arguments:
        scale = max(scale, largest * 1e-2)
    if " wild" in arguments:
        pairs = tame(pairs, any("complex" in token for token in theirs))
    return not all(close(x, y, tolerance, scale) for x, y in pairs)


def has_more(ours, theirs):
    """Whether Halfbridge has a gradient where LibTorch has none."""
    return ours.count("undefined") < theirs.count("undefined") or ("second" in ours) > ("second" in theirs)


def kind_of(arguments, ours, theirs):
    """None where the two are alike."""
    a, b = ours.split(), theirs.split()
    for x, y in zip(a, b):  # the first step of a program that one of the two refuses
        if x != y and REFUSED in (x, y):
            return "refuses" if x == REFUSED else "computes"
    if "crash:" in a:
        return "crashes"
    refused = ["error:" in tokens or "crash:" in tokens for tokens in (a, b)]
    if all(refused):
        return None if a[1] == b[1] or "crash:" in b else "error"
    if any(refused):
        return "refuses" if refused[0] else "computes"
    order = [[token for token in tokens if token.startswith("strides")] for tokens in (a, b)]
    values = [[token for token in tokens if not token.startswith("strides")] for tokens in (a, b)]
    if "gradients" in a and "gradients" not in b:
        values[0] = values[0][:values[0].index("gradients")]
        return "values" if differ(arguments, *values) else "computes"
    if differ(arguments, *values):
        return "computes" if has_more(a, b) else "values"
    return None if order[0] == order[1] else "strides"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libtorch", help="the program random_calls_libtorch (or random_calls_halfbridge: what --device changes)")
    parser.add_argument("halfbridge", help="the program random_calls_halfbridge")
    parser.add_argument("--device", choices=ENVIRONMENTS, default="cpu",
                        help="where Halfbridge's tensors are: fake has memory that the host cannot touch; cuda is the one "
                             "of the library that HALFBRIDGE_CUDA_LIBRARY names")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=20000)
    parser.add_argument("--patience", type=float, default=600, metavar="S",
                        help="a program that runs longer is stopped, and its last call has ended it (default: 600 s)")
    parser.add_argument("--lenient", action="store_true", help="list also what only LibTorch refuses")
    parser.add_argument("--errors", action="store_true", help="list also what both refuse with errors of two types")
    parser.add_argument("--strides", action="store_true", help="list also what differs in strides alone")
    parser.add_argument("--show", type=int, default=1, metavar="N", help="so many calls of each kind (default: 1)")
    parser.add_argument("--only", default="", metavar="TEXT", help="calls whose name has TEXT alone")
    options = parser.parse_args()

    with concurrent.futures.ThreadPoolExecutor() as pool:
        ours, theirs = pool.map(lines, (options.halfbridge, options.libtorch), (options, options),
                                (ENVIRONMENTS[options.device], None))
    known = known_differences()
    counts = collections.Counter()
    found = collections.defaultdict(list)
    for a, b in zip(ours, theirs):
        a, b = a.split("\t"), b.split("\t")
        ended = not a[1] or not b[1]
        if a[:2] != b[:2] and not ended:
            sys.exit(f"error: the programs make different calls (number {a[0]}): build both again")
        call, arguments, gave = a[1] or b[1], f"{a[2] or b[2]} (number {a[0]})", (a[3], b[3])
        if options.device != "cpu" and " autocast" in arguments:  # that of the CPU
            continue
        kind = kind_of(arguments, *gave)
        # What is drawn depends on what the call made before.
        if a[2] != b[2] and not ended and kind != "computes" and not all("error:" in text for text in gave):
            kind, arguments = "values", f"{arguments}, with LibTorch{b[2]}"
        if kind is None:
            counts["alike"] += 1
        elif (kind, call) in known:
            counts["known"] += 1
        else:
            counts[kind] += 1
            found[kind, call].append((arguments, *gave))

    unlisted = {kind for kind, listed in (("computes", options.lenient), ("error", options.errors),
                                          ("strides", options.strides)) if not listed}
    for (kind, call), rows in sorted(found.items()):
        if kind in unlisted:
            continue
        print(f"{kind}: {call} ({len(rows)})")
        for row in rows[:options.show]:
            print("  of{}\n  Halfbridge{}\n  LibTorch  {}".format(*row))
    print(f"{len(theirs)} calls: {counts['alike']} alike, {counts['known']} differ as known.tsv says, "
          f"{counts['computes']} refused by LibTorch alone, {counts['error']} refused with errors of two types, "
          f"{counts['strides']} with other strides, {counts['refuses']} refused by Halfbridge alone, {counts['values']} with other results, "
          f"{counts['crashes']} crashes")
    return 1 if counts["refuses"] or counts["values"] or counts["crashes"] else 0


if __name__ == "__main__":
    sys.exit(main())
