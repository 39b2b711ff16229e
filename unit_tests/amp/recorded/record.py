"""Records what Python PyTorch 2.11's GradScaler does: python3 record.py, beside this file.

scaler.pt: {"trajectories": {case: (STEPS, 5) scale, growth tracker, and the weights of two optimizers},
            "errors": {call: message}}
The cases are those of amp_recorded.cpp: keep both alike.
"""
import os

import torch
from torch.amp import GradScaler

FOLDER = os.path.dirname(os.path.abspath(__file__))
STEPS = 60
CASES = {  # init_scale, growth_factor, backoff_factor, growth_interval
    "defaults": (65536.0, 2.0, 0.5, 2000),
    "short": (8.0, 2.0, 0.5, 3),
    "odd": (100.0, 1.5, 0.3, 4),
    "every": (1e36, 10.0, 0.25, 1),
}


def factor(step, which):
    """What the loss is multiplied by: infinite now and then."""
    value = (step * 7 + which * 5) % 13
    return float("inf") if value == 3 else float("nan") if value == 11 and which else 0.5 + value


def trajectory(settings):
    first, second = (torch.tensor(v, requires_grad=True) for v in ([1.0, -2.0], [3.0]))
    optimizers = [torch.optim.SGD([first], lr=0.01, momentum=0.9), torch.optim.Adam([second], lr=0.02)]
    scaler = GradScaler("cpu", *settings)
    rows = []
    for step in range(STEPS):
        for optimizer in optimizers:
            optimizer.zero_grad()
        scaler.scale((first * first).sum() * factor(step, 0)).backward()
        scaler.scale((second * 3).sum() * factor(step, 1)).backward()
        if step % 3 == 0:
            scaler.unscale_(optimizers[0])
        for optimizer in optimizers:
            scaler.step(optimizer)
        if step % 17 == 16:
            scaler.update(float(step))
        elif step % 23 == 22:
            scaler.update(torch.tensor(24.0))
        else:
            scaler.update()
        rows.append([scaler.get_scale(), scaler._get_growth_tracker(), *first.tolist(), *second.tolist()])
    return torch.tensor(rows, dtype=torch.float64)


def message(call):
    try:
        call()
    except Exception as error:  # noqa: BLE001: the message is what is asked for
        return str(error)
    raise RuntimeError("no error")


def errors():
    weight = torch.ones(2, requires_grad=True)
    sgd = torch.optim.SGD([weight], lr=0.1)
    fresh = GradScaler("cpu")
    found = {
        "growth": message(lambda: GradScaler("cpu", 1.0, 1.0)),
        "backoff": message(lambda: GradScaler("cpu", 1.0, 2.0, 1.0)),
        "unscale_ before scale": message(lambda: fresh.unscale_(sgd)),
        "step before scale": message(lambda: fresh.step(sgd)),
        "update before scale": message(lambda: fresh.update()),
        "empty state": message(lambda: fresh.load_state_dict({})),
    }
    scaler = GradScaler("cpu")
    scaler.scale(weight.sum())
    found["step without gradients"] = message(lambda: scaler.step(sgd))
    found["update without checks"] = message(lambda: scaler.update())
    found["new scale"] = message(lambda: scaler.update(torch.ones(2)))
    scaler.update(4.0)
    scaler.scale(weight.sum()).backward()
    scaler.unscale_(sgd)
    found["unscale_ twice"] = message(lambda: scaler.unscale_(sgd))
    found["pickled within"] = message(lambda: scaler.__getstate__())
    scaler.step(sgd)
    found["unscale_ after step"] = message(lambda: scaler.unscale_(sgd))
    found["step twice"] = message(lambda: scaler.step(sgd))
    scaler.update()
    found["closure"] = message(lambda: scaler.step(sgd, closure=lambda: weight.sum()))
    half = torch.ones(2, dtype=torch.float16, requires_grad=True)
    scaler.scale(half.sum()).backward()
    found["half"] = message(lambda: scaler.unscale_(torch.optim.SGD([half], lr=0.1)))
    return found


torch.save(
    {"trajectories": {name: trajectory(settings) for name, settings in CASES.items()}, "errors": errors()},
    os.path.join(FOLDER, "scaler.pt"),
)
