// A linear layer's product waits for a relu or gelu, and the product for its input's gradient for theirs: what programs
// see is what they would see if it did not.
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>

#include "software_cuda/program/beside_cpu.h"
#include "software_cuda/program/control.h"

namespace {

/// Two linear layers, and an input for them. A part that is `apart` is copied, which ends all waiting.
struct Layers {
  torch::Dtype dtype;
  bool apart;
  nn::Linear first{12, 16}, second{16, 5};
  Tensor x;
  explicit Layers(bool a, torch::Dtype d = torch::kFloat) : dtype(d), apart(a) {
    for (Tensor& p : nn::Sequential(first, second)->parameters())
      p.data().copy_(values(p.sizes(), torch::kFloat, static_cast<double>(p.numel())));
    first->to(kGpu, dtype), second->to(kGpu, dtype);
    // Places of products are told apart by their weights' memory: none of it is used anew here.
    static auto* const kept = new std::vector<Tensor>;
    kept->insert(kept->end(), {first->weight, second->weight});
    x = values({3, 4, 12}).to(kGpu, dtype).requires_grad_();
  }
  Tensor now(Tensor t) const {
    if (!apart) return t;
    if (t.requires_grad()) t.register_hook([](Tensor g) { return g.clone(); });
    return t.clone();
  }
  Tensor hidden() { return now(first(x)); }
};
using Form = std::function<Tensor(Layers&)>;

std::vector<Tensor> all_of(const Form& form, bool apart, torch::Dtype dtype) {
  Layers l(apart, dtype);
  const Tensor y = form(l);
  std::vector<Tensor> seen{y.detach().cpu()};
  if (y.requires_grad()) {
    y.mul(values(y.sizes()).to(kGpu, y.scalar_type())).sum().backward();
    for (const Tensor& t : {l.x, l.first->weight, l.first->bias, l.second->weight, l.second->bias})
      if (t.grad().defined()) seen.push_back(t.grad().cpu());
  }
  return seen;
}
/// Bit for bit on the software device; with a gelu, and on a GPU, where cuBLASLt may take another algorithm, nearly.
void expect_as_apart(const std::string& name, const Form& form, torch::Dtype dtype = torch::kFloat) {
  // cuBLASLt has a faster tanh than the gelu's own kernel.
  const double exact = counted() ? 1e-6 : 1e-4;
  const double step = dtype == torch::kHalf ? 1e-3 : dtype == torch::kBFloat16 ? 8e-3 : exact;
  const bool nearly = !counted() || name.find("gelu") != std::string::npos;
  const auto together = all_of(form, false, dtype), apart = all_of(form, true, dtype);
  ASSERT_EQ(together.size(), apart.size()) << name;
  for (size_t i = 0; i < apart.size(); ++i) {
    const double largest = counted() ? 1 : apart[i].abs().max().item<double>();
    EXPECT_TRUE(nearly ? torch::allclose(together[i], apart[i], step, step * largest) : together[i].equal(apart[i]))
        << name << " of " << dtype << ", value " << i << "\n"
        << together[i] << "\n"
        << apart[i];
  }
}

const Form kRelu = [](Layers& l) { return l.now(l.second(l.now(torch::relu(l.hidden())))); };
const Form kGelu = [](Layers& l) { return l.now(l.second(l.now(torch::gelu(l.hidden(), "tanh")))); };

TEST(LateProduct, SameValuesInEveryForm) {
  for (const auto dtype : kFloats) {
    expect_as_apart("relu", kRelu, dtype);
    expect_as_apart("gelu", kGelu, dtype);
  }
  const std::pair<const char*, Form> forms[] = {
      {"gelu by erf", [](Layers& l) { return l.second(torch::gelu(l.hidden())); }},
      {"gelu of 5 columns", [](Layers& l) { return torch::gelu(l.now(l.second(torch::tanh(l.hidden()))), "tanh"); }},
      {"relu_", [](Layers& l) { return l.second(l.hidden().relu_()); }},
      {"view",
       [](Layers& l) {
         return torch::relu(l.hidden().view({-1, 8}));
       }},
      {"without a bias", [](Layers& l) { return torch::relu(l.now(torch::matmul(l.x, l.first->weight.t()))); }},
      {"one image", [](Layers& l) { return torch::relu(l.now(l.first(l.x[0][0]))); }},
      {"another function", [](Layers& l) { return torch::sigmoid(l.hidden()); }},
      {"linear of linear", [](Layers& l) { return l.second(l.hidden()); }},
      {"norm", [](Layers& l) { return torch::relu(torch::layer_norm(l.hidden(), {16})); }},
      {"batch norm",
       [](Layers& l) { return torch::batch_norm(l.hidden().flatten(0, 1), {}, {}, {}, {}, true, 0.1, 1e-5, true); }},
      {"batch norm of 3 dimensions",
       [](Layers& l) { return torch::batch_norm(l.hidden(), {}, {}, {}, {}, true, 0.1, 1e-5, true); }},
      {"broadcast", [](Layers& l) { return l.hidden() + torch::ones({16}, kGpu); }},
      {"dropout of nothing", [](Layers& l) { return torch::dropout(l.hidden(), 0, true); }},
      {"cat",
       [](Layers& l) {
         return torch::cat({l.hidden(), l.hidden()}, 1);
       }},
      {"read twice",
       [](Layers& l) {
         const Tensor h = l.hidden();
         return torch::relu(h) + h;
       }},
      {"gelu, read twice",
       [](Layers& l) {
         const Tensor h = l.hidden();
         return torch::gelu(h, "tanh") + h;
       }},
      {"two relus",
       [](Layers& l) {
         const Tensor h = l.hidden();
         return l.second(torch::relu(h)) + l.second(torch::relu(h));
       }},
      {"in place",
       [](Layers& l) {
         torch::NoGradGuard guard;
         Tensor h = l.hidden();
         h += 1;
         return torch::relu(h);
       }},
      {"without gradients",
       [](Layers& l) {
         torch::NoGradGuard guard;
         return l.second(torch::relu(l.hidden()));
       }},
      {"gradient of a hidden value",
       [](Layers& l) {
         const Tensor h = torch::relu(l.hidden()), y = l.second(h).sum();
         return torch::autograd::grad({y}, {h})[0];
       }},
      {"hooks",
       [](Layers& l) {
         const Tensor h = torch::relu(l.hidden());
         h.register_hook([](Tensor g) { return g * 2; });
         return l.second(h);
       }},
  };
  for (const auto& [name, form] : forms) expect_as_apart(name, form);
}

// What waits reads values that were there when it was asked for.
TEST(LateProduct, InputsMayChangeAfterwards) {
  const auto change = [](Tensor& (*changed)(Layers&)) {
    return [changed](Layers& l) {
      torch::NoGradGuard guard;
      const Tensor h = l.hidden();
      changed(l).zero_();
      return torch::relu(h);
    };
  };
  expect_as_apart("input", change([](Layers& l) -> Tensor& { return l.x; }));
  expect_as_apart("weight", change([](Layers& l) -> Tensor& { return l.first->weight; }));
  expect_as_apart("bias", change([](Layers& l) -> Tensor& { return l.first->bias; }));
  expect_as_apart("other memory", [](Layers& l) {
    torch::NoGradGuard guard;
    const Tensor h = l.hidden();
    l.first->weight.set_data(torch::zeros({16, 12}, kGpu));
    return torch::relu(h);
  });
}

TEST(LateProduct, OtherStreamsWaitForIt) {
  Layers l(false);
  torch::NoGradGuard guard;
  const Tensor expected = torch::relu(Layers(true).hidden()).cpu();
  const Tensor h = l.hidden();
  at::cuda::CUDAEvent event;
  event.record(c10::cuda::getCurrentCUDAStream());
  const c10::cuda::CUDAStreamGuard side(c10::cuda::getStreamFromPool());
  event.block(c10::cuda::getCurrentCUDAStream());
  EXPECT_TRUE(torch::relu(h).cpu().equal(expected));
}

/// Launches and calls of libraries.
std::pair<uint64_t, uint64_t> asked_by(const std::function<void()>& f) {
  torch::cuda::synchronize();
  control().reset_counts();
  f();
  torch::cuda::synchronize();
  return {control().counts().launches, control().counts().library_calls};
}
using Asked = std::pair<uint64_t, uint64_t>;

TEST(LateProduct, Calls) {
  NEEDS_COUNTS();
  Layers l(false);
  EXPECT_EQ(asked_by([&] { torch::relu(l.hidden()); }), Asked(0, 1));
  EXPECT_EQ(asked_by([&] { torch::gelu(l.hidden(), "tanh"); }), Asked(0, 1));
  EXPECT_EQ(asked_by([&] { torch::gelu(l.hidden()); }), Asked(1, 1));
  EXPECT_EQ(asked_by([&] { l.hidden(); }), Asked(0, 0));  // nobody reads the result
  EXPECT_EQ(asked_by([&] { l.hidden().data_ptr(); }), Asked(0, 1));
  EXPECT_EQ(asked_by([&] {
              const Tensor h = l.hidden();
              torch::gelu(h, "tanh");
              h.sigmoid();
            }),
            Asked(1, 1));  // both are written
}

// A program that keeps what goes into a relu pays twice for its first product alone.
TEST(LateProduct, KeptValuesAreComputedOnce) {
  NEEDS_COUNTS();
  Layers l(false);
  const auto step = [&] {
    const Tensor h = l.hidden(), y = torch::relu(h);
    l.second(y).sigmoid();
  };
  EXPECT_EQ(asked_by(step), Asked(1, 3));
  EXPECT_EQ(asked_by(step), Asked(2, 2));
}

TEST(LateProduct, CallsOfABackwardPass) {
  NEEDS_COUNTS();
  for (const bool gelu : {false, true}) {
    Layers l(false);
    const Tensor y = (gelu ? kGelu : kRelu)(l), g = torch::ones_like(y);
    // Each layer: the gradients of weight and bias, and that of its input, the second with the activation's.
    EXPECT_EQ(asked_by([&] { y.backward(g); }), Asked(0, 4)) << gelu;
  }
}

// The gradient through linear layers and activations is that of the composed functions, of second order too.
TEST(LateProduct, SecondGradients) {
  const auto second = [](bool apart, bool gelu) {
    Layers l(apart);
    const Tensor y = torch::tanh((gelu ? kGelu : kRelu)(l)).sum();
    const Tensor g = torch::autograd::grad({y}, {l.x}, {}, true, true)[0];
    return torch::autograd::grad({g.square().sum()}, {l.x})[0].cpu();
  };
  for (const bool gelu : {false, true})
    EXPECT_TRUE(
        torch::allclose(second(false, gelu), second(true, gelu), counted() ? 1e-5 : 1e-3, counted() ? 1e-6 : 1e-3))
        << gelu;
}

TEST(LateProduct, NotANumberPasses) {
  Layers l(false);
  l.x.data().fill_(std::nan(""));
  EXPECT_TRUE(torch::relu(l.hidden()).isnan().all().item<bool>());
}

}  // namespace
