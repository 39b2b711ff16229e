"""Records TorchScript archives of Python's PyTorch (2.11): python3 record_scripts.py, beside this file.

Networks hold an example and what they computed of it, so that a native network with the same weights can be compared.
"""
import os
import warnings
from typing import Dict, List, Optional, Tuple

import torch
from torch import nn

warnings.filterwarnings("ignore")
FOLDER = os.path.dirname(os.path.abspath(__file__))
torch.manual_seed(7)


def path(name):
    return os.path.join(FOLDER, name)


class Block(nn.Module):
    """A residual block; `skip` is None where the shapes agree."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else None

    def forward(self, x):
        y = self.conv2(torch.relu(self.bn1(self.conv1(x))))
        return torch.relu(y + (x if self.skip is None else self.skip(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU())
        self.blocks = nn.ModuleList([Block(3, 3), Block(3, 4)])
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.fc(x.mean([2, 3]))


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, num_layers=2, batch_first=True, bidirectional=True)
        self.encoder = nn.TransformerEncoderLayer(8, 2, 6, dropout=0.0, batch_first=True)
        self.embedding = nn.Embedding(5, 3)

    def forward(self, tokens):
        return self.encoder(self.lstm(self.embedding(tokens))[0])


class Everything(nn.Module):
    """An attribute of each type."""

    __constants__ = ["number", "sizes", "word"]
    names: List[str]
    table: Dict[str, int]
    nothing: Optional[torch.Tensor]

    def __init__(self):
        super().__init__()
        self.number, self.sizes, self.word = 7, (1, 2.5, -3), 'a "b"\n'
        self.scale, self.flag, self.title, self.rotation = 0.5, True, "caf\u00e9", 1 + 2j
        self.names, self.table, self.nothing = ["a", "b"], {"x": 1, "y": 2}, None
        self.pair, self.ints, self.device = (1, 2.5, "z"), [1, 2, 3], torch.device("cpu")
        self.tensors = [torch.ones(2), torch.zeros(1)]
        self.plain = torch.arange(3.0)
        self.view = self.plain[1:]
        self.register_buffer("counts", torch.arange(4))
        self.register_buffer("absent", None)
        self.register_parameter("no_weight", None)
        self.weight = nn.Parameter(torch.arange(6.0).view(2, 3))
        self.halves = nn.Parameter(torch.tensor([0.5, 1.5], dtype=torch.float16))
        self.register_buffer("brains", torch.tensor([0.25, 3.0], dtype=torch.bfloat16))
        self.register_buffer("waves", torch.tensor([1 + 1j, -2j]))
        self.child = nn.Linear(3, 1)
        self.tied = self.child
        self.up = nn.ModuleDict({"left": nn.Linear(1, 1), "right": nn.Dropout(0.25)})

    def forward(self, x):
        y = self.tied(self.child(x * self.weight.sum() * self.scale).expand(1, 3)) + self.number + self.sizes[0]
        y = y + len(self.names) + self.table["x"] + self.pair[0] + self.ints[0] + self.plain.sum() + self.view.sum()
        y = y + self.tensors[0].sum() + self.counts.sum() + len(self.title) + len(self.word) + abs(self.rotation)
        for part in self.up.values():
            y = part(y)
        return y if self.flag and self.nothing is None else x + self.waves.abs().sum() + self.halves[0] + self.brains[0]

    @torch.jit.export
    def describe(self) -> Tuple[str, torch.device]:
        return self.title, self.device


class OwnState(nn.Module):
    """Says itself how it is saved."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x):
        return x * self.weight

    @torch.jit.export
    def __getstate__(self) -> Tuple[torch.Tensor, bool]:
        return self.weight, self.training

    @torch.jit.export
    def __setstate__(self, state: Tuple[torch.Tensor, bool]):
        self.weight = state[0]
        self.training = state[1]


class Norms(nn.Module):
    """Six convolutions whose result goes to a batch norm alone, then three that are something else."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(2, 4, 3, padding="same", bias=False)
        self.first_norm = nn.BatchNorm2d(4)
        self.pairs = nn.Sequential(
            nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2), nn.BatchNorm2d(6, affine=False), nn.ReLU(),
            nn.Conv2d(6, 4, 1, dilation=2, bias=False), nn.BatchNorm2d(4, eps=0.1))
        self.line = nn.Conv1d(4, 5, 3)
        self.line_norm = nn.BatchNorm1d(5)
        self.volume = nn.Conv3d(1, 2, 2)
        self.volume_norm = nn.BatchNorm3d(2)
        self.written = nn.Conv2d(4, 4, 1)
        self.written_norm = nn.BatchNorm2d(4)
        self.mirrored = nn.Conv2d(4, 4, 3, padding=1, padding_mode="reflect")
        self.mirrored_norm = nn.BatchNorm2d(4)
        self.twice = nn.Conv2d(4, 4, 1)
        self.twice_norm = nn.BatchNorm2d(4)
        self.batch = nn.Conv2d(4, 4, 1)
        self.batch_norm = nn.BatchNorm2d(4, track_running_stats=False)

    def forward(self, x):
        y = self.pairs(self.first_norm(self.first(x)))
        line = self.line_norm(self.line(y.flatten(2)))
        volume = self.volume_norm(self.volume(y.unsqueeze(1)))
        before = self.written(y)
        y.mul_(2)
        written = self.written_norm(before)
        mirrored = self.mirrored_norm(self.mirrored(written))
        both = self.twice(mirrored)
        batch = self.batch_norm(self.batch(self.twice_norm(both) + both))
        return torch.cat([line.flatten(), volume.flatten(), mirrored.flatten(), batch.flatten(), y.flatten()])


def with_example(module, example):
    """A scripted module that holds the example and the result as attributes."""
    module = module.eval()
    module.example = example
    with torch.no_grad():
        module.expected = module(example).clone()
    return torch.jit.script(module)


net = Net()
net(torch.randn(4, 1, 6, 6))  # gives the batch norms statistics
with_example(net, torch.randn(2, 1, 6, 6)).save(path("script_net.pt"), _extra_files={"labels.txt": "cat\ndog"})
torch.jit.trace(net, torch.randn(1, 1, 6, 6)).save(path("script_traced.pt"))
torch.jit.freeze(torch.jit.script(nn.Sequential(nn.Linear(2, 2), nn.ReLU()).eval())).save(path("script_frozen.pt"))
with_example(Sequence(), torch.tensor([[0, 4, 2], [1, 1, 3]])).save(path("script_sequence.pt"))
torch.jit.script(Everything()).save(path("script_everything.pt"))
torch.jit.script(OwnState()).save(path("script_own_state.pt"))
torch.backends.quantized.engine = "fbgemm" if "fbgemm" in torch.backends.quantized.supported_engines else "qnnpack"
small = nn.Sequential(nn.Linear(2, 2))
torch.jit.script(torch.ao.quantization.quantize_dynamic(small, {nn.Linear})).save(path("script_quantised.pt"))
torch.manual_seed(8)
norms = Norms()
for module in norms.modules():
    if isinstance(module, nn.modules.batchnorm._BatchNorm) and module.affine:
        nn.init.uniform_(module.weight, 0.5, 1.5)
        nn.init.uniform_(module.bias)
norms(torch.randn(4, 2, 8, 8) * 2 + 1)
with_example(norms, torch.randn(2, 2, 8, 8)).save(path("script_norms.pt"))
torch.jit.trace(norms, norms.example, check_trace=False).save(path("script_norms_traced.pt"))
