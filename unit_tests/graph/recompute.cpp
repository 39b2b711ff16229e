// Steps under a budget of memory: batch norms, whose calls update the running statistics, are made again in part, other
// normalisations as a whole.
#include "graph/steps.h"

using namespace steps;

namespace {

struct Variant {
  const char* name;
  bool running, training, channels_last;
  torch::Dtype dtype;
  bool groups = false;  // group norms in place of batch norms
};
const Variant kVariants[] = {{"training", true, true, false, torch::kFloat},
                             {"channels-last", true, true, true, torch::kFloat},
                             {"no running statistics", false, true, false, torch::kFloat},
                             {"evaluation", true, false, false, torch::kFloat},
                             {"double", true, true, false, torch::kDouble},
                             {"bfloat16", true, true, false, torch::kBFloat16}};

struct Outcome {
  std::vector<Tensor> state;
  size_t step_bytes = 0;    // that the last step took beyond what was there
  size_t arena_bytes = 0;   // the part of it that holds values of the graph; the rest is memory that kernels work in
  int64_t batch_norms = 0;  // calls in the graph
};

nn::Sequential make(const Variant& v) {
  nn::Sequential net;
  for (int layer = 0; layer < 4; ++layer) {
    net->push_back(nn::Conv2d(nn::Conv2dOptions(layer ? 16 : 3, 16, 3).padding(1).bias(false)));
    if (v.groups)
      net->push_back(nn::GroupNorm(4, 16));
    else
      net->push_back(nn::BatchNorm2d(nn::BatchNorm2dOptions(16).track_running_stats(v.running)));
    net->push_back(nn::ReLU());
  }
  net->to(v.dtype);
  net->train(v.training);
  return net;
}

/// A step that makes the squares of a net's values smaller.
auto step_of(nn::Sequential& net, torch::optim::SGD& optimizer) {
  return [&net, &optimizer](Tensor x) {
    optimizer.zero_grad();
    Tensor loss = net->forward(x).square().mean();
    loss.backward();
    optimizer.step();
    return loss.detach();
  };
}

/// Eager, or captured with a budget of `most` bytes (0: none).
Outcome train(const Variant& v, bool captured, size_t most = 0) {
  torch::manual_seed(5);
  nn::Sequential net = make(v);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
  const auto step = step_of(net, optimizer);
  hb::graph::CompileOptions options;
  options.max_memory = most, options.compare_every = 0;
  auto compiled = hb::graph::compile(step, options);
  Outcome o;
  constexpr int kSteps = 8;
  for (int i = 0; i < kSteps; ++i) {
    Tensor x = torch::randn({8, 3, 24, 24}).to(v.dtype);
    if (v.channels_last) x = x.contiguous(torch::MemoryFormat::ChannelsLast);
    hb::reset_peak_memory();
    o.state.push_back(captured ? compiled(x) : step(x));
    o.arena_bytes = compiled.arena_bytes();
    o.step_bytes = hb::peak_memory() - hb::memory_in_use() + o.arena_bytes;
  }
  EXPECT_EQ(compiled.counts().replayed, captured ? kSteps - 3 : 0) << compiled.counts().reason;
  const std::string calls = compiled.print();
  for (size_t at = 0; (at = calls.find(" batch_norm ", at)) != std::string::npos; ++at) ++o.batch_norms;
  for (const Tensor& t : state_of(*net)) o.state.push_back(t);
  return o;
}

}  // namespace

TEST(GraphRecompute, BatchNormsAreMadeAgainWithoutASecondUpdate) {
  for (const Variant& v : kVariants) {
    SCOPED_TRACE(v.name);
    const Outcome eager = train(v, false), all = train(v, true);
    EXPECT_TRUE(same_state(eager.state, all.state)) << "without a budget";
    EXPECT_EQ(all.batch_norms, 4);
    // Half of what the step takes; less than any order of calls can do with.
    for (const size_t most : {all.arena_bytes / 2, size_t{1}}) {
      const Outcome little = train(v, true, most);
      EXPECT_TRUE(same_state(eager.state, little.state)) << most;
      EXPECT_LT(little.arena_bytes, all.arena_bytes * 11 / 20) << most;
      // Where the CPU has no products of bfloat16, convolutions work in float copies as large as all that.
      if (v.dtype != torch::kBFloat16) {
        EXPECT_LT(little.step_bytes, eager.step_bytes / 2) << most;
      }
      EXPECT_GT(little.batch_norms, all.batch_norms) << most;
    }
  }
}

TEST(GraphRecompute, GroupNormsAreMadeAgain) {
  const Variant v{"group norm", false, true, false, torch::kFloat, true};
  const Outcome eager = train(v, false), all = train(v, true), little = train(v, true, all.step_bytes / 2);
  EXPECT_TRUE(same_state(eager.state, all.state)) << "without a budget";
  EXPECT_TRUE(same_state(eager.state, little.state)) << "with a budget";
  EXPECT_LT(little.step_bytes, all.step_bytes * 11 / 20);
}

namespace {

/// Three convolutions with values of 2 MiB each; how large the block of temporary values is.
Outcome train_large(bool captured, int64_t channels, size_t most = 0) {
  torch::manual_seed(7);
  nn::Sequential net;
  for (int layer = 0; layer < 3; ++layer) {
    net->push_back(nn::Conv2d(nn::Conv2dOptions(channels, channels, 3).padding(1).bias(false)));
    net->push_back(nn::BatchNorm2d(channels));
    net->push_back(nn::ReLU());
  }
  torch::optim::SGD optimizer(net->parameters(), 0.05);
  const auto step = step_of(net, optimizer);
  hb::graph::CompileOptions options;
  options.max_memory = most;
  auto compiled = hb::graph::compile(step, options);
  Outcome o;
  for (int i = 0; i < 5; ++i) {
    const Tensor x = torch::randn({8, channels, 32, 2048 / channels});
    o.state.push_back(captured ? compiled(x) : step(x));
  }
  o.step_bytes = compiled.arena_bytes();
  for (const Tensor& t : state_of(*net)) o.state.push_back(t);
  return o;
}

}  // namespace

TEST(GraphRecompute, WhatCostsNextToNothingIsMadeAgainUnasked) {
  constexpr size_t kNoBound = SIZE_MAX;
  const Outcome eager = train_large(false, 256), all = train_large(true, 256, kNoBound), some = train_large(true, 256);
  EXPECT_TRUE(same_state(eager.state, all.state));
  EXPECT_TRUE(same_state(eager.state, some.state));
  EXPECT_LE(some.step_bytes + (2 << 20), all.step_bytes) << "a value at least";
  // Beside such small convolutions an activation costs much.
  EXPECT_EQ(train_large(true, 4).step_bytes, train_large(true, 4, kNoBound).step_bytes);
}
