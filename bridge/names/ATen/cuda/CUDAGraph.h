#error "<ATen/cuda/CUDAGraph.h> is not supported by Halfbridge: this build computes on the CPU"
