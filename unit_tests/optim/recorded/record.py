"""Records 100 steps of Python PyTorch 2.11's optimizers and schedulers: python3 record.py, beside this file.

optimizers.pt: {case: {dtype: (4, 33) parameters after steps 1, 10, 50 and 100}}
schedulers.pt: {case: (101, 2 or 4) learning rates of two groups, then their momenta, from epoch 0 on}
The numbers that go in are those of recorded.h, the options those of ../optim_recorded*.cpp: keep them alike.
"""
import math
import os

import torch
from torch import optim
from torch.optim import lr_scheduler, swa_utils

FOLDER = os.path.dirname(os.path.abspath(__file__))
SHAPES = [(4, 3), (5,), (2, 2, 2, 2)]
STEPS = 100
KEPT = (1, 10, 50, 100)


def numbers(fn):
    """One tensor per shape, elements numbered on from one to the next."""
    at, tensors = 0, []
    for shape in SHAPES:
        n = math.prod(shape)
        tensors.append(torch.tensor([fn(at + i) for i in range(n)], dtype=torch.float64).view(shape))
        at += n
    return tensors


def gradients(step):
    return numbers(lambda i: math.sin(0.37 * step + 0.91 * i) * (1 + 0.5 * math.cos(0.13 * step * (i % 5))))


def trajectory(make, dtype):
    params = [t.to(dtype).requires_grad_() for t in numbers(lambda i: math.cos(1.7 * i) + 0.1)]
    optimizer = make(params)
    kept = []
    for step in range(1, STEPS + 1):
        for p, g in zip(params, gradients(step)):
            p.grad = g.to(dtype)
        optimizer.step()
        if step in KEPT:
            kept.append(torch.cat([p.detach().flatten() for p in params]))
    return torch.stack(kept)


class Lion(optim.Optimizer):
    """Chen et al., "Symbolic Discovery of Optimization Algorithms", which PyTorch lacks."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.sub_((beta1 * m + (1 - beta1) * p.grad).sign() * group["lr"])
                m.mul_(beta2).add_(p.grad, alpha=1 - beta2)


class LAMB(optim.Optimizer):
    """You et al., "Large Batch Optimization for Deep Learning", algorithm 2, which PyTorch lacks."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                m = state.setdefault("m", torch.zeros_like(p))
                v = state.setdefault("v", torch.zeros_like(p))
                t = state["t"] = state.get("t", 0) + 1
                m.mul_(beta1).add_(p.grad, alpha=1 - beta1)
                v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                u = (m / (1 - beta1**t)) / ((v / (1 - beta2**t)).sqrt() + group["eps"]) + group["weight_decay"] * p
                norms = p.norm().item(), u.norm().item()
                p.sub_(u, alpha=group["lr"] * (norms[0] / norms[1] if min(norms) > 0 else 1.0))


