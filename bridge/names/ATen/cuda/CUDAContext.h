#error "<ATen/cuda/CUDAContext.h> is not supported by Halfbridge: this build computes on the CPU"
