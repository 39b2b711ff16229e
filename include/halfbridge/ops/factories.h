#pragma once
// New tensors. All take TensorOptions: dtype, device, requires_grad.

#include <halfbridge/tensor.h>

namespace hb {

/// Not initialised.
HB_API Tensor empty(IntArrayRef size, const TensorOptions& options = {},
                    std::optional<MemoryFormat> format = std::nullopt);
HB_API Tensor empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions& options = {});
HB_API Tensor zeros(IntArrayRef size, const TensorOptions& options = {});
HB_API Tensor ones(IntArrayRef size, const TensorOptions& options = {});
/// Without a dtype in the options: bool, int64 or the default dtype, by the kind of the value.
HB_API Tensor full(IntArrayRef size, const Scalar& value, const TensorOptions& options = {});
HB_API Tensor empty_like(const Tensor& self, const TensorOptions& options = {},
                         std::optional<MemoryFormat> format = std::nullopt);
HB_API Tensor zeros_like(const Tensor& self, const TensorOptions& options = {},
                         std::optional<MemoryFormat> format = std::nullopt);
HB_API Tensor ones_like(const Tensor& self, const TensorOptions& options = {},
                        std::optional<MemoryFormat> format = std::nullopt);
HB_API Tensor full_like(const Tensor& self, const Scalar& value, const TensorOptions& options = {},
                        std::optional<MemoryFormat> format = std::nullopt);
HB_API Tensor scalar_tensor(const Scalar& value, const TensorOptions& options = {});
/// Integers if all arguments are, else the default dtype.
HB_API Tensor arange(const Scalar& end, const TensorOptions& options = {});
HB_API Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options = {});
HB_API Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options = {});
HB_API Tensor range(const Scalar& start, const Scalar& end, const Scalar& step = 1, const TensorOptions& options = {});
inline Tensor range(const Scalar& start, const Scalar& end, const TensorOptions& options) {
  return range(start, end, 1, options);
}
HB_API Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, const TensorOptions& options = {});
HB_API Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base = 10.0,
                       const TensorOptions& options = {});
// Ends that are tensors have no dimensions.
#define HB_TENSOR_ENDS(A, B)                                                                \
  HB_API Tensor linspace(A start, B end, int64_t steps, const TensorOptions& options = {}); \
  HB_API Tensor logspace(A start, B end, int64_t steps, double base = 10.0, const TensorOptions& options = {});
HB_TENSOR_ENDS(const Tensor&, const Tensor&)
HB_TENSOR_ENDS(const Tensor&, const Scalar&)
HB_TENSOR_ENDS(const Scalar&, const Tensor&)
#undef HB_TENSOR_ENDS
// Windows of signal processing; a periodic one is the first n values of the symmetric one of n + 1.
HB_API Tensor hann_window(int64_t window_length, bool periodic, const TensorOptions& options = {});
HB_API Tensor hamming_window(int64_t window_length, bool periodic, double alpha, double beta,
                             const TensorOptions& options = {});
HB_API Tensor blackman_window(int64_t window_length, bool periodic, const TensorOptions& options = {});
HB_API Tensor bartlett_window(int64_t window_length, bool periodic, const TensorOptions& options = {});
HB_API Tensor kaiser_window(int64_t window_length, bool periodic, double beta, const TensorOptions& options = {});
inline Tensor kaiser_window(int64_t n, bool periodic, const TensorOptions& options = {}) {
  return kaiser_window(n, periodic, 12.0, options);
}
inline Tensor kaiser_window(int64_t n, const TensorOptions& options = {}) { return kaiser_window(n, true, options); }
inline Tensor hann_window(int64_t n, const TensorOptions& options = {}) { return hann_window(n, true, options); }
inline Tensor blackman_window(int64_t n, const TensorOptions& options = {}) {
  return blackman_window(n, true, options);
}
inline Tensor bartlett_window(int64_t n, const TensorOptions& options = {}) {
  return bartlett_window(n, true, options);
}
inline Tensor hamming_window(int64_t n, bool periodic, const TensorOptions& options = {}) {
  return hamming_window(n, periodic, 0.54, 0.46, options);
}
inline Tensor hamming_window(int64_t n, bool periodic, double alpha, const TensorOptions& options = {}) {
  return hamming_window(n, periodic, alpha, 0.46, options);
}
inline Tensor hamming_window(int64_t n, const TensorOptions& options = {}) { return hamming_window(n, true, options); }
HB_API Tensor eye(int64_t n, const TensorOptions& options = {});
HB_API Tensor eye(int64_t n, int64_t m, const TensorOptions& options = {});
HB_API Tensor tril_indices(int64_t row, int64_t col, int64_t offset = 0, const TensorOptions& options = kLong);
HB_API Tensor triu_indices(int64_t row, int64_t col, int64_t offset = 0, const TensorOptions& options = kLong);

/// A tensor of memory that the caller owns; `deleter` is called with `data` when the last tensor of it is gone.
HB_API Tensor from_blob(void* data, IntArrayRef sizes, const std::function<void(void*)>& deleter,
                        const TensorOptions& options = {});
HB_API Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {});
HB_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const std::function<void(void*)>& deleter,
                        const TensorOptions& options = {});
HB_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options = {});

/// Numbers in nested braces, vectors or single values, as torch::tensor takes them.
class HB_API TensorData {
 public:
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> || std::is_same_v<T, Half> ||
                                              std::is_same_v<T, BFloat16> || is_complex_v<T>>>
  TensorData(T value) : dtype_(natural_dtype<T>()), scalar_(value) {}  // NOLINT
  TensorData(std::initializer_list<TensorData> list) { assemble(list.begin(), list.size()); }
  template <class T>
  TensorData(ArrayRef<T> values) {  // NOLINT
    fill(values.data(), values.size());
  }
  template <class T>
  TensorData(const std::vector<T>& values) {  // NOLINT
    if constexpr (std::is_same_v<T, bool>) {
      std::vector<uint8_t> bytes(values.begin(), values.end());
      copy(bytes.data(), bytes.size(), 1, kBool);
    } else {
      fill(values.data(), values.size());
    }
  }
  Tensor to_tensor(const TensorOptions& options) const;

 private:
  template <class T>
  static constexpr ScalarType natural_dtype() {
    if constexpr (std::is_floating_point_v<T>)
      return kDouble;
    else if constexpr (std::is_integral_v<T> &&
                       (sizeof(T) >= 4 || std::is_same_v<T, uint16_t> || std::is_same_v<T, char>))
      return kLong;
    else
      return dtype_of<T>::value;
  }
  template <class T>
  void fill(const T* values, size_t n) {
    copy(values, n, sizeof(T), dtype_of<T>::value);
    // As LibTorch: int becomes int64 and, without a dtype, float and double the default dtype; others stay what they
    // are.
    dtype_ = natural_dtype<T>();
  }
  void copy(const void* values, size_t n, size_t itemsize, ScalarType stored);
  void assemble(const TensorData* items, size_t n);

  std::vector<int64_t> sizes_;  // empty: one value
  ScalarType dtype_ = kFloat;   // the kind of the values
  ScalarType stored_ = kFloat;  // how bytes_ holds them
  bool is_list_ = false;
  Scalar scalar_;
  std::vector<char> bytes_;
};
/// Without a dtype in the options: int64 for int, the default dtype for float and double, else the values' own.
inline Tensor tensor(const TensorData& data, const TensorOptions& options = {}) { return data.to_tensor(options); }

}  // namespace hb
