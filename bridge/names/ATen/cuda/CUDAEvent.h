#error "<ATen/cuda/CUDAEvent.h> is not supported by Halfbridge: this build computes on the CPU"
