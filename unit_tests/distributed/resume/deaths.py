#!/usr/bin/env python3
"""Kills a rank at a place drawn by chance, again and again; each run has to end with the losses of an undisturbed one.

    deaths.py BUILD [--times 100] [--ranks 4] [--seed 1]
"""
import argparse
import pathlib
import random
import re
import subprocess
import tempfile


def losses(build, ranks, death):
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([build / "cli/halfbridge", "run", "-n", str(ranks), "--max-restarts", "1",
                              build / "unit_tests/resume_program", folder, *map(str, death)], capture_output=True, text=True)
    found = dict(re.findall(r"step (\d+) loss (\S+)", run.stdout))
    if run.returncode != 0 or (death and "signal 9" not in run.stderr):
        raise SystemExit(f"{death}: exit status {run.returncode}\n{run.stderr}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    build = options.build.resolve()
    want = losses(build, options.ranks, ())
    for n in range(options.times):
        where = draw.choice(("forward", "backward", "collective", "save"))
        step = draw.choice((5, 10, 15)) if where == "save" else draw.randrange(20)
        death = (draw.randrange(options.ranks), step, where)
        got = losses(build, options.ranks, death)
        if got != want:
            raise SystemExit(f"{death}: other losses than those of an undisturbed run")
    print(f"{options.times} deaths on {options.ranks} ranks (seed {options.seed}): all resumed with the losses of an undisturbed run")


if __name__ == "__main__":
    main()
