// Captured steps with functions that look at the error codes of decompositions: replays compute what eager calls
// compute, and throw what those throw.
#include "graph/steps.h"

using namespace steps;

namespace {

struct Case {
  const char* name;
  std::function<Tensor(Tensor)> fn;
  std::function<void(Tensor)> spoil;  // makes of one matrix of a batch what the function does not take
};

const auto zero_row = [](Tensor a) { a[1][2].zero_(); };
const auto nan = [](Tensor a) { a[1][0][0] = NAN; };
const auto negative = [](Tensor a) { a[1][1][1] = -3; };

const Case kCases[] = {
    {"inverse", [](Tensor a) { return torch::inverse(a); }, zero_row},
    {"linalg_solve", [](Tensor a) { return torch::linalg_solve(a, a.transpose(-2, -1) + 1); }, zero_row},
    {"linalg_lu_factor", [](Tensor a) { return std::get<0>(torch::linalg_lu_factor(a)); }, zero_row},
    {"cholesky", [](Tensor a) { return torch::linalg_cholesky(a); }, negative},
    {"linalg_eigh", [](Tensor a) { return std::get<0>(torch::linalg_eigh(a)); }, nullptr},
    {"linalg_eigvals", [](Tensor a) { return torch::abs(torch::linalg_eigvals(a)); }, nan},
    {"svd", [](Tensor a) { return std::get<1>(torch::linalg_svd(a, false)); }, nan},
};

/// What a call says: its result, or its error.
struct Said {
  Tensor result;
  std::string error;
};
Said say(const std::function<Tensor(Tensor)>& step, const Tensor& a) {
  try {
    return {step(a).detach().clone(), ""};
  } catch (const c10::Error& e) {
    return {Tensor(), e.what_without_backtrace()};
  }
}

}  // namespace

TEST(GraphDecompositions, ReplaysThrowWhatEagerCallsThrow) {
  torch::manual_seed(3);
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    Tensor w = torch::ones({4}, torch::requires_grad());
    // The gradient, too, where the function has one.
    const std::function<Tensor(Tensor)> step = [&](Tensor a) {
      w.mutable_grad().reset();
      const Tensor result = c.fn(a * w);
      result.square().sum().backward();
      return torch::cat({result.detach().flatten(), w.grad()});
    };
    auto captured = hb::graph::compile([&](Tensor a) { return step(a); });
    for (int i = 0; i < 8; ++i) {
      const Tensor x = torch::randn({2, 4, 4}), a = x.matmul(x.transpose(-2, -1)) + torch::eye(4);
      if (i == 6 && c.spoil) c.spoil(a);
      const Said eager = say(step, a), replay = say([&](Tensor t) { return captured(t); }, a);
      EXPECT_EQ(eager.error, replay.error);
      EXPECT_EQ(eager.error.empty(), i != 6 || !c.spoil);
      EXPECT_TRUE(same_bits(eager.result, replay.result)) << "call " << i;
    }
    EXPECT_EQ(captured.counts().replayed, 5) << captured.counts().reason;
  }
}
