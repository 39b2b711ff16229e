#pragma once

#include <array>
#include <cstdint>

#include <halfbridge/array_ref.h>

namespace hb {

/// Unchecked n-dimensional indexing of a tensor's memory.
template <class T, size_t N>
class TensorAccessor {
 public:
  TensorAccessor(T* data, const int64_t* sizes, const int64_t* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  decltype(auto) operator[](int64_t i) const {
    if constexpr (N == 1) {
      return (data_[i * strides_[0]]);
    } else {
      return TensorAccessor<T, N - 1>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
    }
  }
  int64_t size(int64_t d) const { return sizes_[d]; }
  int64_t stride(int64_t d) const { return strides_[d]; }
  IntArrayRef sizes() const { return {sizes_, N}; }
  IntArrayRef strides() const { return {strides_, N}; }
  T* data() const { return data_; }

 private:
  T* data_;
  const int64_t* sizes_;
  const int64_t* strides_;
};

/// How a packed accessor holds its pointer.
template <class T>
struct DefaultPtrTraits {
  using PtrType = T*;
};
template <class T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};

/// A TensorAccessor that holds its sizes and strides. Index is the type that the program counts in.
template <class T, size_t N, template <class U> class PtrTraits = DefaultPtrTraits, class Index = int64_t>
class GenericPackedTensorAccessor {
 public:
  GenericPackedTensorAccessor(T* data, const int64_t* sizes, const int64_t* strides) : data_(data) {
    for (size_t d = 0; d < N; ++d) sizes_[d] = sizes[d], strides_[d] = strides[d];
  }
  decltype(auto) operator[](Index i) const { return TensorAccessor<T, N>(data_, sizes_.data(), strides_.data())[i]; }
  Index size(Index d) const { return static_cast<Index>(sizes_[d]); }
  Index stride(Index d) const { return static_cast<Index>(strides_[d]); }
  typename PtrTraits<T>::PtrType data() const { return data_; }

 private:
  T* data_;
  std::array<int64_t, N> sizes_, strides_;
};

template <class T, size_t N, template <class U> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, PtrTraits, int32_t>;
template <class T, size_t N, template <class U> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, PtrTraits, int64_t>;

}  // namespace hb
