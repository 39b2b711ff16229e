#pragma once

#include <limits>

#include <halfbridge/tensor.h>

namespace hb {
namespace indexing {

enum class TensorIndexType { None, Ellipsis, SymInt, Boolean, Slice, Tensor };
struct EllipsisIndexType final {};
constexpr std::nullopt_t None = std::nullopt;
constexpr EllipsisIndexType Ellipsis{};
/// The bounds that LibTorch puts where a slice has none.
constexpr int64_t INDEX_MIN = -(int64_t{1} << 62);
constexpr int64_t INDEX_MAX = (int64_t{1} << 62) - 1;

/// start:stop:step as in Python; what is left out is None.
struct Slice {
  Slice(std::optional<int64_t> start = std::nullopt, std::optional<int64_t> stop = std::nullopt,
        std::optional<int64_t> step = std::nullopt)
      : start_(start), stop_(stop), step_(step.value_or(1)) {
    HB_CHECK(step_ != 0, "[Slice] expected a step other than zero");
    HB_CHECK(step_ > 0, "[Slice] expected a positive step, got ", step_);
  }
  std::optional<int64_t> start() const { return start_; }
  std::optional<int64_t> stop() const { return stop_; }
  int64_t step() const { return step_; }

 private:
  std::optional<int64_t> start_, stop_;
  int64_t step_;
};
}  // namespace indexing

/// One item of tensor.index({...}).
struct TensorIndex {
  using Type = indexing::TensorIndexType;
  TensorIndex(std::nullopt_t) : type(Type::None) {}                   // NOLINT
  TensorIndex(indexing::EllipsisIndexType) : type(Type::Ellipsis) {}  // NOLINT
  TensorIndex(const char* text) : type(Type::Ellipsis) {              // NOLINT
    HB_CHECK(std::string_view(text) == "...", "[index] expected \"...\", got \"", text, "\"");
  }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  TensorIndex(T value) {  // NOLINT
    if constexpr (std::is_same_v<T, bool>) {
      type = Type::Boolean, boolean = value;
    } else {
      static_assert(std::is_integral_v<T>, "an index is an integer");
      type = Type::SymInt, integer = static_cast<int64_t>(value);
    }
  }
  TensorIndex(indexing::Slice s) : type(Type::Slice), slice(s) {}      // NOLINT
  TensorIndex(Tensor t) : type(Type::Tensor), tensor(std::move(t)) {}  // NOLINT
  TensorIndex(const Scalar& s) : TensorIndex(s.to<int64_t>()) {}       // NOLINT

  bool is_none() const { return type == Type::None; }
  bool is_ellipsis() const { return type == Type::Ellipsis; }
  bool is_integer() const { return type == Type::SymInt; }
  bool is_boolean() const { return type == Type::Boolean; }
  bool is_slice() const { return type == Type::Slice; }
  bool is_tensor() const { return type == Type::Tensor; }

  Type type;
  int64_t integer = 0;
  bool boolean = false;
  indexing::Slice slice;
  Tensor tensor;
};

namespace indexing {
using hb::TensorIndex;
}
inline Tensor Tensor::index(std::initializer_list<TensorIndex> indices) const {
  return hb::index(*this, ArrayRef<TensorIndex>(indices));
}
inline Tensor& Tensor::index_put_(std::initializer_list<TensorIndex> indices, const Tensor& value) const {
  return index_put_(ArrayRef<TensorIndex>(indices), value);
}
inline Tensor& Tensor::index_put_(std::initializer_list<TensorIndex> indices, const Scalar& value) const {
  return index_put_(ArrayRef<TensorIndex>(indices), value);
}

namespace indexing {
/// What tensor[...] reads and writes; the flag is LibTorch's and changes no result.
inline Tensor get_item(const Tensor& self, ArrayRef<TensorIndex> indices, bool /*disable_slice_optimization*/ = false) {
  return hb::index(self, indices);
}
inline void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& value,
                     bool /*disable_slice_optimization*/ = false) {
  self.index_put_(indices, value);
}
}  // namespace indexing

/// `index` and `index_put_` with one entry per leading dimension: a tensor of integers or bools, or nothing (all of
/// it).
HB_API Tensor index(const Tensor& self, const std::vector<std::optional<Tensor>>& indices);
HB_API Tensor& index_put_(Tensor& self, const std::vector<std::optional<Tensor>>& indices, const Tensor& value,
                          bool accumulate = false);
HB_API Tensor index_put(const Tensor& self, const std::vector<std::optional<Tensor>>& indices, const Tensor& value,
                        bool accumulate = false);

}  // namespace hb
