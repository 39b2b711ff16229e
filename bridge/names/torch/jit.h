#error "<torch/jit.h> is not supported by Halfbridge: it has no TorchScript"
