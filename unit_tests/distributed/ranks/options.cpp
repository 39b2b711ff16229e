// Options of DistributedDataParallel, DistributedGradReducer, samplers.
#include "ranks.h"

#include <set>

#include <halfbridge/train/accumulator.h>

namespace {

using namespace ranks;

Tensor loss_on(const torch::nn::Sequential& net, int64_t seed) {
  return cross_entropy(torch::nn::Sequential(net)->forward(drawn({8, 20}, seed)), classes(8, 5, seed));
}
// The gradients that one process has of the mean of these batches' losses; a seed per rank and batch.
std::vector<Tensor> grads_of(const torch::nn::Sequential& net, const std::vector<int64_t>& seeds) {
  Tensor loss;
  for (const int64_t seed : seeds) loss = loss.defined() ? loss + loss_on(net, seed) : loss_on(net, seed);
  return torch::autograd::grad({loss / size()}, net->parameters());
}
void expect_close(const std::vector<Tensor>& got, const std::vector<Tensor>& want, double tolerance = 1e-6) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_TRUE(got[i].defined()) << i;
    EXPECT_TRUE(torch::allclose(got[i], want[i], 1e-5, tolerance)) << i << ' ' << (got[i] - want[i]).abs().max();
  }
}
std::vector<Tensor> grads(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> all;
  for (const Tensor& p : parameters) all.push_back(p.grad());
  return all;
}
std::vector<int64_t> seeds(int64_t first) {
  std::vector<int64_t> all;
  for (int r = 0; r < size(); ++r) all.push_back(first + r);
  return all;
}

TEST(Options, BeginsWithRankZerosValues) {
  torch::manual_seed(static_cast<uint64_t>(rank() + 1));
  torch::nn::Sequential net(torch::nn::Linear(3, 3), torch::nn::BatchNorm1d(3));
  net->buffers()[0].fill_(rank());
  DistributedDataParallel model(net);
  equal_on_all(net->parameters());
  EXPECT_EQ(net->buffers()[0].sum().item<float>(), 0);
  // Before each forward pass, the buffers follow rank 0.
  net->buffers()[0].fill_(rank() + 5);
  net->eval();
  model(torch::ones({2, 3}));
  EXPECT_EQ(net->buffers()[0][0].item<float>(), 5);
}

TEST(Options, GradientsAreViewsOfBuckets) {
  for (const bool views : {true, false}) {
    auto net = mlp();
    DistributedDataParallel model(net, Options().gradient_as_bucket_view(views));
    for (int step = 0; step < 3; ++step) {
      model->zero_grad();
      cross_entropy(model(drawn({8, 20}, step * 10 + rank())), classes(8, 5, step * 10 + rank())).backward();
      expect_close(grads(net->parameters()), grads_of(net, seeds(step * 10)));
    }
    const auto all = grads(net->parameters());
    EXPECT_EQ(all[0].storage().data() == all[1].storage().data(), views);
  }
}

// Also those that stay on this rank, before anything has put them there.
TEST(Options, GradientsAreMadeInTheirBuckets) {
  auto net = mlp();
  const auto backward = [&](auto& model) {
    net->zero_grad();
    cross_entropy(model(drawn({8, 20}, rank())), classes(8, 5, rank())).backward();
    const auto all = grads(net->parameters());
    return all[0].storage().data() == all[1].storage().data();
  };
  {
    DistributedDataParallel model(net);
    const auto guard = model->no_sync();
    EXPECT_TRUE(backward(model));
    // Whoever keeps a gradient keeps its values.
    const Tensor kept = net->parameters()[0].grad(), copy = kept.clone();
    net->zero_grad();
    cross_entropy(model(drawn({8, 20}, 50 + rank())), classes(8, 5, rank())).backward();
    EXPECT_TRUE(kept.equal(copy));
    EXPECT_FALSE(kept.equal(net->parameters()[0].grad()));
  }
  DistributedDataParallel views_off(net, Options().gradient_as_bucket_view(false));
  const auto guard = views_off->no_sync();
  EXPECT_FALSE(backward(views_off));
}

TEST(Options, NoSyncSumsOnThisRank) {
  auto net = mlp();
  DistributedDataParallel model(net);
  const auto backward = [&](int64_t first) {
    cross_entropy(model(drawn({8, 20}, first + rank())), classes(8, 5, first + rank())).backward();
  };
  for (int round = 0; round < 2; ++round) {
    model->zero_grad();
    {
      const auto guard = model->no_sync();
      backward(0);
      EXPECT_THROW(equal_on_all(grads(net->parameters())), hb::Error);
      backward(100);
    }
    backward(200);
    auto want = grads_of(net, seeds(0));
    for (const int64_t first : {100, 200}) {
      const auto more = grads_of(net, seeds(first));
      for (size_t i = 0; i < want.size(); ++i) want[i] = want[i] + more[i];
    }
    expect_close(grads(net->parameters()), want);
    equal_on_all(grads(net->parameters()));
  }
}

