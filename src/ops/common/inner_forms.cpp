// Functions of LibTorch's own that are short forms of others.
#include <halfbridge/ops.h>

#include "core/function_watch.h"
#include "core/geometry.h"

namespace hb {

Tensor _conj(const Tensor& self) { return conj(self); }
Tensor _conj_physical(const Tensor& self) { return conj_physical(self); }
Tensor _neg_view(const Tensor& self) { return neg(self); }
Tensor _reshape_alias(const Tensor& self, IntArrayRef size, IntArrayRef stride) {
  return as_strided(self, size, stride);
}
Tensor _lazy_clone(const Tensor& self) { return clone(self); }
bool _is_zerotensor(const Tensor&) { return false; }
Tensor _is_all_true(const Tensor& self) {
  HB_DEFINED(_is_all_true, self);
  HB_CHECK(self.scalar_type() == kBool, "[_is_all_true] expected a tensor of bools, got ", self.scalar_type());
  return all(self);
}
Tensor _is_any_true(const Tensor& self) {
  HB_DEFINED(_is_any_true, self);
  HB_CHECK(self.scalar_type() == kBool, "[_is_any_true] expected a tensor of bools, got ", self.scalar_type());
  return any(self);
}
Tensor slice_inverse(const Tensor& self, const Tensor& src, int64_t /*dim*/, std::optional<int64_t> /*start*/,
                     std::optional<int64_t> /*end*/, int64_t /*step*/) {
  return as_strided(self, src.sizes(), src.strides(), src.storage_offset());
}
Tensor dequantize(const Tensor& self) { return self.to(kFloat); }
Tensor _addmm_activation(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                         const Scalar& alpha, bool use_gelu) {
  const Tensor sum = addmm(self, mat1, mat2, beta, alpha);
  return use_gelu ? gelu(sum) : relu(sum);
}

namespace method {

Tensor _fw_primal(const Tensor& self, int64_t /*level*/) { return alias(self); }
Tensor _autocast_to_reduced_precision(const Tensor& self, bool cuda_enabled, bool cpu_enabled, ScalarType cuda_dtype,
                                      ScalarType cpu_dtype) {
  if (self.scalar_type() != kFloat) return self;
  if (self.is_cuda() && cuda_enabled) return self.to(cuda_dtype);
  if (self.is_cpu() && cpu_enabled) return self.to(cpu_dtype);
  return self;
}
Tensor _autocast_to_full_precision(const Tensor& self, bool cuda_enabled, bool cpu_enabled) {
  const bool enabled = (self.is_cuda() && cuda_enabled) || (self.is_cpu() && cpu_enabled);
  return enabled && is_half_type(self.scalar_type()) ? self.to(kFloat) : self;
}
Tensor chalf(const Tensor& /*self*/, std::optional<MemoryFormat> /*memory_format*/) {
  HB_NOT_SUPPORTED("[chalf] complex numbers of two f16 are not supported: take to(kComplexFloat)");
}

}  // namespace method

// --- products into another dtype

namespace {
[[noreturn]] void refuse_out_dtype(const char* name) {
  HB_NOT_SUPPORTED("[", name, "] out_dtype is not supported: convert the factors, or the result, by to()");
}
}  // namespace

Tensor mm(const Tensor&, const Tensor&, ScalarType) { refuse_out_dtype("mm"); }
Tensor bmm(const Tensor&, const Tensor&, ScalarType) { refuse_out_dtype("bmm"); }
Tensor addmm(const Tensor&, const Tensor&, const Tensor&, ScalarType, const Scalar&, const Scalar&) {
  refuse_out_dtype("addmm");
}
Tensor baddbmm(const Tensor&, const Tensor&, const Tensor&, ScalarType, const Scalar&, const Scalar&) {
  refuse_out_dtype("baddbmm");
}
Tensor& mm_out(Tensor&, const Tensor&, const Tensor&, ScalarType) { refuse_out_dtype("mm_out"); }
Tensor& bmm_out(Tensor&, const Tensor&, const Tensor&, ScalarType) { refuse_out_dtype("bmm_out"); }
Tensor& addmm_out(Tensor&, const Tensor&, const Tensor&, const Tensor&, ScalarType, const Scalar&, const Scalar&) {
  refuse_out_dtype("addmm_out");
}
Tensor& baddbmm_out(Tensor&, const Tensor&, const Tensor&, const Tensor&, ScalarType, const Scalar&, const Scalar&) {
  refuse_out_dtype("baddbmm_out");
}

}  // namespace hb
