#error "<torch/fft.h> is not supported by Halfbridge: it has no complex tensors"
