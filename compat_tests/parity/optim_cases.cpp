#include "parity/case.h"

using parity::Tensors;
using torch::Tensor;
namespace optim = torch::optim;

namespace {

// In the half types LibTorch rounds factors such as a momentum to half where its loops are vectorised and does not
// where they end: only tensors that its vectors fill can be compared.
Tensors make_params(parity::Case& c, torch::Dtype dtype) {
  const bool half = dtype == torch::kHalf || dtype == torch::kBFloat16;
  const std::vector<parity::Shape> shapes = half ? std::vector<parity::Shape>{{64, 32}, {512}, {128, 256}}
                                                 : std::vector<parity::Shape>{{37, 5}, {5}, {}, {130, 260}};
  Tensors params;
  for (const auto& shape : shapes) params.push_back(c.randn(shape, dtype));
  for (auto& p : params) p.requires_grad_();
  return params;
}

// Gradients of seven steps, which repeat; the second parameter has none in the third and fourth.
struct Gradients {
  std::vector<Tensors> steps;
  Gradients(parity::Case& c, const Tensors& params) {
    for (int i = 0; i < 7; ++i) {
      steps.emplace_back();
      for (const auto& p : params) {
        const std::vector<int64_t> shape = p.sizes().vec();
        steps.back().push_back(c.randn(shape, p.scalar_type()));
      }
    }
  }
  void set(Tensors& params, int step) const {
    for (size_t i = 0; i < params.size(); ++i) {
      const bool none = i == 1 && (step == 2 || step == 3);
      params[i].mutable_grad() = none ? Tensor() : steps[step % 7][i].clone();
    }
  }
};

void record(parity::Case& c, const std::string& name, const Tensors& params) {
  for (size_t i = 0; i < params.size(); ++i) c.out(name + ".p" + std::to_string(i), params[i].detach().clone());
}

// 100 steps. In half, LibTorch rounds every intermediate result, Halfbridge the parameter and the state: they agree for
// some steps.
template <class Optimizer, class Options>
void trajectory(parity::Case& c, const std::string& name, Options options, torch::Dtype dtype = torch::kFloat) {
  c.scope(name, [&] {
    auto params = make_params(c, dtype);
    const Gradients gradients(c, params);
    Optimizer optimizer(params, options);
    for (int step = 0; step < 100; ++step) {
      gradients.set(params, step);
      optimizer.step();
      if (step == 0 || step == 9) record(c, "step" + std::to_string(step + 1), params);
    }
    if (dtype == torch::kFloat || dtype == torch::kDouble) record(c, "step100", params);
    c.value("states", static_cast<int64_t>(optimizer.state().size()));
  });
}

// Within 1e-6 of each other after 100 steps, the half types within four roundings.
void tight(parity::Case& c) {
  c.tolerance(1e-6, 1e-6);
  c.tolerance(torch::kDouble, 1e-12, 1e-12);
  c.tolerance(torch::kBFloat16, 3.2e-2, 3.2e-2);
  c.tolerance(torch::kHalf, 4e-3, 4e-3);
}

template <class Optimizer, class Options>
void every_dtype(parity::Case& c, const std::string& name, Options options) {
  for (auto dtype : parity::kFloats) trajectory<Optimizer>(c, name + "_" + parity::dtype_name(dtype), options, dtype);
}
// In fp16, LibTorch rounds a small eps to zero, and small squares: its steps end in infinities. Halfbridge's do not.
template <class Optimizer, class Options>
void every_dtype_but_half(parity::Case& c, const std::string& name, Options options) {
  for (auto dtype : {torch::kFloat, torch::kDouble, torch::kBFloat16})
    trajectory<Optimizer>(c, name + "_" + parity::dtype_name(dtype), options, dtype);
}

}  // namespace
PARITY_CASE(optim, sgd) {
  tight(c);
  every_dtype<optim::SGD>(c, "plain", optim::SGDOptions(0.01));
  every_dtype<optim::SGD>(c, "momentum", optim::SGDOptions(0.01).momentum(0.9));
  every_dtype<optim::SGD>(c, "decay", optim::SGDOptions(0.01).weight_decay(0.1));
  trajectory<optim::SGD>(c, "dampening", optim::SGDOptions(0.01).momentum(0.9).dampening(0.3));
  trajectory<optim::SGD>(c, "nesterov", optim::SGDOptions(0.01).momentum(0.9).nesterov(true));
  every_dtype<optim::SGD>(c, "all", optim::SGDOptions(0.02).momentum(0.8).weight_decay(0.05).nesterov(true));
}

