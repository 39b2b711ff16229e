// What is known of a tensor.
#include <algorithm>

#include <halfbridge/tensor.h>
#include <halfbridge/tensor_type.h>
#include <halfbridge/type_tree.h>

namespace hb {

// --- sizes

VaryingSizes::VaryingSizes(std::optional<size_t> size) {
  if (size) dims_ = ListOfOptionalElements(*size);
}
const std::optional<int64_t>& VaryingSizes::operator[](size_t at) const {
  HB_CHECK(dims_, "Rank isn't fixed");
  return dims_->at(at);
}
std::optional<std::vector<int64_t>> VaryingSizes::concrete_sizes() const {
  if (!dims_) return std::nullopt;
  std::vector<int64_t> sizes;
  for (const auto& size : *dims_) {
    if (!size) return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}
VaryingSizes VaryingSizes::merge(const VaryingSizes& other) const {
  if (!dims_ || !other.dims_ || dims_->size() != other.dims_->size()) return {};
  ListOfOptionalElements both;
  for (size_t i = 0; i < dims_->size(); ++i) {
    const auto &mine = (*dims_)[i], &theirs = (*other.dims_)[i];
    both.push_back(mine == theirs ? mine : std::nullopt);
  }
  return both;
}

// --- making

const TensorTypePtr& TensorType::get() {
  static auto* const type = new TensorTypePtr(new TensorType);
  return *type;
}
TensorTypePtr TensorType::getInferred() {
  static auto* const type = [] {
    auto* made = new TensorTypePtr(new TensorType);
    (*made)->inferred_ = true;
    return made;
  }();
  return *type;
}

TensorTypePtr TensorType::create(const Tensor& tensor) {
  TensorTypePtr type(new TensorType);
  if (!tensor.defined()) {
    type->undefined_ = true;
    return type;
  }
  type->scalar_type_ = tensor.scalar_type();
  type->device_ = tensor.device();
  type->requires_grad_ = tensor.requires_grad();
  if (tensor.layout() == kStrided) {
    type->sizes_ = IntArrayRef(tensor.sizes());
    type->strides_ = IntArrayRef(tensor.strides());
  }
  return type;
}
TensorTypePtr TensorType::create(std::optional<ScalarType> scalar_type, std::optional<Device> device,
                                 const VaryingSizes& sizes, const VaryingSizes& strides,
                                 std::optional<bool> requires_grad, std::optional<bool> undefined,
                                 bool /*tensor_contiguity*/) {
  TensorTypePtr type(new TensorType);
  type->scalar_type_ = scalar_type;
  type->device_ = device;
  type->sizes_ = sizes;
  type->strides_ = strides;
  type->requires_grad_ = requires_grad;
  type->undefined_ = undefined;
  return type;
}
TensorTypePtr TensorType::create(std::optional<ScalarType> scalar_type, std::optional<Device> device,
                                 std::optional<size_t> dim, std::optional<bool> requires_grad) {
  return create(scalar_type, device, VaryingSizes(dim), VaryingSizes(dim), requires_grad);
}
TensorTypePtr TensorType::createContiguous(ScalarType scalar_type, Device device, IntArrayRef sizes) {
  return create(scalar_type, device, VaryingSizes(sizes), VaryingSizes(IntArrayRef(contiguousStridesOf(sizes))),
                std::nullopt);
}

std::vector<int64_t> TensorType::contiguousStridesOf(IntArrayRef sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t next = 1;
  for (size_t i = sizes.size(); i-- > 0; next *= sizes[i]) strides[i] = next;
  return strides;
}

// --- others that differ in one thing

TensorTypePtr TensorType::clone() const {
  return create(scalar_type_, device_, sizes_, strides_, requires_grad_, undefined_);
}
TensorTypePtr TensorType::withRequiresGrad(std::optional<bool> requires_grad) const {
  auto copy = clone();
  copy->requires_grad_ = requires_grad;
  return copy;
}
TensorTypePtr TensorType::withScalarType(std::optional<ScalarType> scalar_type) const {
  auto copy = clone();
  copy->scalar_type_ = scalar_type;
  return copy;
}
TensorTypePtr TensorType::withDevice(std::optional<Device> device) const {
  auto copy = clone();
  copy->device_ = device;
  return copy;
}
TensorTypePtr TensorType::withDim(std::optional<size_t> dim) const {
  auto copy = clone();
  copy->sizes_ = dim;
  copy->strides_ = dim;
  return copy;
}
TensorTypePtr TensorType::withSizes(IntArrayRef sizes) const {
  return withSizesStrides(sizes, contiguousStridesOf(sizes));
}
TensorTypePtr TensorType::withSizesStrides(IntArrayRef sizes, IntArrayRef strides) const {
  auto copy = clone();
  copy->sizes_ = sizes;
  copy->strides_ = strides;
  return copy;
}
TensorTypePtr TensorType::withUndefined() const {
  auto copy = clone();
  copy->undefined_ = true;
  return copy;
}
TensorTypePtr TensorType::withPossiblyUndefined() const {
  auto copy = clone();
  copy->undefined_ = std::nullopt;
  return copy;
}
TensorTypePtr TensorType::contiguous() const {
  const auto sizes = sizes_.concrete_sizes();
  HB_CHECK(sizes, "[TensorType::contiguous] expected a type whose sizes are known, got ", *this);
  return withSizes(*sizes);
}

// --- comparing

std::optional<size_t> TensorType::numel() const {
  const auto sizes = sizes_.concrete_sizes();
  if (!sizes) return std::nullopt;
  size_t count = 1;
  for (int64_t size : *sizes) count *= static_cast<size_t>(size);
  return count;
}

bool TensorType::same(const TensorType& other) const {
  return scalar_type_ == other.scalar_type_ && device_ == other.device_ && sizes_ == other.sizes_ &&
         strides_ == other.strides_ && requires_grad_ == other.requires_grad_ && undefined_ == other.undefined_;
}

TensorTypePtr TensorType::merge(const TensorType& other, bool merge_sizes) const {
  const auto common = [](const auto& a, const auto& b) { return a == b ? a : std::decay_t<decltype(a)>(); };
  return create(common(scalar_type_, other.scalar_type_), common(device_, other.device_),
                merge_sizes ? sizes_.merge(other.sizes_) : sizes_, strides_.merge(other.strides_),
                common(requires_grad_, other.requires_grad_), common(undefined_, other.undefined_));
}

bool TensorType::matchTensor(const Tensor& tensor) const {
  if (undefined_.value_or(!tensor.defined()) != !tensor.defined()) return false;
  if (!tensor.defined()) return !scalar_type_;
  const TensorTypePtr type = create(tensor);
  const auto agrees = [](const auto& wanted, const auto& given) { return !wanted || wanted == given; };
  const auto shapes_agree = [&](const VaryingSizes& wanted, const VaryingSizes& given) {
    if (!wanted.sizes()) return true;
    if (wanted.size() != given.size()) return false;
    return std::equal(wanted.sizes()->begin(), wanted.sizes()->end(), given.sizes()->begin(), agrees);
  };
  return agrees(scalar_type_, type->scalar_type_) && agrees(device_, type->device_) &&
         agrees(requires_grad_, type->requires_grad_) && shapes_agree(sizes_, type->sizes_) &&
         shapes_agree(strides_, type->strides_);
}

}  // namespace hb
