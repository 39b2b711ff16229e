#error "<c10/cuda/CUDAException.h> is not supported by Halfbridge: this build computes on the CPU"
