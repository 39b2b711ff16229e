#pragma once
// Ways to make a captured step differ from the eager one: each is run eagerly and captured, and has to leave the same
// bits, or to end capture with an error.

#include "graph/steps.h"

namespace steps {

using Step = std::function<Tensor(Tensor)>;
using Wrap = std::function<Step(Step)>;
using Seen = std::vector<Tensor>;

/// A step of its own on a tensor.
template <class F>
auto calls(const F& make, int n = 8) {
  return [make, n](const Wrap& wrap) {
    Seen seen;
    auto program = make();
    Step step = wrap([&](Tensor x) { return program->step(x); });
    for (int i = 0; i < n; ++i) {
      program->between(i);
      Tensor x = torch::randn({4, 8});
      seen.push_back(step(x));
      seen.push_back(x);
      for (const Tensor& t : program->state()) seen.push_back(t.defined() ? t.detach().clone() : t);
    }
    for (Tensor& t : seen) t = t.defined() ? t.detach().clone() : t;
    return seen;
  };
}
struct Program {
  virtual ~Program() = default;
  virtual Tensor step(Tensor x) = 0;
  virtual void between(int) {}
  virtual Seen state() { return {}; }
};
#define PROGRAM(...)                \
  calls([] {                        \
    struct Own : Program {          \
      __VA_ARGS__                   \
    };                              \
    return std::make_shared<Own>(); \
  })

struct Way {
  const char* name;
  std::function<Seen(const Wrap&)> program;
};

/// Runs each. Returns how many there are.
inline int expect_no_way_is_silently_wrong(const Way* ways, size_t count) {
  int replayed = 0, refused = 0;
  for (size_t i = 0; i < count; ++i) {
    const Way& way = ways[i];
    SCOPED_TRACE(way.name);
    const int threads = torch::get_num_threads();
    torch::manual_seed(11);
    const Seen eager = way.program([](Step s) { return s; });
    torch::manual_seed(11);
    torch::set_num_threads(threads);
    std::vector<std::function<hb::graph::CompileCounts()>> counts;
    try {
      const Seen graph = way.program([&](Step s) -> Step {
        auto compiled = std::make_shared<hb::graph::Compiled<Step>>(hb::graph::compile(std::move(s)));
        counts.push_back([compiled] { return compiled->counts(); });
        return [compiled](Tensor x) { return (*compiled)(std::move(x)); };
      });
      EXPECT_TRUE(same_state(eager, graph)) << counts[0]().reason;
      int64_t calls = 0;
      for (const auto& c : counts) calls += c().replayed;
      EXPECT_GT(calls, 0) << counts[0]().reason;
      ++replayed;
    } catch (const c10::Error& e) {
      EXPECT_NE(std::string(e.what()).find("cannot be captured"), std::string::npos) << e.what();
      ++refused;
    }
    torch::set_num_threads(threads);
  }
  return replayed + refused;
}

}  // namespace steps
