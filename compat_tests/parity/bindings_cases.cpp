// Calls as language bindings make them: every argument given, generators and out tensors included; and what programs
// write beside classes of LibTorch: names of templates, collations of their own.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <string>
#include <vector>

#include "parity/case.h"

using torch::Tensor;

PARITY_CASE(bindings, spread_and_mean) {
  const Tensor x = c.leaf({2, 3});
  for (const bool unbiased : {false, true}) {
    const std::string name = unbiased ? "unbiased " : "biased ";
    c.out(name + "std", std::get<0>(torch::std_mean(x, unbiased)));
    c.out(name + "var", std::get<0>(torch::var_mean(x, unbiased)));
    c.out(name + "mean", std::get<1>(torch::var_mean(x, unbiased)));
    c.gradients(name + "of rows", {x}, [&] { return std::get<0>(torch::std_mean(x, {1}, unbiased, true)); });
    c.out(name + "of columns", std::get<0>(torch::var_mean(x, torch::IntArrayRef({0}), unbiased)));
  }
  c.out("a dimension", std::get<0>(torch::std_mean(x, 1)));
}

PARITY_CASE(bindings, options_without_dtype) {
  const torch::TensorOptions options = torch::TensorOptions().device(torch::kCPU);
  torch::manual_seed(3);
  c.out("randperm", torch::randperm(5, options));
  c.out("tril_indices", torch::tril_indices(3, 4, 1, options));
  c.out("triu_indices", torch::triu_indices(3, 4, 0, torch::kCPU));
  c.out("none", torch::tril_indices(0, 4, 0, options));
  c.throws("gradient", [] { torch::randperm(5, torch::requires_grad()); });
}

PARITY_CASE(bindings, frequencies_with_gradients) {
  for (const int64_t n : {1, 4, 5}) {
    const Tensor f = torch::fft_fftfreq(n, 0.5, torch::requires_grad()),
                 r = torch::fft_rfftfreq(n, 0.25, torch::TensorOptions(torch::kDouble).requires_grad(true));
    c.out("fftfreq", f.detach());
    c.out("rfftfreq", r.detach());
    c.check(f.is_leaf() && f.requires_grad() && r.is_leaf() && r.requires_grad(), "leaves that want gradients");
  }
}

PARITY_CASE(bindings, vecdot) {
  const Tensor a = torch::complex(c.randn({2, 3}), c.randn({2, 3})),
               b = torch::complex(c.randn({2, 3}), c.randn({2, 3}));
  c.out("rows", torch::view_as_real(torch::linalg_vecdot(a, b)));
  c.out("columns", torch::view_as_real(torch::linalg_vecdot(a, b, 0)));
  const Tensor x = c.leaf({3}), y = c.leaf({3});
  c.gradients("gradient", {x, y},
              [&] { return torch::view_as_real(torch::linalg_vecdot(torch::complex(x, y), b[0])); });
}

PARITY_CASE(bindings, complex_lerp) {
  Tensor x = torch::complex(c.randn({2, 3}), c.randn({2, 3}));
  const Tensor end = torch::complex(c.randn({2, 3}), c.randn({2, 3}));
  c.out("number", torch::view_as_real(x.lerp_(end, torch::Scalar(0.3))));
}

PARITY_CASE(bindings, draws_of_a_generator) {
  at::Generator g = at::detail::createCPUGenerator(7);
  const Tensor x = torch::zeros({2, 3}), p = torch::full({2, 3}, 0.4);
  Tensor out = torch::empty({0}), whole = torch::empty({0}, torch::kLong);
  const std::vector<int64_t> size{2, 3};
  c.out("rand_out", at::rand_out(out, size, g));
  c.out("randn_out", at::randn_out(out, size, g));
  c.out("randint_out", at::randint_out(whole, 5, size, g));
  c.out("randint_out from", at::randint_out(whole, 2, 5, size, g));
  c.out("rand_like", at::rand_like(x, g));
  c.out("randn_like", at::randn_like(x, g, torch::kDouble, at::MemoryFormat::Contiguous));
  c.out("randint_like", at::randint_like(x, 5, g));
  c.out("randint_like from", at::randint_like(x, 2, 5, g));
  c.out("randint_like of a tensor", at::randint_like(x, torch::tensor(6, torch::kCPU), g, torch::kInt));
  c.out("bernoulli_out", at::bernoulli_out(out, x, p, g));
  c.out("normal_out", at::normal_out(out, x, 1.0, 2.0, g));
  Tensor noise = torch::zeros({2, 3});
  c.out("rrelu_with_noise_out", at::rrelu_with_noise_out(out, c.randn({2, 3}), noise, 0.1, 0.3, true, g));
  c.out("noise", noise);
  torch::manual_seed(5);
  c.out("default", at::randint_like(x, torch::tensor(6, torch::kCPU)));
}

PARITY_CASE(bindings, numbers_first) {
  const Tensor n = c.randint(1, 6, {2, 3}), x = c.rand({2, 3}, torch::kFloat, 0.5, 2);
  Tensor whole = torch::empty({0}, torch::kLong), out = torch::empty({0}), wide = torch::empty({0}, torch::kDouble);
  const torch::Scalar seven = 7, half = 2.5;
  c.out("and", at::bitwise_and_out(whole, seven, n));
  c.out("or", at::bitwise_or_out(whole, seven, n));
  c.out("xor", at::bitwise_xor_out(whole, seven, n));
  c.out("left", at::bitwise_left_shift_out(whole, seven, n));
  c.out("right", at::bitwise_right_shift_out(whole, seven, n));
  c.out("remainder", at::remainder_out(out, half, x));
  c.out("xlogy", at::xlogy_out(out, half, x));
  c.out("float_power", at::float_power_out(wide, half, x));
}

