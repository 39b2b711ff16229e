#!/usr/bin/env python3
"""Times every workload with LibTorch and with Halfbridge, in turn, and prints the ratios.

For each workload the two builds of the same source run one after the other, a process each, for several rounds; each
process gives the median of its iterations, and a row is the median of the rounds. Peak memory is how much the process's
resident memory grew beyond what it held before the workload was prepared, the largest of the rounds.

Training in half precision (*_bf16, *_fp16) is timed beside Halfbridge's own f32 too. LibTorch has no fp16 training on the
CPU to compare with: rows *_fp16 stand beside its f32.

A second table has images per second of the high-level ways to train, which LibTorch lacks: a loop with autocast and
GradScaler, and hb::train::Model (at level O2), in f32, bf16 and fp16; and the memory that they take.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = "@CMAKE_CURRENT_SOURCE_DIR@"
COMPILER = "@BENCH_COMPILER@"
SIDES = {
    "libtorch": {
        "program": os.path.join(HERE, "workloads_libtorch"),
        "library": "@BENCH_LIBTORCH_LIBRARY@",
        "flags": "@BENCH_LIBTORCH_FLAGS@".split(";"),
    },
    "halfbridge": {
        "program": os.path.join(HERE, "workloads_halfbridge"),
        "library": "@BENCH_HALFBRIDGE_LIBRARY@",
        "flags": "@BENCH_HALFBRIDGE_FLAGS@".split(";"),
    },
}
HIGH_LEVEL = os.path.join(HERE, "high_level")
# Files whose compile time is taken: what they do, for people.
COMPILED = {"compile_me.cpp": "trains a classifier", "ppo.cpp": "trains a policy (PPO)"}
# Ratios (LibTorch time / Halfbridge time) that a release must reach, and where the work is heading.
FLOORS = {
    "mlp_b64_sgd_f32": (1.6, 3), "mlp_b64_adam_f32": (4, 8), "mlp_b1_sgd_f32": (2, 4), "lenet_b64_f32": (1.3, 3),
    "resnet18_b32_f32": (1.4, 2), "gpt_b8_f32": (1.6, 3), "add4": (1.5, 4), "chain10": (2, 5), "mm1024_f32": (2, 2.7),
    "mm1024_bf16": (1.7, 2.3), "mm1024_f16": (50, 500),
}


def run_once(program, workload, args):
    """One process: its line of JSON."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(args.threads))
    command = [program, "--workload", workload, "--min-time", str(args.min_time),
               "--threads", str(args.threads)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{os.path.basename(program)} {workload}: exit status {done.returncode}\n{done.stderr.strip()}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def rate(result, ms):
    rates = {}
    if result["flop"]:
        rates["gflops"] = result["flop"] / ms / 1e6
    elif result["bytes"]:
        rates["gbs"] = result["bytes"] / ms / 1e6
    if result["items"]:
        rates[result["unit"] + "_s"] = 1e3 * result["items"] / ms
    return rates


def plan(workload, known):
    """What a row times: (name of the column, side, workload)."""
    base, _, precision = workload.rpartition("_")
    full = f"{base}_f32"
    half = precision in ("bf16", "fp16") and full in known
    runs = [("libtorch", "libtorch", full if half and precision == "fp16" else workload),
            ("halfbridge", "halfbridge", workload)]
    return runs + [("halfbridge_f32", "halfbridge", full)] if half else runs


def time_workload(workload, known, args):
    columns = plan(workload, known)
    runs = {column: [] for column, _, _ in columns}
    for round_ in range(args.rounds):
        # Each goes first as often as the others: what the first warms or slows falls on all.
        for column, side, what in columns if round_ % 2 == 0 else columns[::-1]:
            runs[column].append(run_once(SIDES[side]["program"], what, args))
    row = {"workload": workload, "rounds": args.rounds, "threads": args.threads}
    for side, results in runs.items():
        ms = statistics.median(r["ms"] for r in results)
        row[f"{side}_ms"] = ms
        row[f"{side}_best_ms"] = min(r["best_ms"] for r in results)
        row[f"{side}_cpu_ms"] = statistics.median(r["cpu_ms"] for r in results)
        row[f"{side}_peak_mib"] = max(r["peak_mib"] for r in results)
        row[f"{side}_resident_mib"] = max(r["resident_mib"] for r in results)
        for unit, value in rate(results[0], ms).items():
            row[f"{side}_{unit}"] = value
    row["ratio"] = row["libtorch_ms"] / row["halfbridge_ms"]
    row["best_ratio"] = row["libtorch_best_ms"] / row["halfbridge_best_ms"]
    if "halfbridge_f32_ms" in row:
        row["own_f32_ratio"] = row["halfbridge_f32_ms"] / row["halfbridge_ms"]
        row["own_f32_memory"] = row["halfbridge_peak_mib"] / row["halfbridge_f32_peak_mib"]
    row["floor"], row["heading"] = FLOORS.get(workload, (None, None))
    return row


def time_compile(side, source, *options):
    """Seconds to compile a file, without a compiler cache."""
    command = [COMPILER, "-std=c++17", "-O2", *options, "-c", os.path.join(SOURCE, source), "-o", os.devnull]
    start = time.monotonic()
    subprocess.run(command + SIDES[side]["flags"], check=True, stderr=subprocess.DEVNULL)
    return time.monotonic() - start


def build_costs(args):
    """Both sides in turn, so that a busy machine is busy for both; and Halfbridge with <torch/torch.h> precompiled."""
    costs = {"compile_s": {source: {} for source in COMPILED}}
    with tempfile.TemporaryDirectory() as folder:
        header = os.path.join(folder, "precompiled.h")
        with open(header, "w") as file:
            file.write("#include <torch/torch.h>\n")
        subprocess.run([COMPILER, "-std=c++17", "-O2", "-x", "c++-header", header, "-o", header + ".gch",
                        *SIDES["halfbridge"]["flags"]], check=True)
        for source, seconds in costs["compile_s"].items():
            for _ in range(1 if args.quick else 2):
                for name, side, options in (("libtorch", "libtorch", []), ("halfbridge", "halfbridge", []),
                                            ("halfbridge_precompiled", "halfbridge", ["-include", header])):
                    taken = time_compile(side, source, *options)
                    seconds[name] = min(seconds.get(name, taken), taken)
    for side in SIDES:
        costs[f"{side}_library_mb"] = shipped_bytes(SIDES[side]["library"]) / 1e6
    return costs


def shipped_bytes(library):
    """Of a library as packages have it, without the names of what is inside."""
    with tempfile.TemporaryDirectory() as folder:
        stripped = os.path.join(folder, "library")
        subprocess.run(["strip", "-o", stripped, os.path.realpath(library)], check=True)
        return os.path.getsize(stripped)


def print_row(row):
    wanted = "" if row["floor"] is None else f"{row['floor']:g}x"
    verdict = "" if row["floor"] is None else "ok" if row["ratio"] >= row["floor"] else "below"
    memory = "ok" if row["halfbridge_peak_mib"] <= max(row["libtorch_peak_mib"], 1) else "more"
    speed = next((f"{row['halfbridge_' + unit]:.1f} {name}" for unit, name in (("gflops", "GFLOP/s"), ("gbs", "GB/s"))
                  if "halfbridge_" + unit in row), "")
    for unit in ("frames", "images"):
        if f"halfbridge_{unit}_s" in row:
            speed += f"  {row[f'halfbridge_{unit}_s']:.0f} {unit}/s"
    if "own_f32_ratio" in row:
        speed += f"  {row['own_f32_ratio']:.2f}x own f32 in {row['own_f32_memory']:.0%} of its memory"
    print(f"{row['workload']:<18}{row['libtorch_ms']:>12.5g}{row['halfbridge_ms']:>12.5g}{row['ratio']:>9.2f}x"
          f"{row['best_ratio']:>9.2f}x{wanted:>7} {verdict:<6}{row['libtorch_peak_mib']:>9.1f}{row['halfbridge_peak_mib']:>9.1f}"
          f" {memory:<5}{speed:>16}", flush=True)


def time_high_level(args):
    """Rows of the ways that Halfbridge alone has: images per second and peak memory by precision."""
    listed = subprocess.run([HIGH_LEVEL, "--list"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    names = [name for name in listed if args.only in name]
    runs = {name: [] for name in names}
    for round_ in range(args.rounds):
        for name in names if round_ % 2 == 0 else names[::-1]:
            runs[name].append(run_once(HIGH_LEVEL, name, args))
    rows = {}
    for name, results in runs.items():
        way, _, precision = name.rpartition("_")
        ms = statistics.median(r["ms"] for r in results)
        row = rows.setdefault(way, {})
        row[precision] = 1e3 * results[0]["items"] / ms
        row[f"{precision}_peak_mib"] = max(r["peak_mib"] for r in results)
    return rows


def print_high_level(rows):
    print(f"\n{'images per second':<22}{'f32':>10}{'bf16':>10}{'to f32':>9}{'fp16':>10}{'to f32':>9}   MiB: f32, bf16, fp16")
    for way, rates in rows.items():
        line = f"{way:<22}" + (f"{rates['f32']:>10.0f}" if "f32" in rates else f"{'':>10}")
        for precision in ("bf16", "fp16"):
            if precision in rates:
                line += f"{rates[precision]:>10.0f}"
                line += f"{rates[precision] / rates['f32']:>8.2f}x" if "f32" in rates else f"{'':>9}"
        peaks = [rates.get(f"{precision}_peak_mib") for precision in ("f32", "bf16", "fp16")]
        print(line + "   " + ", ".join("" if p is None else f"{p:.0f}" for p in peaks), flush=True)


class Neighbour:
    """Another process that keeps a core busy for as long as the block runs."""

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, "-c", "while True: pass"])

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def time_busy(workload, args):
    """Milliseconds with and without a neighbour, of both libraries in turn."""
    runs = {}
    for _ in range(args.rounds):
        for side in SIDES:
            runs.setdefault(f"{side}_quiet", []).append(run_once(SIDES[side]["program"], workload, args)["ms"])
        with Neighbour():
            for side in SIDES:
                runs.setdefault(f"{side}_busy", []).append(run_once(SIDES[side]["program"], workload, args)["ms"])
    row = {"workload": workload, **{name: statistics.median(ms) for name, ms in runs.items()}}
    for side in SIDES:
        row[f"{side}_slower"] = row[f"{side}_busy"] / row[f"{side}_quiet"]
    return row


def bench_busy(workloads, args):
    print(f"{args.rounds} rounds, {args.threads} threads of {os.cpu_count()} cores; ms without and with a process beside\n")
    print(f"{'workload':<18}{'LibTorch':>11}{'beside':>11}{'slower':>9}{'Halfbridge':>13}{'beside':>11}{'slower':>9}")
    rows = []
    for workload in workloads:
        row = time_busy(workload, args)
        rows.append(row)
        print(f"{workload:<18}" + "".join(f"{row[f'{side}_quiet']:>{width}.4g}{row[f'{side}_busy']:>11.4g}{row[f'{side}_slower']:>8.2f}x"
                                          for side, width in (("libtorch", 11), ("halfbridge", 13))), flush=True)
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"busy": rows}, file, indent=1)


