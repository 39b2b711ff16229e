// What programs meet rarely: powers of 0 and 1, complex running sums, tensors without values in archives, halves in
// streams, files as memory, lists of dtypes.
#include <ATen/core/List_inl.h>
#include <c10/util/string_utils.h>
#include <c10/util/tempfile.h>
#include <torch/csrc/api/include/torch/nn/functional/activation.h>
#include <torch/csrc/autograd/InferenceMode.h>
#include <torch/csrc/jit/api/object.h>
#include <torch/detail/TensorDataContainer.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "parity/case.h"

using torch::Tensor;

PARITY_CASE(rare_uses, matrix_power) {
  const Tensor x = c.leaf({2, 3, 3}, torch::kDouble);
  for (const int64_t n : {0, 1, 2, 5}) c.gradients(std::to_string(n), {x}, [&] { return torch::matrix_power(x, n); });
  const Tensor plain = c.randn({2, 2});
  torch::matrix_power(plain, 1).zero_();
  c.out("the matrix itself", plain);
}

PARITY_CASE(rare_uses, complex_logcumsumexp) {
  for (const torch::Dtype dtype : {torch::kComplexFloat, torch::kComplexDouble}) {
    const torch::Dtype part = dtype == torch::kComplexFloat ? torch::kFloat : torch::kDouble;
    const Tensor re = c.leaf({3, 5}, part), im = c.leaf({3, 5}, part);
    for (const int64_t dim : {0, 1})
      c.gradients(c10::str(dtype, dim), {re, im},
                  [&] { return torch::view_as_real(torch::logcumsumexp(torch::complex(re, im), dim)); });
  }
  c.out("0-d", torch::view_as_real(torch::logcumsumexp(torch::complex(c.randn({}), c.randn({})), 0)));
  const Tensor low = c.values({-1e4, -1e4, 1e4}, torch::kDouble);
  c.out("far apart", torch::view_as_real(torch::logcumsumexp(torch::complex(low, low * 1e-4), 0)));
}

// With a gradient wanted, though the index reads a part of the source.
PARITY_CASE(rare_uses, scatter_of_a_part) {
  const Tensor x = c.leaf({3, 4}), y = c.leaf({3, 4});
  const Tensor index = torch::zeros({1, 3}, torch::kLong);
  c.out("sum", torch::scatter_reduce(x, 0, index, y, "sum"));
  c.out("multiply", torch::scatter(x, 0, index, y, "multiply"));
}

PARITY_CASE(rare_uses, archive_of_meta) {
  std::stringstream file;
  torch::save(std::vector<Tensor>{torch::empty({2, 3}, torch::kMeta), c.randn({2})}, file);
  std::vector<Tensor> read;
  torch::load(read, file);
  c.check(read.size() == 2 && read[0].is_meta(), "tensors on meta come back there");
  c.text("sizes", c10::str(read[0].sizes(), read[0].strides(), read[0].dtype()));
  c.out("beside it", read[1]);
}

PARITY_CASE(rare_uses, halves_in_streams) {
  std::ostringstream text;
  text << torch::tensor(1.5).item<at::Half>() << ' ' << c10::BFloat16(2.5f) << ' ' << c10::Half(1e5f);
  c.text("halves", text.str());
}

PARITY_CASE(rare_uses, error_of_an_accelerator) {
  try {
    throw c10::AcceleratorError({"f", "file", 1}, 7, "boom");
  } catch (const c10::Error& e) {
    const auto* error = dynamic_cast<const c10::AcceleratorError*>(&e);
    c.value("code", error ? error->get_error_code() : -1);
  }
}

PARITY_CASE(rare_uses, layout_of_bilinear) {
  c.layout("y", torch::bilinear(c.randn({2, 3}), c.randn({2, 4}), c.randn({5, 3, 4}), {}));
}

