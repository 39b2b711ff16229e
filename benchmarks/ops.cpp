#include "workload.h"

namespace bench {
namespace {

// The result of a timed operation, kept where the compiler must put it.
torch::Tensor g_sink;

Prepared add4() {
  auto a = torch::rand({4}), b = torch::rand({4});
  Prepared prepared;
  prepared.repeats = 1000;
  prepared.iteration = [=] {
    for (int i = 0; i < 1000; ++i) g_sink = a + b;
  };
  return prepared;
}

Prepared chain10() {
  auto x = torch::rand({4}).requires_grad_();
  auto w = torch::full({4}, 1.01f);
  Prepared prepared;
  prepared.repeats = 100;
  prepared.iteration = [=] {
    for (int i = 0; i < 100; ++i) {
      auto y = x;
      for (int k = 0; k < 10; ++k) y = y * w;
      y.sum().backward();
    }
  };
  return prepared;
}

// In-place functions with a graph; `seen`: the program knows where the tensor lies, so that it has to stay there.
Prepared inplace_chain(bool seen) {
  auto x = torch::rand({1 << 18}).requires_grad_();
  Prepared prepared;
  prepared.repeats = 10;
  prepared.iteration = [=] {
    for (int i = 0; i < 10; ++i) {
      auto y = x * 2;
      if (seen) y.data_ptr();
      y.add_(1).mul_(0.5).sub_(x).relu_();
      y.sum().backward();
    }
  };
  return prepared;
}

Prepared mm1024(torch::Dtype dtype) {
  auto a = torch::rand({1024, 1024}).sub_(0.5).to(dtype), b = torch::rand({1024, 1024}).sub_(0.5).to(dtype);
  Prepared prepared;
  prepared.flop = 2.0 * 1024 * 1024 * 1024;
  prepared.iteration = [=] { g_sink = torch::mm(a, b); };
  return prepared;
}

// Memory-bound: read two, write one.
Prepared add_large() {
  auto a = torch::rand({1 << 24}), b = torch::rand({1 << 24}), out = torch::empty({1 << 24});
  Prepared prepared;
  prepared.bytes = 3.0 * 4 * (1 << 24);
  prepared.iteration = [=]() mutable { torch::add_out(out, a, b); };
  return prepared;
}

// A gradient scaler's check and unscale: read and write once.
Prepared unscale() {
  std::vector<torch::Tensor> grads;
  for (int i = 0; i < 64; ++i) grads.push_back(torch::rand({1 << 18}));
  auto found_inf = torch::zeros({}), inv_scale = torch::ones({});
  Prepared prepared;
  prepared.bytes = 2.0 * 4 * (1 << 24);
  prepared.iteration = [=]() mutable { at::_amp_foreach_non_finite_check_and_unscale_(grads, found_inf, inv_scale); };
  return prepared;
}

}  // namespace

std::vector<Workload> op_workloads() {
  return {
      {"add4", add4},
      {"chain10", chain10},
      {"inplace_chain", [] { return inplace_chain(false); }},
      {"inplace_chain_seen", [] { return inplace_chain(true); }},
      {"mm1024_f32", [] { return mm1024(torch::kFloat32); }},
      {"mm1024_bf16", [] { return mm1024(torch::kBFloat16); }},
      {"mm1024_f16", [] { return mm1024(torch::kHalf); }},
      {"add_16m_f32", add_large},
      {"unscale_16m_f32", unscale},
  };
}

}  // namespace bench