def print_costs(costs):
    for source, seconds in costs["compile_s"].items():
        print(f"compiling a file that {COMPILED[source]}: LibTorch {seconds['libtorch']:.1f} s, "
              f"Halfbridge {seconds['halfbridge']:.1f} s, {seconds['libtorch'] / seconds['halfbridge']:.1f}x (wanted: 6x), "
              f"with <torch/torch.h> precompiled {seconds['halfbridge_precompiled']:.1f} s, "
              f"{seconds['libtorch'] / seconds['halfbridge_precompiled']:.1f}x (wanted: 10x)")
    print(f"library: LibTorch {costs['libtorch_library_mb']:.0f} MB, Halfbridge {costs['halfbridge_library_mb']:.1f} MB "
          f"(stripped; wanted: under 30)")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="three short rounds of each")
    parser.add_argument("--busy", action="store_true", help="steps with and without another process that keeps a core busy")
    parser.add_argument("--json", metavar="FILE", help="write the rows there")
    parser.add_argument("--compile-only", action="store_true", help="only what compiling takes")
    parser.add_argument("--only", metavar="TEXT", default="", help="only workloads whose name contains TEXT")
    parser.add_argument("--rounds", type=int, help="runs of each build (5; 3 with --quick)")
    parser.add_argument("--min-time", type=float, help="seconds to time in each run (1; 0.2 with --quick)")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    if os.environ.get("HALFBRIDGE_CHECK_OPTIONS"):  # ./dev asks before it builds
        sys.exit()
    args.rounds = args.rounds or (3 if args.quick else 5)
    args.min_time = args.min_time or (0.2 if args.quick else 1.0)
    return args


