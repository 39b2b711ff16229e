// Second derivatives that LibTorch does not have: of gradients that a kernel of their own computes.
#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>

namespace {

using hb::Tensor;
using hb::variable_list;
using Function = std::function<Tensor(const variable_list&)>;

variable_list gradients(const Function& f, const variable_list& x, const Tensor& weights, bool create_graph) {
  return hb::autodiff::grad({f(x)}, x, {weights}, create_graph, create_graph);
}

/// With a graph the gradients are the kernel's; their own ones are those of central differences. x: doubles.
void expect_second_derivatives(const Function& f, const variable_list& x) {
  const Tensor weights = hb::rand_like(f(x)) + 0.5;
  const variable_list fused = gradients(f, x, weights, false), composed = gradients(f, x, weights, true);
  Tensor total = hb::zeros({}, hb::kDouble);
  std::vector<Tensor> by;
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_TRUE(hb::allclose(fused[i], composed[i], 1e-9, 1e-9)) << i << "\n" << fused[i] << "\n" << composed[i];
    by.push_back(hb::rand_like(x[i]) + 0.5);
    total = total + (composed[i] * by[i]).sum();
  }
  const variable_list second = hb::autodiff::grad({total}, x);
  const double h = 1e-5;
  for (size_t i = 0; i < x.size(); ++i) {
    const Tensor direction = hb::randn_like(x[i]);
    const auto total_at = [&](double step) {
      variable_list moved = x;
      moved[i] = (x[i].detach() + direction * step).requires_grad_();
      const variable_list g = gradients(f, moved, weights, false);
      double sum = 0;
      for (size_t k = 0; k < g.size(); ++k) sum += (g[k] * by[k]).sum().item<double>();
      return sum;
    };
    const double expected = (total_at(h) - total_at(-h)) / (2 * h);
    EXPECT_NEAR((second[i] * direction).sum().item<double>(), expected, 1e-5 * (1 + std::abs(expected))) << i;
  }
}

Tensor leaf(const Tensor& t) { return t.detach().requires_grad_(); }

TEST(SecondDerivatives, OfGridSampler) {
  hb::manual_seed(3);
  const Tensor x = leaf(hb::randn({2, 3, 4, 5}, hb::kDouble)),
               at = leaf(hb::rand({2, 3, 2, 2}, hb::kDouble) * 2.4 - 1.2);
  for (int64_t mode : {0, 2})
    for (int64_t padding : {0, 1, 2})
      for (bool align : {false, true})
        expect_second_derivatives(
            [&](const variable_list& v) { return hb::grid_sampler(v[0], v[1], mode, padding, align); }, {x, at});
}

TEST(SecondDerivatives, OfGridSamplerWhoseGridComesFromItsImage) {
  hb::manual_seed(4);
  const Tensor x = leaf(hb::randn({1, 2, 3, 3}, hb::kDouble));
  expect_second_derivatives(
      [](const variable_list& v) {
        return hb::grid_sampler(v[0], hb::tanh(v[0].permute({0, 2, 3, 1})), 0, 0, false);
      },
      {x});
}

TEST(SecondDerivatives, OfLstmLayers) {
  hb::manual_seed(5);
  for (const bool bias : {true, false}) {
    hb::bridge::nn::LSTM lstm(hb::bridge::nn::LSTMOptions(3, 2).num_layers(2).bidirectional(true).bias(bias));
    lstm->to(hb::kDouble);
    variable_list inputs{leaf(hb::randn({3, 2, 3}, hb::kDouble)), leaf(hb::randn({4, 2, 2}, hb::kDouble)),
                         leaf(hb::randn({4, 2, 2}, hb::kDouble))};
    for (const Tensor& w : lstm->parameters()) inputs.push_back(w);
    const auto run = [&](const variable_list& v) {
      auto [y, state] = lstm->forward(v[0], std::make_tuple(v[1], v[2]));
      return hb::cat({y.flatten(), std::get<0>(state).flatten() * 2, std::get<1>(state).flatten()});
    };
    const variable_list data(inputs.begin(), inputs.begin() + 3);
    expect_second_derivatives(run, data);
    const Tensor weights = hb::rand_like(run(inputs));
    const variable_list fused = gradients(run, inputs, weights, false),
                        composed = gradients(run, inputs, weights, true);
    for (size_t i = 0; i < inputs.size(); ++i) EXPECT_TRUE(hb::allclose(fused[i], composed[i], 1e-9, 1e-12)) << i;
  }
}

TEST(SecondDerivatives, OfCtcLoss) {
  hb::manual_seed(6);
  const Tensor x = leaf(hb::randn({7, 2, 4}, hb::kDouble)), targets = hb::tensor({1, 1, 3, 2, 3}, hb::kLong);
  expect_second_derivatives(
      [&](const variable_list& v) {
        return hb::ctc_loss(hb::log_softmax(v[0], 2), targets, hb::tensor({7, 6}, hb::kLong),
                            hb::tensor({3, 2}, hb::kLong), 0, hb::loss_reduction::None, false);
      },
      {x});
}

}  // namespace
