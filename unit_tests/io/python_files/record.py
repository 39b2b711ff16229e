"""Records what Python's torch.save and safetensors write (PyTorch 2.11): python3 record.py, beside this file."""
import json
import os

import torch
from safetensors.torch import save_file
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
content = {
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
}
torch.save(content, os.path.join(FOLDER, "checkpoint.pt"))
# The form before PyTorch 1.6.
torch.save(content, os.path.join(FOLDER, "legacy.pt"), _use_new_zipfile_serialization=False)

shards = {"model-00001-of-00002.safetensors": ["0.weight", "0.bias"],
          "model-00002-of-00002.safetensors": ["1.weight", "1.num_batches_tracked"]}
for name, keys in shards.items():
    tensors = {key: model.state_dict()[key] for key in keys}
    save_file(tensors, os.path.join(FOLDER, "sharded", name), metadata={"format": "pt"})
index = {"metadata": {"total_size": 48}, "weight_map": {key: name for name, keys in shards.items() for key in keys}}
with open(os.path.join(FOLDER, "sharded", "model.safetensors.index.json"), "w") as stream:
    json.dump(index, stream, indent=2)
torch.jit.script(nn.Sequential(nn.Linear(3, 2), nn.ReLU())).save(os.path.join(FOLDER, "script.pt"))
torch.save(nn.Linear(1, 1), os.path.join(FOLDER, "whole_module.pt"))
