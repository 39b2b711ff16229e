#!/usr/bin/env python3
"""Trains a small residual net on the digits with Python's PyTorch and writes what the C++ program beside this file is compared with:

    digits_resnet.pt     the checkpoint: torch.save(model.state_dict())
    reference/           a trace of the model on four images, in evaluation mode

    examples/reference_checkpoint/record.py      # needs torch 2.11; both are in the repository already
"""
import csv, gzip, os, sys

import torch
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "trace", "python"))
import halfbridge_capture


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + self.shortcut(x))


class DigitsResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 8, (3, 1), padding=(1, 0))
        self.layer1 = nn.Sequential(Block(8, 8, 1), Block(8, 8, 1))
        self.layer2 = nn.Sequential(Block(8, 16, 2), Block(16, 16, 1))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.neck = nn.Linear(16, 16)
        self.fc = nn.Linear(16, 10)

    def forward(self, x):
        x = self.pool(self.layer2(self.layer1(self.stem(x))))
        return self.fc(torch.relu(self.neck(x.flatten(1))))


def digits():
    with gzip.open(os.path.join(ROOT, "data", "digits.csv.gz"), "rt") as file:
        rows = torch.tensor([[float(v) for v in row] for row in csv.reader(file)])
    return rows[:, :64].reshape(-1, 1, 8, 8) / 16, rows[:, 64].long()


def main():
    torch.manual_seed(1)
    images, labels = digits()
    held_back = torch.arange(len(images)) % 6 == 0
    train, train_labels = images[~held_back], labels[~held_back]
    model = DigitsResNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(20):
        for batch in torch.randperm(len(train)).split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(train[batch]), train_labels[batch]).backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(images[held_back]).argmax(1) == labels[held_back]).float().mean().item()
    print(f"accuracy on {int(held_back.sum())} held-back digits: {accuracy:.4f}")
    model.zero_grad()  # of the training: no gradients in the trace
    torch.save(model.state_dict(), os.path.join(HERE, "digits_resnet.pt"))
    with torch.no_grad(), halfbridge_capture.capture(model, os.path.join(HERE, "reference")):
        model(images[:4])


if __name__ == "__main__":
    main()
