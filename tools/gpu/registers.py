#!/usr/bin/env python3
"""Fails where a kernel has more values than registers, which ptxas then keeps in memory. Those of CUB, which comes with CUDA,
are only told.

usage: registers.py LOG...   what ptxas -v said of each file (keep_ptxas_log.sh)
"""
import re
import sys

KERNEL = re.compile(r"Compiling entry function '(\S+)' for '(\S+)'")
SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")


def spills(text):
    """(kernel, GPU, bytes stored, bytes loaded) of each kernel in a log."""
    kernel = None
    for line in text.splitlines():
        if found := KERNEL.search(line):
            kernel = found.groups()
        elif (found := SPILLS.search(line)) and kernel:
            yield (*kernel, int(found[1]), int(found[2]))
            kernel = None


def main(logs):
    kernels, bad = 0, 0
    for path in logs:
        with open(path) as file:
            for name, gpu, stored, loaded in spills(file.read()):
                kernels += 1
                if stored or loaded:
                    bad += not name.startswith("_ZN3cub")
                    print(f"{name} for {gpu} stores {stored} bytes of registers in memory and loads {loaded} ({path})")
    print(f"{kernels} kernels, {bad} of which spill registers")
    return bad > 0 or kernels == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
