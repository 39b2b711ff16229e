#error "<torch/script.h> is not supported by Halfbridge: it has no TorchScript"
