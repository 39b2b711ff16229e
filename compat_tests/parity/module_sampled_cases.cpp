// Fractional pooling and the adaptive softmax.
#include "parity/modules.h"

namespace nn = torch::nn;
namespace F = torch::nn::functional;

PARITY_CASE(module_sampled, fractional_pooling) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto samples = c.rand({2, 3, 2}, dtype), x = c.leaf({2, 3, 9, 11}, dtype);
    auto [y, index] = torch::fractional_max_pool2d(x, {2, 3}, {5, 4}, samples);
    c.out("index", index);
    c.gradients("2d", {x}, [&, &y = y] { return y; });
    auto v = c.leaf({2, 6, 7, 8}, dtype);
    auto [z, places] = torch::fractional_max_pool3d(v, {2, 3, 2}, {3, 1, 4}, c.rand({1, 2, 3}, dtype));
    c.out("places", places);
    c.gradients("3d", {v}, [&, &z = z] { return z; });
  });
  auto samples = c.rand({2, 3, 2});
  auto x = c.leaf({2, 3, 9, 11});
  parity::module(c, "size",
                 nn::FractionalMaxPool2d(nn::FractionalMaxPool2dOptions(3).output_size(4)._random_samples(samples)), x);
  parity::module(c, "ratio",
                 nn::FractionalMaxPool2d(nn::FractionalMaxPool2dOptions({3, 2})
                                             .output_ratio(torch::ExpandingArray<2, double>({0.5, 0.7}))
                                             ._random_samples(samples)),
                 x.transpose(2, 3));
  parity::module(
      c, "3d",
      nn::FractionalMaxPool3d(nn::FractionalMaxPool3dOptions(2).output_size(3)._random_samples(c.rand({1, 2, 3}))),
      c.leaf({1, 2, 5, 6, 7}));
  torch::manual_seed(5);
  auto [y, index] =
      nn::FractionalMaxPool2d(nn::FractionalMaxPool2dOptions(2).output_size(torch::ExpandingArray<2>({4, 5})))
          ->forward_with_indices(c.randn({2, 3, 8, 9}));
  c.out("drawn", y);
  c.out("drawn_index", index);
  c.out("functional",
        F::fractional_max_pool2d(c.randn({3, 8, 9}), F::FractionalMaxPool2dFuncOptions(2).output_size(3)));
  c.throws("neither", [] { nn::FractionalMaxPool2d(2); });
  c.throws("both", [] {
    nn::FractionalMaxPool2d(
        nn::FractionalMaxPool2dOptions(2).output_size(3).output_ratio(torch::ExpandingArray<2, double>(0.5)));
  });
  c.throws("too_large", [&] { F::fractional_max_pool2d(x, F::FractionalMaxPool2dFuncOptions(5).output_size(8)); });
}

PARITY_CASE(module_sampled, adaptive_log_softmax) {
  using Options = nn::AdaptiveLogSoftmaxWithLossOptions;
  for (const auto& options : {Options(8, 12, {4, 8}).div_value(2.), Options(16, 9, {3}).head_bias(true),
                              Options(8, 20, {2, 5, 11}).div_value(1.5)}) {
    torch::manual_seed(3);
    nn::AdaptiveLogSoftmaxWithLoss model(options);
    c.scope(std::to_string(options.n_classes()), [&] {
      c.text("text", parity::text_of(model));
      parity::record_weights(c, "init", model);
      auto x = c.leaf({10, options.in_features()});
      auto target = c.randint(0, options.n_classes(), {10});
      parity::Tensors inputs = model->parameters();
      inputs.push_back(x);
      auto result = model->forward(x, target);
      c.out("loss", torch::tensor(result.loss, torch::kFloat));  // a double that was computed in float
      c.gradients("output", inputs, [&] { return model->forward(x, target).output; });
      c.gradients("log_prob", inputs, [&] { return model->log_prob(x); });
      c.out("predict", model->predict(x));
      c.out("predict_far", model->predict(x.detach() * 20));
      c.throws("range", [&] { model->forward(x, target + options.n_classes()); });
      model->reset_parameters();
      parity::record_weights(c, "again", model);
    });
  }
  c.throws("order", [] { nn::AdaptiveLogSoftmaxWithLoss(Options(8, 12, {8, 4})); });
  c.throws("last", [] { nn::AdaptiveLogSoftmaxWithLoss(Options(8, 12, {4, 12})); });
}
