#error "<torch/csrc/jit/serialization/export.h> is not supported by Halfbridge: it has no TorchScript"
