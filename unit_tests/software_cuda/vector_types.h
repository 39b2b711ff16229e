#pragma once
// CUDA's small vectors, for device code that g++ compiles.

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

#define SOFTWARE_CUDA_VECTORS(T, name)                         \
  struct alignas(2 * sizeof(T)) name##2 {                      \
    T x, y;                                                    \
  };                                                           \
  struct alignas(sizeof(T) < 8 ? 4 * sizeof(T) : 16) name##4 { \
    T x, y, z, w;                                              \
  };                                                           \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }   \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
SOFTWARE_CUDA_VECTORS(float, float)
SOFTWARE_CUDA_VECTORS(double, double)
SOFTWARE_CUDA_VECTORS(int, int)
SOFTWARE_CUDA_VECTORS(unsigned, uint)
SOFTWARE_CUDA_VECTORS(unsigned short, ushort)
SOFTWARE_CUDA_VECTORS(unsigned char, uchar)
SOFTWARE_CUDA_VECTORS(long long, longlong)
#undef SOFTWARE_CUDA_VECTORS
