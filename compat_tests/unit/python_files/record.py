"""Records what Python's torch.save writes (PyTorch 2.11): python3 record.py, beside this file."""
import os

import torch
from torch import nn

FOLDER = os.path.dirname(os.path.abspath(__file__))


def fill(tensor, start):
    tensor.copy_(torch.arange(tensor.numel()).to(tensor.dtype).mul(0.5).add(start).view(tensor.shape))


model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
with torch.no_grad():
    for i, parameter in enumerate(model.parameters()):
        fill(parameter, i)
optimizer = torch.optim.SGD(model.parameters(), lr=0.25, momentum=0.5)
model(torch.arange(12.0).view(4, 3)).pow(2).sum().backward()
optimizer.step()

base = torch.arange(12.0).view(3, 4)
dtypes = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32,
          torch.float64, torch.bool]
torch.save(
    {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "views": [base, base.t(), base[1]],
        "dtypes": [torch.arange(3).to(dtype) for dtype in dtypes],
        "parameter": nn.Parameter(torch.ones(2)),
        "epoch": 3,
        "best": 0.5,
        "big": 1 << 62,
        "name": "caf\u00e9",
        "bytes": b"\x00\xff\x80",
        "size": torch.Size([2, 3]),
        "device": torch.device("cpu"),
        "dtype": torch.float16,
        "flags": (True, False, None),
    },
    os.path.join(FOLDER, "checkpoint.pt"),
)
torch.jit.script(nn.Sequential(nn.Linear(3, 2), nn.ReLU())).save(os.path.join(FOLDER, "script.pt"))
torch.save(nn.Linear(1, 1), os.path.join(FOLDER, "whole_module.pt"))