def main():
    args = parse_arguments()
    if args.compile_only:
        print_costs(build_costs(args))
        return 0
    listed = subprocess.run([SIDES["halfbridge"]["program"], "--list"], check=True, stdout=subprocess.PIPE, text=True)
    known = listed.stdout.split()
    workloads = [name for name in known if args.only in name]
    if args.busy:
        return bench_busy(workloads, args)
    print(f"{args.rounds} alternating rounds, {args.threads} threads; ms are medians, memory is what training adds, in MiB\n")
    print(f"{'workload':<18}{'LibTorch ms':>12}{'Halfbridge':>12}{'ratio':>10}{'of best':>10}{'wanted':>7} {'':<6}"
          f"{'LibTorch':>9}{'Halfbr.':>9} {'':<5}{'Halfbridge at':>16}")
    rows, failures = [], []
    for workload in workloads:
        try:
            rows.append(time_workload(workload, known, args))
            print_row(rows[-1])
        except RuntimeError as error:
            failures.append(str(error))
            print(f"{workload:<18} failed: {error}", flush=True)
    high_level = time_high_level(args)
    if not workloads and not high_level:
        sys.exit(f"bench: no workload's name contains '{args.only}'")
    if high_level:
        print_high_level(high_level)
    costs = build_costs(args)
    print()
    print_costs(costs)
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"rows": rows, "images_per_second": high_level, "build": costs}, file, indent=1)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
