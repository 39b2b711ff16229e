#pragma once

#include <limits>

#include <halfbridge/tensor.h>

namespace hb {
namespace subscripts {

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
      : start_(start.value_or(0)), stop_(stop.value_or(INDEX_MAX)), step_(step.value_or(1)) {
    HB_CHECK_VALUE(step_ != 0, "[Slice] slice step cannot be zero");
    HB_CHECK_VALUE(step_ > 0, "[Slice] step must be greater than zero, got ", step_);
  }
  int64_t start() const { return start_; }
  /// INDEX_MAX where the slice has none.
  int64_t stop() const { return stop_; }
  int64_t step() const { return step_; }

 private:
  int64_t start_, stop_, step_;
};
/// start:stop:step
HB_API std::ostream& operator<<(std::ostream& out, const Slice& slice);
}  // namespace subscripts

/// One item of tensor.index({...}).
class TensorIndex {
 public:
  using Type = subscripts::TensorIndexType;
  TensorIndex(std::nullopt_t) : type_(Type::None) {}                     // NOLINT
  TensorIndex(subscripts::EllipsisIndexType) : type_(Type::Ellipsis) {}  // NOLINT
  TensorIndex(const char* text) : type_(Type::Ellipsis) {                // NOLINT
    HB_CHECK_VALUE(std::string_view(text) == "...", "[index] expected \"...\", got \"", text, "\"");
  }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  TensorIndex(T value) {  // NOLINT
    if constexpr (std::is_same_v<T, bool>) {
      type_ = Type::Boolean, boolean_ = value;
    } else {
      static_assert(std::is_integral_v<T>, "an index is an integer");
      type_ = Type::SymInt, integer_ = static_cast<int64_t>(value);
    }
  }
  TensorIndex(subscripts::Slice s) : type_(Type::Slice), slice_(s) {}    // NOLINT
  TensorIndex(Tensor t) : type_(Type::Tensor), tensor_(std::move(t)) {}  // NOLINT
  TensorIndex(const Scalar& s) : TensorIndex(s.to<int64_t>()) {}         // NOLINT

  Type type() const { return type_; }
  bool is_none() const { return type_ == Type::None; }
  bool is_ellipsis() const { return type_ == Type::Ellipsis; }
  bool is_integer() const { return type_ == Type::SymInt; }
  bool is_boolean() const { return type_ == Type::Boolean; }
  bool is_slice() const { return type_ == Type::Slice; }
  bool is_tensor() const { return type_ == Type::Tensor; }
  /// What the item is; meaningful for its own type alone.
  int64_t integer() const { return integer_; }
  bool boolean() const { return boolean_; }
  const subscripts::Slice& slice() const { return slice_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  Type type_;
  int64_t integer_ = 0;
  bool boolean_ = false;
  subscripts::Slice slice_;
  Tensor tensor_;
};
HB_API std::ostream& operator<<(std::ostream& out, const TensorIndex& index);
/// In parentheses, as LibTorch prints them.
HB_API std::ostream& operator<<(std::ostream& out, const std::vector<TensorIndex>& indices);

namespace subscripts {
using hb::TensorIndex;
}
inline Tensor Tensor::index(std::initializer_list<TensorIndex> indices) const {
  return hb::index_items(*this, ArrayRef<TensorIndex>(indices));
}
inline Tensor& Tensor::index_put_(std::initializer_list<TensorIndex> indices, const Tensor& value) const {
  return index_put_(ArrayRef<TensorIndex>(indices), value);
}
inline Tensor& Tensor::index_put_(std::initializer_list<TensorIndex> indices, const Scalar& value) const {
  return index_put_(ArrayRef<TensorIndex>(indices), value);
}

namespace subscripts {
/// What tensor[...] reads and writes; the flag is LibTorch's and changes no result.
inline Tensor get_item(const Tensor& self, ArrayRef<TensorIndex> indices, bool /*disable_slice_optimization*/ = false) {
  return hb::index_items(self, indices);
}
inline void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& value,
                     bool /*disable_slice_optimization*/ = false) {
  self.index_put_(indices, value);
}
}  // namespace subscripts

/// `index` and `index_put_` with one entry per leading dimension: a tensor of integers or bools, or nothing (all of
/// it).
HB_API Tensor index(const Tensor& self, const std::vector<std::optional<Tensor>>& indices);
HB_API Tensor& index_put_(Tensor& self, const std::vector<std::optional<Tensor>>& indices, const Tensor& value,
                          bool accumulate = false);
HB_API Tensor index_put(const Tensor& self, const std::vector<std::optional<Tensor>>& indices, const Tensor& value,
                        bool accumulate = false);

}  // namespace hb
