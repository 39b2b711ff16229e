// Operators as extensions for several versions of LibTorch write them: torch::stable and torch::headeronly.
#include <torch/csrc/stable/device.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/DeviceType.h>
#include <torch/headeronly/core/Dispatch_v2.h>
#include <torch/headeronly/core/ScalarType.h>
#include <torch/headeronly/macros/Macros.h>
#include <torch/headeronly/util/Exception.h>
#include <torch/headeronly/util/HeaderOnlyArrayRef.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "parity/operators.h"

namespace {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

Tensor scaled(const Tensor& x, double by, std::optional<int64_t> offset) {
  STD_TORCH_CHECK(x.is_cpu() && x.is_contiguous(), "scaled: a contiguous tensor of the CPU");
  Tensor y = torch::stable::empty_like(x);
  THO_DISPATCH_V2(x.scalar_type(), "scaled", AT_WRAP([&] {
                    const scalar_t* from = x.const_data_ptr<scalar_t>();
                    scalar_t* to = y.mutable_data_ptr<scalar_t>();
                    for (int64_t i = 0; i < x.numel(); ++i)
                      to[i] = static_cast<scalar_t>(from[i] * by + double(offset.value_or(0)));
                  }),
                  AT_EXPAND(AT_FLOATING_TYPES), ScalarType::Int);
  return y;
}
std::tuple<Tensor, Tensor> halves(Tensor x, int64_t dim) {
  const int64_t n = x.size(dim) / 2;
  return {torch::stable::clone(torch::stable::narrow(x, dim, 0, n)),
          torch::stable::clone(torch::stable::narrow(x, dim, n, n))};
}
std::vector<Tensor> doubled(std::vector<Tensor> all, std::optional<Tensor> more) {
  std::vector<Tensor> results;
  for (const Tensor& x : all) results.push_back(torch::stable::subtract(x, x, -1.0));
  if (more) results.push_back(*more);
  return results;
}
void zero(Tensor& x) { torch::stable::zero_(x); }
Tensor shaped(const Tensor& like, torch::headeronly::HeaderOnlyArrayRef<int64_t> size, std::string what) {
  if (what == "zeros") return torch::stable::new_zeros(like, size);
  return torch::stable::full(size, 2.5, like.scalar_type(), std::nullopt, like.device());
}

STABLE_TORCH_LIBRARY(hb_stable_case, m) {
  m.def("scaled(Tensor x, float by, int? offset=None) -> Tensor");
  m.def("halves(Tensor x, int dim) -> (Tensor, Tensor)");
  m.def("doubled(Tensor[] all, Tensor? more) -> Tensor[]");
}
STABLE_TORCH_LIBRARY_FRAGMENT(hb_stable_case, m) {
  m.def("zero(Tensor(a!) x) -> ()");
  m.def("shaped(Tensor like, int[] size, str what) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(hb_stable_case, CPU, m) {
  m.impl("scaled", TORCH_BOX(&scaled));
  m.impl("halves", TORCH_BOX(&halves));
}
STABLE_TORCH_LIBRARY_IMPL(hb_stable_case, CompositeExplicitAutograd, m) {
  m.impl("doubled", TORCH_BOX(&doubled));
  m.impl("zero", TORCH_BOX(&zero));
  m.impl("shaped", TORCH_BOX(&shaped));
}

template <class Signature>
auto operation(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

}  // namespace

PARITY_CASE(stable_abi, operators) {
  auto scale = operation<at::Tensor(const at::Tensor&, double, std::optional<int64_t>)>("hb_stable_case::scaled");
  for (auto dtype : {torch::kFloat, torch::kDouble, torch::kInt})
    c.out(c10::toString(dtype), scale.call(c.arange({2, 3}, dtype), 2.0, 1));
  c.throws("dtype", [&] { scale.call(c.bools({3}), 2.0, std::nullopt); });
  c.throws("layout", [&] { scale.call(c.randn({3, 2}, torch::kFloat).t(), 2.0, std::nullopt); });

  auto halve = operation<std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, int64_t)>("hb_stable_case::halves");
  auto [first, second] = halve.call(c.arange({2, 4}, torch::kFloat), 1);
  c.out("first", first);
  c.out("second", second);

  auto twice =
      operation<std::vector<at::Tensor>(at::TensorList, const std::optional<at::Tensor>&)>("hb_stable_case::doubled");
  const std::vector<at::Tensor> all{c.randn({2}, torch::kFloat), c.randn({3}, torch::kDouble)};
  const auto some = twice.call(all, std::nullopt), more = twice.call(all, all[0]);
  c.value("numbers", int64_t(some.size() * 10 + more.size()));
  c.out("doubled", more[1]);
  c.check(more[2].is_same(all[0]), "a tensor that goes through stays the same");

  at::Tensor x = c.randn({3}, torch::kFloat);
  operation<void(at::Tensor&)>("hb_stable_case::zero").call(x);
  c.out("zero", x);
  auto shape = operation<at::Tensor(const at::Tensor&, at::IntArrayRef, c10::string_view)>("hb_stable_case::shaped");
  c.out("zeros", shape.call(x, {2, 2}, "zeros"));
  c.out("full", shape.call(x, {2, 2}, "full"));
}

PARITY_CASE(stable_abi, boxed) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("hb_stable_case::scaled", "");
  torch::jit::Stack stack{c.arange({3}, torch::kDouble), 3.0, c10::IValue()};
  op.callBoxed(stack);
  c.out("y", stack.at(0).toTensor());
}

