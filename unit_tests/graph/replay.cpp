// A captured training step computes what the eager one computes, bit for bit.
#include "graph/steps.h"

using namespace steps;

namespace {

enum class Style { f32, bf16, fp16 };

struct Outcome {
  std::vector<Tensor> losses, state, scales;
  hb::graph::CompileCounts counts;
  size_t arena_bytes = 0;
};

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const std::string& name, const World& w) {
  const auto parameters = w.net->parameters();
  if (name == "sgd")
    return std::make_unique<torch::optim::SGD>(parameters, torch::optim::SGDOptions(0.05).momentum(0.9));
  if (name == "rmsprop") return std::make_unique<torch::optim::RMSprop>(parameters, torch::optim::RMSpropOptions(1e-3));
  return std::make_unique<torch::optim::AdamW>(parameters, torch::optim::AdamWOptions(1e-2));
}

/// `steps` training steps from one seed, with a learning rate that changes and, in fp16, an overflow at step 6.
Outcome train(World (*make)(), Style style, const std::string& optimizer_name, bool captured, int steps = 100,
              const hb::graph::CompileOptions& options = {}) {
  torch::manual_seed(7);
  const World w = make();
  auto optimizer = make_optimizer(optimizer_name, w);
  hb::amp::GradScaler scaler(hb::kCPU, hb::amp::GradScalerOptions().init_scale(1024).enabled(style == Style::fp16));
  const Tensor poison = torch::ones({});
  const auto step = [&](Tensor x, Tensor y) {
    optimizer->zero_grad();
    Tensor loss;
    {
      std::optional<torch::autocast> guard;
      if (style != Style::f32) guard.emplace(torch::kCPU, style == Style::bf16 ? torch::kBFloat16 : torch::kHalf);
      loss = w.loss(w.forward(x), y) * poison;
    }
    if (style == Style::fp16) {
      scaler.scale(loss).backward();
      scaler.step(*optimizer);
      scaler.update();
    } else {
      loss.backward();
      optimizer->step();
    }
    return loss;
  };
  auto compiled = hb::graph::compile(step, options);
  Outcome o;
  for (int i = 0; i < steps; ++i) {
    const auto [x, y] = w.batch();
    poison.fill_(i == 6 && style == Style::fp16 ? INFINITY : 1);
    for (auto& group : optimizer->param_groups()) group.options().set_lr(0.01 / (1 + i % 5));
    o.losses.push_back((captured ? compiled(x, y) : step(x, y)).detach());
    if (style == Style::fp16) o.scales.push_back(torch::tensor(scaler.get_scale()));
  }
  o.state = state_of(*w.net);
  o.counts = compiled.counts();
  o.arena_bytes = compiled.arena_bytes();
  return o;
}

struct Case {
  const char* name;
  World (*make)();
  const char* optimizer;
};
const Case kCases[] = {{"mlp", mlp, "sgd"},       {"mlp", mlp, "adamw"}, {"lenet", lenet, "adamw"},
                       {"resnet", resnet, "sgd"}, {"gpt", gpt, "adamw"}, {"lstm", lstm, "rmsprop"}};

void compare(Style style) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(std::string(c.name) + " " + c.optimizer);
    const Outcome eager = train(c.make, style, c.optimizer, false), graph = train(c.make, style, c.optimizer, true);
    EXPECT_EQ(graph.counts.replayed, 95) << graph.counts.reason;
    EXPECT_EQ(graph.counts.compared, 2) << graph.counts.reason;
    EXPECT_EQ(graph.counts.recorded, 1) << graph.counts.reason;
    EXPECT_TRUE(same_state(eager.losses, graph.losses)) << "losses";
    EXPECT_TRUE(same_state(eager.scales, graph.scales)) << "scales";
    EXPECT_TRUE(same_state(eager.state, graph.state));
  }
}

}  // namespace

TEST(GraphReplay, EqualsEagerInFloat) { compare(Style::f32); }
TEST(GraphReplay, EqualsEagerInBfloat16) { compare(Style::bf16); }
TEST(GraphReplay, EqualsEagerInHalfWithAnOverflow) { compare(Style::fp16); }

// Values that are made again in the backward part are the same ones.
TEST(GraphReplay, EqualsEagerInLittleMemory) {
  for (const Case& c : kCases) {
    for (const Style style : {Style::f32, Style::bf16, Style::fp16}) {
      SCOPED_TRACE(std::string(c.name) + " " + c.optimizer);
      constexpr int kSteps = 20;
      const Outcome eager = train(c.make, style, c.optimizer, false, kSteps);
      const size_t all = train(c.make, style, c.optimizer, true, 5).arena_bytes;
      for (const double part : {0.75, 0.0}) {
        hb::graph::CompileOptions options;
        options.max_memory = 1 + static_cast<size_t>(part * static_cast<double>(all));
        const Outcome graph = train(c.make, style, c.optimizer, true, kSteps, options);
        EXPECT_EQ(graph.counts.replayed, kSteps - 4) << graph.counts.reason;
        EXPECT_TRUE(same_state(eager.losses, graph.losses)) << "losses";
        EXPECT_TRUE(same_state(eager.scales, graph.scales)) << "scales";
        EXPECT_TRUE(same_state(eager.state, graph.state));
        EXPECT_LE(graph.arena_bytes, all + all / 32);  // small values may live longer
      }
    }
  }
}