PARITY_CASE(optim, adam) {
  tight(c);
  every_dtype_but_half<optim::Adam>(c, "plain", optim::AdamOptions(1e-2));
  trajectory<optim::Adam>(c, "default", optim::AdamOptions());
  trajectory<optim::Adam>(c, "decay", optim::AdamOptions(1e-2).weight_decay(0.1));
  every_dtype_but_half<optim::Adam>(c, "amsgrad", optim::AdamOptions(1e-2).amsgrad(true).eps(1e-4));
  every_dtype<optim::Adam>(c, "all",
                           optim::AdamOptions(1e-2).betas({0.5, 0.9}).weight_decay(0.02).eps(1e-3).amsgrad(true));
}

PARITY_CASE(optim, adamw) {
  tight(c);
  every_dtype_but_half<optim::AdamW>(c, "plain", optim::AdamWOptions(1e-2));
  trajectory<optim::AdamW>(c, "no_decay", optim::AdamWOptions(1e-2).weight_decay(0));
  every_dtype<optim::AdamW>(c, "all",
                            optim::AdamWOptions(1e-2).betas({0.8, 0.95}).weight_decay(0.1).eps(1e-3).amsgrad(true));
}

PARITY_CASE(optim, rmsprop) {
  tight(c);
  every_dtype_but_half<optim::RMSprop>(c, "plain", optim::RMSpropOptions(1e-2).eps(1e-4));
  trajectory<optim::RMSprop>(c, "default", optim::RMSpropOptions());
  trajectory<optim::RMSprop>(c, "decay", optim::RMSpropOptions(1e-2).weight_decay(0.1));
  trajectory<optim::RMSprop>(c, "momentum", optim::RMSpropOptions(1e-2).momentum(0.9));
  every_dtype<optim::RMSprop>(c, "centered", optim::RMSpropOptions(1e-2).centered(true).eps(1e-2));
  every_dtype<optim::RMSprop>(
      c, "all", optim::RMSpropOptions(1e-2).alpha(0.9).momentum(0.5).centered(true).weight_decay(0.01).eps(1e-2));
}

PARITY_CASE(optim, adagrad) {
  tight(c);
  every_dtype_but_half<optim::Adagrad>(c, "plain", optim::AdagradOptions(0.1));
  trajectory<optim::Adagrad>(c, "default", optim::AdagradOptions());
  every_dtype<optim::Adagrad>(
      c, "all", optim::AdagradOptions(0.1).lr_decay(0.01).weight_decay(0.01).initial_accumulator_value(0.5).eps(1e-3));
}
namespace {
// A generator's loss whose graph a step of the discriminator has passed.
template <class Optimizer, class Options>
void two_nets(parity::Case& c, const std::string& name, const Options& options) {
  c.scope(name, [&] {
    const auto g = c.leaf({3, 2}), d = c.leaf({2, 1}), z = c.randn({4, 3});
    Optimizer of_d({d}, options), of_g({g}, options);
    const auto fixed = d.detach();
    const auto out = z.matmul(g).matmul(d).sigmoid(), loss = out.mean();
    const auto other = z.matmul(g).matmul(fixed).square().mean() - out.mean();
    loss.backward({}, /*retain_graph=*/true);
    of_d.step();
    c.value("version", static_cast<int64_t>(d._version()));
    c.value("version_of_detached", static_cast<int64_t>(fixed._version()));
    bool refused = false;
    try {
      other.backward();
      of_g.step();
    } catch (const c10::Error&) {
      refused = true;
    }
    c.value("refused", refused);
    c.out("d", d), c.out("g", g);
  });
}
}  // namespace

PARITY_CASE(optim, graphs_over_a_step) {
  two_nets<torch::optim::SGD>(c, "sgd", torch::optim::SGDOptions(0.1));
  two_nets<torch::optim::SGD>(c, "momentum", torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.1));
  two_nets<torch::optim::Adam>(c, "adam", torch::optim::AdamOptions(0.1));
}

PARITY_CASE(optim, clipped_gradients_of_a_graph) {
  for (const bool by_norm : {true, false}) {
    c.scope(by_norm ? "norm" : "value", [&] {
      const auto a = c.leaf({4});
      a.pow(3).sum().backward({}, /*retain_graph=*/true, /*create_graph=*/true);
      const auto penalty = a.grad().pow(2).sum();
      if (by_norm)
        torch::nn::utils::clip_grad_norm_({a}, 0.5);
      else
        torch::nn::utils::clip_grad_value_(std::vector<torch::Tensor>{a}, 0.5);
      penalty.backward();
      c.out("grad", a.grad());
    });
  }
}
