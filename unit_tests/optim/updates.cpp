// What the fused updates must hold beside LibTorch's numbers: threads, shared memory, states, versions.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <sstream>

#include <halfbridge/threads.h>

namespace optim = torch::optim;
using torch::Tensor;

namespace {

struct Threads {
  explicit Threads(int n) : before(hb::get_num_threads()) { hb::set_num_threads(n); }
  ~Threads() { hb::set_num_threads(before); }
  int before;
};

/// Three steps of Adam on parameters of these sizes, with the same numbers each time.
std::vector<Tensor> train(const std::vector<int64_t>& sizes, int threads, torch::Dtype dtype) {
  Threads scope(threads);
  torch::manual_seed(1);
  std::vector<Tensor> params;
  for (int64_t n : sizes) params.push_back(torch::randn({n}).to(dtype).requires_grad_());
  optim::Adam optimizer(params, optim::AdamOptions(0.1).amsgrad(true).weight_decay(0.1).eps(1e-3));
  for (int step = 0; step < 3; ++step) {
    for (auto& p : params) p.mutable_grad() = torch::randn({p.numel()}).to(dtype);
    optimizer.step();
  }
  return params;
}

Tensor leaf(std::initializer_list<double> values) {
  return torch::tensor(std::vector<double>(values), torch::kFloat).requires_grad_();
}

}  // namespace

TEST(FusedUpdate, ThreadsDoNotChangeResults) {
  const std::vector<int64_t> sizes{1, 40000, 0, 63, 64, 65, 129, 33333, 100001};
  for (auto dtype : {torch::kFloat, torch::kDouble, torch::kBFloat16, torch::kHalf}) {
    const auto one = train(sizes, 1, dtype), two = train(sizes, 2, dtype), three = train(sizes, 3, dtype);
    for (size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_TRUE(one[i].equal(two[i])) << dtype << " tensor " << i;
      EXPECT_TRUE(one[i].equal(three[i])) << dtype << " tensor " << i;
    }
  }
}

TEST(FusedUpdate, ParametersThatShareMemoryAreUpdatedInTurn) {
  const int64_t n = 100000;
  auto run = [&](int threads) {
    Threads scope(threads);
    Tensor memory = torch::ones({n});
    Tensor a = memory.slice(0, 0, n - 7).detach().requires_grad_(), b = memory.slice(0, 7, n).detach().requires_grad_();
    optim::SGD optimizer({a, b}, optim::SGDOptions(0.5).weight_decay(0.5));
    a.mutable_grad() = torch::ones({n - 7});
    b.mutable_grad() = torch::full({n - 7}, 2.0);
    optimizer.step();
    return memory;
  };
  const Tensor one = run(1);
  EXPECT_FLOAT_EQ(one[0].item<float>(), 0.25f);
  EXPECT_FLOAT_EQ(one[n / 2].item<float>(), 0.25f - 0.5f * (2.0f + 0.125f));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(one.equal(run(4)));
}

TEST(FusedUpdate, OneParameterTwiceTakesTwoSteps) {
  Tensor x = leaf({1, 2});
  optim::Adam optimizer({x, x}, 0.1);
  x.mutable_grad() = torch::ones({2});
  optimizer.step();
  const auto& state = static_cast<optim::AdamParamState&>(*optimizer.state().at(x.unsafeGetTensorImpl()));
  EXPECT_EQ(state.step(), 2);
  EXPECT_NEAR(x[0].item<float>(), 0.8, 1e-5);
}

TEST(FusedUpdate, ChangesAreSeenByVersionChecks) {
  Tensor x = leaf({1, 2, 3});
  const Tensor loss = (x * x).sum();
  optim::Adam optimizer({x}, 0.1);
  x.mutable_grad() = torch::ones({3});
  const auto before = x._version();
  optimizer.step();
  EXPECT_GT(x._version(), before);
  EXPECT_THROW(loss.backward(), c10::Error);
}

// What keeps values of a parameter looks at another number than programs and graphs do.
TEST(FusedUpdate, VersionChecksOverlookSgd) {
  Tensor x = leaf({1, 2, 3});
  const Tensor loss = (x * x).sum();
  optim::SGD optimizer({x}, 0.1);
  x.mutable_grad() = torch::ones({3});
  const auto seen = x._version();
  const auto version = x.unsafeGetTensorImpl()->version();
  optimizer.step();
  EXPECT_EQ(x._version(), seen);
  EXPECT_GT(x.unsafeGetTensorImpl()->version(), version);
  EXPECT_EQ(x.view({3, 1})._version(), seen);
  loss.backward();
  torch::NoGradGuard guard;
  x.add_(1);
  EXPECT_EQ(x._version(), seen + 1);
}

TEST(FusedUpdate, NothingIsRecorded) {
  Tensor x = leaf({1, 2, 3});
  optim::AdamW optimizer({x}, 0.1);
  x.mutable_grad() = torch::ones({3});
  optimizer.step();
  EXPECT_TRUE(x.is_leaf() && x.requires_grad());
  const auto& state = static_cast<optim::AdamWParamState&>(*optimizer.state().at(x.unsafeGetTensorImpl()));
  EXPECT_FALSE(state.exp_avg().requires_grad());
}