OPTIMIZERS = {
    "sgd": lambda p: optim.SGD(p, 0.01),
    "sgd_momentum": lambda p: optim.SGD(p, 0.01, 0.9, 0.3, 0.1),
    "sgd_nesterov_maximize": lambda p: optim.SGD(p, 0.01, 0.8, 0, 0.05, True, maximize=True),
    "adam": lambda p: optim.Adam(p),
    "adam_all": lambda p: optim.Adam(p, 0.01, (0.8, 0.95), 1e-6, 0.1, True, maximize=True),
    "adam_decoupled": lambda p: optim.Adam(p, 0.01, weight_decay=0.1, decoupled_weight_decay=True),
    "adamw": lambda p: optim.AdamW(p),
    "adamw_all": lambda p: optim.AdamW(p, 0.02, (0.7, 0.9), 1e-5, 0.2, True, maximize=True),
    "rmsprop": lambda p: optim.RMSprop(p),
    "rmsprop_momentum": lambda p: optim.RMSprop(p, 0.005, 0.9, 1e-6, 0.1, 0.8, False, maximize=True),
    "rmsprop_centered": lambda p: optim.RMSprop(p, 0.002, 0.95, 1e-3, 0.0, 0.5, True),
    "adagrad": lambda p: optim.Adagrad(p),
    "adagrad_all": lambda p: optim.Adagrad(p, 0.1, 0.01, 0.1, 0.5, 1e-6, maximize=True),
    "adamax": lambda p: optim.Adamax(p),
    "adamax_all": lambda p: optim.Adamax(p, 0.01, (0.8, 0.9), 1e-4, 0.1, maximize=True),
    "adadelta": lambda p: optim.Adadelta(p),
    "adadelta_all": lambda p: optim.Adadelta(p, 0.5, 0.8, 1e-4, 0.1, maximize=True),
    "nadam": lambda p: optim.NAdam(p),
    "nadam_all": lambda p: optim.NAdam(p, 0.01, (0.8, 0.95), 1e-6, 0.1, 1e-2, maximize=True),
    "nadam_decoupled": lambda p: optim.NAdam(p, 0.01, weight_decay=0.1, decoupled_weight_decay=True),
    "radam": lambda p: optim.RAdam(p),
    "radam_all": lambda p: optim.RAdam(p, 0.01, (0.8, 0.95), 1e-6, 0.1, maximize=True),
    "radam_decoupled": lambda p: optim.RAdam(p, 0.01, weight_decay=0.1, decoupled_weight_decay=True),
    "asgd": lambda p: optim.ASGD(p),
    "asgd_all": lambda p: optim.ASGD(p, 0.05, 1e-2, 0.6, 20, 0.1, maximize=True),
    "rprop": lambda p: optim.Rprop(p),
    "rprop_all": lambda p: optim.Rprop(p, 0.005, (0.4, 1.3), (1e-4, 0.02), maximize=True),
    "adafactor": lambda p: optim.Adafactor(p),
    "adafactor_all": lambda p: optim.Adafactor(p, 0.05, -0.5, (1e-6, 1e-2), 1.5, 0.1, maximize=True),
    "lion": lambda p: Lion(p),
    "lion_all": lambda p: Lion(p, 0.01, (0.8, 0.9), 0.1),
    "lamb": lambda p: LAMB(p),
    "lamb_all": lambda p: LAMB(p, 0.02, (0.8, 0.95), 1e-4, 0.1),
}


def lbfgs(**options):
    """100 steps down Rosenbrock's valley, in double. Python ends a line search after max_eval evaluations of the step,
    LibTorch and Halfbridge after 25 of the search: max_eval is set so that neither is reached."""
    x = torch.tensor([-1.2, 1.0], dtype=torch.float64, requires_grad=True)
    optimizer = optim.LBFGS([x], **options)

    def closure():
        optimizer.zero_grad()
        loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
        loss.backward()
        return loss

    kept = []
    for step in range(1, STEPS + 1):
        optimizer.step(closure)
        if step in KEPT:
            kept.append(x.detach().clone())
    return torch.stack(kept)


def sequence(o):
    return lr_scheduler.SequentialLR(o, [lr_scheduler.LinearLR(o, 0.1, 1.0, 10),
                                         lr_scheduler.CosineAnnealingLR(o, 50, 0.01),
                                         lr_scheduler.ExponentialLR(o, 0.9)], [10, 60])


def chain(o):
    return lr_scheduler.ChainedScheduler([lr_scheduler.ConstantLR(o, 0.1, 20), lr_scheduler.ExponentialLR(o, 0.97)])


