"""Files between Python's PyTorch and `halfbridge checkpoint`: python3 python_files.py PART HALFBRIDGE FOLDER.

Python writes, Halfbridge converts, Python reads: values, dtypes, shapes, strides, shared memory and types must be the same,
bit for bit. Ends with 77 (skipped) where there is no PyTorch.
"""
import collections
import os
import subprocess
import sys

try:
    import torch
    from torch import nn
except (ImportError, OSError) as error:
    print(f"SKIPPED: Python has no PyTorch ({error})")
    sys.exit(77)

PART, PROGRAM, FOLDER = sys.argv[1:]
DTYPES = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32,
          torch.float64, torch.bool]


def path(name):
    return os.path.join(FOLDER, name)


def halfbridge(*arguments, status=0):
    run = subprocess.run([PROGRAM, "checkpoint", *arguments], capture_output=True, text=True)
    assert run.returncode == status, f"{arguments}: status {run.returncode}\n{run.stdout}{run.stderr}"
    return run.stdout


def load(name):
    return torch.load(path(name), weights_only=True)


def same(got, expected, where=""):
    """Equal values of equal types; tensors equal to the bit."""
    if isinstance(expected, torch.Tensor):
        assert isinstance(got, torch.Tensor), where
        assert got.dtype == expected.dtype and got.shape == expected.shape, (where, got, expected)
        left, right = got.detach().contiguous(), expected.detach().contiguous()
        assert left.reshape(-1).view(torch.uint8).equal(right.reshape(-1).view(torch.uint8)), where
    elif isinstance(expected, dict):
        assert isinstance(got, dict) and list(got) == list(expected), (where, got, expected)
        for key in expected:
            same(got[key], expected[key], f"{where}.{key}")
    elif isinstance(expected, (list, tuple)):
        assert type(got) is type(expected) and len(got) == len(expected), (where, got, expected)
        for i, item in enumerate(expected):
            same(got[i], item, f"{where}.{i}")
    else:
        assert type(got) is type(expected) and (got == expected or got != got and expected != expected), (where, got)


def content():
    torch.manual_seed(3)
    base = torch.randn(4, 6)
    return {
        "dtypes": {str(d): (torch.randn(5, 3) * 50).to(d) for d in DTYPES},
        "strided": [base.t(), base[:, 1::2], base[2], torch.randn(1).expand(3, 4)],
        "tied": {"a": base, "b": base},
        "odd": {"scalar": torch.tensor(1.5), "empty": torch.zeros(0, 3), "nan": torch.tensor([float("nan"), 1e-40])},
        "epoch": 3, "big": 1 << 62, "negative": -5, "rate": 0.1, "nothing": None, "flag": True, "name": "caf\u00e9 \U0001f600",
        "nested": [1, (2.5, [True, {"deep": torch.arange(3)}])], 7: "seven",
    }


def formats():
    value = content()
    torch.save(value, path("zip.pt"))
    torch.save(value, path("legacy.pt"), _use_new_zipfile_serialization=False)
    for name in ["zip.pt", "legacy.pt"]:
        halfbridge("convert", path(name), path("a.pt"), "--to", "torch")
        back = load("a.pt")
        same(back, value)
        for i, tensor in enumerate(value["strided"]):
            assert back["strided"][i].stride() == tensor.stride(), i
        assert back["tied"]["a"].data_ptr() == back["tied"]["b"].data_ptr() == back["strided"][0].data_ptr()
        halfbridge("convert", path(name), path("a.safetensors"))
        halfbridge("convert", path("a.safetensors"), path("b.pt"), "--to", "torch")
        same(load("b.pt"), value)
        halfbridge("convert", path(name), path("s.safetensors"), "--shard-size", "300")
        halfbridge("convert", path("s.safetensors.index.json"), path("c.pt"), "--to", "torch")
        same(load("c.pt"), value)
        for other in ["a.pt", "a.safetensors", "s.safetensors.index.json"]:
            halfbridge("diff", path(name), path(other))
    try:
        from safetensors.torch import load_file, save_file
    except ImportError:
        print("the package safetensors is not installed: its files are not checked")
        return
    flat = {f"layer.{k}": v for k, v in value["dtypes"].items()}
    save_file(flat, path("theirs.safetensors"))
    halfbridge("convert", path("theirs.safetensors"), path("d.pt"), "--to", "torch")
    loaded = load("d.pt")
    same({k: loaded[k] for k in flat}, flat)
    halfbridge("convert", path("d.pt"), path("ours.safetensors"))
    ours = load_file(path("ours.safetensors"))
    same({k: ours[k] for k in flat}, flat)