PARITY_CASE(rare_uses, tensors_of_files) {
  const c10::TempFile file = c10::make_tempfile("hb_from_file_");
  const float numbers[] = {1, 2, 3, 4, 5};
  const auto bytes = [&] {
    std::ifstream in(file.name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  std::ofstream(file.name, std::ios::binary).write(reinterpret_cast<const char*>(numbers), sizeof numbers);
  torch::Tensor own = torch::from_file(file.name, /*shared=*/false, /*size=*/4, torch::kFloat);
  c.layout("own", own);
  own.mul_(2);
  c.out("changed", own);
  c.out("the file", torch::from_file(file.name, false, 20, torch::kUInt8));
  {
    torch::Tensor shared = torch::from_file(file.name, true, 7, torch::TensorOptions().dtype(torch::kFloat));
    shared[6] = 9;
    shared[0] = -1;
  }
  c.value("bytes", int64_t(bytes().size()));
  c.out("written", torch::from_file(file.name, false, 7, torch::kFloat));
  const auto mappings = [&] {
    std::ifstream maps("/proc/self/maps");
    int64_t count = 0;
    for (std::string line; std::getline(maps, line);) count += line.find(file.name) != std::string::npos;
    return count;
  };
  const int64_t before = mappings();
  c.throws("gradients of integers", [&] {
    torch::from_file(file.name, false, 4, torch::TensorOptions().dtype(torch::kInt).requires_grad(true));
  });
  c.check(mappings() == before, "a tensor that is refused keeps no mapping");
  c.throws("too long", [&] { torch::from_file(file.name, false, 100, torch::kFloat); });
  c.throws("no file", [] { torch::from_file("/nonexistent/file", false, 1, torch::kFloat); });
}

PARITY_CASE(rare_uses, lists_of_dtypes) {
  std::string names;
#define HB_CASE_NAME(T, Name) \
  names += std::string(#Name) + (c10::CppTypeToScalarType<T>::value == c10::ScalarType::Name ? " " : "! ");
  AT_FORALL_SCALAR_TYPES(HB_CASE_NAME)
  AT_FORALL_SCALAR_TYPES_AND(Half, HB_CASE_NAME)
  AT_FORALL_SCALAR_TYPES_AND2(Bool, BFloat16, HB_CASE_NAME)
  AT_FORALL_SCALAR_TYPES_AND3(Bool, BFloat16, Half, HB_CASE_NAME)
  AT_FORALL_INT_TYPES(HB_CASE_NAME)
  AT_FORALL_COMPLEX_TYPES(HB_CASE_NAME)
  c.text("names", names);
  const auto element = [](c10::ScalarType dtype) {
    switch (dtype) {
#define HB_CASE_SIZE(T, Name) \
  case c10::ScalarType::Name: \
    return int64_t(sizeof(T));
      AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(HB_CASE_SIZE)
      default:
        return int64_t(0);
    }
  };
  for (auto dtype : {torch::kByte, torch::kBool, torch::kBFloat16, torch::kComplexDouble, torch::kLong, torch::kHalf})
    c.value(c10::toString(dtype), element(dtype));
  c.text("default", c10::toString(c10::get_default_dtype_as_scalartype()));
}

PARITY_CASE(rare_uses, other_names) {
  c.text("numbers", c10::to_string(c10::stoi("7") + c10::stoll("8")));
  {
    torch::autograd::InferenceMode guard;
    c.check(torch::autograd::InferenceMode::is_enabled() && torch::zeros({1}).is_inference(), "inference mode");
  }
  c.out("y", torch::nn::functional::celu(c.randn({4}), torch::nn::functional::CELUFuncOptions().alpha(0.5)));
}

namespace {
struct Ranges : torch::autograd::Function<Ranges> {
  static Tensor forward(torch::autograd::AutogradContext*, const Tensor& a, const Tensor& b) { return a * b; }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    const torch::autograd::IndexRange first{0, 1}, second{1, 2};
    asked = {ctx->needs_input_grad({first}), ctx->needs_input_grad({second}), ctx->needs_input_grad({first, second})};
    return {grads[0], grads[0]};
  }
  static std::vector<bool> asked;
};
std::vector<bool> Ranges::asked;
}  // namespace

PARITY_CASE(rare_uses, ranges_that_need_gradients) {
  for (const bool first : {true, false}) {
    const Tensor a = c.randn({2}).requires_grad_(first), b = c.randn({2}).requires_grad_(!first);
    Ranges::apply(a, b).sum().backward();
    c.text(first ? "first" : "second", c10::str(Ranges::asked[0], Ranges::asked[1], Ranges::asked[2]));
  }
  const Tensor a = c.leaf({2}), b = c.leaf({2}), y = Ranges::apply(a, b).sum();
  for (const auto& [name, inputs] :
       {std::pair<const char*, std::vector<Tensor>>{"a", {a}}, {"b", {b}}, {"both", {a, b}}}) {
    torch::autograd::grad({y}, inputs, {}, /*retain_graph=*/true);
    c.text(std::string("asked for ") + name, c10::str(Ranges::asked[0], Ranges::asked[1], Ranges::asked[2]));
  }
}
