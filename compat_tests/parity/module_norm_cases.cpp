#include "parity/modules.h"

namespace nn = torch::nn;
namespace F = torch::nn::functional;

PARITY_CASE(module_norm, batch) {
  parity::module(c, "1d", nn::BatchNorm1d(4), c.leaf({5, 4}));
  parity::module(c, "1d_long", nn::BatchNorm1d(4), c.leaf({5, 4, 3}));
  parity::module(c, "2d", nn::BatchNorm2d(3), c.leaf({2, 3, 4, 5}));
  parity::module(c, "2d_options", nn::BatchNorm2d(nn::BatchNorm2dOptions(3).eps(1e-3).momentum(0.3).affine(false)),
                 c.leaf({2, 3, 4, 5}));
  parity::module(c, "2d_average", nn::BatchNorm2d(nn::BatchNorm2dOptions(3).momentum(torch::nullopt)),
                 c.leaf({2, 3, 4, 5}));
  parity::module(c, "2d_no_stats", nn::BatchNorm2d(nn::BatchNorm2dOptions(3).track_running_stats(false)),
                 c.leaf({2, 3, 4, 5}));
  parity::module(c, "3d", nn::BatchNorm3d(2), c.leaf({2, 2, 3, 2, 4}));
  c.throws("wrong_dim", [&] { nn::BatchNorm2d(3)->forward(c.randn({2, 3})); });
  c.throws("one_value", [&] { nn::BatchNorm1d(3)->forward(c.randn({1, 3})); });
  c.scope("two_steps", [&] {
    nn::BatchNorm2d bn(3);
    bn(c.randn({2, 3, 4, 4}));
    bn(c.randn({2, 3, 4, 4}));
    parity::record_weights(c, "after", bn);
    bn->eval();
    c.out("eval", bn(c.randn({2, 3, 4, 4})));
  });
}

PARITY_CASE(module_norm, instance) {
  c.tolerance(1e-5, 5e-6);  // sums of three values: one of them close to cancelling
  parity::module(c, "1d", nn::InstanceNorm1d(4), c.leaf({5, 4, 3}));
  parity::module(c, "2d", nn::InstanceNorm2d(nn::InstanceNorm2dOptions(3).affine(true).track_running_stats(true)),
                 c.leaf({2, 3, 4, 5}));
  parity::module(c, "2d_unbatched", nn::InstanceNorm2d(3), c.leaf({3, 4, 5}));
  parity::module(c, "3d", nn::InstanceNorm3d(2), c.leaf({2, 2, 3, 2, 4}));
}

PARITY_CASE(module_norm, layer_and_group) {
  parity::module(c, "layer", nn::LayerNorm(nn::LayerNormOptions({6})), c.leaf({3, 6}));
  parity::module(c, "layer_two", nn::LayerNorm(nn::LayerNormOptions({4, 6}).eps(1e-3)), c.leaf({3, 4, 6}));
  parity::module(c, "layer_plain", nn::LayerNorm(nn::LayerNormOptions({6}).elementwise_affine(false)), c.leaf({3, 6}));
  parity::module(c, "group", nn::GroupNorm(2, 4), c.leaf({3, 4, 5}));
  parity::module(c, "group_plain", nn::GroupNorm(nn::GroupNormOptions(4, 4).affine(false)), c.leaf({3, 4, 5, 2}));
  parity::module(c, "local_3d", nn::LocalResponseNorm(3), c.leaf({2, 5, 4}));
  parity::module(c, "local_4d", nn::LocalResponseNorm(nn::LocalResponseNormOptions(2).alpha(0.1).beta(0.5).k(2.)),
                 c.leaf({2, 5, 4, 3}));
  // Values alone: LibTorch's gradient of this module is not the derivative of its result.
  const auto across = nn::CrossMapLRN2dOptions(3).alpha(0.5).beta(0.6).k(1.5);
  c.out("across_maps", nn::CrossMapLRN2d(across)->forward(c.randn({2, 7, 3, 2})));
  c.out("across_five", nn::CrossMapLRN2d(nn::CrossMapLRN2dOptions(5).alpha(0.5))->forward(c.randn({2, 9, 3, 2})));
  c.out("across_few", nn::CrossMapLRN2d(nn::CrossMapLRN2dOptions(5).alpha(0.5))->forward(c.randn({1, 3, 2, 2})));
}

PARITY_CASE(module_norm, functional) {
  auto x = c.leaf({4, 3, 5}), w = c.leaf({5}), b = c.leaf({5});
  c.gradients("layer", {x, w, b}, [&] { return F::layer_norm(x, F::LayerNormFuncOptions({5}).weight(w).bias(b)); });
  c.gradients("normalize", {x}, [&] { return F::normalize(x, F::NormalizeFuncOptions().dim(-1).p(2)); });
  c.gradients("group", {x}, [&] { return F::group_norm(x, F::GroupNormFuncOptions(3)); });
  c.gradients("instance", {x}, [&] { return F::instance_norm(x); });
  auto mean = torch::zeros({3}), var = torch::ones({3});
  c.gradients("batch", {x},
              [&] { return F::batch_norm(x, mean, var, F::BatchNormFuncOptions().training(true).momentum(0.5)); });
  c.out("running_mean", mean);
  c.out("running_var", var);
}
