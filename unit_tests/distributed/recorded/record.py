#!/usr/bin/env python3
"""Records 50 steps of Python PyTorch 2.11's DistributedDataParallel on Gloo, 2 ranks of one thread: python3 record.py

ddp.txt: a line per case, its name and the mean of the ranks' losses at each step. The numbers that go in are those of
../ranks/recorded.cpp: keep them alike.
"""
import math
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join  # noqa: F401  (model.join needs it)

STEPS, RANKS, BATCH = 50, 2, 8
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ddp.txt")


def batch(step, rank):
    x = torch.tensor([[math.sin(0.1 * (i * 20 + j) + step + 10 * rank) for j in range(20)] for i in range(BATCH)])
    return x, torch.tensor([(i + step + rank) % 5 for i in range(BATCH)])


def network():
    net = nn.Sequential(nn.Linear(20, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 5))
    with torch.no_grad():
        for k, p in enumerate(net.parameters()):
            p.copy_(torch.tensor([0.3 * math.sin(0.7 * i + k) for i in range(p.numel())]).view(p.shape))
    return net


def mean_of(value):
    t = torch.tensor([value], dtype=torch.float64)
    dist.all_reduce(t)
    return t.item() / RANKS


def prepared(**options):
    net = network()
    model = nn.parallel.DistributedDataParallel(net, bucket_cap_mb=0.002, **options)
    return model, torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)


def plain(rank):
    model, optimizer = prepared(gradient_as_bucket_view=True)
    for step in range(STEPS):
        x, y = batch(step, rank)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        yield loss.item()


def no_sync(rank):
    model, optimizer = prepared()
    for step in range(STEPS):
        optimizer.zero_grad()
        with model.no_sync():
            x, y = batch(2 * step, rank)
            first = nn.functional.cross_entropy(model(x), y) / 2
            first.backward()
        x, y = batch(2 * step + 1, rank)
        second = nn.functional.cross_entropy(model(x), y) / 2
        second.backward()
        optimizer.step()
        yield first.item() + second.item()


def join(rank):
    """Rank 0 has half of the batches; then all go on together from what rank 1 has."""
    model, optimizer = prepared()
    with model.join():
        for step in range(STEPS // 2 if rank == 0 else STEPS):
            x, y = batch(step, rank)
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    for step in range(STEPS):
        x, y = batch(step, rank)
        with torch.no_grad():
            yield nn.functional.cross_entropy(model.module(x), y).item()


def run(rank, port):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=RANKS)
    lines = [" ".join([case.__name__] + [repr(mean_of(loss)) for loss in case(rank)]) for case in (plain, no_sync, join)]
    if rank == 0:
        with open(FILE, "w") as file:
            file.write("\n".join(lines) + "\n")
    dist.destroy_process_group()


if __name__ == "__main__":
    torch.multiprocessing.spawn(run, args=(29517,), nprocs=RANKS)