SCHEDULERS = {
    "lambda": lambda o: lr_scheduler.LambdaLR(o, lambda e: 0.95**e),
    "lambda_list": lambda o: lr_scheduler.LambdaLR(o, [lambda e: 1 / (1 + e), lambda e: 0.9**e]),
    "multiplicative": lambda o: lr_scheduler.MultiplicativeLR(o, lambda e: 0.98 if e % 2 else 0.99),
    "step": lambda o: lr_scheduler.StepLR(o, 7, 0.8),
    "multi_step": lambda o: lr_scheduler.MultiStepLR(o, [5, 30, 30, 80], 0.5),
    "constant": lambda o: lr_scheduler.ConstantLR(o),
    "constant_all": lambda o: lr_scheduler.ConstantLR(o, 0.25, 40),
    "linear": lambda o: lr_scheduler.LinearLR(o),
    "linear_all": lambda o: lr_scheduler.LinearLR(o, 1.0, 0.1, 60),
    "exponential": lambda o: lr_scheduler.ExponentialLR(o, 0.96),
    "polynomial": lambda o: lr_scheduler.PolynomialLR(o),
    "polynomial_all": lambda o: lr_scheduler.PolynomialLR(o, 70, 2.0),
    "cosine": lambda o: lr_scheduler.CosineAnnealingLR(o, 30),
    "cosine_all": lambda o: lr_scheduler.CosineAnnealingLR(o, 12, 0.05),
    "restarts": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 10),
    "restarts_all": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 7, 2, 0.01),
    "cyclic": lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1, 15),
    "cyclic_2": lambda o: lr_scheduler.CyclicLR(o, [0.01, 0.02], [0.1, 0.3], 10, 20, "triangular2", base_momentum=0.7,
                                                max_momentum=0.95),
    "cyclic_exp": lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1, 8, None, "exp_range", 0.97, cycle_momentum=False),
    "cyclic_fn": lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1, 8, 12, scale_fn=lambda x: 1 / (1 + x),
                                                 scale_mode="iterations"),
    "one_cycle": lambda o: lr_scheduler.OneCycleLR(o, 0.5, 100),
    "one_cycle_all": lambda o: lr_scheduler.OneCycleLR(o, [0.5, 0.8], None, 20, 6, 0.4, "linear", True, 0.8, 0.9, 10.0,
                                                       100.0, True),
    "swa": lambda o: swa_utils.SWALR(o, 0.05),
    "swa_all": lambda o: swa_utils.SWALR(o, [0.05, 0.9], 40, "linear"),
    "sequential": sequence,
    "chained": chain,
    "plateau": lambda o: lr_scheduler.ReduceLROnPlateau(o),
    "plateau_all": lambda o: lr_scheduler.ReduceLROnPlateau(o, "max", 0.5, 3, 0.05, "abs", 2, [0.01, 0.001], 1e-6),
}


def schedule(name, optimizer_class=optim.SGD):
    x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    if optimizer_class is optim.SGD:
        optimizer = optim.SGD([{"params": [x]}, {"params": [y], "lr": 0.5}], 0.2, momentum=0.6)
    else:
        optimizer = optimizer_class([{"params": [x]}, {"params": [y], "lr": 0.5}], 0.2)
    scheduler = SCHEDULERS[name](optimizer)

    def row():
        groups = optimizer.param_groups
        momenta = [g["momentum"] if "momentum" in g else g["betas"][0] for g in groups]
        return [g["lr"] for g in groups] + momenta

    rows = [row()]
    for epoch in range(1, STEPS + 1):
        optimizer.step()
        if name.startswith("plateau"):
            scheduler.step(math.sin(0.4 * epoch) / epoch)
        else:
            scheduler.step()
        rows.append(row())
    return torch.tensor(rows, dtype=torch.float64)


def state_dict():
    """A state dict of Python's, and where it leads to."""
    params = [t.float().requires_grad_() for t in numbers(lambda i: math.cos(1.7 * i) + 0.1)]
    optimizer = optim.AdamW([{"params": params[:1]}, {"params": params[1:], "lr": 0.02}], 0.01, amsgrad=True)
    scheduler = lr_scheduler.StepLR(optimizer, 2, 0.5)
    result = {}
    for step in range(1, 8):
        if step == 4:
            result = {
                "params": [p.detach().clone() for p in params],
                "optimizer": optimizer.state_dict(),
                "scheduler": scheduler.state_dict(),
            }
            torch.save(result, os.path.join(FOLDER, "state_dict.pt"))
        for p, g in zip(params, gradients(step)):
            p.grad = g.float()
        optimizer.step()
        scheduler.step()
    result["after"] = [p.detach().clone() for p in params]
    loaded = torch.load(os.path.join(FOLDER, "state_dict.pt"))
    loaded["after"] = result["after"]
    torch.save(loaded, os.path.join(FOLDER, "state_dict.pt"))


if __name__ == "__main__":
    dtypes = {"float": torch.float32, "double": torch.float64}
    recorded = {name: {key: trajectory(make, dtype) for key, dtype in dtypes.items()}
                for name, make in OPTIMIZERS.items()}
    recorded["lbfgs"] = {"double": lbfgs(lr=1e-3, max_iter=1, history_size=5)}
    recorded["lbfgs_wolfe"] = {"double": lbfgs(max_iter=2, max_eval=100, line_search_fn="strong_wolfe")}
    torch.save(recorded, os.path.join(FOLDER, "optimizers.pt"))
    schedules = {name: schedule(name) for name in SCHEDULERS}
    schedules["one_cycle_adam"] = schedule("one_cycle", optim.Adam)
    torch.save(schedules, os.path.join(FOLDER, "schedulers.pt"))
    state_dict()
