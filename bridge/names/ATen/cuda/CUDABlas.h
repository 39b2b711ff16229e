#error "<ATen/cuda/CUDABlas.h> is not supported by Halfbridge: this build computes on the CPU"
