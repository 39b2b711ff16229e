#include <algorithm>

#include <halfbridge/bridge/expand.h>
#include <halfbridge/bridge/tensor_iterator.h>
#include <halfbridge/error.h>
#include <halfbridge/ops.h>

#include "core/geometry.h"

namespace hb::bridge {
inline namespace api {

TensorIteratorConfig& TensorIteratorConfig::add_output(const Tensor& output) {
  HB_CHECK(inputs_.empty(),
           "[TensorIteratorConfig] Keep in mind that you have to add all outputs first before adding "
           "any input.");
  outputs_.push_back(output);
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::add_input(const Tensor& input) {
  HB_CHECK(input.defined(), "[TensorIteratorConfig] expected an input that is defined");
  inputs_.push_back(input);
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::promote_inputs_to_common_dtype(bool on) {
  if (on) same_dtype_ = false;
  return set(promote_, on);
}
TensorIteratorConfig& TensorIteratorConfig::cast_common_dtype_to_outputs(bool on) {
  if (on) same_dtype_ = false;
  return set(cast_outputs_, on);
}
TensorIteratorConfig& TensorIteratorConfig::declare_static_dtype(ScalarType dtype) {
  static_dtype_ = dtype;
  return check_all_same_dtype(false);
}
TensorIteratorConfig& TensorIteratorConfig::declare_static_device(Device device) {
  HB_CHECK(device.is_cpu(), "[TensorIteratorConfig] expected the CPU's memory, got device ", device);
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::declare_static_dtype_and_device(ScalarType dtype, Device device) {
  return declare_static_device(device).declare_static_dtype(dtype);
}
TensorIteratorConfig& TensorIteratorConfig::declare_static_shape(IntArrayRef shape) {
  HB_CHECK(!resize_, "[TensorIteratorConfig] resize_outputs() must be called before declare_static_shape(...)");
  static_shape_ = shape.vec();
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::declare_static_shape(IntArrayRef shape, IntArrayRef squash) {
  declare_static_shape(shape);
  const auto dims = static_cast<int64_t>(shape.size());
  for (int64_t dim : squash) {
    HB_CHECK(dim >= 0 && dim < dims, "[TensorIteratorConfig] squash_dim ", dim, " must be in [0, ", dims, ").");
    (*static_shape_)[dim] = 1;
  }
  return *this;
}

std::vector<int64_t> TensorIteratorConfig::broadcast_shape() const {
  if (static_shape_) return *static_shape_;
  std::optional<std::vector<int64_t>> shape;
  const auto widen = [&](const Tensor& t) { shape = shape ? infer_size(*shape, t.sizes()) : t.sizes().vec(); };
  for (const Tensor& input : inputs_) widen(input);
  for (const Tensor& output : outputs_)
    if (output.defined() && (!resize_ || inputs_.empty())) widen(output);
  HB_CHECK(shape, "[TensorIteratorConfig] expected an input, an output that is defined or a static shape");
  return *shape;
}

std::optional<ScalarType> TensorIteratorConfig::common_dtype() const {
  if (!promote_ || inputs_.empty()) return std::nullopt;
  ScalarType common = inputs_[0].scalar_type();
  if (inputs_.size() == 2) common = result_type(inputs_[0], inputs_[1]);
  if (inputs_.size() > 2)
    for (const Tensor& input : inputs_) common = promote_types(common, input.scalar_type());
  if (integers_to_float_ && !is_floating_type(common) && !is_complex_type(common)) common = get_default_dtype();
  return common;
}

void TensorIteratorConfig::check_dtypes() const {
  std::optional<ScalarType> first;
  const auto check = [&](const Tensor& t) {
    HB_CHECK(t.device().is_cpu(), "[TensorIteratorConfig] expected operands in the CPU's memory, got one on ",
             t.device());
    if (!first) first = t.scalar_type();
    HB_CHECK(!same_dtype_ || t.scalar_type() == *first, "[TensorIteratorConfig] Found dtype ", t.scalar_type(),
             " but expected ", *first);
  };
  for (const Tensor& input : inputs_) check(input);
  for (const Tensor& output : outputs_)
    if (output.defined()) check(output);
}

/// Makes, resizes or checks an output, and gives it memory of the dtype in which the loop computes.
void TensorIteratorConfig::prepare_output(OperandInfo& operand, IntArrayRef shape,
                                          std::optional<ScalarType> common) const {
  Tensor& output = operand.given;
  if (!output.defined()) {
    const ScalarType dtype = static_dtype_     ? *static_dtype_
                             : common          ? *common
                             : inputs_.empty() ? get_default_dtype().toScalarType()
                                               : inputs_[0].scalar_type();
    const auto model = std::find_if(inputs_.begin(), inputs_.end(), [&](const Tensor& t) {
      return t.sizes() == shape && t.is_non_overlapping_and_dense();
    });
    output = model == inputs_.end() ? empty(shape, TensorOptions(dtype)) : empty_like(*model, TensorOptions(dtype));
    return;
  }
  if (!static_shape_ && output.sizes() != shape) {
    HB_CHECK(resize_, "[TensorIteratorConfig] output with shape ", output.sizes(),
             " doesn't match the broadcast shape ", shape);
    output.resize_(shape);
  }
  HB_CHECK(!check_overlap_ || reduction_ ||
               !geometry::overlaps_itself(DimVector(output.sizes()), DimVector(output.strides())),
           "[TensorIteratorConfig] unsupported operation: more than one element of the written-to tensor refers to a "
           "single memory location. Please clone() the tensor before performing the operation.");
  if (!common || output.scalar_type() == *common) return;
  HB_CHECK(!safe_cast_ || can_cast(*common, output.scalar_type()), "[TensorIteratorConfig] result type ", *common,
           " can't be cast to the desired output type ", output.scalar_type());
  if (!cast_outputs_) return;
  HB_CHECK(!reduction_, "[TensorIteratorConfig] expected an output of dtype ", *common, " for a reduction, got ",
           output.scalar_type());
  operand.original = output;
  output = empty(shape, TensorOptions(*common));
}

TensorIterator TensorIteratorConfig::build() {
  HB_CHECK(!outputs_.empty() || !inputs_.empty(), "[TensorIteratorConfig] expected operands, got none");
  check_dtypes();
  TensorIterator made;
  made.common_ = common_dtype();
  made.outputs_ = static_cast<int>(outputs_.size());
  const std::vector<int64_t> shape = broadcast_shape();
  for (const Tensor& output : outputs_) {
    OperandInfo& operand = made.operands_.emplace_back();
    operand.given = output;
    operand.is_output = true;
    operand.is_read_write = std::any_of(inputs_.begin(), inputs_.end(), [&](auto& t) { return t.is_same(output); });
    prepare_output(made.operands_.back(), shape, made.common_);
  }
  for (const Tensor& input : inputs_) {
    OperandInfo& operand = made.operands_.emplace_back();
    operand.given = made.common_ ? input.to(*made.common_) : input;
    if (!operand.given.is_same(input)) operand.original = input;
  }
  if (!made.common_ && same_dtype_ && !inputs_.empty()) made.common_ = inputs_[0].scalar_type();
  made.set_geometry(shape);
  return made;
}

}  // namespace api
}  // namespace hb::bridge