PARITY_CASE(bindings, out_forms) {
  const Tensor x = c.randn({2, 3}), y = c.randn({2, 3}), low = torch::full({3}, -0.5), high = torch::full({3}, 0.5);
  Tensor out = torch::empty({0}), whole = torch::empty({0}, torch::kLong);
  c.out("clip", at::clip_out(out, x, std::optional<Tensor>(low), std::optional<Tensor>(high)));
  c.out("divide", at::divide_out(out, x, y));
  c.out("divide rounded", at::divide_out(out, x, y, "floor"));
  c.out("subtract", at::subtract_out(out, x, y));
  c.out("subtract scaled", at::subtract_out(out, x, y, 2));
  c.out("norm", at::linalg_norm_out(out, x, "nuc"));
  c.out("norm kept", at::linalg_norm_out(out, x, std::string("fro"), torch::IntArrayRef({0, 1}), true, std::nullopt));
  c.out("repeats", at::repeat_interleave_out(whole, torch::tensor({2, 0, 1}), std::optional<int64_t>(3)));
  c.out("circular", at::_pad_circular(x, {1, 1}));
  c.out("circular, an odd number", at::_pad_circular(x, {1}));
  c.out("circular images", at::_pad_circular(x.view({1, 1, 2, 3}), {1, 0, 1, 1}));
}

PARITY_CASE(bindings, memory_of_the_program) {
  float values[2] = {1, 2};
  const Tensor x = torch::from_blob(values, {2}, torch::TensorOptions(torch::kFloat).pinned_memory(true));
  c.out("from_blob", x);
  c.check(!x.is_pinned(), "memory is not pinned by saying so");
  c.check(at::hasLAPACK(), "decompositions are there");
}

PARITY_CASE(bindings, names_of_dimensions) {
  c.text("names", c10::str(c.randn({2, 3}).names()));
  c.text("of a number", c10::str(c.randn({}).names().size()));
  c.check(!c.randn({2}).has_names() && c.randn({2}).names()[0].isWildcard(), "no names");
}

PARITY_CASE(bindings, error_backtrace) {
  try {
    TORCH_CHECK(false, "a reason");
  } catch (const c10::Error& e) {
    c.check(e.backtrace() != nullptr && !e.backtrace()->get().empty(), "some text");
  }
}

PARITY_CASE(bindings, node_inputs) {
  const Tensor y = c.leaf({2}) * 2;
  c.value("inputs", static_cast<int64_t>(std::max(y.grad_fn()->num_inputs(), uint32_t{1})));
}

namespace {
template <class A, class B = torch::nn::Identity>
struct PairImpl : torch::nn::Module {};
template <class A>
class Pair : public torch::nn::ModuleHolder<PairImpl<A>> {
 public:
  using torch::nn::ModuleHolder<PairImpl<A>>::ModuleHolder;
  using Impl TORCH_UNUSED_EXCEPT_CUDA = PairImpl<A>;
};
struct OwnImpl : torch::nn::Module {};
TORCH_MODULE(Own);

struct Triple {
  Tensor a, b;
  double weight;
};
class Triples : public torch::data::datasets::Dataset<Triples, Triple> {
 public:
  Triple get(size_t i) override { return {torch::full({2}, double(i)), torch::tensor(int64_t(i)), 0.5 * i}; }
  torch::optional<size_t> size() const override { return 5; }
};
}  // namespace

PARITY_CASE(bindings, names_of_templates) {
  c.text("holders", PairImpl<torch::nn::Tanh>().name());
  c.text("both", PairImpl<Own, torch::nn::BatchNorm2d>().name());
  c.text("nested", PairImpl<std::vector<torch::nn::Conv2d>>().name());
  c.text("a holder of one's own", PairImpl<Pair<torch::nn::Linear>>().name());
  c.text("implementations", PairImpl<torch::nn::LinearImpl, torch::nn::ModuleHolder<OwnImpl>>().name());
  c.text("tensors and devices", PairImpl<Tensor, c10::Device>().name());
  c.text("numbers", PairImpl<c10::Scalar, c10::BFloat16>().name());
  c.text("a holder", c10::demangle(typeid(torch::nn::Linear).name()));
}

// A program's own way to join its examples, where LibTorch declares Stack.
namespace torch::data::transforms {
template <>
struct Stack<Triple> : public Collation<Triple> {
  Triple apply_batch(std::vector<Triple> examples) override {
    std::vector<Tensor> a, b;
    double weight = 0;
    for (auto& e : examples) a.push_back(e.a), b.push_back(e.b), weight += e.weight;
    return {torch::stack(a), torch::stack(b), weight};
  }
};
}  // namespace torch::data::transforms

PARITY_CASE(bindings, own_collation) {
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Triples().map(torch::data::transforms::Stack<Triple>()), torch::data::DataLoaderOptions().batch_size(2));
  int i = 0;
  for (auto& batch : *loader) {
    const std::string name = std::to_string(i++);
    c.out(name + " a", batch.a);
    c.out(name + " b", batch.b);
    c.value(name + " weight", batch.weight);
  }
}
