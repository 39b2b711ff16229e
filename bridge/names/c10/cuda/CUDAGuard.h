#error "<c10/cuda/CUDAGuard.h> is not supported by Halfbridge: this build computes on the CPU"
