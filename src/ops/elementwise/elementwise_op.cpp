#include "ops/elementwise/elementwise_op.h"

#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "core/devices.h"
#include "core/geometry.h"
#include "core/recorder.h"
#include "core/value_range.h"
#include "ops/common/inplace.h"
#include "ops/common/out_dtype.h"
#include "ops/linalg/late_product.h"
#include "ops/nn/late_pass.h"

namespace hb::ops {
namespace {

/// Numbers as the kernels read them.
struct Numbers {
  union Number {
    Number() {}
    double d;
    uint64_t i;  // the bits of an int64 too
    Complex<double> z;
  };
  Number value[Loop::kMaxOperands];
  char* put(int at, const Scalar& s, ScalarType& kind) {
    if (s.isComplex()) {
      value[at].z = s.toComplexDouble(), kind = kComplexDouble;
    } else if (s.isFloatingPoint()) {
      value[at].d = s.toDouble(), kind = kDouble;
    } else {
      value[at].i = s.toUInt64(), kind = s.type() == kUInt64 ? kUInt64 : kLong;
    }
    return reinterpret_cast<char*>(&value[at]);
  }
};

/// Whether an operand is a number in host memory beside a result on another device. Throws where it is a tensor on a
/// device that is not the result's.
bool is_host_number(const char* name, const TensorImpl& in, const TensorImpl& out) {
  if (HB_LIKELY(in.device() == out.device())) return false;
  if (!in.device().is_cpu()) detail::fail_two_devices(name, in.device(), out.device());
  if (in.dim() > 0) detail::fail_two_devices(name, out.device(), in.device());
  return true;
}

/// A formula of real numbers would see the real parts alone.
void check_parts(const char* name, ScalarType dtype, ScalarType compute) {
  HB_CHECK(dtype == compute || !is_complex_type(dtype) || is_complex_type(compute), "[", name,
           "] not implemented for '", toString(dtype), "'");
}

/// False where some operand is not simply numel elements in a row.
bool make_flat(const char* name, FlatLoop& flat, Numbers& numbers, ScalarType compute, const TensorImpl& out,
               std::initializer_list<Input> inputs) {
  if (!out.physically_contiguous()) return false;
  flat.outputs = 1;
  flat.numel = out.numel();
  flat.data[0] = static_cast<char*>(out.raw_data());
  flat.dtype[0] = out.dtype();
  int k = 1;
  for (const Input& in : inputs) {
    if (in.tensor) {
      const TensorImpl& t = in.tensor->impl();
      if (is_host_number(name, t, out)) flat.numbers |= 1u << k;
      if (t.numel() == 1 && out.numel() != 1) {
        flat.single |= 1u << k;
      } else if (!t.physically_contiguous() || t.sizes() != out.sizes()) {
        return false;
      }
      flat.data[k] = static_cast<char*>(t.raw_data());
      flat.dtype[k] = t.dtype();
      check_parts(name, t.dtype(), compute);
    } else {
      flat.data[k] = numbers.put(k, in.number, flat.dtype[k]);
      flat.single |= 1u << k;
      flat.numbers |= 1u << k;
    }
    ++k;
  }
  flat.operands = k;
  return true;
}

/// Tensors make the loop; numbers are put in their places afterwards, with strides of zero.
void run_loop(const FormulaKernel& formula, ScalarType compute, const Tensor& out, std::initializer_list<Input> inputs,
              ArrayRef<double> params) {
  const Tensor* outs[] = {&out};
  const Tensor* tensors[Loop::kMaxOperands];
  size_t n = 0;
  for (const Input& in : inputs)
    if (in.tensor) tensors[n++] = in.tensor;
  Loop loop(outs, ArrayRef<const Tensor*>(tensors, n));
  Numbers numbers;
  int k = 1;
  for (const Input& in : inputs) {
    if (!in.tensor) {
      for (int j = loop.operands; j > k; --j) loop.op[j] = std::move(loop.op[j - 1]);
      loop.op[k].data = numbers.put(k, in.number, loop.op[k].dtype);
      loop.op[k].strides = DimVector(loop.sizes.size(), 0);
      loop.numbers |= 1u << k;
      ++loop.operands;
    } else {
      if (is_host_number(formula.name(), in.tensor->impl(), out.impl())) loop.numbers |= 1u << k;
      check_parts(formula.name(), in.tensor->impl().dtype(), compute);
    }
    ++k;
  }
  formula(out.device())({nullptr, &loop, compute, params});
}

/// Where all tensors have one shape there is nothing to broadcast.
bool same_sizes(const Tensor* const* tensors, size_t n) {
  for (size_t i = 1; i < n; ++i)
    if (tensors[i]->impl().sizes() != tensors[0]->impl().sizes()) return false;
  return true;
}

DimVector result_sizes(const char* name, const Tensor* const* tensors, size_t n) {
  if (n == 0) return {};
  if (same_sizes(tensors, n)) return tensors[0]->impl().sizes();
  return broadcast_sizes(name, ArrayRef<const Tensor*>(tensors, n));
}

size_t tensors_of(std::initializer_list<Input> inputs, const Tensor** tensors) {
  size_t n = 0;
  for (const Input& in : inputs)
    if (in.tensor) tensors[n++] = in.tensor;
  return n;
}

}  // namespace

void launch(const FormulaKernel& formula, ScalarType compute, const Tensor& out, std::initializer_list<Input> inputs,
            ArrayRef<double> params) {
  if (HB_UNLIKELY(capture::any_recording())) {
    capture::uses(out);
    for (const Input& in : inputs)
      if (in.tensor) capture::uses(*in.tensor);
  }
  FlatLoop flat;
  Numbers numbers;
  if (make_flat(formula.name(), flat, numbers, compute, out.impl(), inputs))
    return formula(out.impl().device())({&flat, nullptr, compute, params});
  run_loop(formula, compute, out, inputs, params);
}

Tensor launch_new(const char* name, const FormulaKernel& formula, ScalarType compute, ScalarType result,
                  std::initializer_list<Input> inputs, ArrayRef<double> params) {
  const Tensor* tensors[Loop::kMaxOperands];
  const size_t n = tensors_of(inputs, tensors);
  const ArrayRef<const Tensor*> list(tensors, n);
  if (pending::any() && n == inputs.size()) {
    if (Tensor fused = after_late_pass(formula, result, list); fused.defined()) return fused;
    if (Tensor fused = after_late_product(formula, result, list); fused.defined()) return fused;
  }
  Tensor out = same_sizes(tensors, n) ? empty_elementwise(tensors[0]->impl().sizes(), result, list)
                                      : empty_elementwise(broadcast_sizes(name, list), result, list);
  launch(formula, compute, out, inputs, params);
  return out;
}

ScalarType scalar_result_type(ScalarType tensor, const Scalar& number) {
  if (number.isComplex()) return is_complex_type(tensor) ? tensor : to_complex_type(floating_result(tensor));
  if (is_differentiable_type(tensor) || number.isBoolean()) return tensor;
  if (number.isFloatingPoint()) {
    const ScalarType standard = get_default_dtype();  // a program may set an integer one
    return is_differentiable_type(standard) || tensor == kBool ? standard : tensor;
  }
  return tensor == kBool ? kLong : tensor;
}

ScalarType promoted(std::initializer_list<Input> inputs) {
  const Tensor* tensors[Loop::kMaxOperands];
  const size_t n = tensors_of(inputs, tensors);
  HB_CHECK(n > 0, "[result_type] expected at least one tensor");
  ScalarType t = tensors[0]->impl().dtype();
  for (size_t i = 1; i < n; ++i) {
    if (tensors[i]->impl().dtype() == t) continue;
    t = result_type_of(ArrayRef<const Tensor*>(tensors, n));
    break;
  }
  for (const Input& in : inputs)
    if (!in.tensor) t = scalar_result_type(t, in.number);
  return t;
}

Tensor giving_way(ScalarType t, const Tensor& x) {
  return x.dim() == 0 && is_integral_type(t, false) && x.scalar_type() != kBool ? x.to(t) : x;
}
Scalar giving_way(ScalarType t, const Scalar& x) {
  return is_integral_type(t, false) && !x.isBoolean() ? Scalar(wrapped(t, x)) : x;
}

void check_no_overlap(const char* name, const Tensor& self, const Tensor& other) {
  const TensorImpl &a = self.impl(), &b = other.impl();
  if (&a == &b || a.numel() == 0 || b.numel() == 0 || a.is_deferred() || b.is_deferred())
    return;  // those have no alias
  if (a.physical_storage() != b.physical_storage()) return;
  if (a.raw_data() == b.raw_data() && a.physical_strides() == b.physical_strides() && a.sizes() == b.sizes()) return;
  const auto reach = [](const TensorImpl& t) {
    int64_t last = 0;
    for (size_t d = 0; d < t.sizes().size(); ++d) last += (t.sizes()[d] - 1) * t.physical_strides()[d];
    return static_cast<char*>(t.raw_data()) + (last + 1) * t.itemsize();
  };
  const bool apart = reach(a) <= b.raw_data() || reach(b) <= a.raw_data();
  // Interleaved pieces (columns of one matrix) lie within each other's range without sharing an element.
  const bool interleaved = a.physical_strides() == b.physical_strides() && a.sizes() == b.sizes() && [&] {
    const int64_t distance = std::abs(static_cast<char*>(a.raw_data()) - static_cast<char*>(b.raw_data()));
    int64_t step = 0;
    for (size_t d = 0; d < a.sizes().size(); ++d)
      if (a.sizes()[d] > 1) step = step == 0 ? a.physical_strides()[d] : std::min(step, a.physical_strides()[d]);
    return step > 0 && distance % (step * static_cast<int64_t>(a.itemsize())) != 0;
  }();
  HB_CHECK(
      apart || interleaved, "[", name,
      "] expected memory that does not overlap, got a result and an input that share some of their elements; clone() "
      "the input first");
}

void check_inplace_result(const char* name, const Tensor& self, ScalarType result, const DimVector& sizes) {
  check_cast(name, result, self.impl().dtype());
  HB_CHECK(sizes == self.impl().sizes(), "[", name, "] output with shape ", self.sizes(),
           " doesn't match the broadcast shape ", IntArrayRef(sizes.data(), sizes.size()));
}

Tensor& launch_inplace(const char* name, const FormulaKernel& formula, ScalarType compute, ScalarType result,
                       Tensor& self, std::initializer_list<Input> inputs, ArrayRef<double> params) {
  const Tensor* tensors[Loop::kMaxOperands];
  const size_t n = tensors_of(inputs, tensors);
  check_inplace(name, self);
  check_inplace_result(name, self, result, result_sizes(name, tensors, n));
  for (size_t i = 0; i < n; ++i) check_no_overlap(name, self, *tensors[i]);
  launch(formula, compute, self, inputs, params);
  self.impl().bump_version();
  return self;
}

bool writes_into(const char* name, const Tensor& out, const Tensor& a, const Tensor& b, ScalarType result) {
  if (!out.defined() || out.scalar_type() != result || needs_grad(out, a, b)) return false;
  if (HB_UNLIKELY(out.is_inference())) return false;  // what changes one has a check
  if (out.device() != a.device()) return false;
  for (const Tensor* t : {&out, &a, &b})
    if (!t->impl().is_strided()) return false;
  if (broadcast_sizes(name, {&a, &b}) != out.impl().sizes()) return false;
  if (geometry::overlaps_itself(out.impl().sizes(), out.impl().physical_strides())) return false;
  const auto apart = [&](const Tensor& t) {
    return t.is_same(out) || t.impl().is_deferred() || t.impl().physical_storage() != out.impl().physical_storage();
  };
  return apart(a) && apart(b);
}

Tensor floating_op(const char* name, const FormulaKernel& formula, std::initializer_list<Input> inputs,
                   ArrayRef<double> params) {
  const ScalarType t = floating_result(promoted(inputs));
  for (const Input& in : inputs)
    if (in.tensor) return launch_new(name, formula, compute_type(t), t, inputs, params);
  return {};
}

Tensor no_gradient(const char* name, const char* of) {
  HB_NOT_SUPPORTED("[", name, "] the derivative for '", of, "' is not implemented");
}

void check_no_zero(const char* name, const Tensor& dividend, const Input& divisor) {
  if (dividend.numel() == 0) return;                                 // so is the result
  if (divisor.tensor && divisor.tensor->device().is_cuda()) return;  // as in PyTorch: the host would have to wait
  const bool zero =
      divisor.tensor ? hb::any(hb::eq(*divisor.tensor, Scalar(0))).item().toBool() : divisor.number.toDouble() == 0;
  HB_CHECK(!zero, "[", name, "] ZeroDivisionError: expected integers other than zero to divide by");
}

}  // namespace hb::ops
