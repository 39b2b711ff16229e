#!/usr/bin/env python3
"""Writes docs/coverage.md from names.tsv (names.py writes it), substitutes.tsv, limits.tsv, and symbols.tsv and methods.tsv (names that
public LibTorch programs use, with the number of programs).

    tools/coverage/coverage.py [--check]

--check fails if docs/coverage.md is not up to date, or if the compiler sees other names in Halfbridge's headers than
names.tsv says: each row of names.tsv stands in a declaration of its own, which must compile, or must not.
"""
import argparse
import csv
import fnmatch
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PAGE = os.path.join(ROOT, "docs", "coverage.md")
INCLUDE = [os.path.join(ROOT, d) for d in ("bridge/names", "bridge/include", "include")]
HEADERS = ["torch/torch.h", "torch/library.h", "ATen/core/class_type.h", "ATen/autocast_mode.h", "ATen/Parallel.h", "ATen/Dispatch.h", "ATen/Dispatch_v2.h",
           "c10/util/irange.h", "c10/util/MathConstants.h", "c10/util/Exception.h",
           "torch/csrc/utils/tensor_flatten.h", "c10/core/StreamGuard.h", "c10/util/CallOnce.h",
           "c10/util/FbcodeMaps.h", "c10/util/LeftRight.h", "c10/util/Synchronized.h", "c10/util/hash.h", "c10/util/overloaded.h",
           "ATen/DLConvertor.h", "ATen/InferSize.h", "ATen/TensorIterator.h", "ATen/ThreadLocalState.h", "ATen/ceil_div.h",
           "ATen/core/MT19937RNGEngine.h", "c10/core/thread_pool.h", "ATen/Dimname.h", "c10/core/impl/LocalDispatchKeySet.h",
           "c10/util/Flags.h", "c10/util/Type.h", "c10/util/TypeCast.h", "c10/util/env.h", "c10/util/safe_numerics.h",
           "c10/util/Float8_e4m3fn.h", "c10/util/Float8_e4m3fnuz.h", "c10/util/Float8_e5m2.h", "c10/util/Float8_e5m2fnuz.h",
           "torch/csrc/autograd/autograd_not_implemented_fallback.h",
           "ATen/core/DistributionsHelper.h", "ATen/DeviceAccelerator.h", "c10/util/ExclusivelyOwned.h"]
# Headers that LibTorch does not have.
OWN_HEADERS = ["torch/nn/parallel/distributed.h"]
# Namespaces of which Halfbridge has a little: limits.tsv lists it.
BY_HAND = {"jit"}
# Headers of names that limits.tsv has and names.tsv has not.
LIMITED_HEADERS = ["torch/script.h", "torch/detail/static.h", "c10/util/Metaprogramming.h", "ATen/NumericUtils.h",
                   "ATen/native/cpu/Loops.h", "c10/cuda/CUDAGuard.h", "c10/cuda/CUDACachingAllocator.h",
                   "ATen/cuda/CUDAContext.h", "ATen/cuda/CUDAEvent.h", "torch/csrc/distributed/c10d/ProcessGroupGloo.hpp",
                   "c10/util/tempfile.h", "torch/csrc/autograd/InferenceMode.h", "ATen/native/cpu/utils.h", "ATen/cpu/vec/functional.h",
                   "c10/util/bit_cast.h", "c10/util/FunctionRef.h", "c10/util/Unroll.h", "torch/csrc/jit/runtime/jit_exception.h",
                   "torch/csrc/jit/passes/freeze_module.h", "torch/csrc/jit/runtime/operator.h",
                   "c10/util/Array.h", "torch/csrc/jit/serialization/import_read.h"]
NAMESPACES = {"t": "torch", "a": "at", "c": "c10"}
LETTERS = {v: k for k, v in NAMESPACES.items()}
# Names in LibTorch's headers that its documentation does not offer to programs.
INNER = re.compile(r"(^|::)_|^detail::|(_outf?|_symint\w*|_copy|_backward\w*|_jvp)$|^c10_|_forward$|^(mkldnn|cudnn|miopen|fbgemm|quantized|sym)_|_H_$")


