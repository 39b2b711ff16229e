// The iterators that functions of one, two and three tensors use.
#include <halfbridge/bridge/tensor_iterator.h>

namespace hb::bridge {
inline namespace api {

namespace {
TensorIteratorConfig of(const Tensor& out, std::initializer_list<Tensor> inputs) {
  TensorIteratorConfig config;
  config.add_output(out);
  for (const Tensor& input : inputs) config.add_input(input);
  return config;
}
TensorIteratorConfig promoting(const Tensor& out, std::initializer_list<Tensor> inputs) {
  TensorIteratorConfig config = of(out, inputs);
  return config.promote_inputs_to_common_dtype(true).cast_common_dtype_to_outputs(true).enforce_safe_casting_to_output(
      true);
}
}  // namespace

void TensorIteratorBase::build(TensorIteratorConfig& config) {
  TensorIteratorBase made = config.build();
  *this = std::move(made);
}
void TensorIteratorBase::build_binary_op(const Tensor& out, const Tensor& a, const Tensor& b) {
  TensorIteratorConfig config = promoting(out, {a, b});
  build(config);
}
void TensorIteratorBase::build_binary_float_op(const Tensor& out, const Tensor& a, const Tensor& b) {
  TensorIteratorConfig config = promoting(out, {a, b});
  build(config.promote_integer_inputs_to_float(true));
}
void TensorIteratorBase::build_comparison_op(const Tensor& out, const Tensor& a, const Tensor& b) {
  TensorIteratorConfig config = of(out, {a, b});
  config.promote_inputs_to_common_dtype(true);
  if (!out.defined())
    config.declare_static_dtype(kBool);
  else if (out.scalar_type() != kBool)
    config.cast_common_dtype_to_outputs(true);
  build(config);
}
void TensorIteratorBase::build_ternary_op(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& c) {
  TensorIteratorConfig config = promoting(out, {a, b, c});
  build(config);
}
void TensorIteratorBase::build_unary_op(const Tensor& out, const Tensor& a) {
  TensorIteratorConfig config = of(out, {a});
  build(config.cast_common_dtype_to_outputs(false).enforce_safe_casting_to_output(false).check_all_same_dtype(true));
}
void TensorIteratorBase::build_unary_float_op(const Tensor& out, const Tensor& a) {
  TensorIteratorConfig config = promoting(out, {a});
  build(config.promote_integer_inputs_to_float(true));
}
void TensorIteratorBase::build_borrowing_unary_force_boolean_op(const Tensor& out, const Tensor& a) {
  TensorIteratorConfig config = of(out, {a});
  config.check_all_same_dtype(false);
  if (!out.defined()) config.declare_static_dtype(kBool);
  build(config);
}

#define HB_MADE(call)  \
  TensorIterator made; \
  made.call;           \
  return made
TensorIterator TensorIterator::binary_op(Tensor& out, const Tensor& a, const Tensor& b) {
  HB_MADE(build_binary_op(out, a, b));
}
TensorIterator TensorIterator::borrowing_binary_op(const Tensor& out, const Tensor& a, const Tensor& b) {
  HB_MADE(build_binary_op(out, a, b));
}
TensorIterator TensorIterator::binary_float_op(Tensor& out, const Tensor& a, const Tensor& b) {
  HB_MADE(build_binary_float_op(out, a, b));
}
TensorIterator TensorIterator::comparison_op(Tensor& out, const Tensor& a, const Tensor& b) {
  HB_MADE(build_comparison_op(out, a, b));
}
TensorIterator TensorIterator::unary_op(Tensor& out, const Tensor& a) { HB_MADE(build_unary_op(out, a)); }
TensorIterator TensorIterator::unary_float_op(Tensor& out, const Tensor& a) { HB_MADE(build_unary_float_op(out, a)); }
#undef HB_MADE
TensorIterator TensorIterator::nullary_op(Tensor& out) { return borrowing_nullary_op(out); }
TensorIterator TensorIterator::borrowing_nullary_op(const Tensor& out) {
  return TensorIteratorConfig().add_output(out).resize_outputs(false).check_all_same_dtype(false).build();
}

TensorIterator TensorIterator::reduce_op(Tensor& out, const Tensor& a) {
  HB_CHECK(out.defined(), "[reduce_op] expected an output that is defined");
  TensorIteratorConfig config = of(out, {a});
  return config.resize_outputs(false).is_reduction(true).promote_inputs_to_common_dtype(true).build();
}
TensorIterator TensorIterator::reduce_op(Tensor& out1, Tensor& out2, const Tensor& a) {
  HB_CHECK(out1.defined() && out2.defined(), "[reduce_op] expected outputs that are defined");
  HB_CHECK(out1.sizes() == out2.sizes() && out1.strides() == out2.strides(),
           "[reduce_op] expected outputs of the same sizes and strides, got sizes ", out1.sizes(), " and ",
           out2.sizes(), ", strides ", out1.strides(), " and ", out2.strides());
  TensorIteratorConfig config;
  config.add_output(out1).add_output(out2).add_input(a);
  return config.resize_outputs(false).is_reduction(true).check_all_same_dtype(false).build();
}

}  // namespace api
}  // namespace hb::bridge
