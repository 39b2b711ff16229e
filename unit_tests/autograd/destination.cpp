// Gradients that are made in memory which somebody has ready for them (AccumulateGrad::set_destination).
#include <gtest/gtest.h>
#include <halfbridge/accumulate_grad.h>
#include <halfbridge/engine.h>

#include <functional>

namespace {

using hb::Tensor;
using hb::autodiff::AccumulateGrad;

/// A weight, memory for its gradient, and a function of it whose formula can write there.
struct Case {
  Tensor weight, memory;
  std::function<Tensor()> loss;
  std::shared_ptr<AccumulateGrad> node;

  explicit Case(bool convolution) {
    hb::manual_seed(3);
    weight = convolution ? hb::randn({64, 64, 3, 3}) : hb::randn({64, 96});
    const Tensor x = convolution ? hb::randn({2, 64, 5, 5}) : hb::randn({2, 96});
    weight.requires_grad_();
    loss = [this, x, convolution] {
      return (convolution ? hb::conv2d(x, weight) : hb::linear(x, weight)).pow(2).sum();
    };
    node = std::dynamic_pointer_cast<AccumulateGrad>(hb::gradient_edge(weight).function);
    memory = hb::full(weight.sizes(), 99.0, hb::kFloat);
    offer();
  }
  /// The node has a tensor of its own for the memory.
  void offer() { node->set_destination(memory.view(memory.sizes())); }
  bool filled() const { return weight.grad().data_ptr() == memory.data_ptr(); }
  Tensor expected() {
    node->set_destination({});
    const Tensor g = hb::autodiff::grad({loss()}, {weight})[0];
    offer();
    return g;
  }
};

class Destination : public testing::TestWithParam<bool> {
 protected:
  Case c{GetParam()};
};

TEST_P(Destination, TheFirstGradientIsMadeThere) {
  const Tensor want = c.expected();
  for (int step = 0; step < 2; ++step) {
    c.loss().backward();
    EXPECT_TRUE(c.filled());
    EXPECT_TRUE(c.weight.grad().equal(want));
    c.weight.mutable_grad() = Tensor();
  }
  c.loss().backward();
  c.loss().backward();
  EXPECT_TRUE(c.filled());
  EXPECT_TRUE(c.weight.grad().equal(want + want));
}

TEST_P(Destination, TheFormulaWritesThereItself) {
  const auto peak_of_a_pass = [&] {
    c.weight.mutable_grad() = Tensor();
    const Tensor loss = c.loss();
    hb::reset_peak_memory();
    const size_t before = hb::memory_in_use();
    loss.backward();
    return hb::peak_memory() - before;
  };
  const size_t with = peak_of_a_pass();
  c.node->set_destination({});
  EXPECT_GE(peak_of_a_pass(), with + c.weight.numel() * sizeof(float));
}

TEST_P(Destination, SumsOfTwoUsesAreRight) {
  const Tensor want = c.expected();
  (c.loss() + c.loss()).backward();
  EXPECT_TRUE(c.filled());
  EXPECT_TRUE(c.weight.grad().allclose(want * 2));
}

TEST_P(Destination, WhatACallerOrAHookGetsStaysAsItIs) {
  const Tensor returned = hb::autodiff::grad({c.loss()}, {c.weight})[0];
  EXPECT_NE(returned.data_ptr(), c.memory.data_ptr());
  Tensor seen;
  c.weight.register_hook([&](const Tensor& g) {
    seen = g;
    return Tensor();
  });
  c.loss().backward();
  EXPECT_TRUE(c.filled());
  EXPECT_NE(seen.data_ptr(), c.memory.data_ptr());
  EXPECT_TRUE(seen.equal(c.weight.grad()));
}

TEST_P(Destination, MemoryThatSomebodyHoldsIsNotWritten) {
  c.loss().backward();
  const Tensor held = c.weight.grad(), copy = held.clone();
  c.weight.mutable_grad() = Tensor();
  (c.loss() * 2).backward();
  EXPECT_FALSE(c.filled());
  EXPECT_TRUE(held.equal(copy));
  EXPECT_TRUE(c.weight.grad().allclose(copy * 2));
}

TEST_P(Destination, GradientsOfGradientsHaveMemoryOfTheirOwn) {
  const Tensor want = c.expected();
  c.loss().backward({}, true, true);
  EXPECT_FALSE(c.filled());
  EXPECT_TRUE(c.weight.grad().allclose(want));
  c.weight.mutable_grad() = Tensor();
}

INSTANTIATE_TEST_SUITE_P(Formulas, Destination, testing::Values(false, true),
                         [](const auto& info) { return info.param ? "Convolution" : "Linear"; });

TEST(DestinationOfALeaf, OtherGradientsAreCopiedThere) {
  const Tensor x = hb::full({4}, 3.0, hb::kFloat).requires_grad_(), memory = hb::zeros({4});
  const auto node = std::dynamic_pointer_cast<AccumulateGrad>(hb::gradient_edge(x).function);
  node->set_destination(memory.view({4}));
  (x * x).sum().backward();
  EXPECT_EQ(x.grad().data_ptr(), memory.data_ptr());
  EXPECT_EQ(memory[2].item<float>(), 6.0f);
}

TEST(DestinationOfALeaf, AnotherShapeIsAnError) {
  const Tensor x = hb::zeros({4}).requires_grad_();
  const auto node = std::dynamic_pointer_cast<AccumulateGrad>(hb::gradient_edge(x).function);
  EXPECT_THROW(node->set_destination(hb::zeros({2, 2})), hb::Error);
  EXPECT_THROW(node->set_destination(hb::zeros({4}, hb::kDouble)), hb::Error);
}

}  // namespace
