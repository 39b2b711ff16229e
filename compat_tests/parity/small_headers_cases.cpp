// Small headers that programs include by themselves.
#include <ATen/TypeDefault.h>
#include <ATen/core/Range.h>
#include <ATen/core/functional.h>
#include <ATen/core/typeid.h>
#include <c10/util/Array.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/Unroll.h>
#include <c10/util/bit_cast.h>
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
