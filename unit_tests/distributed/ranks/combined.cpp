// Several options of DistributedDataParallel at once.
#include "ranks.h"

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <limits>

#include <halfbridge/graph.h>

namespace {

using namespace ranks;

torch::nn::Sequential normalised() {
  return torch::nn::Sequential(torch::nn::Linear(20, 16), torch::nn::BatchNorm1d(16), torch::nn::Linear(16, 5));
}

// Batches of which only the last reduces, under autocast; an overflow in one of the first, on one rank.
TEST(Combined, AccumulationWithAutocastAndNoSync) {
  torch::manual_seed(static_cast<uint64_t>(rank()));
  auto net = mlp();
  DistributedDataParallel model(net, Options().bucket_cap_mb(0.002));
  torch::optim::AdamW optimizer(net->parameters(), 1e-2);
  hb::amp::GradScaler scaler(torch::kCPU, 1024.0);
  const auto backward = [&](Tensor x, int64_t seed) {
    const torch::autocast guard(torch::kCPU, torch::kHalf);
    scaler.scale(cross_entropy(model(x), classes(8, 5, seed)) / 3).backward();
  };
  for (int64_t step = 0; step < 6; ++step) {
    const bool planted = step == 1 || step == 4;
    const auto before = net->parameters()[0].detach().clone();
    optimizer.zero_grad();
    for (int64_t part = 0; part < 3; ++part) {
      Tensor x = drawn({8, 20}, 100 * step + 10 * part + rank());
      if (planted && part == 0 && rank() == size() - 1) x[0][0] = std::numeric_limits<float>::infinity();
      if (part < 2) {
        const auto guard = model->no_sync();
        backward(x, step);
      } else {
        backward(x, step);
      }
    }
    scaler.unscale_(optimizer);
    scaler.step(optimizer);
    scaler.update();
    EXPECT_EQ(torch::equal(before, net->parameters()[0]), planted) << step;
    equal_on_all(net->parameters());
    equal_on_all({torch::full({1}, scaler.get_scale(), torch::kDouble)});
  }
  EXPECT_EQ(scaler.get_scale(), 256.0);
}

struct BranchesImpl : torch::nn::Module {
  BranchesImpl() {
    for (int i = 0; i < 3; ++i) branches.push_back(register_module("b" + std::to_string(i), torch::nn::Linear(4, 4)));
  }
  Tensor forward(const Tensor& x, int branch) {
    return branches[0]->forward(branches[static_cast<size_t>(branch)]->forward(x));
  }
  std::vector<torch::nn::Linear> branches;
};
TORCH_MODULE(Branches);

// Ranks end at different times and take different branches; the second branch is taken by a rank that outlives the
// others.
TEST(Combined, JoinWithUnusedParameters) {
  torch::manual_seed(static_cast<uint64_t>(rank()));
  Branches net;
  DistributedDataParallel model(net, Options().find_unused_parameters(true).bucket_cap_mb(0.0001));
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  const auto second = net->branches[2]->weight.detach().clone();
  model->join([&] {
    for (int i = 0; i < 1 + 2 * rank(); ++i) {
      optimizer.zero_grad();
      model(drawn({2, 4}, 10 * i + rank()), i > 0 ? 2 : 1).sum().backward();
      optimizer.step();
    }
  });
  equal_on_all(net->parameters());
  EXPECT_FALSE(torch::equal(second, net->branches[2]->weight));
}

// A rank that has run out of inputs takes no part in the others' statistics: an error on all of them, and no wait.
TEST(Combined, JoinWithSyncBatchNorm) {
  auto net = normalised();
  DistributedDataParallel model(torch::nn::convert_sync_batchnorm(net));
  const auto loop = [&](int batches) {
    for (int i = 0; i < batches; ++i)
      cross_entropy(model(drawn({8, 20}, i * 10 + rank())), classes(8, 5, i)).backward();
  };
  try {
    model->join([&] { loop(1 + rank()); });
    FAIL() << "expected an error";
  } catch (const hb::Error& e) {
    EXPECT_NE(std::string(e.what()).find("SyncBatchNorm"), std::string::npos) << e.what();
  }
  auto even = normalised();
  DistributedDataParallel other(torch::nn::convert_sync_batchnorm(even));
  other->join([&] { cross_entropy(other(drawn({8, 20}, rank())), classes(8, 5, 1)).backward(); });
  std::vector<Tensor> grads;
  for (const Tensor& p : even->parameters()) grads.push_back(p.grad());
  equal_on_all(grads);
}

// Work with other processes is not recorded: an error that says so, or eager steps with the same weights.
TEST(Combined, StepsThatAreCaptured) {
  const auto trained = [](bool captured) {
    torch::manual_seed(4);
    auto net = mlp();
    DistributedDataParallel model(net);
    torch::optim::SGD optimizer(net->parameters(), 0.1);
    const auto body = [&](const Tensor& x, const Tensor& y) {
      optimizer.zero_grad();
      const Tensor loss = cross_entropy(model(x), y);
      loss.backward();
      optimizer.step();
      return loss;
    };
    hb::graph::CompileOptions options;
    options.fall_back = true;
    auto step = hb::graph::compile(body, options);
    for (int64_t i = 0; i < 5; ++i) {
      const Tensor x = drawn({8, 20}, 10 * i + rank()), y = classes(8, 5, i);
      captured ? step(x, y) : body(x, y);
    }
    return net->parameters();
  };
  const auto want = trained(false), got = trained(true);
  for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(torch::equal(got[i], want[i])) << i;
  const Tensor t = torch::ones({3});
  auto alone = hb::graph::compile([&](const Tensor& x) {
    const Tensor sum = x * 2;
    dist::all_reduce(group(), sum);
    return sum;
  });
  EXPECT_THROW(for (int i = 0; i < 4; ++i) alone(t), hb::Error);
}

/// A group of the program's own: it counts the sums that it passes on.
class Counting : public c10d::ProcessGroup {
 public:
  explicit Counting(c10d::ProcessGroup& inner) : ProcessGroup(inner.getRank(), inner.getSize()), inner_(inner) {}
  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<Tensor>& tensors, const c10d::AllreduceOptions& opts) override {
    EXPECT_NE(opts.reduceOp, c10d::ReduceOp::AVG);  // which it might not know
    ++sums;
    return inner_.allreduce(tensors, opts);
  }
  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<Tensor>& tensors, const c10d::BroadcastOptions& opts) override {
    return inner_.broadcast(tensors, opts);
  }
  c10::intrusive_ptr<c10d::Work> allgather(std::vector<std::vector<Tensor>>& outputs, std::vector<Tensor>& inputs,
                                           const c10d::AllgatherOptions& opts) override {
    return inner_.allgather(outputs, inputs, opts);
  }
  int sums = 0;

 private:
  c10d::ProcessGroup& inner_;
};

