"""halfbridge_capture.py against the same computed by hand. Exit status 77: torch is not importable here."""
import json
import os
import pathlib
import struct
import sys
import tempfile
import unittest

try:
    import torch
except ImportError as error:
    print(f"skipped: {error} (-DHALFBRIDGE_PYTHON=... names a Python with torch)")
    sys.exit(77)
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "trace" / "python"))
import halfbridge_capture  # noqa: E402

_TYPES = {"F32": torch.float32, "F64": torch.float64, "I64": torch.int64, "BOOL": torch.bool}


def read(folder):
    """The records of a trace in their order, each with its tensor as `value`."""
    records, end = [], None
    for name in sorted(os.listdir(folder)):
        data = (pathlib.Path(folder) / name).read_bytes()
        length = struct.unpack("<Q", data[:8])[0]
        header = json.loads(data[8:8 + length])
        for key, text in header["__metadata__"].items():
            if not text.startswith("{"):
                end = text if key == "end" else end
                continue
            record = json.loads(text)
            if key in header:
                first, last = header[key]["data_offsets"]
                flat = bytearray(data[8 + length + first:8 + length + last])
                value = torch.frombuffer(flat, dtype=_TYPES[record["dtype"]]) if flat else torch.empty(0)
                record["value"] = value.reshape(record["shape"])
            records.append(record)
    return sorted(records, key=lambda r: r["order"]), end


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 3, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(3)
        self.act = torch.nn.ReLU(inplace=True)
        self.drop = torch.nn.Dropout(0.5)
        self.fc = torch.nn.Linear(48, 4)
        self.gain = torch.nn.Parameter(torch.full((1,), 1.5))

    def forward(self, x):
        y = self.act(self.norm(self.conv(x)))
        y = self.act(y + y.flip(3)) * self.gain
        return self.fc(self.drop(y.flatten(1)))


class Capture(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.folder = tempfile.TemporaryDirectory()
        self.net = Net()
        self.x, self.target = torch.randn(5, 2, 4, 4, requires_grad=True), torch.tensor([0, 3, 1, 1, 2])

    def tearDown(self):
        self.folder.cleanup()

    def train(self, count, **options):
        optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9)
        with halfbridge_capture.capture(self.net, self.folder.name, **options):
            for _ in range(count):
                optimizer.zero_grad()
                F.cross_entropy(self.net(self.x), self.target).backward()
                optimizer.step()
        self.records, self.end = read(self.folder.name)

    def find(self, **fields):
        return [r for r in self.records if all(r.get(k) == v for k, v in fields.items())]

    def one(self, **fields):
        found = self.find(**fields)
        self.assertEqual(len(found), 1, fields)
        return found[0]["value"]

    def test_calls(self):
        self.train(2)
        calls = {r["call"]: r.get("path", r["type"] + "()") for r in self.records if "call" in r}
        self.assertEqual([calls[c] for c in sorted(calls)], ["", "conv", "norm", "act", "flip()", "add()", "act", "mul()",
                                                             "drop", "fc", "cross_entropy()"])
        self.assertEqual(self.end, "complete")
        self.assertEqual({r["step"] for r in self.records}, {0})
        self.assertEqual({r["parent"] for r in self.find(path="conv") if "call" in r}, {0})
        self.assertEqual(self.find(path="conv", kind="output")[0]["config"],
                         "2, 3, kernel_size=[3, 3], stride=[1, 1], padding=[1, 1]")

    def test_values_and_gradients(self):
        self.train(1)
        parameters = {(r["path"], r["name"]): r["value"].clone().requires_grad_() for r in self.find(kind="parameter")}
        kept = []

        def call(inputs, function):
            inputs = [t.view(t.shape) for t in inputs]  # each gets its own share of the gradient
            output = function(*inputs)
            for t in (*inputs, output):
                t.retain_grad()
            kept.append((inputs, output))
            return output

        p = parameters
        leaf = self.x.detach().clone().requires_grad_()
        y = call([leaf], lambda t: F.conv2d(t, p["conv", "weight"], p["conv", "bias"], padding=1))
        y = call([y], lambda t: F.batch_norm(t, None, None, p["norm", "weight"], p["norm", "bias"], True))
        y = call([y], F.relu)
        flipped = call([y], lambda t: t.flip(3))
        y = call([y, flipped], torch.add)
        y = call([y], F.relu)
        y = call([y, p["", "gain"]], torch.mul)
        y = call([y.flatten(1)], lambda t: t * self.one(kind="mask").float() * 2)
        y = call([y], lambda t: F.linear(t, p["fc", "weight"], p["fc", "bias"]))
        F.cross_entropy(y, self.target).backward()
        for number, (inputs, output) in enumerate(kept, start=1):
            for index, t in enumerate(inputs):
                torch.testing.assert_close(self.one(kind="input", call=number, index=index), t.detach())
                torch.testing.assert_close(self.one(kind="grad_input", call=number, index=index), t.grad)
            torch.testing.assert_close(self.one(kind="output", call=number), output.detach())
            torch.testing.assert_close(self.one(kind="grad_output", call=number), output.grad)
        torch.testing.assert_close(self.one(kind="grad_input", call=0), leaf.grad)
        for (path, name), value in p.items():
            about = {"path": path, "name": name}
            torch.testing.assert_close(self.one(kind="parameter_grad", **about), value.grad)
            torch.testing.assert_close(self.one(kind="updated_parameter", **about), (value - 0.1 * value.grad).detach())
            torch.testing.assert_close(self.one(kind="optimizer_state", path=path, name=name + "/momentum_buffer"),
                                       value.grad)
        torch.testing.assert_close(self.one(kind="updated_buffer", name="running_mean"),
                                   0.1 * kept[0][1].detach().mean((0, 2, 3)))

    def test_sampling(self):
        self.train(5, steps="1-2,4", layers="fc,n*,-norm", kinds="output,parameter,updated_parameter")
        self.assertEqual({r["path"] for r in self.records}, {"fc"})
        self.assertEqual([r["step"] for r in self.find(kind="output")], [1, 2, 4])
        self.assertEqual([r["step"] for r in self.find(kind="parameter", name="bias")], [1, 4])

    def test_statistics_and_limit(self):
        self.train(1, stats=True, kinds="output")
        self.assertTrue(all("value" not in r and r["stats"]["nan"] == 0 for r in self.records))
        self.train(1, max_bytes=20000)
        self.assertEqual(self.end, "limit of 20000 bytes")

    def test_nothing_is_left(self):
        trace = halfbridge_capture.capture(self.net, self.folder.name)
        loss = self.net(self.x).sum()
        trace.close()
        self.assertFalse(any(m._forward_hooks or m._forward_pre_hooks for m in self.net.modules()))
        self.assertNotIn("watched", torch.amp.GradScaler.update.__qualname__)
        loss.backward()
        self.records, _ = read(self.folder.name)
        self.assertFalse(self.find(kind="grad_output"))

    def test_wrong_options(self):
        for options in ({"steps": "1,x"}, {"kinds": "outputs"}, {"layers": "a,,b"}):
            with self.assertRaises(ValueError):
                halfbridge_capture.capture(self.net, self.folder.name, **options)


if __name__ == "__main__":
    unittest.main()
