// The last pass of a batch norm waits for an addition and a relu: what programs see is what they would see if it did
// not.
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>

#include "software_cuda/program/beside_cpu.h"
#include "software_cuda/program/control.h"

namespace {

/// A convolution and a batch norm, and tensors for them. A part that is `apart` is copied, which ends all waiting.
struct Layers {
  torch::Dtype dtype;
  bool apart;
  nn::Conv2d conv{nn::Conv2dOptions(3, 5, 3).padding(1).bias(false)}, other{nn::Conv2dOptions(3, 5, 1)};
  nn::BatchNorm2d norm{5}, norm2{5};
  Tensor x;
  explicit Layers(bool a, torch::Dtype d = torch::kFloat) : dtype(d), apart(a) {
    torch::manual_seed(4);
    nn::Sequential all(conv, other, norm, norm2);
    for (Tensor& p : all->parameters())
      p.data().copy_(values(p.sizes(), torch::kFloat, static_cast<double>(p.numel())));
    all->to(kGpu);
    if (dtype != torch::kFloat) all->to(dtype);  // which makes a floating number of the count of batches
    x = values({2, 3, 6, 7}).to(kGpu, dtype).requires_grad_();
  }
  Tensor now(const Tensor& t) const { return apart ? t.clone() : t; }
  Tensor normed() { return now(norm(conv(x))); }
};

using Form = std::function<Tensor(Layers&)>;

/// Values, gradients and running statistics.
std::vector<Tensor> all_of(const Form& form, bool apart, torch::Dtype dtype) {
  Layers l(apart, dtype);
  const Tensor y = form(l);
  std::vector<Tensor> seen{y.detach().cpu()};
  if (y.requires_grad()) {
    y.mul(values(y.sizes()).to(kGpu, y.scalar_type())).sum().backward();
    for (const Tensor& t : {l.x, l.conv->weight, l.other->weight, l.norm->weight, l.norm->bias, l.norm2->weight})
      if (t.grad().defined()) seen.push_back(t.grad().cpu());
  }
  seen.push_back(l.norm->running_mean.cpu());
  seen.push_back(l.norm->running_var.cpu());
  return seen;
}
void expect_as_apart(const char* name, const Form& form, torch::Dtype dtype = torch::kFloat) {
  const DeterministicConvolutions deterministic;
  const auto together = all_of(form, false, dtype), apart = all_of(form, true, dtype);
  ASSERT_EQ(together.size(), apart.size()) << name;
  for (size_t i = 0; i < apart.size(); ++i)
    EXPECT_TRUE(together[i].equal(apart[i])) << name << " of " << dtype << ", value " << i << "\n"
                                             << together[i] << "\n"
                                             << apart[i];
}

const Form kRelu = [](Layers& l) { return torch::relu(l.normed()); };
const Form kAdd = [](Layers& l) { return torch::relu(l.normed() + l.other(l.x)); };
const Form kAddTwo = [](Layers& l) {
  const Tensor y = l.normed();
  return torch::relu(y + l.now(l.norm2(l.other(l.x))));
};

TEST(LatePass, SameBitsInEveryForm) {
  for (const auto dtype : kFloats) {
    expect_as_apart("relu", kRelu, dtype);
    expect_as_apart("add", kAdd, dtype);
    expect_as_apart("add of two", kAddTwo, dtype);
  }
  const std::pair<const char*, Form> forms[] = {
      {"relu_", [](Layers& l) { return l.normed().relu_(); }},
      {"add_ and relu_", [](Layers& l) { return l.normed().add_(l.other(l.x)).relu_(); }},
      {"+= ",
       [](Layers& l) {
         Tensor y = l.normed();
         y += l.other(l.x);
         return torch::relu(y);
       }},
      {"other way round", [](Layers& l) { return torch::relu(l.other(l.x) + l.normed()); }},
      {"add alone", [](Layers& l) { return l.normed() + l.other(l.x); }},
      {"scaled add", [](Layers& l) { return torch::relu(torch::add(l.normed(), l.other(l.x), 2)); }},
      {"read twice",
       [](Layers& l) {
         const Tensor y = l.normed();
         return torch::relu(y) + y;
       }},
      {"itself twice",
       [](Layers& l) {
         const Tensor y = l.normed();
         return torch::relu(y + y);
       }},
      {"another function", [](Layers& l) { return torch::gelu(l.normed()); }},
      {"norm of norm", [](Layers& l) { return torch::relu(l.norm2(l.normed())); }},
      {"convolution",
       [](Layers& l) {
         return torch::conv2d(l.normed(), torch::ones({2, 5, 3, 3}, kGpu));
       }},
      {"broadcast",
       [](Layers& l) {
         return torch::relu(l.normed() + torch::ones({1, 5, 1, 1}, kGpu));
       }},
      {"view", [](Layers& l) { return torch::relu(l.normed().flatten(1)); }},
      {"channels last",
       [](Layers& l) { return torch::relu(l.now(l.norm(l.conv(l.x.contiguous(torch::MemoryFormat::ChannelsLast))))); }},
      {"two gradients",
       [](Layers& l) {
         const Tensor y = torch::relu(l.normed());
         return l.now(y) + l.norm2(y);
       }},
      {"in evaluation",
       [](Layers& l) {
         l.norm->eval();
         return torch::relu(l.normed());
       }},
      {"without gradients",
       [](Layers& l) {
         torch::NoGradGuard guard;
         return l.normed().relu_();
       }},
  };
  for (const auto& [name, form] : forms) expect_as_apart(name, form);
}

// What waits reads values that were there when it was asked for.
TEST(LatePass, InputsMayChangeAfterwards) {
  expect_as_apart("input", [](Layers& l) {
    torch::NoGradGuard guard;
    Tensor x = l.conv(l.x);
    const Tensor y = l.now(l.norm(x));
    x.add_(1);
    return torch::relu(y);
  });
  expect_as_apart("other term", [](Layers& l) {
    torch::NoGradGuard guard;
    Tensor other = l.other(l.x);
    const Tensor y = l.now(l.normed() + other);
    other.zero_();
    return torch::relu(y);
  });
  expect_as_apart("parameters", [](Layers& l) {
    torch::NoGradGuard guard;
    const Tensor y = l.normed();
    l.norm->weight.zero_();
    return torch::relu(y);
  });
}

TEST(LatePass, OtherStreamsWaitForIt) {
  Layers l(false);
  torch::NoGradGuard guard;
  const Tensor expected = torch::relu(Layers(true).normed()).cpu();
  const Tensor y = l.normed();
  at::cuda::CUDAEvent event;
  event.record(c10::cuda::getCurrentCUDAStream());
  const c10::cuda::CUDAStreamGuard side(c10::cuda::getStreamFromPool());
  event.block(c10::cuda::getCurrentCUDAStream());
  EXPECT_TRUE(torch::relu(y).cpu().equal(expected));
}

uint64_t launches_of(const std::function<void()>& f) {
  f();
  torch::cuda::synchronize();
  control().reset_counts();
  f();
  torch::cuda::synchronize();
  return control().counts().launches;
}

TEST(LatePass, Launches) {
  NEEDS_COUNTS();
  Layers l(false);
  const Tensor x = l.conv(l.x), z = l.other(l.x);
  EXPECT_EQ(launches_of([&] { torch::relu(l.norm(x)); }), 2u);
  EXPECT_EQ(launches_of([&] { torch::relu(l.norm(x) + z); }), 2u);
  EXPECT_EQ(launches_of([&] { l.norm(x).relu_(); }), 3u);  // in place: a launch for each
  EXPECT_EQ(launches_of([&] { l.norm(x); }), 1u);          // nobody reads the result
}

// The gradient through a relu and a batch norm is that of the composed functions, of second order too.
TEST(LatePass, SecondGradients) {
  const auto second = [](bool apart) {
    Layers l(apart, torch::kDouble);
    const Tensor y = torch::tanh(torch::relu(l.normed())).sum();
    const Tensor g = torch::autograd::grad({y}, {l.x}, {}, true, true)[0];
    return torch::autograd::grad({g.square().sum()}, {l.x})[0].cpu();
  };
  EXPECT_TRUE(torch::allclose(second(false), second(true), 1e-10, 1e-12));
}

}  // namespace
