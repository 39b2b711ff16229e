// What the other tables leave out: in-place forms, narrow dtypes, recurrent layers, signals and volumes, many tensors,
// rare functions.
#include <algorithm>

#include "sweep.h"

#define F HB_SWEEP

namespace sweep {
namespace {

Tensor bytes(int64_t n, torch::Dtype) { return torch::randint(256, {n, n}, on_device(torch::kByte)); }
Tensor ints(int64_t n, torch::Dtype) { return torch::randint(100, {n, n}, on_device(torch::kInt)); }
Tensor halves(int64_t n, torch::Dtype) { return any({n, n}, torch::kHalf); }
Tensor steps(int64_t n, torch::Dtype dtype) { return any({n / 8, 8, 64}, dtype); }
Tensor state(int64_t, torch::Dtype dtype) { return any({1, 8, 64}, dtype); }
template <int64_t gates>
Tensor weights(int64_t, torch::Dtype dtype) {
  return any({64 * gates, 64}, dtype) * 0.1;
}
template <int64_t gates>
Tensor biases(int64_t, torch::Dtype dtype) {
  return any({64 * gates}, dtype);
}
Tensor signals(int64_t n, torch::Dtype dtype) { return any({n / 16, 16, n}, dtype); }
Tensor volumes(int64_t n, torch::Dtype dtype) {
  const int64_t side = n <= 32 ? 4 : n <= 256 ? 8 : 16;
  return any({std::max<int64_t>(1, n * n / (16 * side * side * side)), 16, side, side, side}, dtype);
}
Tensor filters(int64_t, torch::Dtype dtype) { return any({16, 16, 3, 3, 3}, dtype); }
Tensor last(int64_t n, torch::Dtype dtype) { return images(n, dtype).contiguous(torch::MemoryFormat::ChannelsLast); }
Tensor channel(int64_t, torch::Dtype dtype) { return any({16}, dtype); }
Tensor vectors(int64_t n, torch::Dtype dtype) { return any({n * n / 3, 3}, dtype); }
Tensor few_points(int64_t n, torch::Dtype dtype) { return any({std::min<int64_t>(n, 256), 64}, dtype); }
Tensor first_of_leaky_relu(const In& x) {
  Tensor changed = x[0].detach();
  return torch::leaky_relu_(changed, 0.9);
}

/// Of tensors that no gradient reaches: each call changes them again.
std::vector<Row> in_place() {
  return {
      {"add_", kNumbers, {grid, grid}, F(x[0].detach().add_(x[1]))},
      {"mul_number_", kNumbers, {grid}, F(x[0].detach().mul_(-1))},
      {"clamp_", kNumbers, {grid}, F(x[0].detach().clamp_(-1, 1))},
      {"relu_", kFloats, {grid}, F(x[0].clone().relu_())},
      {"leaky_relu_", kFloats, {grid}, first_of_leaky_relu},
      {"masked_fill_", kNumbers, {grid, mask}, F(x[0].detach().masked_fill_(x[1], 1))},
      {"copy_transposed_", kNumbers, {grid, transposed}, F(x[0].detach().copy_(x[1]))},
      {"uniform_", kFloats, {grid}, F(x[0].detach().uniform_())},
  };
}

std::vector<Row> narrow() {
  return {
      {"add_bytes", kF32, {bytes, bytes}, F(x[0] + x[1])},
      {"eq_bytes", kF32, {bytes, bytes}, F(x[0] == x[1])},
      {"bytes_to_f32", kF32, {bytes}, F(x[0].to(torch::kFloat))},
      {"logical_or_bool", kF32, {mask, mask}, F(torch::logical_or(x[0], x[1]))},
      {"sum_bool", kF32, {mask}, F(x[0].sum())},
      {"add_i32", kF32, {ints, ints}, F(x[0] + x[1])},
      {"mul_i32", kF32, {ints, ints}, F(x[0] * x[1])},
      {"add_f16", kF32, {halves, halves}, F(x[0] + x[1])},
      {"mul_f16", kF32, {halves, halves}, F(x[0] * x[1])},
      {"relu_f16", kF32, {halves}, F(x[0].relu())},
      {"softmax_f16", kF32, {halves}, F(torch::softmax(x[0], 1))},
  };
}

std::vector<Row> layers() {
  return {
      {"lstm",
       kFloats,
       {steps, state, state, weights<4>, weights<4>, biases<4>, biases<4>},
       F(std::get<0>(torch::lstm(x[0], {x[1], x[2]}, {x[3], x[4], x[5], x[6]}, true, 1, 0., false, false, false)))},
      {"gru",
       kFloats,
       {steps, state, weights<3>, weights<3>, biases<3>, biases<3>},
       F(std::get<0>(torch::gru(x[0], x[1], {x[2], x[3], x[4], x[5]}, true, 1, 0., false, false, false)))},
      {"conv3d", kFloats, {volumes, filters}, F(torch::conv3d(x[0], x[1], {}, 1, 1))},
      {"max_pool1d", kFloats, {signals}, F(torch::max_pool1d(x[0], 2))},
      {"avg_pool1d", kFloats, {signals}, F(torch::avg_pool1d(x[0], 2))},
      {"max_pool3d", kFloats, {volumes}, F(torch::max_pool3d(x[0], 2))},
      {"upsample_nearest1d", kFloats, {signals}, F(torch::upsample_nearest1d(x[0], {2 * x[0].size(2)}))},
      {"batch_norm_last",
       kFloats,
       {last, channel, channel},
       F(torch::batch_norm(x[0], x[1], x[2], {}, {}, true, 0.1, 1e-5, false))},
      {"im2col", kFloats, {images}, F(torch::im2col(x[0], {3, 3}, {1, 1}, {1, 1}, {1, 1}))},
  };
}

std::vector<Row> lists() {
  return {
      {"stack_many", kF32, {row}, F(torch::stack(std::vector<Tensor>(50, x[0])))},
      {"cat_many", kF32, {row}, F(torch::cat(std::vector<Tensor>(50, x[0])))},
      {"cat_channels", kFloats, {images, images}, F(torch::cat({x[0], x[1]}, 1))},
      {"last_of_images", kFloats, {images}, F(x[0].index({"...", 0}))},
      {"cross", kFloats, {vectors, vectors}, F(torch::linalg_cross(x[0], x[1]))},
      {"complex", kF32, {grid, grid}, F(torch::complex(x[0], x[1]))},
  };
}

/// What few programs call.
std::vector<Row> rare() {
  return {
      {"pow_inverse", kFloats, {positive}, F(x[0].pow(-1))},
      {"norm_3", kFloats, {grid}, F(x[0].norm(3))},
      {"index_reduce_amax",
       kNumbers,
       {grid, indices, grid},
       F(x[0].detach().index_reduce(0, x[1], x[2].detach(), "amax"))},
      {"index_reduce_mean",
       kNumbers,
       {grid, indices, grid},
       F(x[0].detach().index_reduce(0, x[1], x[2].detach(), "mean"))},
      {"addr", kNumbers, {grid, row, row}, F(torch::addr(x[0], x[1], x[2]))},
      {"pdist", kWide, {few_points}, F(torch::pdist(x[0]))},
      {"nanmedian", kWide, {grid}, F(x[0].nanmedian())},
      {"nanmedian_rows", kWide, {grid}, F(std::get<0>(x[0].nanmedian(1)))},
      {"unique_dim", kReals, {grid}, F(std::get<0>(torch::unique_dim(x[0].detach(), 0))), 256},
      {"cummax_columns", kReals, {grid}, F(std::get<0>(torch::cummax(x[0], 0)))},
      {"tril_indices", kInt64, {row}, F(torch::tril_indices(x[0].size(0), x[0].size(0), 0, on_device(torch::kLong)))},
  };
}

}  // namespace

std::vector<Row> other_rows() {
  std::vector<Row> all;
  for (const auto& part : {in_place(), narrow(), layers(), lists(), rare()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace sweep
