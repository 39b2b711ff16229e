#!/usr/bin/env python3
"""Records what dtypes PyTorch 2.11 gives under autocast: autocast_dtypes.tsv and autocast_lists.tsv beside this file.

    python3 record_autocast.py          needs Python's torch 2.11; no GPU (CUDA's list is asked of fake tensors)

autocast_dtypes.tsv: case, list, dtype of autocast, then a column per pattern of argument dtypes; a cell is the dtypes of
the floating results, "error" where PyTorch throws, "unknown" where a fake tensor cannot tell.
autocast_lists.tsv: every function with a kernel of its own in one of the two lists.
"""
import contextlib
import logging
import os
import re
import sys
import warnings

sys.setdlopenflags(os.RTLD_LAZY)  # a machine without all of CUDA's libraries can still run on its CPU
warnings.filterwarnings("ignore")
logging.disable(logging.ERROR)

import torch  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16"}
DTYPES = {v: k for k, v in NAMES.items()}
# "h" is the dtype of autocast; "x,y" gives the first argument x and all others y.
PATTERNS = ["f32", "f16", "bf16", "f64", "f32,h", "h,f32", "f64,f32"]


# Fake tensors decompose these below autocast, real ones run autocast's matmul inside them (as the CPU shows).
DECOMPOSED = {"affine_grid_generator", "pinverse", "linalg_pinv"}


def fake_cannot_tell(name, pattern):
    """Fake tensors do not compare dtypes, so what mixes float64 with others passes there and throws on a GPU."""
    is_module = name[0].isupper()
    return name in DECOMPOSED or pattern == "f64,f32" or (pattern == "f64" and is_module)


class Functions:
    """torch::name as C++ means it: ATen's function, not Python's wrapper of it."""

    nn = torch.nn

    def __getattr__(self, name):
        for place in (torch._C._VariableFunctions, torch._C._nn):
            if hasattr(place, name):
                return getattr(place, name)
        return getattr(torch.ops.aten, name)


def cases():
    text = open(os.path.join(HERE, "autocast_cases.def")).read()
    for name, shapes, expression in re.findall(r'^CASE\((\w+), "([^"]*)", (.*)\)$', text, re.M):
        python = expression.replace("torch::nn::", "torch.nn.").replace("torch::", "torch.")
        python = python.replace("{}", "None").replace("{", "[").replace("}", "]").replace("->forward(", "(")
        yield name, [tuple(map(int, s.split(","))) for s in shapes.split()], python


def results(value):
    if isinstance(value, torch.Tensor):
        return [NAMES[value.dtype]] if value.dtype in NAMES else []
    return [d for v in value or () for d in results(v)]


def evaluate(python, shapes, dtypes, device):
    def full(value):
        return lambda size: torch.full(size, value, dtype=torch.long, device=device)

    scope = {"torch": Functions(), "true": True, "false": False, "longs": full(0), "ones_of": full(1),
             "twos": full(2), "fours": full(4), "sizes": list, "pair": lambda x, y: (x, y),
             "max_unpool3d": lambda x, i: torch._C._nn.max_unpool3d(x, i, [2, 2, 2], [2, 2, 2], [0, 0, 0]),
             "eye": lambda t: torch.eye(3, dtype=t.dtype, device=device)}
    for letter, shape, dtype in zip("abcde", shapes, dtypes):
        scope[letter] = torch.full(shape, 0.5, dtype=dtype, device=device)
    with torch.device(device):
        return " ".join(results(eval(python, scope)))


def pattern_dtypes(pattern, count, half):
    parts = [half if p == "h" else DTYPES[p] for p in pattern.split(",")]
    return [parts[0]] + [parts[-1]] * (count - 1)


def record_case(name, shapes, python, device, half):
    cells = []
    for pattern in PATTERNS:
        if "," in pattern and len(shapes) < 2:
            cells.append("-")
            continue
        if device == "cuda" and fake_cannot_tell(name, pattern):
            cells.append("unknown")
            continue
        fake = FakeTensorMode() if device == "cuda" else contextlib.nullcontext()
        torch.set_autocast_enabled(device, True)
        torch.set_autocast_dtype(device, half)
        try:
            with fake:
                cells.append(evaluate(python, shapes, pattern_dtypes(pattern, len(shapes), half), device) or "none")
        except Exception as e:
            text = f"{type(e).__name__}: {e}"
            fake_only = device == "cuda" and re.search("Fake|[Mm]eta|DataDependent|DynamicOutput|CUDA|cuDNN|NVIDIA|has no attribute", text)
            cells.append("unknown" if fake_only and "autocast" not in text else "error")
            if pattern == "f32" or cells[-1] == "unknown":
                print(name, device, NAMES[half], pattern, text[:150].replace("\n", " "))
        finally:
            torch.set_autocast_enabled(device, False)
            torch.clear_autocast_cache()
    return cells


def check_lists_differ():
    """Fake tensors of a GPU do follow CUDA's list: functions whose class PyTorch's documentation names."""
    documented = {"exp": {"cpu": "f16", "cuda": "f32"}, "mv": {"cpu": "f32", "cuda": "f16"},
                  "softmax": {"cpu": "f16", "cuda": "f32"}, "mm": {"cpu": "f16", "cuda": "f16"},
                  "stack": {"cpu": "f32", "cuda": "f32"}, "avg_pool3d": {"cpu": "f32", "cuda": "f16"}}
    of_halves = {"exp", "softmax", "avg_pool3d"}
    for name, shapes, python in cases():
        for device, expected in documented.get(name, {}).items():
            cells = record_case(name, shapes, python, device, torch.float16)
            got = cells[PATTERNS.index("f16" if name in of_halves else "f32")]
            assert got == expected, f"{name} on {device}: expected {expected}, got {got}"


def record_lists():
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    rows = {}
    for full in torch._C._dispatch_get_all_op_names():
        for key in ("AutocastCPU", "AutocastCUDA"):
            if full.startswith("aten::") and has(full, key):
                rows.setdefault(full[6:].split(".")[0], set()).add(key[8:].lower())
    with open(os.path.join(HERE, "autocast_lists.tsv"), "w") as out:
        for name in sorted(rows):
            out.write(f"{name}\t{' '.join(sorted(rows[name]))}\n")


def main():
    assert torch.__version__.startswith("2.11"), torch.__version__
    torch.manual_seed(0)
    check_lists_differ()
    record_lists()
    with open(os.path.join(HERE, "autocast_dtypes.tsv"), "w") as out:
        out.write("\t".join(["case", "list", "autocast"] + PATTERNS) + "\n")
        for name, shapes, python in cases():
            for device in ("cpu", "cuda"):
                for half in (torch.bfloat16, torch.float16):
                    cells = record_case(name, shapes, python, device, half)
                    out.write("\t".join([name, device, NAMES[half]] + cells) + "\n")


main()
