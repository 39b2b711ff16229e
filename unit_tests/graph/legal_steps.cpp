// Steps that can be captured though they do what others may not: each is replayed, and leaves the bits of eager steps.
#include <atomic>
#include <thread>

#include "graph/ways.h"

using namespace steps;

namespace {

const Way kWays[] = {
    {"a leaf that the step makes",
     [](const Wrap& wrap) {
       nn::Linear net(8, 4);
       torch::optim::SGD sgd(net->parameters(), 0.1);
       Step step = wrap([&](Tensor x) {
         sgd.zero_grad();
         Tensor leaf = x.detach().clone().requires_grad_();
         net(leaf).square().mean().backward();
         sgd.zero_grad();
         Tensor loss = net((x + 0.1 * leaf.grad().sign()).detach()).square().mean();
         loss.backward();
         sgd.step();
         return loss.detach();
       });
       Seen seen;
       for (int i = 0; i < 8; ++i)
         seen.push_back(step(torch::randn({4, 8}))), seen.push_back(net->weight.detach().clone());
       return seen;
     }},
    {"a penalty on the gradient of an argument",
     [](const Wrap& wrap) {
       nn::Linear net(8, 1);
       torch::optim::Adam adam(net->parameters(), 0.01);
       Step step = wrap([&](Tensor x) {
         adam.zero_grad();
         Tensor in = (x * 1).requires_grad_(), y = torch::tanh(net(in));
         Tensor slope = torch::autograd::grad({y.sum()}, {in}, {}, true, true)[0];
         Tensor loss = y.mean() + (slope.norm(2, {1}) - 1).square().mean();
         loss.backward();
         adam.step();
         return loss.detach();
       });
       Seen seen;
       for (int i = 0; i < 8; ++i)
         seen.push_back(step(torch::randn({4, 8}))), seen.push_back(net->weight.detach().clone());
       return seen;
     }},
    {"a result that is a tensor of the program's", PROGRAM(
                                                       Tensor k = torch::ones({3}); Tensor step(Tensor) override {
                                                         return k;
                                                       } void between(int) override { k.add_(1); })},
    {"empty parts at the end of memory", PROGRAM(Tensor step(Tensor x) override {
       Tensor e = x.slice(0, 4, 4), f = x.slice(1, 8, 8);
       return torch::cat({e, x}) + f.matmul(f.t()).sum() + e.sum(0) + f.sum() + e.clone().sum() +
              torch::layer_norm(e, {8}).sum();
     })},
    {"decompositions", PROGRAM(Tensor step(Tensor x) override {
       Tensor a = x.matmul(x.t()) + 5 * torch::eye(4);
       return std::get<0>(torch::linalg_inv_ex(a)) + std::get<1>(torch::linalg_qr(a)) +
              torch::linalg_solve_triangular(a.triu(), a, true) + std::get<1>(torch::slogdet(a));
     })},
    {"gradients of the largest of all and of products",
     [](const Wrap& wrap) {
       Tensor w = torch::ones({8}, torch::requires_grad());
       Step step = wrap([&](Tensor x) {
         w.mutable_grad().reset();
         Tensor y = w * x;
         (y.max() + y.min() + y.prod() + y.prod(1).sum()).backward();
         return w.grad();
       });
       Seen seen;
       for (int i = 0; i < 12; ++i) {
         Tensor x = torch::randn({4, 8});
         if (i % 3 == 1) x[1][2].fill_(NAN);
         if (i % 3 == 2) x[3][i % 8].fill_(0), x[2].fill_(x.max());
         seen.push_back(step(x).nan_to_num(77).clone());
       }
       return seen;
     }},
    {"one_hot", PROGRAM(Tensor step(Tensor x) override { return torch::one_hot(x.abs().to(torch::kLong), 8); })},
    {"a checkpoint without random numbers",
     [](const Wrap& wrap) {
       nn::Linear a(8, 8), b(8, 4);
       std::vector<Tensor> all = a->parameters();
       for (const Tensor& p : b->parameters()) all.push_back(p);
       torch::optim::SGD sgd(all, 0.1);
       Step step = wrap([&](Tensor x) {
         sgd.zero_grad();
         Tensor hidden = torch::checkpoint([&](Tensor t) { return torch::tanh(a(t)); }, (x * 1).requires_grad_());
         Tensor loss = b(hidden).square().mean();
         loss.backward();
         sgd.step();
         return loss.detach();
       });
       Seen seen;
       for (int i = 0; i < 8; ++i)
         seen.push_back(step(torch::randn({4, 8}))), seen.push_back(a->weight.detach().clone());
       return seen;
     }},
    {"as_strided_scatter", PROGRAM(Tensor step(Tensor x) override {
       return torch::as_strided_scatter(x, x.slice(0, 0, 2).slice(1, 0, 2) * 2, {2, 2}, {1, 2}, 1);
     })},
};

}  // namespace

TEST(GraphLegalSteps, AreReplayed) {
  for (const Way& way : kWays) {
    SCOPED_TRACE(way.name);
    torch::manual_seed(11);
    const Seen eager = way.program([](Step s) { return s; });
    torch::manual_seed(11);
    std::shared_ptr<hb::graph::Compiled<Step>> compiled;
    const Seen graph = way.program([&](Step s) -> Step {
      compiled = std::make_shared<hb::graph::Compiled<Step>>(hb::graph::compile(std::move(s)));
      return [compiled](Tensor x) { return (*compiled)(std::move(x)); };
    });
    EXPECT_TRUE(same_state(eager, graph));
    EXPECT_GT(compiled->counts().replayed, 0) << compiled->counts().reason;
  }
}

TEST(GraphLegalSteps, ClassesOutOfRangeAreAnErrorOfAReplay) {
  auto step = hb::graph::compile([](Tensor x) { return torch::one_hot(x, 4); });
  const Tensor classes = torch::tensor({0, 3, 1});
  for (int i = 0; i < 5; ++i) step(classes);
  EXPECT_GT(step.counts().replayed, 0);
  EXPECT_THROW(step(classes + 1), c10::Error);
  EXPECT_THROW(step(classes - 1), c10::Error);
}

// Another thread turns a module of its own from training to evaluation and back.
TEST(GraphLegalSteps, BesideAThreadThatTurnsModules) {
  nn::Linear net(8, 4);
  std::atomic<int> turns{0};
  struct Other {
    std::atomic<bool> ends{false};
    std::thread thread;
    ~Other() { ends = true, thread.join(); }
  } other;
  other.thread = std::thread([&] {
    nn::Dropout own;
    for (; !other.ends; ++turns) own->train(turns % 2);
  });
  auto step = hb::graph::compile([&](Tensor x) {
    const int before = turns;
    while (turns < before + 3) std::this_thread::yield();
    const torch::NoGradGuard no_grad;
    return net(x);
  });
  for (int i = 0; i < 12; ++i) {
    const Tensor x = torch::randn({4, 8});
    EXPECT_TRUE(same_bits(step(x), net(x).detach()));
  }
  EXPECT_GT(step.counts().recorded, 0);
}