struct BranchesImpl : torch::nn::Module {
  BranchesImpl() {
    for (int i = 0; i < 3; ++i)
      branches.push_back(register_module("branch" + std::to_string(i), torch::nn::Linear(4, 4)));
  }
  Tensor forward(const Tensor& x, int branch) {
    return branches[0]->forward(branches[static_cast<size_t>(branch)]->forward(x));
  }
  std::vector<torch::nn::Linear> branches;
};
TORCH_MODULE(Branches);

TEST(Options, UnusedParameters) {
  torch::manual_seed(1);
  Branches net;
  DistributedDataParallel model(net, Options().find_unused_parameters(true));
  // Rank 0 takes another branch than the others: a parameter that any rank used has a gradient on all.
  for (int step = 0; step < 2; ++step) {
    model->zero_grad();
    model(drawn({2, 4}, rank()), rank() == 0 ? 1 : 2).sum().backward();
    equal_on_all(grads(net->parameters()));
    EXPECT_TRUE(net->branches[1]->weight.grad().defined() && net->branches[2]->weight.grad().defined());
  }
  // One that no rank used has none.
  model->zero_grad();
  model(drawn({2, 4}, rank()), 1).sum().backward();
  EXPECT_TRUE(net->branches[1]->weight.grad().defined());
  EXPECT_FALSE(net->branches[2]->weight.grad().defined());
}

