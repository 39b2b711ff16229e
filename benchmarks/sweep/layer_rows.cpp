#include "sweep.h"

#define F HB_SWEEP

namespace sweep {
namespace {

Tensor channel(int64_t, torch::Dtype dtype) { return any({16}, dtype); }
Tensor filters(int64_t, torch::Dtype dtype) { return any({16, 16, 3, 3}, dtype); }
Tensor pointwise_filters(int64_t, torch::Dtype dtype) { return any({16, 16, 1, 1}, dtype); }
Tensor depthwise_filters(int64_t, torch::Dtype dtype) { return any({16, 1, 3, 3}, dtype); }
Tensor signals(int64_t n, torch::Dtype dtype) { return any({n / 16, 16, n}, dtype); }
Tensor signal_filters(int64_t, torch::Dtype dtype) { return any({16, 16, 3}, dtype); }
Tensor sampling(int64_t n, torch::Dtype dtype) {
  const Tensor x = images(n, dtype);
  return (torch::rand({x.size(0), x.size(2), x.size(3), 2}, on_device(torch::kFloat)) * 2 - 1).to(dtype);
}
Tensor classes(int64_t n, torch::Dtype) { return below(n, {n}); }
Tensor half_rows(int64_t n, torch::Dtype dtype) { return any({16, n / 2}, dtype); }
Tensor gates(int64_t n, torch::Dtype dtype) { return any({2 * n, n / 2}, dtype); }
Tensor short_rows(int64_t n, torch::Dtype dtype) { return any({n * n / 16, 16}, dtype); }

std::vector<Row> norms() {
  return {
      {"softmax", kFloats, {grid}, F(torch::softmax(x[0], 1))},
      {"softmax_short", kFloats, {short_rows}, F(torch::softmax(x[0], 1))},
      {"softmax_columns", kFloats, {grid}, F(torch::softmax(x[0], 0))},
      {"softmax_channels", kFloats, {images}, F(torch::softmax(x[0], 1))},
      {"log_softmax", kFloats, {grid}, F(torch::log_softmax(x[0], 1))},
      {"log_softmax_columns", kFloats, {grid}, F(torch::log_softmax(x[0], 0))},
      {"layer_norm", kFloats, {grid, row, row}, F(torch::layer_norm(x[0], {x[0].size(1)}, x[1], x[2]))},
      {"layer_norm_short", kFloats, {short_rows}, F(torch::layer_norm(x[0], {16}))},
      {"group_norm", kFloats, {images, channel, channel}, F(torch::group_norm(x[0], 4, x[1], x[2]))},
      {"instance_norm", kFloats, {images}, F(torch::instance_norm(x[0], {}, {}, {}, {}, true, 0.1, 1e-5, false))},
      {"batch_norm",
       kFloats,
       {images, channel, channel},
       F(torch::batch_norm(x[0], x[1], x[2], {}, {}, true, 0.1, 1e-5, false))},
      {"batch_norm_eval",
       kFloats,
       {images, channel},
       F(torch::batch_norm(x[0], x[1], x[1], x[1].detach(), x[1].detach().abs() + 1, false, 0.1, 1e-5, false))},
      {"rms_norm", kFloats, {grid}, F(torch::rms_norm(x[0], {x[0].size(1)}))},
      {"normalize", kFloats, {grid}, F(torch::nn::functional::normalize(x[0]))},
      {"local_response_norm", kF32, {images}, F(torch::nn::functional::local_response_norm(x[0], 5))},
  };
}

std::vector<Row> planes() {
  return {
      {"conv2d", kFloats, {images, filters, channel}, F(torch::conv2d(x[0], x[1], x[2], 1, 1))},
      {"conv2d_stride", kFloats, {images, filters}, F(torch::conv2d(x[0], x[1], {}, 2, 1))},
      {"conv2d_1x1", kFloats, {images, pointwise_filters}, F(torch::conv2d(x[0], x[1]))},
      {"conv2d_depthwise", kFloats, {images, depthwise_filters}, F(torch::conv2d(x[0], x[1], {}, 1, 1, 1, 16))},
      {"conv_transpose2d", kFloats, {images, filters}, F(torch::conv_transpose2d(x[0], x[1], {}, 2, 1))},
      {"conv1d", kFloats, {signals, signal_filters}, F(torch::conv1d(x[0], x[1], {}, 1, 1))},
      {"max_pool2d", kFloats, {images}, F(torch::max_pool2d(x[0], 2))},
      {"max_pool2d_3", kFloats, {images}, F(torch::max_pool2d(x[0], 3, 2, 1))},
      {"avg_pool2d", kFloats, {images}, F(torch::avg_pool2d(x[0], 2))},
      {"avg_pool2d_3", kFloats, {images}, F(torch::avg_pool2d(x[0], 3, 1, 1))},
      {"adaptive_avg_pool2d", kFloats, {images}, F(torch::adaptive_avg_pool2d(x[0], {2, 2}))},
      {"global_avg_pool2d", kFloats, {images}, F(torch::adaptive_avg_pool2d(x[0], {1, 1}))},
      {"adaptive_max_pool2d", kFloats, {images}, F(std::get<0>(torch::adaptive_max_pool2d(x[0], {2, 2})))},
      {"upsample_nearest", kFloats, {images}, F(torch::upsample_nearest2d(x[0], {x[0].size(2) * 2, x[0].size(3) * 2}))},
      {"upsample_bilinear",
       kFloats,
       {images},
       F(torch::upsample_bilinear2d(x[0], {x[0].size(2) * 2, x[0].size(3) * 2}, false))},
      {"upsample_bilinear_down",
       kFloats,
       {images},
       F(torch::upsample_bilinear2d(x[0], {x[0].size(2) / 2, x[0].size(3) / 2}, false))},
      {"upsample_bicubic",
       kFloats,
       {images},
       F(torch::upsample_bicubic2d(x[0], {x[0].size(2) * 2, x[0].size(3) * 2}, false))},
      {"grid_sample", kWide, {images, sampling}, F(torch::grid_sampler(x[0], x[1], 0, 0, false))},
      {"lstm_cell",
       kWide,
       {half_rows, half_rows, half_rows, gates, gates},
       F(std::get<0>(torch::lstm_cell(x[0], {x[1], x[2]}, x[3], x[4]))),
       256},
  };
}

std::vector<Row> losses() {
  return {
      {"mse", kFloats, {grid, grid}, F(torch::mse_loss(x[0], x[1]))},
      {"l1", kFloats, {grid, grid}, F(torch::l1_loss(x[0], x[1]))},
      {"smooth_l1", kFloats, {grid, grid}, F(torch::smooth_l1_loss(x[0], x[1]))},
      {"huber", kFloats, {grid, grid}, F(torch::huber_loss(x[0], x[1]))},
      {"cross_entropy", kFloats, {grid, classes}, F(torch::cross_entropy_loss(x[0], x[1]))},
      {"nll", kFloats, {grid, classes}, F(torch::nll_loss(x[0], x[1]))},
      {"bce", kFloats, {positive, positive}, F(torch::binary_cross_entropy(x[0], x[1].detach()))},
      {"bce_logits", kFloats, {grid, positive}, F(torch::binary_cross_entropy_with_logits(x[0], x[1].detach()))},
      {"kl_div", kFloats, {grid, positive}, F(torch::kl_div(x[0], x[1].detach()))},
      {"hinge_embedding", kFloats, {grid}, F(torch::hinge_embedding_loss(x[0], x[0].detach().sign()))},
      {"triplet", kWide, {grid, grid, grid}, F(torch::triplet_margin_loss(x[0], x[1], x[2]))},
      {"cosine_embedding", kWide, {grid, grid, row}, F(torch::cosine_embedding_loss(x[0], x[1], x[2].detach().sign()))},
  };
}

std::vector<Row> random() {
  return {
      {"dropout", kFloats, {grid}, F(torch::dropout(x[0], 0.3, true))},
      {"rand", kFloats, {grid}, F(torch::rand_like(x[0]))},
      {"randn", kFloats, {grid}, F(torch::randn_like(x[0]))},
      {"randint", kF32, {row}, F(torch::randint(100, {x[0].size(0), x[0].size(0)}, on_device(torch::kLong)))},
      {"randperm", kF32, {row}, F(torch::randperm(x[0].size(0) * x[0].size(0), on_device(torch::kLong)))},
      {"bernoulli", kFloats, {positive}, F(torch::bernoulli(x[0].detach()))},
      {"multinomial", kWide, {positive}, F(torch::multinomial(x[0].detach(), 4))},
  };
}

}  // namespace

std::vector<Row> layer_rows() {
  std::vector<Row> all;
  for (auto part : {norms, planes, losses, random})
    for (auto& row : part()) all.push_back(row);
  return all;
}

}  // namespace sweep
