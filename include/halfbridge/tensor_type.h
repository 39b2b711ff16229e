// What is known of a tensor.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <halfbridge/tensor.h>
#include <halfbridge/type_tree.h>

namespace hb {

/// Sizes or strides of which some, or all, or the number may be unknown.
class HB_API VaryingSizes {
 public:
  using ListOfOptionalElements = std::vector<std::optional<int64_t>>;
  VaryingSizes() = default;
  /// A number of dimensions of unknown sizes.
  VaryingSizes(std::optional<size_t> size);                                                          // NOLINT: implicit
  VaryingSizes(size_t size) : VaryingSizes(std::optional<size_t>(size)) {}                           // NOLINT
  VaryingSizes(ListOfOptionalElements dims) : dims_(std::move(dims)) {}                              // NOLINT
  VaryingSizes(ArrayRef<int64_t> dims) : dims_(ListOfOptionalElements(dims.begin(), dims.end())) {}  // NOLINT
  bool operator==(const VaryingSizes& other) const { return dims_ == other.dims_; }
  const std::optional<int64_t>& operator[](size_t at) const;
  std::optional<size_t> size() const { return dims_ ? std::optional<size_t>(dims_->size()) : std::nullopt; }
  const std::optional<ListOfOptionalElements>& sizes() const { return dims_; }
  /// Nothing where one is unknown.
  std::optional<std::vector<int64_t>> concrete_sizes() const;
  bool isComplete() const { return concrete_sizes().has_value(); }
  /// What both agree on.
  VaryingSizes merge(const VaryingSizes& other) const;

 private:
  std::optional<ListOfOptionalElements> dims_;
};
template <typename>
using VaryingShape = VaryingSizes;

/// Of tensors, with what is known of them.
class HB_API TensorType final : public Type {
 public:
  static constexpr TypeKind Kind = TypeKind::TensorType;
  static const TensorTypePtr& get();
  /// What a type that was not written down is taken for.
  static TensorTypePtr getInferred();
  static TensorTypePtr create(const Tensor& tensor);
  static TensorTypePtr create(std::optional<ScalarType> scalar_type, std::optional<Device> device,
                              const VaryingSizes& sizes, const VaryingSizes& strides, std::optional<bool> requires_grad,
                              std::optional<bool> undefined = false, bool tensor_contiguity = false);
  static TensorTypePtr create(std::optional<ScalarType> scalar_type, std::optional<Device> device,
                              std::optional<size_t> dim, std::optional<bool> requires_grad);
  static TensorTypePtr createContiguous(ScalarType scalar_type, Device device, IntArrayRef sizes);

  std::optional<size_t> dim() const { return sizes_.size(); }
  const VaryingSizes& sizes() const { return sizes_; }
  const VaryingSizes& strides() const { return strides_; }
  const std::optional<Device>& device() const { return device_; }
  const std::optional<ScalarType>& scalarType() const { return scalar_type_; }
  const std::optional<bool>& requiresGrad() const { return requires_grad_; }
  std::optional<bool> undefined() const { return undefined_; }
  std::optional<size_t> numel() const;
  /// Whether all is known but whether gradients are needed.
  bool isComplete() const { return scalar_type_ && device_ && sizes_.isComplete() && strides_.isComplete(); }
  bool isSummarized() const { return !(isComplete() && requires_grad_ && undefined_); }
  bool isInferredType() const { return inferred_; }

  TensorTypePtr withRequiresGrad(std::optional<bool> requires_grad) const;
  TensorTypePtr withScalarType(std::optional<ScalarType> scalar_type) const;
  TensorTypePtr withDevice(std::optional<Device> device) const;
  TensorTypePtr withDim(std::optional<size_t> dim) const;
  TensorTypePtr withSizes(IntArrayRef sizes) const;
  TensorTypePtr withSizesStrides(IntArrayRef sizes, IntArrayRef strides) const;
  TensorTypePtr withUndefined() const;
  TensorTypePtr withPossiblyUndefined() const;
  TensorTypePtr dimensionedOnly() const { return withDim(dim()); }
  TensorTypePtr contiguous() const;
  /// What both agree on.
  TensorTypePtr merge(const TensorType& other, bool merge_sizes = true) const;
  bool matchTensor(const Tensor& tensor) const;
  static std::vector<int64_t> contiguousStridesOf(IntArrayRef sizes);

 private:
  friend HB_API bool operator==(const Type& left, const Type& right);
  TensorType() : Type(Kind) {}
  TensorTypePtr clone() const;
  bool same(const TensorType& other) const;

  std::optional<ScalarType> scalar_type_;
  std::optional<Device> device_;
  VaryingSizes sizes_, strides_;
  std::optional<bool> requires_grad_, undefined_ = false;
  bool inferred_ = false;
};

}  // namespace hb
