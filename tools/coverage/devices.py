#!/usr/bin/env python3
"""Writes docs/devices.md: which functions compute which dtypes on a CUDA device, as the program operator_table finds on the
software device.

    tools/coverage/devices.py TABLE [--check]

TABLE is what operator_table wrote. --check fails if the page is not up to date, or if more than 3 % of the rows that the CPU
computes are not computed on CUDA, or if something is refused without the name of the function.
"""
import argparse
import os
import sys
from collections import defaultdict

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "devices.md")
DTYPES = ["float32", "float64", "float16", "bfloat16", "uint8", "int8", "int16", "int32", "int64", "bool", "complex64", "complex128"]
SHORT = ["f32", "f64", "f16", "bf16", "u8", "i8", "i16", "i32", "i64", "bool", "c64", "c128"]
MOST_MISSING = 0.03

HEAD = """# Functions, dtypes and devices

`tools/coverage/devices.py` writes this page: do not edit. For each operator of the namespace `aten` and each dtype, the program
`operator_table` searches for arguments that the CPU accepts, and passes the same to a CUDA device: here the software device
([cuda.md](cuda.md)), which runs all kernels but is no GPU. `+`: both compute it (other tests check that they agree); `-`: only the
CPU does; empty: neither does, or no arguments were found.

"""


def read(path):
    rows, uncalled = defaultdict(dict), []
    with open(path) as file:
        for line in file:
            name, dtype, said = line.rstrip("\n").split("\t", 2)
            if dtype == "-":
                uncalled.append(name)
            else:
                rows[name][dtype] = said
    return rows, uncalled


def page(rows, uncalled):
    pairs = sum(len(r) for r in rows.values())
    missing = [(n, d, s) for n, r in sorted(rows.items()) for d, s in r.items() if s != "yes"]
    text = [HEAD, f"{len(rows)} functions, {pairs} pairs of function and dtype; CUDA lacks {len(missing)} of them "
                  f"({100 * len(missing) / max(pairs, 1):.1f} %).\n\n"]
    if missing:
        text += ["## What CUDA lacks\n\n| function | dtypes | what it says |\n| --- | --- | --- |\n"]
        said = defaultdict(list)
        for name, dtype, message in missing:
            said[name, message.replace("|", "\\|")].append(dtype)
        text += [f"| `{name}` | {', '.join(dtypes)} | {message} |\n" for (name, message), dtypes in said.items()]
        text.append("\n")
    text += ["## All functions\n\n| function | " + " | ".join(SHORT) + " |\n|" + " --- |" * (len(SHORT) + 1) + "\n"]
    for name, row in sorted(rows.items()):
        cells = ["" if d not in row else "+" if row[d] == "yes" else "-" for d in DTYPES]
        text.append(f"| `{name}` | " + " | ".join(cells) + " |\n")
    text += ["\nThe program finds no arguments for these functions: ", ", ".join(f"`{n}`" for n in uncalled), ".\n"]
    return "".join(text), len(missing) / max(pairs, 1), missing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    rows, uncalled = read(options.table)
    text, share, missing = page(rows, uncalled)
    if not options.check:
        with open(PAGE, "w") as file:
            file.write(text)
        return 0
    wrong = []
    with open(PAGE) as file:
        if file.read() != text:
            wrong.append("docs/devices.md is not up to date: tools/coverage/devices.py writes it")
    if share > MOST_MISSING:
        wrong.append(f"{100 * share:.1f} % of the pairs are missing on CUDA, more than {100 * MOST_MISSING:.0f} %")
    wrong += [f"{name} of {dtype} is refused without a name: {said}" for name, dtype, said in missing
              if "not supported" in said and not said.startswith("[")]
    wrong += [f"{name} of {dtype}: {said}" for name, dtype, said in missing if "touched" in said or "INTERNAL" in said]
    print("\n".join(wrong) or f"{len(rows)} functions, {len(missing)} pairs missing")
    return 1 if wrong or not rows else 0


sys.exit(main())