TEST(Combined, AGroupOfTheProgramsOwn) {
  const auto own = c10::make_intrusive<Counting>(group());
  std::vector<std::vector<Tensor>> grads;
  for (const bool counted : {false, true}) {
    torch::manual_seed(4);
    auto net = mlp();
    Options options;
    if (counted) options.process_group(own);
    DistributedDataParallel model(net, options);
    cross_entropy(model(drawn({8, 20}, rank())), classes(8, 5, rank())).backward();
    grads.emplace_back();
    for (const Tensor& p : net->parameters()) grads.back().push_back(p.grad());
  }
  EXPECT_GT(own->sums, 0);
  for (size_t i = 0; i < grads[0].size(); ++i) EXPECT_TRUE(torch::allclose(grads[0][i], grads[1][i], 1e-6, 1e-8)) << i;
}

// A child of fork() is no rank: what it called would be taken for its parent's.
TEST(Combined, AChildOfForkHasNoGroup) {
  const auto own = dist::new_process_group("gloo", c10::make_intrusive<c10d::HashStore>(), 0, 1);
  const pid_t child = fork();
  if (child == 0) {
    ::alarm(10);
    int caught = 0;
    std::vector<Tensor> t{torch::ones({3})};
    for (const auto& call : std::vector<std::function<void()>>{
             [&] { group().allreduce(t)->wait(); }, [&] { group().barrier()->wait(); },
             [&] { own->allreduce(t)->wait(); }, [&] { group().recv(t, (rank() + 1) % size(), 1)->wait(); }}) {
      try {
        call();
      } catch (const hb::Error& e) {
        caught += std::string(e.what()).find("fork()") != std::string::npos;
      }
    }
    dist::destroy();
    const_cast<c10::intrusive_ptr<dist::ProcessGroup>&>(own).reset();
    _exit(caught);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 4) << status;
  EXPECT_EQ(mean_of(rank()), (size() - 1) / 2.0);  // the ranks themselves go on
}

}  // namespace
