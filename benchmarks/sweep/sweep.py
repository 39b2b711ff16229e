#!/usr/bin/env python3
"""Times single functions with LibTorch and with Halfbridge: ./dev bench --sweep.

Two processes, of --threads each, hold the same table of functions and are asked in turn, function by function, for several
rounds; a time is the shortest call of all rounds. Printed are the rows whose ratio (LibTorch time / Halfbridge time) is below
--below, worst first, then the geometric mean of each family and of all.
"""
import argparse
import json
import math
import os
import platform
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SIDES = ("libtorch", "halfbridge")
# Keeps both to AVX2 on a CPU that has more.
AVX2 = {"HALFBRIDGE_ISA": "v3", "ATEN_CPU_CAPABILITY": "avx2", "DNNL_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}


def program(side):
    return os.path.join(HERE, f"sweep_{side}")


def command(side, args):
    return [program(side), *(["--cuda"] if args.cuda else [])]


class Process:
    """One library's build, which answers for as long as it lives."""

    def __init__(self, side, args):
        environment = dict(os.environ, OMP_NUM_THREADS=str(args.threads), **(AVX2 if args.avx2 else {}))
        self.process = subprocess.Popen(command(side, args), env=environment, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def time(self, line, ms):
        """Microseconds of a call; None where the function has no gradient."""
        self.process.stdin.write(f"{line} {ms}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer:
            raise RuntimeError("the program ended")
        if answer.startswith("failed"):
            raise RuntimeError(answer)
        return float(answer) or None


def cpu_name():
    with open("/proc/cpuinfo") as file:
        fields = dict(line.split(":", 1) for line in file if ":" in line)
    fields = {key.strip(): value.strip() for key, value in fields.items()}
    return f"{fields.get('model name', platform.machine())} (family {fields.get('cpu family')}, model {fields.get('model')})"


def gpu_name():
    asked = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    return subprocess.run(asked, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def time_row(line, processes, args):
    """Both sides' shortest times, or None where there is nothing to time."""
    best = {}
    for round_ in range(args.rounds):
        for side in SIDES if round_ % 2 == 0 else SIDES[::-1]:
            us = processes[side].time(line, args.ms)
            if us is None:
                return None
            best[side] = min(best.get(side, us), us)
    return best


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def run_all(names, args):
    rows, failures = [], []
    processes = {side: Process(side, args) for side in SIDES}
    for line, name in enumerate(names):
        if args.only not in name:
            continue
        try:
            best = time_row(line, processes, args)
        except (RuntimeError, BrokenPipeError) as error:
            failures.append(f"{name}: {error}")
            processes = {side: Process(side, args) for side in SIDES}
            continue
        if best is None:
            continue
        family, function, dtype, n, direction = name.split()
        rows.append({"family": family, "function": function, "dtype": dtype, "n": int(n), "pass": direction,
                     **{f"{side}_us": us for side, us in best.items()}, "ratio": best["libtorch"] / best["halfbridge"]})
        if args.verbose:
            print_row(rows[-1])
        if args.json and len(rows) % 50 == 0:
            write_json(rows, failures, args)
    return rows, failures


def print_row(row):
    print(f"{row['ratio']:>7.2f}  {row['function']:<24}{row['dtype']:<6}{row['n']:>5}  {row['pass']:<9}"
          f"{row['libtorch_us']:>12.5g}{row['halfbridge_us']:>12.5g}", flush=True)


def print_table(rows, args):
    slow = sorted((row for row in rows if row["ratio"] < args.below), key=lambda row: row["ratio"])
    print(f"{'ratio':>7}  {'function':<24}{'dtype':<6}{'n':>5}  {'pass':<9}{'LibTorch us':>12}{'Halfbridge':>12}")
    for row in slow:
        print_row(row)
    print()
    for family in dict.fromkeys(row["family"] for row in rows):
        ratios = [row["ratio"] for row in rows if row["family"] == family]
        print(f"{family:<12}{len(ratios):>5} rows, geometric mean {geometric_mean(ratios):.2f}, "
              f"{sum(ratio < args.below for ratio in ratios)} below {args.below:g}")
    ratios = [row["ratio"] for row in rows]
    print(f"{'all':<12}{len(ratios):>5} rows, geometric mean {geometric_mean(ratios):.2f}, {len(slow)} below {args.below:g}")


def write_json(rows, failures, args):
    with open(args.json, "w") as file:
        json.dump({"cpu": cpu_name(), "gpu": gpu_name() if args.cuda else None, "avx2": args.avx2, "rows": rows, "failures": failures}, file, indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="write the rows there")
    parser.add_argument("--only", metavar="TEXT", default="", help="only rows that contain TEXT, as 'fmod f32 256'")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ms", type=float, default=2, help="milliseconds of each round")
    parser.add_argument("--below", type=float, default=0.9)
    parser.add_argument("--avx2", action="store_true", help="keep both libraries to AVX2")
    parser.add_argument("--cuda", action="store_true", help="time on the GPU, at larger sizes; both libraries must find CUDA's")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="print every row as it comes")
    args = parser.parse_args()
    if os.environ.get("HALFBRIDGE_CHECK_OPTIONS"):  # ./dev asks before it builds
        sys.exit()
    listed = [subprocess.run([*command(side, args), "--list"], check=True, stdout=subprocess.PIPE, text=True).stdout for side in SIDES]
    if listed[0] != listed[1]:
        sys.exit("sweep: the two programs were not built of one source")
    if args.cuda:
        print(gpu_name(), end=", ")
    print(f"{cpu_name()}, threads of each: {args.threads}, {'AVX2, ' if args.avx2 else ''}{args.rounds} alternating rounds of {args.ms:g} ms")
    rows, failures = run_all(listed[0].splitlines(), args)
    if not rows:
        sys.exit(f"sweep: no row contains '{args.only}'")
    print_table(rows, args)
    for failure in failures:
        print(f"failed: {failure}")
    if args.json:
        write_json(rows, failures, args)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
