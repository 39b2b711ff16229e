"""Records python/trace-00000.safetensors, which the test capture.recorded reads: one SGD step of a small net.

    python record.py    # with PyTorch 2.11
"""
import pathlib
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "trace" / "python"))
import halfbridge_capture  # noqa: E402


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 4)
        self.norm = torch.nn.BatchNorm1d(4)
        self.act = torch.nn.ReLU(inplace=True)
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x):
        y = self.act(self.norm(self.fc(x)))
        return self.drop(y) + y


torch.manual_seed(7)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
x = torch.randn(6, 3)
with halfbridge_capture.capture(net, HERE / "python", optimizer=optimizer):
    for _ in range(2):
        optimizer.zero_grad()
        net(x).pow(2).mean().backward()
        optimizer.step()
