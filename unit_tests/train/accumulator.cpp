// N accumulated micro-batches are one step on the N-fold batch.
#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>
#include <torch/torch.h>

using torch::Tensor;

namespace {

torch::nn::Sequential make_net() {
  torch::manual_seed(3);
  return torch::nn::Sequential(torch::nn::Linear(6, 8), torch::nn::Tanh(), torch::nn::Linear(8, 3));
}

struct Batch {
  Tensor x, y;
};
Batch make_batch(int64_t n) {
  torch::manual_seed(5);
  return {torch::randn({n, 6}), torch::randint(0, 3, {n})};
}
Tensor loss_of(torch::nn::Sequential& net, const Tensor& x, const Tensor& y) {
  return torch::nn::functional::cross_entropy(net->forward(x), y);
}

std::vector<Tensor> gradients(torch::nn::Sequential& net, const Tensor& loss) {
  return torch::autograd::grad({loss}, net->parameters());
}

void expect_close(torch::nn::Sequential& a, torch::nn::Sequential& b, double tolerance = 1e-6) {
  const auto pa = a->parameters(), pb = b->parameters();
  for (size_t i = 0; i < pa.size(); ++i) EXPECT_TRUE(torch::allclose(pa[i], pb[i], 1e-5, tolerance)) << i;
}

// Three steps, each of `parts` micro-batches, and the same with whole batches.
template <class Optimizer, class Options>
void compare(Options options, bool explicit_gradients, bool average, double clip) {
  constexpr int64_t parts = 4, size = 5;
  auto whole = make_net(), pieces = make_net();
  Optimizer whole_optimizer(whole->parameters(), options), pieces_optimizer(pieces->parameters(), options);
  hb::train::Accumulator accumulator(pieces_optimizer, parts, clip, average);
  for (int step = 0; step < 3; ++step) {
    const Batch b = make_batch(parts * size);
    whole_optimizer.zero_grad();
    loss_of(whole, b.x, b.y).backward();
    if (clip > 0) torch::nn::utils::clip_grad_norm_(whole->parameters(), clip);
    whole_optimizer.step();
    for (int64_t i = 0; i < parts; ++i) {
      auto loss = loss_of(pieces, b.x.narrow(0, i * size, size), b.y.narrow(0, i * size, size));
      if (!average) loss = loss / parts;
      bool stepped;
      if (explicit_gradients) {
        stepped = accumulator(gradients(pieces, loss));
      } else {
        loss.backward();
        stepped = accumulator.step();
      }
      EXPECT_EQ(stepped, i + 1 == parts);
    }
  }
  EXPECT_EQ(accumulator.counter(), 3 * parts);
  expect_close(whole, pieces);
}

}  // namespace

TEST(TrainAccumulator, MicroBatchesEqualTheWholeBatch) {
  for (bool explicit_gradients : {false, true})
    for (bool average : {false, true})
      for (double clip : {0.0, 0.05}) {
        compare<torch::optim::SGD>(torch::optim::SGDOptions(0.5).momentum(0.9), explicit_gradients, average, clip);
        compare<torch::optim::AdamW>(torch::optim::AdamWOptions(0.01), explicit_gradients, average, clip);
      }
}

TEST(TrainAccumulator, TheRestOfAnEpochIsFlushed) {
  auto net = make_net(), expected = make_net();
  torch::optim::SGD optimizer(net->parameters(), 0.1), plain(expected->parameters(), 0.1);
  hb::train::Accumulator accumulator(optimizer, 4, 0, /*average=*/true);
  EXPECT_FALSE(accumulator.flush());
  const Batch b = make_batch(6);
  accumulator(gradients(net, loss_of(net, b.x, b.y)));
  EXPECT_TRUE(accumulator.inner_gradients()[0].defined());
  EXPECT_TRUE(accumulator.flush());
  EXPECT_FALSE(accumulator.inner_gradients()[0].defined());
  loss_of(expected, b.x, b.y).backward();
  plain.step();
  expect_close(net, expected);
}

TEST(TrainAccumulator, ItsStateIsSaved) {
  auto net = make_net(), again = make_net();
  torch::optim::SGD optimizer(net->parameters(), 0.1), optimizer_again(again->parameters(), 0.1);
  hb::train::Accumulator accumulator(optimizer, 2);
  const Batch b = make_batch(6);
  accumulator(gradients(net, loss_of(net, b.x, b.y)));
  std::stringstream file;
  torch::save(accumulator, file);
  hb::train::Accumulator restored(optimizer_again, 2);
  torch::load(restored, file);
  EXPECT_EQ(restored.counter(), 1);
  EXPECT_TRUE(accumulator(gradients(net, loss_of(net, b.x, b.y))));
  EXPECT_TRUE(restored(gradients(again, loss_of(again, b.x, b.y))));
  for (size_t i = 0; i < net->parameters().size(); ++i)
    EXPECT_TRUE(torch::equal(net->parameters()[i], again->parameters()[i]));
}

TEST(TrainAccumulator, HalfParametersAreSummedInFloat) {
  auto p = torch::ones({1}, torch::kHalf).requires_grad_(true);
  torch::optim::SGD optimizer({p}, 1.0);
  hb::train::Accumulator accumulator(optimizer, 3, /*clip_norm=*/0);
  // 2048 + 1 + 1 is 2050 in float; halves would stay at 2048.
  accumulator({torch::full({1}, 2048, torch::kHalf)});
  accumulator({torch::ones({1}, torch::kHalf)});
  EXPECT_EQ(accumulator.inner_gradients()[0].scalar_type(), torch::kFloat);
  accumulator({torch::ones({1}, torch::kHalf)});
  EXPECT_EQ(p.item<float>(), torch::full({1}, -2049.0).to(torch::kHalf).item<float>());  // 1 - 2050, rounded
}

TEST(TrainAccumulator, MasterWeightsSeeWhatHalfGradientsWouldLose) {
  auto p = torch::zeros({1}, torch::kHalf).requires_grad_(true);
  torch::optim::SGD optimizer({p}, 1.0);
  optimizer.use_master_weights();
  hb::train::Accumulator accumulator(optimizer, 2, 0, /*average=*/true);
  accumulator({torch::full({1}, 2048, torch::kHalf)});
  accumulator({torch::ones({1}, torch::kHalf)});
  EXPECT_EQ(optimizer.master_weight(p).item<float>(), -1024.5f);
}

TEST(TrainAccumulator, ClipsToANormOfOneUnlessToldOtherwise) {
  const auto after = [](auto... clip) {
    auto p = torch::zeros({1}).requires_grad_(true);
    torch::optim::SGD optimizer({p}, 1.0);
    hb::train::Accumulator accumulator(optimizer, 2, clip...);
    accumulator({torch::full({1}, 3.0)});
    accumulator({torch::full({1}, 2.0)});
    return p.item<float>();
  };
  EXPECT_NEAR(after(), -1, 1e-5);
  EXPECT_EQ(after(0.0), -5);
  EXPECT_NEAR(after(4.0), -4, 1e-5);
}

TEST(TrainAccumulator, WrongInputIsAnError) {
  auto p = torch::ones({2}).requires_grad_(true);
  torch::optim::SGD optimizer({p}, 1.0);
  EXPECT_THROW(hb::train::Accumulator(optimizer, 0), hb::Error);
  hb::train::Accumulator accumulator(optimizer, 2);
  EXPECT_THROW(accumulator({}), hb::Error);
  EXPECT_THROW(accumulator({torch::ones({3})}), hb::Error);
  EXPECT_EQ(accumulator.counter(), 0);
}
