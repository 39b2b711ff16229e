#!/usr/bin/env python3
"""Kills a rank again and again, at a place of the program or at a moment drawn by chance. Each run has to end with the losses of an
undisturbed one; by MPI, which starts nothing again, it has to end. No process may be left.

    deaths.py BUILD [--engine shm|gloo|mpi] [--moments] [--times 100] [--ranks 4] [--seed 1]
"""
import argparse
import os
import pathlib
import random
import re
import signal
import subprocess
import tempfile
import time


def ranks_of(build):
    """The processes of ranks that run, by their rank."""
    found = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if pathlib.Path(os.readlink(process / "exe")).parent != build / "unit_tests":
                continue
            variables = (process / "environ").read_bytes().decode(errors="replace")
        except OSError:
            continue
        rank = re.search(r"(?:^|\0)(?:RANK|OMPI_COMM_WORLD_RANK|PMI_RANK)=(\d+)", variables)
        if rank:
            found[int(rank[1])] = int(process.name)
    return found


def expect_none(build, death):
    for _ in range(50):
        left = ranks_of(build)
        if not left:
            return
        time.sleep(0.1)
    raise SystemExit(f"{death}: ranks are left behind: {left}")


def kill_at_a_moment(run, build, rank, seconds):
    """Kills the rank so much later; false if it had ended by then."""
    time.sleep(seconds)
    process = ranks_of(build).get(rank)
    if process is None:
        return False
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def run(build, options, death=(), moment=None):
    """The losses of a run, and whether a rank was killed in it."""
    variables = dict(os.environ, OMP_NUM_THREADS="1")
    if options.engine == "gloo":
        variables["HALFBRIDGE_GLOO_TRANSPORT"] = "tcp"
    if moment:
        variables["HALFBRIDGE_TEST_STEP_MS"] = "20"
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as errors:
        command = [build / "cli/halfbridge", "run", "-n", str(options.ranks), "--max-restarts", "1", "--grace", "1",
                   build / "unit_tests/resume_program", folder, *map(str, death)]
        process = subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=errors, text=True, bufsize=1)
        first = process.stdout.readline() if moment else ""
        killed = kill_at_a_moment(process, build, *moment) if moment else bool(death)
        out = first + process.communicate()[0]
        errors.seek(0)
        said = errors.read()
    if process.returncode != 0 or (death and "signal 9" not in said):
        raise SystemExit(f"{death or moment}: exit status {process.returncode}\n{said}")
    return dict(re.findall(r"step (\d+) loss (\S+)", out)), killed


def mpi_run(build, options, rank, seconds):
    as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    command = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", *as_root, "-n", str(options.ranks),
               build / "unit_tests/ranks_program", "forever", "mpi"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1)
    process.stdout.readline()
    if not kill_at_a_moment(process, build, rank, seconds):
        raise SystemExit(f"rank {rank} ended by itself")
    try:
        process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        raise SystemExit(f"mpirun goes on after the death of rank {rank}")
    if process.returncode == 0:
        raise SystemExit(f"mpirun ended with 0 after the death of rank {rank}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--engine", choices=("shm", "gloo", "mpi"), default="shm")
    parser.add_argument("--moments", action="store_true", help="at any moment, instead of at a place")
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    build = options.build.resolve()
    want = None if options.engine == "mpi" else run(build, options)[0]
    deaths = 0
    for n in range(options.times):
        rank, seconds = draw.randrange(options.ranks), draw.random() * 0.6
        where = draw.choice(("forward", "backward", "collective", "save"))
        step = draw.choice((5, 10, 15)) if where == "save" else draw.randrange(20)
        death, killed = (), True
        if options.engine == "mpi":
            mpi_run(build, options, rank, seconds)
        else:
            death = () if options.moments else (rank, step, where)
            got, killed = run(build, options, death, (rank, seconds) if options.moments else None)
            if got != want:
                raise SystemExit(f"{death or (rank, seconds)}: other losses than those of an undisturbed run")
        deaths += killed
        expect_none(build, death or (rank, seconds))
    end = "all runs ended" if options.engine == "mpi" else "all resumed with the losses of an undisturbed run"
    print(f"{deaths} deaths on {options.ranks} ranks ({options.engine}, seed {options.seed}): {end}; no process is left")


if __name__ == "__main__":
    main()