def read(table):
    with open(os.path.join(HERE, table)) as f:
        return list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))


class Names:
    """names.tsv and substitutes.tsv, looked up as `halfbridge port` does (cli/src/port/names.cpp)."""

    def __init__(self):
        self.rows = read("names.tsv")
        self.table = {(r["kind"], r["name"]): r for r in self.rows}
        self.substitutes = [(r["name"], r["instead"]) for r in read("substitutes.tsv")]
        self.limits = read("limits.tsv")
        for above, row in zip(self.limits, self.limits[1:]):
            if row["text"] == "as above":
                row["text"] = above["text"]

    def instead(self, name):
        while name:
            for pattern, text in self.substitutes:
                if fnmatch.fnmatchcase(name, pattern):
                    return text
            name = name.rpartition("::")[0]
        return ""

    def symbol(self, name):
        """Whether Halfbridge has torch::…, at::… or c10::…, which may reach into a class."""
        root, _, rest = name.partition("::")
        parts, letter = rest.split("::"), LETTERS[root]
        if any(r["state"] == "compiles" and fnmatch.fnmatchcase(name, r["name"]) for r in self.limits):
            return True
        for n in range(len(parts), 0, -1):
            row = self.table.get(("name", "::".join(parts[:n]))) or self.table.get(("namespace", "::".join(parts[:n])))
            if row is None:
                continue
            if row["kind"] == "namespace" and n < len(parts):
                return False  # nothing of this name in the namespace
            return letter in row["halfbridge"]
        return False

    def method(self, name, of):
        kinds = ["tensor"] if of == "tensor" else ["member", "tensor"]
        return any(self.table.get((k, name), {"halfbridge": "-"})["halfbridge"] != "-" for k in kinds)

    def of_libtorch(self, kind, name):
        return self.table.get((kind, name), {"libtorch": "-"})["libtorch"] != "-"


# --- the page


def share(rows, least=0):
    rows = [r for r in rows if r[1] >= least]
    return "%d of %d" % (sum(r[2] for r in rows), len(rows))


def used_rows(names):
    symbols = [(s["symbol"], int(s["programs_using"]), names.symbol(s["symbol"])) for s in read("symbols.tsv")
               if names.symbol(s["symbol"]) or is_libtorch(names, s["symbol"])]
    methods = defaultdict(list)
    for m in read("methods.tsv"):
        kind = "tensor" if m["of"] == "tensor" else "member"
        if names.of_libtorch(kind, m["method"]):
            methods[kind].append((m["method"], int(m["programs_using"]), names.method(m["method"], m["of"])))
    return symbols, methods["tensor"], methods["member"]


def is_libtorch(names, symbol):
    """Whether it is a name of LibTorch 2.11, or of a namespace that the table does not open (CUDA's, TorchScript's)."""
    root, _, rest = symbol.partition("::")
    parts = rest.split("::")
    for n in range(len(parts), 0, -1):
        row = names.table.get(("name", "::".join(parts[:n])))
        if row:
            return LETTERS[root] in row["libtorch"]
        row = names.table.get(("namespace", "::".join(parts[:n])))
        if row:
            return LETTERS[root] in row["libtorch"] and LETTERS[root] not in row["halfbridge"]
    return False


def missing_table(rows, names, strip):
    out = ["| name | programs | instead |", "| --- | --- | --- |"]
    for name, programs, ok in rows:
        if not ok:
            out.append("| `%s` | %d | %s |" % (name, programs, names.instead(strip(name))))
    return out


def by_area(names):
    """{title: (supported names, missing names)} of all public names of LibTorch."""
    areas = defaultdict(lambda: ([], []))
    for r in names.rows:
        if r["kind"] in ("header", "namespace", "member") or r["libtorch"] == "-" or INNER.search(r["name"]):
            continue
        scope, _, last = r["name"].rpartition("::")
        if r["kind"] == "tensor":
            title = "methods of Tensor"
        elif r["kind"] == "macro":
            title = "macros"
        elif scope:
            title = "`torch::%s`" % scope
        elif last[0].isupper() or re.match(r"k[A-Z]", last):
            title = "types and constants of `torch`, `at`, `c10`"
        else:
            title = "functions of `torch`, `at`, `c10`"
        areas[title][r["halfbridge"] == "-"].append(last)
    return areas


