#!/usr/bin/env python3
"""The steps of steps.cpp by Python's DistributedDataParallel on Gloo, one thread a rank:

    halfbridge run -n 2 PYTHON python_ddp.py mlp|gpt|resnet18

Rank 0 prints the median of the slowest rank's times in milliseconds, and what the machine's host took away meanwhile. The nets are
those of nets.h.
"""
import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F

from stolen import Stolen


def residual(inputs, outputs, stride):
    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
                                      nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))
            same = stride == 1 and inputs == outputs
            self.shortcut = nn.Identity() if same else nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

        def forward(self, x):
            return torch.relu(self.body(x) + self.shortcut(x))
    return Residual()


def resnet18():
    layers = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    inputs = 64
    for stage in range(4):
        outputs = 64 << stage
        layers += [residual(inputs, outputs, 1 if stage == 0 else 2), residual(outputs, outputs, 1)]
        inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class Gpt(nn.Module):
    def __init__(self, width=256, layers=4, heads=8, length=256, vocabulary=4096):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids):
        x = self.tokens(ids) + self.places(torch.arange(ids.size(1)))
        return self.head(self.norm(self.blocks(x)))


def work(name):
    """The net, its input, and the loss of its output."""
    if name == "mlp":
        net = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
        y = torch.randint(10, (64,))
        return net, torch.randn(64, 784), lambda out: F.cross_entropy(out, y)
    if name == "gpt":
        ids = torch.randint(4096, (4, 256))
        return Gpt(), ids, lambda out: F.cross_entropy(out.view(-1, 4096), ids.view(-1))
    y = torch.randint(10, (16,))
    return resnet18(), torch.randn(16, 3, 32, 32), lambda out: F.cross_entropy(out, y)


def slowest(seconds):
    t = torch.tensor([seconds], dtype=torch.double)
    dist.all_reduce(t, dist.ReduceOp.MAX)
    return t.item()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(1)
    net, x, loss_of = work(sys.argv[1])
    model = nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), 1e-3, momentum=0.9)
    stolen = Stolen()
    times, began = [], time.perf_counter()
    while slowest(time.perf_counter() - began) < 4 or len(times) < 8:
        step = time.perf_counter()
        optimizer.zero_grad()
        loss_of(model(x)).backward()
        optimizer.step()
        times.append(slowest(time.perf_counter() - step))
    if dist.get_rank() == 0:
        print(f"{1e3 * statistics.median(times):.4f} ms; meanwhile {stolen}")
    dist.destroy_process_group()


main()