def network():
    torch.manual_seed(1)
    return nn.Sequential(collections.OrderedDict([
        ("conv", nn.Conv2d(2, 3, 3)), ("norm", nn.BatchNorm2d(3)), ("act", nn.ReLU()), ("flat", nn.Flatten()),
        ("head", nn.Linear(27, 4))]))


def modules():
    net = network()
    net(torch.randn(2, 2, 5, 5)).sum().backward()
    torch.save({"model": {f"module.{k}": v for k, v in net.state_dict().items()}, "epoch": 3}, path("train.pt"))
    halfbridge("convert", path("train.pt"), path("lib.pt"), "--to", "libtorch", "--only", "model", "--strip", "module.")
    script = torch.jit.load(path("lib.pt"))
    same(dict(script.state_dict()), dict(net.state_dict()))
    assert sorted(n for n, _ in script.named_buffers()) == sorted(n for n, _ in net.named_buffers())
    halfbridge("convert", path("lib.pt"), path("back.pt"), "--to", "torch")
    fresh = network()
    for tensor in fresh.state_dict().values():
        tensor.zero_()
    fresh.load_state_dict(load("back.pt"), strict=True)
    same(dict(fresh.state_dict()), dict(net.state_dict()))
    torch.jit.script(net).save(path("script.pt"))
    halfbridge("convert", path("script.pt"), path("from_script.pt"), "--to", "torch")
    same({k: v for k, v in load("from_script.pt").items()}, dict(net.state_dict()))
    # One weight changed, one name changed: status 1, and the names are said.
    changed = load("back.pt")
    changed["head.weight"] = changed["head.weight"] + 1e-3
    changed["conv.wieght"] = changed.pop("conv.weight")
    torch.save(changed, path("changed.pt"))
    text = halfbridge("diff", path("back.pt"), path("changed.pt"), status=1)
    assert "head.weight" in text and "nearest" in text and "conv.wieght" in text, text
    halfbridge("diff", path("back.pt"), path("changed.pt"), "--rename", "conv.weight=conv.wieght", "--atol", "2e-3")
    halfbridge("diff", path("back.pt"), path("no_such_file"), status=2)


def optimizers():
    cases = {
        "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=1),
        "sgd_plain": lambda p: torch.optim.SGD(p, lr=1),
        "adam": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True),
        "adamw": lambda p: torch.optim.AdamW(p, lr=0.01),
        "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.5, centered=True),
        "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.05, lr_decay=0.1),
    }
    for name, make in cases.items():
        net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
        optimizer = make(net.parameters())
        data = torch.randn(8, 3)

        def steps(module, opt, count):
            for _ in range(count):
                opt.zero_grad()
                module(data).pow(2).sum().backward()
                opt.step()

        steps(net, optimizer, 3)
        torch.save(optimizer.state_dict(), path("optimizer.pt"))
        twin = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
        for via in ["torch", "safetensors", "libtorch"]:
            twin.load_state_dict(net.state_dict())
            halfbridge("convert", path("optimizer.pt"), path("between"), "--to", via)
            halfbridge("convert", path("between"), path("back.pt"), "--to", "torch")
            back = load("back.pt")
            if via != "libtorch":  # whose archives leave None out and have floats for integers
                same(back, optimizer.state_dict())
            other = make(twin.parameters())
            other.load_state_dict(back)
            saved = {k: v.clone() for k, v in net.state_dict().items()}
            kept = {k: v for k, v in torch.load(path("optimizer.pt"), weights_only=True).items()}
            steps(twin, other, 2)
            steps(net, optimizer, 2)
            same(dict(twin.state_dict()), dict(net.state_dict()), f"{name} by {via}")
            net.load_state_dict(saved)
            optimizer.load_state_dict(kept)


os.makedirs(FOLDER, exist_ok=True)
{"formats": formats, "modules": modules, "optimizers": optimizers}[PART]()
print("ok")
