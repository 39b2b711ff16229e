// Archives of optimizers in the layout of LibTorch before 1.5: the test writes them, the optimizers read them.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <sstream>

namespace optim = torch::optim;
using torch::Tensor;
using Tensors = std::vector<Tensor>;

namespace {

void write_list(torch::serialize::OutputArchive& archive, const std::string& key, const Tensors& list) {
  archive.write(key + "/size", torch::tensor(static_cast<int64_t>(list.size())));
  for (size_t i = 0; i < list.size(); ++i) archive.write(key + "/" + std::to_string(i), list[i], /*is_buffer=*/true);
}

struct Messages : c10::WarningHandler {
  void process(const c10::Warning& warning) override { text += warning.msg(); }
  std::string text;
};

// Reads what `write` wrote; the warning must name the optimizer.
template <class Optimizer>
void reload(Optimizer& optimizer, const std::string& name,
            const std::function<void(torch::serialize::OutputArchive&)>& write) {
  torch::serialize::OutputArchive archive;
  write(archive);
  std::stringstream stream;
  archive.save_to(stream);
  Messages messages;
  c10::WarningUtils::WarningHandlerGuard guard(&messages);
  torch::load(optimizer, stream);
  EXPECT_NE(messages.text.find("Your serialized " + name + " optimizer is still using the old serialization format"),
            std::string::npos)
      << messages.text;
}

Tensors parameters() { return {torch::ones({2, 3}, torch::requires_grad()), torch::ones({4}, torch::requires_grad())}; }
Tensors buffers(int seed) {
  torch::manual_seed(seed);
  return {torch::rand({2, 3}), torch::rand({4})};
}
Tensors counts() { return {torch::tensor(int64_t(3)), torch::tensor(int64_t(5))}; }

template <class State>
const State& state_of(optim::Optimizer& optimizer, size_t i) {
  return static_cast<const State&>(*optimizer.state().at(optimizer.parameters()[i].unsafeGetTensorImpl()));
}

}  // namespace

TEST(OptimLegacy, Sgd) {
  const auto momentum = buffers(1);
  optim::SGD sgd(parameters(), optim::SGDOptions(0.1).momentum(0.9));
  reload(sgd, "SGD", [&](auto& a) { write_list(a, "momentum_buffers", momentum); });
  for (size_t i = 0; i < 2; ++i)
    EXPECT_TRUE(torch::equal(state_of<optim::SGDParamState>(sgd, i).momentum_buffer(), momentum[i]));
  // The next step goes on from there: momentum 0.9 of the buffer, and the gradient.
  for (auto& p : sgd.parameters()) p.mutable_grad() = torch::zeros_like(p);
  sgd.step();
  EXPECT_TRUE(torch::allclose(sgd.parameters()[1], 1 - 0.1 * 0.9 * momentum[1]));
}

TEST(OptimLegacy, AdamAndAdamW) {
  const auto mean = buffers(1), square = buffers(2), largest = buffers(3);
  const auto write = [&](auto& a) {
    write_list(a, "step_buffers", counts());
    write_list(a, "exp_average_buffers", mean);
    write_list(a, "exp_average_sq_buffers", square);
    write_list(a, "max_exp_average_sq_buffers", largest);
  };
  const auto check = [&](optim::Optimizer& optimizer) {
    for (size_t i = 0; i < 2; ++i) {
      const auto& s = state_of<optim::AdamParamState>(optimizer, i);
      EXPECT_EQ(int64_t(s.step()), i ? 5 : 3);
      EXPECT_TRUE(torch::equal(s.exp_avg(), mean[i]));
      EXPECT_TRUE(torch::equal(s.exp_avg_sq(), square[i]));
      EXPECT_TRUE(torch::equal(s.max_exp_avg_sq(), largest[i]));
    }
  };
  optim::Adam adam(parameters(), optim::AdamOptions(0.1).amsgrad(true));
  reload(adam, "Adam", write);
  check(adam);
  optim::AdamW adamw(parameters(), optim::AdamWOptions(0.1).amsgrad(true));
  reload(adamw, "AdamW", write);
}

TEST(OptimLegacy, AdagradAndRmsprop) {
  const auto sum = buffers(1), momentum = buffers(2);
  optim::Adagrad adagrad(parameters(), 0.1);
  reload(adagrad, "Adagrad", [&](auto& a) {
    write_list(a, "sum_buffers", sum);
    write_list(a, "step_buffers", counts());
  });
  EXPECT_TRUE(torch::equal(state_of<optim::AdagradParamState>(adagrad, 1).sum(), sum[1]));
  EXPECT_EQ(int64_t(state_of<optim::AdagradParamState>(adagrad, 1).step()), 5);
  optim::RMSprop rmsprop(parameters(), 0.1);
  reload(rmsprop, "RMSprop", [&](auto& a) {
    write_list(a, "square_average_buffers", sum);
    write_list(a, "momentum_buffers", momentum);
    write_list(a, "grad_average_buffers", {});
  });
  EXPECT_TRUE(torch::equal(state_of<optim::RMSpropParamState>(rmsprop, 0).square_avg(), sum[0]));
  EXPECT_TRUE(torch::equal(state_of<optim::RMSpropParamState>(rmsprop, 0).momentum_buffer(), momentum[0]));
  EXPECT_FALSE(state_of<optim::RMSpropParamState>(rmsprop, 0).grad_avg().defined());
}

TEST(OptimLegacy, Lbfgs) {
  const auto dirs = buffers(1), one = buffers(2);
  optim::LBFGS lbfgs(parameters());
  reload(lbfgs, "LBFGS", [&](auto& a) {
    a.write("d", one[0], true);
    a.write("t", torch::tensor(0.5), true);
    a.write("H_diag", one[1], true);
    a.write("prev_flat_grad", dirs[0], true);
    a.write("prev_loss", torch::tensor(2.5), true);
    write_list(a, "old_dirs", dirs);
    write_list(a, "old_stps", one);
  });
  const auto& s = state_of<optim::LBFGSParamState>(lbfgs, 0);
  EXPECT_TRUE(torch::equal(s.d(), one[0]));
  EXPECT_EQ(s.t(), 0.5);
  EXPECT_EQ(s.prev_loss(), 2.5);
  ASSERT_EQ(s.old_dirs().size(), 2u);
  EXPECT_TRUE(torch::equal(s.old_stps()[1], one[1]));
}

TEST(OptimLegacy, TooManyBuffersChangeNothing) {
  optim::SGD sgd({torch::ones({2}, torch::requires_grad())}, 0.1);
  EXPECT_THROW(reload(sgd, "SGD", [&](auto& a) { write_list(a, "momentum_buffers", buffers(1)); }), c10::Error);
  EXPECT_TRUE(sgd.state().empty());
}
