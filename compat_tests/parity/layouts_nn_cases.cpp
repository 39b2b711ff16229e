// Layers as functions: convolution, pooling, normalisation, losses.
#include "parity/layouts.h"

using parity::compare_layouts;
using torch::Tensor;
namespace F = torch::nn::functional;
#define R LAYOUT_ROW
#define FIRST(...) LAYOUT_ROW(std::get<0>(__VA_ARGS__))
#define SECOND(...) LAYOUT_ROW(std::get<1>(__VA_ARGS__))

PARITY_CASE(layouts_nn, convolution) {
  compare_layouts(
      c, c.rand({2, 4, 6, 6}, torch::kFloat, 0.1, 0.9),
      {R(torch::conv2d(x, y.narrow(2, 0, 3))),
       R(torch::conv2d(x, y.narrow(2, 0, 3).contiguous())),
       R(torch::conv2d(x[0], y.narrow(2, 0, 3))),
       R(torch::conv_transpose2d(x, y.transpose(0, 1))),
       R(torch::max_pool2d(x, 2)),
       SECOND(torch::max_pool2d_with_indices(x, 2)),
       R(torch::max_pool2d(x[0], 2)),
       R(torch::max_pool1d(x[0], 2)),
       R(torch::avg_pool2d(x, 2)),
       R(torch::avg_pool2d(x[0], 2)),
       R(torch::adaptive_avg_pool2d(x, {2, 3})),
       R(torch::adaptive_avg_pool2d(x, {1, 1})),
       R(torch::adaptive_avg_pool2d(x[0], {2, 2})),
       FIRST(torch::adaptive_max_pool2d(x, {2, 3})),
       SECOND(torch::adaptive_max_pool2d(x, {2, 3})),
       R(F::lp_pool2d(x, F::LPPool2dFuncOptions(2, 2))),
       R(torch::max_unpool2d(std::get<0>(torch::max_pool2d_with_indices(x, 2)),
                             std::get<1>(torch::max_pool2d_with_indices(x, 2)), {6, 6})),
       R(torch::grid_sampler(
           x, torch::affine_grid_generator(torch::eye(3).narrow(0, 0, 2).repeat({2, 1, 1}), {2, 4, 5, 5}, false), 0, 0,
           false)),
       R(torch::upsample_nearest2d(x, {9, 9})),
       R(torch::_upsample_nearest_exact2d(x, {9, 9})),
       OTHER_NODE(torch::upsample_bilinear2d(x, {9, 9}, false)),
       OTHER_NODE(torch::upsample_linear1d(x[0], {9}, false)),
       R(torch::upsample_nearest1d(x[0], {9}))});
}

PARITY_CASE(layouts_nn, normalisation) {
  compare_layouts(
      c, c.rand({2, 4, 6, 6}, torch::kFloat, 0.1, 0.9),
      {R(torch::batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false)),
       R(torch::batch_norm(x, {}, {}, torch::zeros({4}), torch::ones({4}), false, 0.1, 1e-5, false)),
       R(torch::layer_norm(x, {6})), R(torch::layer_norm(x, {6, 6})),
       R(torch::layer_norm(x, {6}, y[0][0][0], y[0][0][1])), OTHER_NODE(torch::group_norm(x, 2)),
       OTHER_NODE(torch::group_norm(x[0], 2)), R(torch::instance_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false)),
       R(F::local_response_norm(x, F::LocalResponseNormFuncOptions(2))),
       FIRST(torch::native_layer_norm(x, {6}, {}, {}, 1e-5)), SECOND(torch::native_layer_norm(x, {6}, {}, {}, 1e-5)),
       FIRST(torch::native_batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5)),
       R(torch::embedding(y[0][0], torch::tensor({{0, 1}, {2, 3}}))),
       R(torch::embedding(y[0][0], torch::tensor({{0, 1}, {2, 3}}).t())),
       R(torch::one_hot((x * 5).to(torch::kLong), 5)), R(torch::one_hot((x[0] * 5).to(torch::kLong), 5)),
       R(torch::dropout(x, 0.5, false)), R(torch::dropout(x, 1, true)), R(torch::feature_dropout(x, 1, true))});
}

PARITY_CASE(layouts_nn, losses) {
  compare_layouts(
      c, c.rand({2, 4, 6, 6}, torch::kFloat, 0.1, 0.9),
      {R(torch::mse_loss(x, y, at::Reduction::None)),
       R(torch::binary_cross_entropy(x, y.detach(), {}, at::Reduction::None)),
       R(torch::binary_cross_entropy_with_logits(x, y, {}, {}, at::Reduction::None)),
       R(torch::kl_div(x, y, at::Reduction::None)),
       R(torch::poisson_nll_loss(x, y, true, false, 1e-8, at::Reduction::None)),
       R(torch::margin_ranking_loss(x, y, torch::ones_like(x), 0, at::Reduction::None)),
       R(torch::cosine_embedding_loss(x[0][0], y[0][0], torch::ones({6}), 0, at::Reduction::None)),
       R(torch::triplet_margin_loss(x, y, x * 0.5, 1, 2, 1e-6, false, at::Reduction::None)),
       OTHER_NODE(torch::nll_loss2d(x, (y.detach().select(1, 0) * 4).to(torch::kLong), {}, at::Reduction::None)),
       OTHER_NODE(torch::nll_loss_nd(x, (y.detach().select(1, 0) * 4).to(torch::kLong), {}, at::Reduction::None)),
       R(torch::nll_loss(x[0][0], torch::zeros({6}, torch::kLong))),
       OTHER_NODE(
           torch::cross_entropy_loss(x, (y.detach().select(1, 0) * 4).to(torch::kLong), {}, at::Reduction::None)),
       R(torch::cross_entropy_loss(x, y.detach().softmax(1), {}, at::Reduction::None)),
       R(torch::cross_entropy_loss(x, y.detach().softmax(1))),
       OTHER_NODE(torch::multi_margin_loss(x[0][0], torch::zeros({6}, torch::kLong))),
       OTHER_NODE(torch::multilabel_margin_loss(x[0][0], torch::zeros({6, 6}, torch::kLong))),
       R(F::multilabel_soft_margin_loss(x[0][0], y[0][0].detach()))});
}