TEST(Options, AnUnusedParameterIsAnErrorWithoutTheOption) {
  Branches net;
  DistributedDataParallel model(net);
  model(drawn({2, 4}, 0), 1).sum().backward();
  try {
    model(drawn({2, 4}, 0), 1);
    FAIL() << "expected an error";
  } catch (const hb::Error& e) {
    EXPECT_NE(std::string(e.what()).find("branch2.weight"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("find_unused_parameters"), std::string::npos) << e.what();
  }
}

TEST(Options, StaticGraphLooksOnce) {
  Branches net;
  DistributedDataParallel model(net, Options().static_graph(true));
  for (int step = 0; step < 3; ++step) {
    model->zero_grad();
    model(drawn({2, 4}, rank() + step), 1).sum().backward();
    equal_on_all({net->branches[0]->weight.grad(), net->branches[1]->weight.grad()});
  }
}

TEST(Options, RefusesOtherModelsOnOtherRanks) {
  torch::nn::Linear net(3, rank() == 0 ? 2 : 4);
  EXPECT_THROW(DistributedDataParallel{net}, hb::Error);
  EXPECT_THROW(DistributedDataParallel{torch::nn::ReLU()}, hb::Error);
}

TEST(Options, JoinOfUnevenInputs) {
  for (const bool initial : {true, false}) {
    torch::manual_seed(static_cast<uint64_t>(rank()));
    torch::nn::Sequential net(torch::nn::Linear(20, 16), torch::nn::BatchNorm1d(16), torch::nn::Linear(16, 5));
    DistributedDataParallel model(net, Options().bucket_cap_mb(0.0005));
    torch::optim::SGD optimizer(net->parameters(), 0.1);
    const int batches = 2 + 3 * rank();
    int done = 0;
    model->join(
        [&] {
          for (int i = 0; i < batches; ++i, ++done) {
            optimizer.zero_grad();
            cross_entropy(model(drawn({8, 20}, i * 10 + rank())), classes(8, 5, i)).backward();
            optimizer.step();
          }
        },
        hb::distributed::JoinOptions().divide_by_initial_world_size(initial));
    EXPECT_EQ(done, batches);
    equal_on_all(net->parameters());
    equal_on_all(net->buffers());
  }
}

TEST(Options, JoinThrowsWhereAsked) {
  torch::nn::Linear net(3, 3);
  DistributedDataParallel model(net);
  const auto loop = [&] {
    for (int i = 0; i < 1 + (rank() > 0); ++i) model(torch::ones({1, 3})).sum().backward();
  };
  EXPECT_THROW(model->join(loop, hb::distributed::JoinOptions().throw_on_early_termination(true)), hb::Error);
  // Not where all ranks run out of inputs together.
  model->join(
      [&] {
        model(torch::ones({1, 3})).sum().backward();
      },
      hb::distributed::JoinOptions().throw_on_early_termination(true));
}

TEST(Hooks, HalvesAreSummedInFloat32) {
  using namespace hb::distributed;
  for (const auto& [hook, dtype] : {std::pair(CommHook(fp16_compress_hook), torch::kHalf),
                                    std::pair(CommHook(bf16_compress_hook), torch::kBFloat16)}) {
    torch::manual_seed(2);
    auto net = mlp();
    DistributedDataParallel model(net, Options().bucket_cap_mb(0.003));
    model->register_comm_hook(hook);
    cross_entropy(model(drawn({8, 20}, rank())), classes(8, 5, rank())).backward();
    std::vector<Tensor> want;
    for (const Tensor& p : net->parameters()) want.push_back(torch::zeros_like(p));
    for (int r = 0; r < size(); ++r) {
      const auto own = torch::autograd::grad({loss_on(net, r)}, net->parameters());
      for (size_t i = 0; i < own.size(); ++i) want[i] = want[i] + own[i].to(dtype).to(torch::kFloat);
    }
    for (Tensor& w : want) w = (w / size()).to(dtype).to(torch::kFloat);
    expect_close(grads(net->parameters()), want, dtype == torch::kHalf ? 2e-4 : 1e-3);
    equal_on_all(grads(net->parameters()));
  }
}

TEST(Hooks, OnesOwn) {
  auto net = mlp();
  DistributedDataParallel model(net);
  int calls = 0;
  model->register_comm_hook([&](const hb::distributed::GradBucket& bucket) {
    ++calls;
    return [buffer = bucket.buffer] { return torch::full_like(buffer, 7); };
  });
  loss_on(net, 1).backward();  // not through the model
  EXPECT_EQ(calls, 0);
  model->zero_grad();
  cross_entropy(model(drawn({8, 20}, 0)), classes(8, 5, 0)).backward();
  EXPECT_EQ(calls, static_cast<int>(model->bucket_sizes().size()));
  for (const Tensor& g : grads(net->parameters())) EXPECT_TRUE((g == 7).all().item<bool>());
}

TEST(GradReducer, MeansOfExplicitGradients) {
  torch::manual_seed(static_cast<uint64_t>(rank()));
  auto net = mlp();
  const hb::distributed::DistributedGradReducer mean(net->parameters()), sum(net->parameters(), false, {}, 3000);
  equal_on_all(net->parameters());
  auto own = torch::autograd::grad({loss_on(net, rank())}, net->parameters());
  const auto want = grads_of(net, seeds(0));
  expect_close(mean(own), want);
  auto scaled = want;
  for (Tensor& t : scaled) t = t * size();
  expect_close(sum(own), scaled);
  // Undefined on one rank: zeros. Undefined on all: undefined.
  if (rank() == 0) own[0] = Tensor();
  own[1] = Tensor();
  const auto got = mean(own);
  EXPECT_TRUE(got[0].defined());
  EXPECT_FALSE(got[1].defined());
  own.pop_back();
  EXPECT_THROW(mean(own), hb::Error);
}

TEST(GradReducer, OncePerUpdateOfAnAccumulator) {
  torch::manual_seed(4);
  auto net = mlp(), whole = mlp();
  hb::distributed::DistributedGradReducer reducer(net->parameters());
  for (size_t i = 0; i < net->parameters().size(); ++i)
    whole->parameters()[i].detach().copy_(net->parameters()[i].detach());
  torch::optim::SGD own(net->parameters(), 0.1), one(whole->parameters(), 0.1);
  hb::train::Accumulator accumulator(own, 3, 0), reference(one, 3, 0);
  int calls = 0;
  accumulator.set_grad_reducer([&](std::vector<Tensor> g) { return ++calls, reducer(g); });
  for (int64_t i = 0; i < 6; ++i) {
    accumulator(torch::autograd::grad({loss_on(net, 10 * i + rank())}, net->parameters()));
    reference(grads_of(whole, seeds(10 * i)));
  }
  EXPECT_EQ(calls, 2);
  expect_close(net->parameters(), whole->parameters());
  equal_on_all(net->parameters());
}

TEST(Samplers, TakeTheGroup) {
  using namespace torch::data::samplers;
  const size_t n = 23;
  for (const size_t epoch : {0, 1}) {
    DistributedRandomSampler random(n);
    DistributedSequentialSampler sequential(n);
    random.set_epoch(epoch);
    random.reset();
    std::string own[2];
    while (const auto batch = random.next(4))
      for (const size_t i : *batch) own[0] += static_cast<char>(i);
    while (const auto batch = sequential.next(4))
      for (const size_t i : *batch) own[1] += static_cast<char>(i);
    for (const std::string& text : own) {
      std::multiset<size_t> seen;
      for (const std::string& part : dist::all_gather_bytes(group(), text))
        for (const char c : part) seen.insert(static_cast<size_t>(c));
      const size_t padded =
          (n + static_cast<size_t>(size()) - 1) / static_cast<size_t>(size()) * static_cast<size_t>(size());
      EXPECT_EQ(seen.size(), padded);
      for (size_t i = 0; i < n; ++i) EXPECT_GE(seen.count(i), 1u) << i;  // none is lost; the padding alone comes twice
    }
  }
}

TEST(Debug, NamesTheRankWhoseWeightsDiffer) {
  Tensor t = torch::ones({5});
  equal_on_all({t});
  if (rank() == size() - 1) t[3] += 1e-6;
  try {
    dist::check_equal_on_all_ranks(group(), {torch::zeros({2}), t}, {"first", "second"});
    FAIL() << "expected an error";
  } catch (const hb::Error& e) {
    EXPECT_NE(std::string(e.what()).find("second"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("rank(s) " + std::to_string(size() - 1)), std::string::npos) << e.what();
  }
}

}  // namespace
