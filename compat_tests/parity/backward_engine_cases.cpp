// torch::autograd::Engine, called from edges to edges as bindings of other languages do.
#include <torch/csrc/autograd/engine.h>

#include "parity/case.h"

using torch::Tensor;
using torch::autograd::Edge;
using torch::autograd::edge_list;
using torch::autograd::Engine;
using torch::autograd::variable_list;
using torch::autograd::impl::gradient_edge;

namespace {
variable_list execute(const std::vector<Tensor>& roots, const std::vector<Tensor>& outputs, bool keep_graph = false,
                      bool create_graph = false, bool accumulate = false) {
  edge_list from, to;
  variable_list grads;
  for (const Tensor& t : roots) from.push_back(gradient_edge(t)), grads.push_back(torch::ones_like(t));
  for (const Tensor& t : outputs) to.push_back(gradient_edge(t));
  return Engine::get_default_engine().execute(from, grads, keep_graph, create_graph, accumulate, to);
}
}  // namespace

PARITY_CASE(backward_engine, returned) {
  c.for_dtypes({torch::kFloat, torch::kDouble, torch::kHalf}, [&](torch::Dtype dtype) {
    auto x = c.leaf({2, 3}, dtype), w = c.leaf({3, 4}, dtype);
    auto h = x.matmul(w);
    auto y = h.sigmoid().sum(0);
    const auto grads = execute({y}, {x, w, h});
    c.out("x", grads[0]);
    c.out("w", grads[1]);
    c.out("h", grads[2]);
    c.value("untouched", !x.grad().defined() && !w.grad().defined());
  });
}

PARITY_CASE(backward_engine, two_roots_and_an_unused_input) {
  auto x = c.leaf({3}, torch::kDouble), z = c.leaf({2}, torch::kDouble);
  auto grads = execute({x.exp(), (x * 2).sum()}, {x, z});
  c.out("x", grads[0]);
  c.value("z", grads[1].defined());
}

PARITY_CASE(backward_engine, all_leaves) {
  auto x = c.leaf({3}, torch::kDouble), w = c.leaf({3}, torch::kDouble);
  const auto grads = execute({(x * w).tanh()}, {}, false, false, true);
  c.value("returned", static_cast<int64_t>(grads.size()));
  c.out("x", x.grad());
  c.out("w", w.grad());
}

PARITY_CASE(backward_engine, some_leaves) {
  auto x = c.leaf({3}, torch::kDouble), w = c.leaf({3}, torch::kDouble);
  for (int step = 0; step < 2; ++step) execute({(x * w).tanh()}, {x}, false, false, true);
  c.out("x", x.grad());
  c.value("w", w.grad().defined());
}

PARITY_CASE(backward_engine, graph_kept_and_recorded) {
  auto x = c.leaf({4}, torch::kDouble);
  auto y = x.pow(3).sum();
  execute({y}, {x}, true);
  auto first = execute({y}, {x}, true, true)[0];
  c.value("recorded", first.requires_grad());
  c.out("second", execute({first}, {x})[0]);
  execute({y}, {x});
  c.throws("freed", [&] { execute({y}, {x}); });
}

PARITY_CASE(backward_engine, shapes_of_the_roots) {
  auto x = c.leaf({3}, torch::kDouble);
  auto y = x * x;
  auto& engine = Engine::get_default_engine();
  c.throws("shape",
           [&] { engine.execute({gradient_edge(y)}, {torch::ones({4})}, true, false, false, {gradient_edge(x)}); });
  auto grads = engine.execute({gradient_edge(y)}, {torch::ones({3})}, true, false, false, {gradient_edge(x)});
  c.out("cast", grads[0]);
}

PARITY_CASE(backward_engine, called_at_the_end) {
  auto x = c.leaf({3}, torch::kDouble);
  int64_t order = 0, hook = 0, end = 0;
  auto y = x * 2;
  y.register_hook([&](Tensor) {
    hook = ++order;
    Engine::get_default_engine().queue_callback([&] { end = ++order; });
  });
  (y * y).sum().backward();
  c.value("hook", hook);
  c.value("end", end);
  c.throws("outside", [] { Engine::get_default_engine().queue_callback([] {}); });
}
