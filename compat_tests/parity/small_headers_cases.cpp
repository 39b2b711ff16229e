// Small headers that programs include by themselves.
#include <ATen/DeviceAccelerator.h>
#include <ATen/TypeDefault.h>
#include <ATen/core/Range.h>
#include <ATen/core/functional.h>
#include <ATen/core/typeid.h>
#include <c10/util/Array.h>
#include <c10/util/ExclusivelyOwned.h>
#include <c10/util/ExclusivelyOwnedTensorTraits.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/Unroll.h>
#include <c10/util/bit_cast.h>
#include <c10/util/complex.h>
#include <torch/csrc/jit/runtime/jit_exception.h>
#include <torch/headeronly/core/TensorAccessor.h>
#include <torch/headeronly/util/bit_cast.h>

#include "parity/case.h"

namespace {

int64_t twice_over(c10::function_ref<int64_t(int64_t)> f) { return f(1) * 10 + f(2); }

}  // namespace

PARITY_CASE(small_headers, functions) {
  int64_t offset = 3, calls = 0;
  c.value("function_ref", twice_over([&](int64_t n) {
            ++calls;
            return n + offset;
          }));
  c.value("calls", calls);
  c10::function_ref<void()> none;
  c.value("none", static_cast<bool>(none));
  std::string order;
  c10::ForcedUnroll<4>{}([&](auto i, int add) { order += std::to_string(static_cast<int>(i) + add) + " "; }, 10);
  c.text("unrolled", order);
  const auto halves = c10::fmap<double>(std::vector<int>{1, 2, 3});
  c.value("fmap", halves[2] / 2);
  c.value("array", static_cast<int64_t>(c10::array_of<int64_t>(4, 5, 6)[2]));
  c.value("range", at::Range{2, 7}.size());
}

PARITY_CASE(small_headers, values) {
  c.value("bits", c10::bit_cast<int32_t>(1.0f));
  c.value("back", torch::headeronly::bit_cast<float>(int32_t{0x40490fdb}));
  try {
    throw torch::jit::JITException("a script failed", "ValueError");
  } catch (const std::runtime_error& error) {
    c.text("what", error.what());
  }
  c.text("class", torch::jit::JITException("a", "b.C").getPythonClassName().value_or("none"));
  c.value("original", torch::jit::JITException("a").getOriginalMsg().has_value());
}

PARITY_CASE(small_headers, lent_tensors) {
  const torch::Tensor given = torch::ones({2, 3});
  const at::OptionalTensorRef some(given), none;
  c.value("some", static_cast<bool>(some) && some->numel() == 6 && (*some).dim() == 2);
  c.value("none", none.has_value());
  c.value("ref", (*at::TensorRef(given)).numel());
  c10::ExclusivelyOwned<at::Tensor> owned(torch::ones({4}));
  c.value("owned", owned->numel() + (*owned).dim());
  c.value("taken", (std::move(owned).take()).numel());
}

PARITY_CASE(small_headers, imaginary_numbers) {
  using namespace c10::complex_literals;
  c.out("product", torch::full({1}, (1.0 + 2_id) * 2.5_id, torch::kComplexDouble));
  c.value("float", (2.5_if).imag());
}

PARITY_CASE(small_headers, accelerators) {
  c.value("kinds", at::isAccelerator(at::kCUDA) && at::isAccelerator(at::kXPU) && !at::isAccelerator(at::kCPU));
  c.value("there", at::getAccelerator().has_value() == (at::accelerator::deviceCount() > 0));
}
