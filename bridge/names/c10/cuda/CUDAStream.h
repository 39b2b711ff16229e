#error "<c10/cuda/CUDAStream.h> is not supported by Halfbridge: this build computes on the CPU"
