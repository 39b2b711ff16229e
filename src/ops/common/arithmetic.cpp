// What autograd and autocast compute with.
#include "autograd/arithmetic.h"

#include <halfbridge/ops.h>

#include "ops/nn/late_pass.h"

namespace hb::autodiff {
namespace {

[[maybe_unused]] const bool filled_in =
    (arithmetic = {
         [](const Tensor& a, const Tensor& b) { return hb::add(a, b); },
         [](Tensor& self, const Tensor& other) { hb::add_(self, other); },
         &ops::late_sum,
         [](const Tensor& self, std::optional<MemoryFormat> format) { return hb::clone(self, format); },
         [](Tensor& self, const Tensor& source) { hb::copy_(self, source); },
         [](Tensor& self) { hb::zero_(self); },
         [](const Tensor& self, MemoryFormat format) { return hb::ones_like(self, {}, format); },
         [](const Tensor& self, IntArrayRef size) { return hb::sum_to(self, size); },
         [](const Tensor& self, ScalarType dtype) {
           return self.is_complex() && !is_complex_type(dtype) ? hb::clone(hb::real(self)).to(dtype) : self.to(dtype);
         },
         [](const Tensor& self, const Device& device) { return self.to(device); },
         [](const Tensor& self, IntArrayRef size, IntArrayRef stride, int64_t offset) {
           return hb::as_strided(self, size, stride, offset);
         },
     },
     true);

}  // namespace
}  // namespace hb::autodiff
