// Complex tensors: their parts, and what only they need. Functions that are linear in the parts run on view_as_real.
#include <algorithm>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "core/loop.h"
#include "ops/common/as_floating.h"
#include "ops/common/inplace.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/sparse/sparse.h"

namespace hb {

namespace {

using ops::gradients;

void check_parts(const char* name, const char* first, const Tensor& a, const Tensor& b) {
  HB_CHECK(a.scalar_type() == kFloat || a.scalar_type() == kDouble, "[", name,
           "] Expected both inputs to be Float or Double tensors but got ", a.scalar_type(), " and ", b.scalar_type());
  HB_CHECK(a.scalar_type() == b.scalar_type(), "[", name, "] Expected object of scalar type ", a.scalar_type(),
           " but got scalar type ", b.scalar_type(), " for second argument; the first is ", first);
}

}  // namespace

// --- views

Tensor view_as_real(const Tensor& self) {
  HB_FUNCTION(view_as_real, self);
  TensorImpl& i = self.impl();
  HB_CHECK(is_complex_type(i.dtype()), "[view_as_real] view_as_real is only supported for complex tensors, got ",
           i.dtype());
  DimVector sizes = i.sizes(), strides = i.strides();
  for (int64_t& s : strides) s *= 2;
  sizes.push_back(2), strides.push_back(1);
  return make_view_as("ViewAsRealBackward0", self, to_real_type(i.dtype()), std::move(sizes), std::move(strides),
                      i.offset() * 2, [](const Tensor& g) { return view_as_complex(g.contiguous()); });
}

Tensor view_as_complex(const Tensor& self) {
  HB_AUTOCAST(view_as_complex, fp32, as_is, self);
  TensorImpl& i = self.impl();
  HB_CHECK(i.dtype() == kFloat || i.dtype() == kDouble,
           "[view_as_complex] view_as_complex is only supported for float and double tensors, but got a tensor of "
           "scalar type: ",
           i.dtype());
  DimVector sizes = i.sizes(), strides = i.strides();
  HB_CHECK(!sizes.empty(), "[view_as_complex] Input tensor must have one or more dimensions");
  HB_CHECK(sizes.back() == 2, "[view_as_complex] Tensor must have a last dimension of size 2");
  HB_CHECK(strides.back() == 1, "[view_as_complex] Tensor must have a last dimension with stride 1");
  HB_CHECK(i.offset() % 2 == 0, "[view_as_complex] Tensor must have a storage_offset divisible by 2");
  sizes.pop_back(), strides.pop_back();
  for (int64_t& s : strides) {
    HB_CHECK(s % 2 == 0, "[view_as_complex] Tensor must have a stride divisible by 2 for all but last dimension");
    s /= 2;
  }
  return make_view_as("ViewAsComplexBackward0", self, to_complex_type(i.dtype()), std::move(sizes), std::move(strides),
                      i.offset() / 2, [](const Tensor& g) { return view_as_real(g.contiguous()); });
}

Tensor real(const Tensor& self) { return self.is_complex() ? view_as_real(self).select(-1, 0) : self; }

Tensor imag(const Tensor& self) {
  HB_DEFINED(imag, self);
  HB_CHECK(self.is_complex(), "[imag] imag is not implemented for tensors with non-complex dtypes, got ",
           self.scalar_type());
  return view_as_real(self).select(-1, 1);
}

// --- made of parts

namespace {
/// The dimensions from the widest stride to the narrowest.
DimVector order_in_memory(const Tensor& t) {
  DimVector order(static_cast<size_t>(t.dim()), 0);
  for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int64_t>(d);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return t.stride(a) > t.stride(b); });
  return order;
}

/// Lies as the real part does, where that fills its memory.
Tensor of_parts(const Tensor& real, const Tensor& imag) {
  if (real.is_contiguous() || !real.is_non_overlapping_and_dense()) return view_as_complex(stack({real, imag}, -1));
  const DimVector order = order_in_memory(real);
  DimVector back(order.size(), 0);
  for (size_t d = 0; d < order.size(); ++d) back[order[d]] = static_cast<int64_t>(d);
  const auto turned = [&](const Tensor& t) { return t.permute(IntArrayRef(order.data(), order.size())); };
  return view_as_complex(stack({turned(real), turned(imag)}, -1)).permute(IntArrayRef(back.data(), back.size()));
}
}  // namespace

Tensor complex(const Tensor& real, const Tensor& imag) {
  HB_FUNCTION(complex, real, imag);
  check_parts("complex", "real", real, imag);
  const auto parts = broadcast_tensors({real, imag});
  return named("ComplexBackward0", of_parts(parts[0], parts[1]), real);
}

Tensor polar(const Tensor& abs, const Tensor& angle) {
  HB_AUTOCAST(polar, fp32, as_is, abs, angle);
  check_parts("polar", "abs", abs, angle);
  return named("PolarBackward0", complex(abs * cos(angle), abs * sin(angle)), abs);
}

// --- conjugates

Tensor conj(const Tensor& self) {
  if (!self.is_complex()) return self;
  HB_FUNCTION(conj, self);
  if (HB_UNLIKELY(self.layout() != kStrided)) return sparse::conj(self);
  const ScalarType t = self.scalar_type();
  Tensor out = ops::launch_new("conj", conj_formula, t, t, {self});
  if (needs_grad(self)) record("ConjBackward0", out, {&self}, [](Backward& b) { return gradients(conj(b.grad())); });
  return out;
}
Tensor conj_physical(const Tensor& self) { return named("ConjPhysicalBackward0", conj(self), self); }
Tensor& conj_physical_(Tensor& self) {
  if (!self.is_complex()) return self;
  return inplace("conj_physical_", self, [](const Tensor& x) { return conj(x); });
}
// No tensor waits for its conjugation or its sign: both are computed at once.
Tensor resolve_conj(const Tensor& self) { return self; }
Tensor resolve_neg(const Tensor& self) { return self; }
bool is_conj(const Tensor&) { return false; }
bool is_neg(const Tensor&) { return false; }

Tensor isreal(const Tensor& self) { return self.is_complex() ? imag(self) == 0 : ones_like(self, kBool); }

// --- direction

Tensor sgn(const Tensor& self) {
  if (!self.is_complex()) return named("SgnBackward0", sign(self), self);
  HB_FUNCTION(sgn, self);
  const Tensor size = abs(self);
  const Tensor none = size == 0;
  return named("SgnBackward0", masked_fill(self / size.masked_fill(none, 1), none, Scalar(0)), self);
}

namespace {
Tensor angle_of_real(const Tensor& self) {
  const Tensor x = ops::as_floating(self);
  Tensor out = ops::floating_op("angle", angle_formula, {x});
  if (needs_grad(x)) record("AngleBackward0", out, {&x}, [](Backward& b) { return gradients(zeros_like(b.grad())); });
  return out;
}
}  // namespace

Tensor angle(const Tensor& self) {
  HB_FUNCTION(angle, self);
  if (!self.is_complex()) return angle_of_real(self);
  const Tensor z = self.detach();
  Tensor out = atan2(imag(z), real(z));
  if (needs_grad(self))
    record("AngleBackward0", out, {&self}, {SavedTensor::input(self)}, [](Backward& b, auto& s) {
      const Tensor along = b.grad() * s[0] / pow(abs(s[0]), Scalar(2.0)) * Scalar(Complex<double>(0, 1));
      return gradients(masked_fill(along, s[0] == 0, Scalar(0)));
    });
  return out;
}

}  // namespace hb
