#error "<torch/csrc/jit/serialization/import.h> is not supported by Halfbridge: it has no TorchScript"
