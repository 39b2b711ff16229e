#include "parity/case.h"

using torch::Tensor;
namespace optim = torch::optim;

namespace {
// A quartic valley with its lowest point at (1, 1).
Tensor rosenbrock(const Tensor& x) {
  auto a = 1 - x.select(0, 0), b = x.select(0, 1) - x.select(0, 0) * x.select(0, 0);
  return a * a + 100 * b * b;
}
}  // namespace

PARITY_CASE(optim_closures, lbfgs) {
  for (bool search : {false, true}) {
    c.scope(search ? "strong_wolfe" : "fixed", [&] {
      auto x = c.values({-1.2, 1.0}, torch::kDouble).requires_grad_();
      auto options = optim::LBFGSOptions(search ? 1 : 1e-3).max_iter(4);
      if (search) options.line_search_fn("strong_wolfe").history_size(3);
      optim::LBFGS optimizer({x}, options);
      int calls = 0;
      for (int step = 0; step < 5; ++step) {
        auto loss = optimizer.step([&] {
          ++calls;
          optimizer.zero_grad();
          auto l = rosenbrock(x);
          l.backward();
          return l;
        });
        c.out("loss" + std::to_string(step), loss.detach());
      }
      c.out("x", x.detach().clone());
      c.value("calls", calls);
      const auto& state = static_cast<optim::LBFGSParamState&>(*optimizer.state().at(x.unsafeGetTensorImpl()));
      c.value("func_evals", state.func_evals());
      c.value("n_iter", state.n_iter());
      c.value("history", static_cast<int64_t>(state.old_dirs().size()));
    });
  }
  c.throws("no_closure", [&] { optim::LBFGS({c.leaf({2})}).step(nullptr); });
  c.throws("groups", [&] { optim::LBFGS(std::vector<optim::OptimizerParamGroup>{{{c.leaf({2})}}, {{c.leaf({2})}}}); });
  c.throws("line_search", [&] {
    auto x = c.leaf({2});
    optim::LBFGS optimizer({x}, optim::LBFGSOptions().line_search_fn("none"));
    optimizer.step([&] {
      auto l = (x * x).sum();
      l.backward();
      return l;
    });
  });
}

PARITY_CASE(optim_closures, closure) {
  auto x = c.leaf({4, 3});
  optim::Adam optimizer({x}, optim::AdamOptions(0.1));
  torch::NoGradGuard no_grad;  // a closure computes with gradients all the same
  for (int i = 0; i < 5; ++i) {
    auto loss = optimizer.step([&] {
      optimizer.zero_grad();
      auto l = (x * x).sum();
      l.backward();
      return l;
    });
    c.out("loss" + std::to_string(i), loss.detach());
  }
  c.out("x", x.detach().clone());
  c.check(!optim::SGD({x}, 0.1).step().defined(), "a step without a closure gives no loss");
}
