"""What gpu_speed measures, in Python's PyTorch, eager and compiled: gpu_speed.py FILE."""
import json
import sys
import time

import torch

N, SIDE = 1 << 26, 8192


def seconds(calls, call):
    rounds = []
    for _ in range(6):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        torch.cuda.synchronize()
        rounds.append((time.perf_counter() - start) / calls)
    return sorted(rounds[1:])[2]


def mlp_steps(compiled):
    net = torch.nn.Sequential(torch.nn.Linear(784, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512), torch.nn.ReLU(),
                              torch.nn.Linear(512, 10)).cuda()
    sgd = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    x, y = torch.randn(64, 784, device="cuda"), torch.arange(64, device="cuda") % 10
    model = torch.compile(net) if compiled else net

    def step():
        sgd.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        sgd.step()

    return 1 / seconds(500, step)


def adam_bytes():
    p = torch.zeros(N, device="cuda", requires_grad=True)
    p.grad = torch.ones_like(p)
    adam = torch.optim.Adam([p], lr=1e-3, fused=True)
    return 28 * N / seconds(20, adam.step)


x, y, z = (torch.randn(N, device="cuda") for _ in range(3))
a = torch.randn(SIDE, SIDE, device="cuda").bfloat16()
b = a.t().contiguous()
with torch.no_grad():
    rows = {"copy GB/s": 8e-9 * N / seconds(20, lambda: z.copy_(x)),
            "add GB/s": 12e-9 * N / seconds(20, lambda: torch.add(x, y, out=z)),
            "sum GB/s": 4e-9 * N / seconds(20, lambda: x.sum()),
            "product bf16 TFLOP/s": 2e-12 * SIDE ** 3 / seconds(20, lambda: a.mm(b))}
rows["Adam GB/s"] = 1e-9 * adam_bytes()
rows["MLP steps/s"] = mlp_steps(False)
rows["MLP steps/s, torch.compile"] = mlp_steps(True)
with open(sys.argv[1], "w") as file:
    json.dump({"pytorch": torch.__version__, **rows}, file, indent=1)
