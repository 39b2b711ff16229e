#error "<c10/cuda/CUDACachingAllocator.h> is not supported by Halfbridge: this build computes on the CPU"
