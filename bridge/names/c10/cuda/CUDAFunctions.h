#error "<c10/cuda/CUDAFunctions.h> is not supported by Halfbridge: this build computes on the CPU"