def page(names):
    symbols, tensor, members = used_rows(names)
    out = ["# Coverage of LibTorch's names", "",
           "Generated by `tools/coverage/coverage.py` from `tools/coverage/names.tsv`, which libclang writes from the headers of LibTorch",
           "2.11 and of Halfbridge: do not edit. `halfbridge port DIR` reads the same table and lists which of these names a program uses,",
           "where, and what to write instead. All overloads of a name share one row; a missing name fails to compile. The forms `name_outf`",
           "and `name_symint` take lists in braces only with a type: `IntArrayRef({2, 3})`.", "",
           "## Names that public programs use", "",
           "The counts come from 18 public LibTorch programs; each program counts a name once.", "",
           "| | used by 6 or more | by 2 or more | all |", "| --- | --- | --- | --- |"]
    for title, rows in (("`torch::`, `at::`, `c10::`", symbols), ("methods of Tensor", tensor), ("methods of other classes", members)):
        out.append("| %s | %s | %s | %s |" % (title, share(rows, 6), share(rows, 2), share(rows)))
    out += ["", "Of these, Halfbridge lacks:", ""]
    out += missing_table(symbols, names, lambda n: n.partition("::")[2]) + missing_table(tensor + members, names, lambda n: n)[2:]
    limited = defaultdict(list)
    for r in names.limits:
        if r["state"] == "compiles":
            limited[r["text"]].append(r["name"].replace("[ac]*::", ""))
    if limited:
        out += ["", "These names compile but do less than in LibTorch; some are in headers of their own:", ""]
        out += ["- %s: %s" % (" ".join("`%s`" % n for n in some), text) for text, some in limited.items()]
    areas = by_area(names)
    out += ["", "## All public names of LibTorch 2.11", "",
            "From `<torch/torch.h>` and the headers beside it, without `_out` forms, gradients and names that begin with `_`. TorchScript,",
            "CUDA ([cuda.md](cuda.md)) and the Python binding are not listed.", "",
            "| | supported | of |", "| --- | --- | --- |"]
    for title in sorted(areas):
        have, lack = areas[title]
        out.append("| %s | %d | %d |" % (title, len(have), len(have) + len(lack)))
    for title in sorted(areas):
        have, lack = areas[title]
        out += ["", "### " + title[0].upper() + title[1:]]
        for label, part in (("Supported", have), ("Missing", lack)):
            if part:
                out += ["", "%s: %s" % (label, " ".join("`%s`" % n for n in sorted(part)))]
    spaces = [r["name"] for r in names.rows if r["kind"] == "namespace" and r["libtorch"] != "-" and r["halfbridge"] == "-"]
    out += ["", "### Namespaces that Halfbridge lacks", "", " ".join("`%s`" % s for s in spaces if "::" not in s or s.rpartition("::")[0] not in spaces)]
    return "\n".join(out) + "\n"


# --- the compiler's word


