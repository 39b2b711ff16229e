// Mixed precision, sharded optimizers and checkpoints on several ranks.
#include "ranks.h"

#include <filesystem>
#include <limits>

#include <halfbridge/train/model.h>

namespace {

using namespace ranks;
using torch::optim::Adam;
using torch::optim::AdamOptions;
using Zero = torch::optim::ZeroRedundancyOptimizer<Adam>;

constexpr float kInf = std::numeric_limits<float>::infinity();

// An overflow planted on one rank: all skip that step, and that alone.
void skips_together(torch::Dtype dtype, bool explicit_grads, bool unscale_first) {
  torch::manual_seed(5);
  auto net = mlp();
  DistributedDataParallel model(net);
  hb::distributed::DistributedGradReducer reducer(net->parameters());
  Adam optimizer(net->parameters(), 1e-2);
  hb::amp::GradScaler scaler(torch::kCPU, 1024.0);
  for (int64_t step = 0; step < 6; ++step) {
    const auto before = net->parameters()[0].detach().clone();
    optimizer.zero_grad();
    Tensor x = drawn({8, 20}, 10 * step + rank());
    const bool planted = step == 2 || step == 4;
    if (planted && rank() == size() - 1) x[0][0] = kInf;
    Tensor loss;
    {
      const torch::autocast guard(torch::kCPU, dtype);
      loss = cross_entropy(explicit_grads ? net->forward(x) : model(x), classes(8, 5, step));
    }
    const Tensor scaled = scaler.scale(loss);
    if (explicit_grads) {
      auto grads = torch::autograd::grad({scaled}, net->parameters());
      if (unscale_first) scaler.unscale_(optimizer, grads);
      grads = reducer(grads);
      scaler.step(optimizer, grads);
    } else {
      scaled.backward();
      if (unscale_first) scaler.unscale_(optimizer);
      scaler.step(optimizer);
    }
    scaler.update();
    EXPECT_EQ(torch::equal(before, net->parameters()[0]), planted) << step;
    equal_on_all(net->parameters());
    equal_on_all({torch::full({1}, scaler.get_scale(), torch::kDouble)});
  }
  EXPECT_EQ(scaler.get_scale(), 256.0);
}

TEST(Mixed, AnOverflowOnOneRankSkipsAll) {
  for (const auto dtype : {torch::kBFloat16, torch::kHalf})
    for (const bool explicit_grads : {false, true})
      for (const bool unscale_first : {false, true}) {
        SCOPED_TRACE(::testing::Message() << dtype << explicit_grads << unscale_first);
        skips_together(dtype, explicit_grads, unscale_first);
      }
}

// Gradients that nobody reduces before the look for overflows: the flag itself goes round.
TEST(Mixed, TheFlagIsReduced) {
  torch::manual_seed(5);
  torch::nn::Linear net(3, 3);
  Zero optimizer(net->parameters(), AdamOptions(0.1), torch::optim::ZeroOptions().reduce_gradients(true));
  hb::amp::GradScaler scaler(torch::kCPU, 8.0);
  const Tensor before = net->weight.detach().clone();
  Tensor loss = scaler.scale(net(torch::ones({1, 3})).sum());
  if (rank() == size() - 1) loss = loss * kInf;
  loss.backward();
  scaler.step(optimizer);
  scaler.update();
  EXPECT_TRUE(torch::equal(before, net->weight));
  EXPECT_EQ(scaler.get_scale(), 4.0);
}

TEST(Mixed, TheStoryNamesTheRank) {
  torch::manual_seed(6);
  auto net = mlp();
  DistributedDataParallel model(net);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  hb::amp::GradScaler scaler(torch::kCPU, 8.0);
  scaler.trace_overflow(*model);
  Tensor x = drawn({4, 20}, 1);
  const Tensor out = model(x);
  Tensor loss = out.sum();
  if (rank() == size() - 1) loss = loss + (out * 1e30).exp().sum();
  scaler.scale(loss).backward();
  scaler.step(optimizer);
  scaler.update();
  ASSERT_TRUE(scaler.last_overflow());
  EXPECT_EQ(scaler.last_overflow()->rank, size() - 1);
  EXPECT_NE(scaler.last_overflow()->str().find("on rank " + std::to_string(size() - 1)), std::string::npos)
      << *scaler.last_overflow();
  EXPECT_EQ(scaler.last_overflow()->operation, "ExpBackward0");
}

// bfloat16 weights with float32 masters.
TEST(Mixed, MasterWeightsStayEqual) {
  torch::manual_seed(static_cast<uint64_t>(rank()));
  auto net = mlp();
  net->to(torch::kBFloat16);
  DistributedDataParallel model(net);
  Adam optimizer(net->parameters(), 1e-2);
  optimizer.use_master_weights();
  for (int64_t step = 0; step < 10; ++step) {
    optimizer.zero_grad();
    cross_entropy(model(drawn({8, 20}, 10 * step + rank()).to(torch::kBFloat16)).to(torch::kFloat), classes(8, 5, step))
        .backward();
    optimizer.step();
    std::vector<Tensor> masters;
    for (const Tensor& p : net->parameters()) masters.push_back(optimizer.master_weight(p));
    equal_on_all(masters);
  }
}

TEST(Mixed, DetailComparesWeightsBeforeEachStep) {
  torch::manual_seed(1);
  torch::nn::Linear net(3, 3);
  DistributedDataParallel model(net);
  const auto level = dist::debug_level();
  dist::setDebugLevel(dist::DebugLevel::Detail);
  model(torch::ones({1, 3})).sum().backward();
  if (rank() == 0) net->weight.detach()[0][0] += 1e-3;
  EXPECT_THROW(model(torch::ones({1, 3})), hb::Error);
  dist::setDebugLevel(level);
}

int64_t state_bytes(const torch::optim::Optimizer& optimizer) {
  int64_t bytes = 0;
  for (const auto& [key, state] : optimizer.state()) {
    const auto& s = static_cast<const torch::optim::AdamParamState&>(*state);
    bytes += s.exp_avg().nbytes() + s.exp_avg_sq().nbytes();
  }
  return bytes;
}

TEST(Zero, SameWeightsAndAShareOfTheState) {
  for (const bool reduce : {false, true}) {
    torch::manual_seed(8);
    // Layers of equal size, as many for each rank, so that equal shares are possible.
    const auto build = [] {
      torch::nn::Sequential layers;
      for (int i = 0; i < size() * (size() < 4 ? 2 : 1); ++i)
        layers->push_back(torch::nn::Linear(20, 20)), layers->push_back(torch::nn::Tanh());
      return layers;
    };
    auto net = build(), other = build();
    DistributedDataParallel model(net);
    for (size_t i = 0; i < net->parameters().size(); ++i)
      other->parameters()[i].detach().copy_(net->parameters()[i].detach());
    DistributedDataParallel synced(other);
    const auto defaults = AdamOptions(1e-2).weight_decay(0.01);
    Adam adam(net->parameters(), defaults);
    Zero zero(other->parameters(), defaults, torch::optim::ZeroOptions().reduce_gradients(reduce));
    for (int64_t step = 0; step < 10; ++step) {
      const Tensor x = drawn({8, 20}, 10 * step + rank()), y = classes(8, 20, step);
      adam.zero_grad(), zero.zero_grad();
      cross_entropy(model(x), y).backward();
      adam.step();
      cross_entropy(reduce ? other->forward(x) : synced(x), y).backward();
      zero.param_groups()[0]["lr"] = 1e-2;
      zero.step();
    }
    for (size_t i = 0; i < net->parameters().size(); ++i) {
      // A sum that goes to one rank may run in another order than one that goes to all.
      if (reduce)
        EXPECT_TRUE(torch::allclose(net->parameters()[i], other->parameters()[i], 1e-4, 1e-5)) << i;
      else
        EXPECT_TRUE(torch::equal(net->parameters()[i], other->parameters()[i])) << i;
    }
    equal_on_all(other->parameters());
    const double share = static_cast<double>(state_bytes(zero.local())) / static_cast<double>(state_bytes(adam));
    EXPECT_NEAR(share, 1.0 / size(), 0.05);
    EXPECT_NEAR(mean_of(share), 1.0 / size(), 1e-9);
  }
}

TEST(Zero, StateGathersAndGoesBack) {
  torch::manual_seed(9);
  auto net = mlp();
  DistributedDataParallel model(net);
  Zero zero(net->parameters(), AdamOptions(1e-2));
  Adam adam(net->parameters(), 1e-2);
  const auto train = [&](torch::optim::Optimizer& optimizer, int64_t seed) {
    optimizer.zero_grad();
    cross_entropy(model(drawn({8, 20}, seed + rank())), classes(8, 5, seed)).backward();
    optimizer.step();
  };
  for (int64_t i = 0; i < 3; ++i) train(zero, i);
  const auto all = zero.state_dict();
  const auto bytes = torch::pickle_save(all);
  const auto shared = dist::broadcast_bytes(group(), std::string(bytes.begin(), bytes.end()));
  const auto dict = torch::pickle_load({shared.begin(), shared.end()});
  std::vector<Tensor> kept;
  for (const Tensor& p : net->parameters()) kept.push_back(p.detach().clone());
  train(zero, 50);
  std::vector<Tensor> want;
  for (const Tensor& p : net->parameters()) want.push_back(p.detach().clone());
  const auto put_back = [&] {
    for (size_t i = 0; i < kept.size(); ++i) net->parameters()[i].detach().copy_(kept[i]);
  };
  put_back();
  Zero again(net->parameters(), AdamOptions(1e-2));
  again.load_state_dict(dict);
  train(again, 50);
  for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(torch::equal(want[i], net->parameters()[i]));
  // One optimizer of all parameters takes it as well.
  put_back();
  adam.load_state_dict(dict);
  train(adam, 50);
  for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(torch::equal(want[i], net->parameters()[i]));
}

// The training layer: a reducer, a sharded optimizer, and a checkpoint in the middle.
TEST(Model, GoesOnFromACheckpointOfAllRanks) {
  const std::string path = dist::broadcast_bytes(
      group(), std::filesystem::temp_directory_path().string() + "/hb-model-" + std::to_string(::getpid()) + ".ckpt");
  std::vector<std::pair<hb::variable_list, Tensor>> data;
  for (int64_t i = 0; i < 6; ++i) data.push_back({{drawn({8, 20}, 10 * i + rank())}, classes(8, 5, i)});
  const auto train = [&](int64_t epochs, bool load) {
    torch::manual_seed(static_cast<uint64_t>(rank() + 1));
    auto net = torch::nn::Sequential(torch::nn::Linear(20, 16), torch::nn::Dropout(0.2), torch::nn::Linear(16, 5));
    const hb::distributed::DistributedGradReducer reducer(net->parameters());
    Zero optimizer(net->parameters(), AdamOptions(1e-2));
    hb::train::Model model(net, torch::nn::CrossEntropyLoss(), optimizer, {}, "O1");
    model.set_grad_reducer(reducer).accumulate(2);
    if (load) model.load_checkpoint(path);
    model.train(epochs, hb::train::Batches(data));
    equal_on_all(net->parameters());
    if (epochs == 1) model.save_checkpoint(path);
    std::vector<Tensor> weights;
    for (const Tensor& p : net->parameters()) weights.push_back(p.detach().clone());
    return weights;
  };
  train(1, false);
  const auto whole = train(3, false), resumed = train(3, true);
  for (size_t i = 0; i < whole.size(); ++i) EXPECT_TRUE(torch::equal(whole[i], resumed[i])) << i;
  dist::all_gather_bytes(group(), "");
  if (rank() == 0) std::filesystem::remove(path);
}

TEST(Checkpoint, OneFileWithAPartPerRank) {
  const std::string folder = dist::broadcast_bytes(
      group(), std::filesystem::temp_directory_path().string() + "/hb-ranks-" + std::to_string(::getpid()));
  if (rank() == 0) std::filesystem::create_directories(folder);
  const auto save = [&](int64_t step) {
    hb::distributed::save_checkpoint(
        hb::distributed::checkpoint_path(folder, "run", step), [&](auto& a) { a.write("w", torch::full({2}, 3.f)); },
        [&](auto& a) { a.write("mine", torch::full({1 + rank()}, static_cast<float>(rank()))); });
  };
  EXPECT_EQ(hb::distributed::newest_checkpoint(folder, "run"), "");
  save(9), save(10);
  const auto newest = hb::distributed::newest_checkpoint(folder, "run");
  EXPECT_EQ(newest, folder + "/run-10.ckpt");
  Tensor w, mine;
  hb::distributed::load_checkpoint(
      newest, [&](auto& a) { a.read("w", w); }, [&](auto& a) { a.read("mine", mine); });
  EXPECT_EQ(w.sum().item<float>(), 6);
  EXPECT_EQ(mine.numel(), 1 + rank());
  EXPECT_EQ(mine.sum().item<float>(), rank() * (1 + rank()));
  // What rank 0 cannot write, all throw.
  EXPECT_THROW(hb::distributed::save_checkpoint(
                   "/nonexistent/file", [](auto&) {}, [](auto&) {}),
               hb::Error);
  EXPECT_THROW(hb::distributed::load_checkpoint(
                   folder + "/none.ckpt", [](auto&) {}, [](auto&) {}),
               hb::Error);
  dist::all_gather_bytes(group(), "");
  if (rank() == 0) std::filesystem::remove_all(folder);
}

}  // namespace