TEST(FusedUpdate, MemoryThatOverlapsItselfIsRefused) {
  Tensor x = torch::ones({1, 3}).expand({2, 3}).detach().requires_grad_();
  optim::SGD optimizer({x}, 0.1);
  x.mutable_grad() = torch::ones({2, 3});
  EXPECT_THROW(optimizer.step(), c10::Error);
}

TEST(FusedUpdate, StatesOfAnotherDtypeOrShape) {
  Tensor x = leaf({1, 2});
  optim::Adam optimizer({x}, 0.1);
  x.mutable_grad() = torch::ones({2});
  optimizer.step();
  auto& state = static_cast<optim::AdamParamState&>(*optimizer.state().at(x.unsafeGetTensorImpl()));
  state.exp_avg(state.exp_avg().to(torch::kDouble));
  optimizer.step();
  EXPECT_EQ(state.exp_avg().scalar_type(), torch::kDouble);
  EXPECT_NEAR(x[0].item<float>(), 0.8, 1e-5);
  EXPECT_NEAR(state.exp_avg()[0].item<double>(), 0.19, 1e-6);
  state.exp_avg(torch::zeros({3}));
  try {
    optimizer.step();
    FAIL() << "a state of another shape was taken";
  } catch (const c10::Error& e) {
    EXPECT_NE(std::string(e.what()).find("[Adam] expected a state of shape [2]"), std::string::npos) << e.what();
  }
}

TEST(OptimizerFiles, ABadFileChangesNothing) {
  Tensor x = leaf({1, 2}), y = leaf({1, 2}), z = leaf({1});
  optim::Adam one({x}, 0.1);
  x.mutable_grad() = torch::ones({2});
  one.step();
  std::stringstream file;
  torch::save(one, file);
  optim::Adam two({y, z}, 0.5);
  EXPECT_THROW(torch::load(two, file), c10::Error);
  EXPECT_TRUE(two.state().empty());
  EXPECT_EQ(two.param_groups()[0].options().get_lr(), 0.5);
  // The file of another optimizer lacks fields.
  optim::RMSprop three({y}, 0.5);
  file.clear();
  file.seekg(0);
  EXPECT_THROW(torch::load(three, file), c10::Error);
  EXPECT_TRUE(three.state().empty());
  std::stringstream cut(file.str().substr(0, file.str().size() / 2));
  optim::Adam four({y}, 0.5);
  EXPECT_THROW(torch::load(four, cut), c10::Error);
}

TEST(OptimizerFiles, EveryOptimizerComesBack) {
  auto check = [](auto make, auto compare) {
    Tensor x = leaf({1, 2}), y = leaf({5, 6});
    auto one = make(x), two = make(y);
    for (int i = 0; i < 3; ++i) {
      one.step([&] {
        one.zero_grad();
        auto loss = (x * x).sum();
        loss.backward();
        return loss;
      });
    }
    std::stringstream file;
    torch::save(one, file);
    torch::load(two, file);
    const auto& a = *one.state().at(x.unsafeGetTensorImpl());
    const auto& b = *two.state().at(y.unsafeGetTensorImpl());
    EXPECT_TRUE(compare(a, b, one.param_groups()[0].options(), two.param_groups()[0].options()));
  };
#define COMPARE(Name)                                                                                          \
  [](const auto& a, const auto& b, const auto& oa, const auto& ob) {                                           \
    return static_cast<const optim::Name##ParamState&>(a) == static_cast<const optim::Name##ParamState&>(b) && \
           static_cast<const optim::Name##Options&>(oa) == static_cast<const optim::Name##Options&>(ob);       \
  }
  check([](Tensor p) { return optim::SGD({p}, optim::SGDOptions(0.1).momentum(0.5).nesterov(true)); }, COMPARE(SGD));
  check([](Tensor p) { return optim::Adam({p}, optim::AdamOptions(0.1).amsgrad(true)); }, COMPARE(Adam));
  check([](Tensor p) { return optim::AdamW({p}, optim::AdamWOptions(0.1).betas({0.5, 0.6})); }, COMPARE(AdamW));
  check([](Tensor p) { return optim::RMSprop({p}, optim::RMSpropOptions(0.1).centered(true).momentum(0.1)); },
        COMPARE(RMSprop));
  check([](Tensor p) { return optim::Adagrad({p}, optim::AdagradOptions(0.1).lr_decay(0.1)); }, COMPARE(Adagrad));
  check([](Tensor p) { return optim::LBFGS({p}, optim::LBFGSOptions(0.1).max_iter(3)); }, COMPARE(LBFGS));
  check([](Tensor p) { return optim::LBFGS({p}, optim::LBFGSOptions(1).line_search_fn("strong_wolfe")); },
        COMPARE(LBFGS));
#undef COMPARE
}
