#!/usr/bin/env python3
"""Steps of two ranks of one thread against one, against Python's DistributedDataParallel on Gloo where there is a Python with
torch (HALFBRIDGE_PYTHON, else python3), against allreduce by Gloo's TCP alone, and against the cost model.

    ./dev bench --distributed [--rounds N] [--only TEXT]
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys

from stolen import Stolen

HERE = pathlib.Path(__file__).resolve().parent
LAUNCHER = HERE.parent / "cli" / "halfbridge"
STEPS = HERE / "distributed_steps"


def start(ranks, arguments, **variables):
    environment = dict(os.environ, OMP_NUM_THREADS="1", **variables)
    return subprocess.Popen([LAUNCHER, "run", "-n", str(ranks), *map(str, arguments)], env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def output(process):
    out, errors = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"{process.args}: exit status {process.returncode}\n{errors}")
    return out


def run(ranks, arguments, **variables):
    return output(start(ranks, arguments, **variables))


def parsed(text):
    found = re.search(r"([\d.]+) ms ([\d.]+) MB", text)
    return float(found[1]), float(found[2])


def step(ranks, model, how, **variables):
    return parsed(run(ranks, [STEPS, model, how], **variables))


def strangers(model):
    """The step of two processes that run at once and share nothing but the machine: what two ranks could reach."""
    both = [start(1, [STEPS, model, "ddp"]) for _ in range(2)]
    return statistics.mean(parsed(output(process))[0] for process in both)


def python_with_torch():
    """A Python that has torch, or None."""
    python = os.environ.get("HALFBRIDGE_PYTHON", "python3")
    try:
        found = subprocess.run([python, "-c", "import torch.distributed as d; assert d.is_gloo_available()"], capture_output=True)
    except OSError:
        return None
    return python if found.returncode == 0 else None


def python_step(python, model):
    """Its step in a list; an empty one where it failed before it had a time. Some versions abort when the process ends."""
    process = start(2, [python, HERE / "python_ddp.py", model])
    out, errors = process.communicate()
    found = re.search(r"([\d.]+) ms", out)
    if process.returncode != 0:
        told = "after it had told its time, which counts" if found else "before it told a time: this round is left out"
        print(f"{model:9} Python's DDP ended with exit status {process.returncode} {told}. Its last lines:")
        print("".join(f"    {line}\n" for line in errors.splitlines()[-3:]), end="")
    return [float(found[1])] if found else []


def predicted(ms, megabytes):
    """Steps of 2 and 4 ranks by the cost model."""
    text = run(2, ["--measure", "--step-ms", str(ms), "--gradient-mb", str(megabytes)])
    return {int(r): float(t) for r, t in re.findall(r"\] +(\d+) +\d+ +[\d.]+ +[\d.]+x +([\d.]+)", text)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if os.environ.get("HALFBRIDGE_CHECK_OPTIONS"):  # ./dev asks before it builds
        sys.exit()
    python = python_with_torch()
    print("ratios of medians; a rank has one thread and its own batch" + ("" if python else "; no Python with torch here"))
    for model in ("mlp", "gpt", "resnet18"):
        if options.only not in model:
            continue
        stolen = Stolen()
        times = {"one": [], "two": [], "strangers": [], "tcp": [], "four": [], "python": []}
        for _ in range(options.rounds):
            one, megabytes = step(1, model, "ddp")
            times["one"].append(one)
            times["two"].append(step(2, model, "ddp")[0])
            times["strangers"].append(strangers(model))
            times["four"].append(step(4, model, "ddp")[0])
            if python:
                times["python"] += python_step(python, model)
            times["tcp"].append(step(2, model, "by_hand", HALFBRIDGE_GLOO_TRANSPORT="tcp")[0])
        t = {name: statistics.median(values) for name, values in times.items() if values}
        beside = f", against Python's DDP {t['python'] / t['two']:.2f}x" if "python" in t else ""
        model_says = predicted(t["one"], megabytes)
        print(f"{model:9} throughput of two ranks against one {2 * t['one'] / t['two']:.2f}x (two processes that share nothing: "
              f"{2 * t['one'] / t['strangers']:.2f}x){beside}, against Gloo's TCP by hand "
              f"{t['tcp'] / t['two']:.2f}x; measured step over the predicted one: two ranks "
              f"{t['two'] / model_says[2]:.2f}, four {t['four'] / model_says[4]:.2f}; meanwhile {stolen}")


if __name__ == "__main__":
    main()
