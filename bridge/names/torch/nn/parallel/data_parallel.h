#error "<torch/nn/parallel/data_parallel.h> is not supported by Halfbridge: it computes on one device"
