#pragma once
// The part of cuFFT that Halfbridge uses, as the software device has it. Names, numbers and contracts are cuFFT's.

#include "software_cuda/cuda_runtime.h"

using cufftHandle = int;
enum cufftResult { CUFFT_SUCCESS = 0, CUFFT_INVALID_PLAN = 1, CUFFT_INVALID_VALUE = 4, CUFFT_EXEC_FAILED = 6 };
enum cufftType {
  CUFFT_C2C = 0x29,
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_Z2Z = 0x69,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c
};
constexpr int CUFFT_FORWARD = -1, CUFFT_INVERSE = 1;
struct cufftComplex {
  float x, y;
};
struct cufftDoubleComplex {
  double x, y;
};

cufftResult cufftCreate(cufftHandle* plan);
cufftResult cufftDestroy(cufftHandle plan);
cufftResult cufftSetAutoAllocation(cufftHandle plan, int automatic);
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long* n, long long* in_embedded, long long in_stride,
                                long long in_distance, long long* out_embedded, long long out_stride,
                                long long out_distance, cufftType type, long long batch, size_t* workspace);
cufftResult cufftSetWorkArea(cufftHandle plan, void* workspace);
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream);
cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction);
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction);
cufftResult cufftExecR2C(cufftHandle plan, float* in, cufftComplex* out);
cufftResult cufftExecD2Z(cufftHandle plan, double* in, cufftDoubleComplex* out);
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, float* out);
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, double* out);