PARITY_CASE(stable_abi, tensors) {
  using torch::stable::Device;
  float numbers[6] = {1, 2, 3, 4, 5, 6};
  const int64_t sizes[] = {2, 2}, strides[] = {3, 1};
  Tensor x = torch::stable::from_blob(numbers, {sizes, 2}, {strides, 2}, Device(torch::headeronly::DeviceType::CPU),
                                      ScalarType::Float);
  c.check(x.defined() && x.dim() == 2 && x.numel() == 4 && x.size(-1) == 2 && x.stride(0) == 3, "its form");
  c.check(!x.is_contiguous() && x.storage_offset() == 0 && x.element_size() == 4 && !x.is_cuda(), "its storage");
  c.check(x.device() == Device("cpu") && x.device().index() == -1 && !x.device().has_index(), "its device");
  c.check(x.layout() == torch::headeronly::Layout::Strided && !Tensor().defined(), "its layout");
  Tensor y = torch::stable::contiguous(torch::stable::transpose(x, 0, 1));
  const float* values = y.const_data_ptr<float>();
  c.check(values[0] == 1 && values[1] == 4 && values[2] == 2 && values[3] == 5, "transposed");
  Tensor total = torch::stable::sum(torch::stable::matmul(y, y));
  c.value("total", double(*total.const_data_ptr<float>()));
  const int64_t row[] = {1, 4};
  Tensor flat = torch::stable::view(y, {row, 2});
  c.value("largest", double(*torch::stable::amax(flat, 1).const_data_ptr<float>()));
  Tensor wide = torch::stable::to(y, ScalarType::Double);
  c.value("wide", wide.const_data_ptr<double>()[3]);
  int64_t seen = 0;
  torch::stable::parallel_for(0, 8, 100, [&](int64_t from, int64_t to) { seen += to - from; });
  c.value("seen", seen);
  c.text("name", torch::headeronly::toString(wide.scalar_type()));
}

PARITY_CASE(stable_abi, checks) {
  const auto check = [](int n) { STD_TORCH_CHECK(n > 1, "n is ", n) };
  check(2);
  std::string said;
  try {
    check(1);
  } catch (const std::runtime_error& error) {
    said = error.what();
  }
  c.check(said.find("n is 1") != std::string::npos, "the words of a failed check");
}