def failing_lines(lines, headers=HEADERS + OWN_HEADERS):
    """The numbers (from 0) of those lines that do not compile."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "names.cpp")
        prefix = ["#include <%s>" % h for h in headers]
        with open(path, "w") as f:
            f.write("\n".join(prefix + lines) + "\n")
        command = [os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", "-w", "-Dfinal="]
        clang = "clang" in subprocess.run(command[:1] + ["--version"], capture_output=True, text=True, check=True).stdout
        command += ["-ferror-limit=0", "-fno-spell-checking"] if clang else ["-fmax-errors=0", "-fno-diagnostics-show-caret"]
        done = subprocess.run(command + ["-I" + d for d in INCLUDE] + [path], capture_output=True, text=True)
        text = done.stderr
        if "fatal error" in text:
            sys.exit(text)
        bad = {int(n) - 1 - len(prefix) for n in re.findall(r"names\.cpp:(\d+):\d+: error", text)}
        if min(bad, default=0) < 0 or bool(bad) != (done.returncode != 0):
            sys.exit(text)
        return bad


def declarations(rows):
    """Lines that compile if Halfbridge has the row's name, and whether it should."""
    for i, r in enumerate(rows):
        kind, name = r["kind"], r["name"]
        roots = r["halfbridge"] if r["halfbridge"] != "-" else r["libtorch"][:1]
        has = r["halfbridge"] != "-"
        if kind == "name":
            for letter in roots:
                yield "namespace n%d%s { using ::%s::%s; }" % (i, letter, NAMESPACES[letter], name), has, name
        elif kind == "namespace":
            if name in BY_HAND:
                continue
            for letter in roots:
                yield "namespace n%d%s = ::%s::%s;" % (i, letter, NAMESPACES[letter], name), has, name
        elif kind == "tensor":
            yield "struct t%d : ::torch::Tensor { using ::torch::Tensor::%s; };" % (i, name), has, "Tensor::" + name


def contradictions(rows):
    lines, expected, names = zip(*declarations(rows))
    bad = failing_lines(list(lines))
    for i, name in enumerate(names):
        if (i not in bad) != expected[i]:
            yield "%s: names.tsv says %s, the compiler %s" % (name, expected[i], not expected[i])


def stale_substitutes(names):
    """Patterns for names that Halfbridge has, and names in substitutes that it has not."""
    have = [r["name"] for r in names.rows if r["halfbridge"] not in ("-", "stub") and r["kind"] != "member"]
    lack = {r["name"] for r in names.rows if r["halfbridge"] in ("-", "stub")}
    for pattern, text in names.substitutes:
        if "*" not in pattern and pattern in have and pattern not in lack:
            yield "substitutes.tsv: Halfbridge has " + pattern
        for used in re.findall(r"\b(?:torch|at|c10)::[\w:]*\w", text):
            if not names.symbol(used):
                yield "substitutes.tsv: %s names %s, which Halfbridge lacks" % (pattern, used)
        for used in re.findall(r"\bx\.(\w+)", text):
            if not names.method(used, "tensor"):
                yield "substitutes.tsv: %s names x.%s, which Halfbridge lacks" % (pattern, used)


def absent_limits(names):
    """Names of limits.tsv that should compile and do not."""
    wanted = [n.replace("[ac]*", root) for r in names.limits if r["state"] != "missing" and "::" in r["name"]
              if not r["name"].startswith("torch::Tensor::")  # methods, which names.tsv has
              if r["state"] == "compiles" or "*" not in r["name"] for n in [r["name"]] for root in (("at", "c10") if "[ac]*" in n else ("",))]
    for i in sorted(failing_lines(["namespace n%d { using ::%s; }" % (i, n) for i, n in enumerate(wanted)], HEADERS + OWN_HEADERS + LIMITED_HEADERS)):
        yield "limits.tsv: %s does not compile" % wanted[i]


def wrong_limits(names):
    """Single names of limits.tsv whose state is not what names.tsv says."""
    for r in names.limits:
        if r["state"] not in ("missing", "compiles", "supported"):
            yield "limits.tsv: %s is neither missing nor compiles nor supported" % r["name"]
        elif "*" not in r["name"] and r["state"] == "missing" and r["name"].partition("::")[0] in LETTERS and names.symbol(r["name"]):
            yield "limits.tsv says that %s is missing, names.tsv has it" % r["name"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    names = Names()
    text = page(names)
    wrong = list(stale_substitutes(names)) + list(wrong_limits(names))
    if check:
        wrong += list(contradictions(names.rows)) + list(absent_limits(names))
        with open(PAGE) as f:
            if f.read() != text:
                wrong.append("docs/coverage.md is not up to date: run tools/coverage/coverage.py")
    else:
        with open(PAGE, "w") as f:
            f.write(text)
    if wrong:
        sys.exit("\n".join(wrong) + ("\nrun tools/coverage/names.py, then tools/coverage/coverage.py" if check else ""))


if __name__ == "__main__":
    main()
