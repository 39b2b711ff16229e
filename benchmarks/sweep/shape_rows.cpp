#include "sweep.h"

#define F HB_SWEEP

namespace sweep {
namespace {

std::vector<Row> copies() {
  return {
      {"clone", kNumbers, {grid}, F(x[0].clone())},
      {"transpose_copy", kNumbers, {grid}, F(x[0].t().contiguous())},
      {"nchw_to_nhwc", kNumbers, {images}, F(x[0].permute({0, 2, 3, 1}).contiguous())},
      {"swap_heads", kNumbers, {sequence}, F(x[0].view({8, -1, 4, 16}).transpose(1, 2).contiguous())},
      {"permute_reverse", kNumbers, {images}, F(x[0].permute({3, 2, 1, 0}).contiguous())},
      {"slice_copy", kNumbers, {grid}, F(x[0].slice(1, 1, x[0].size(1) - 1).contiguous())},
      {"step_copy", kNumbers, {grid}, F(x[0].slice(1, 0, torch::nullopt, 2).contiguous())},
      {"expand_copy", kNumbers, {row}, F(x[0].expand({x[0].size(0), -1}).contiguous())},
      {"copy_into", kNumbers, {grid, grid}, F(x[0].detach().copy_(x[1].detach()))},
      {"fill", kNumbers, {grid}, F(torch::full_like(x[0], 3))},
      {"zeros", kNumbers, {grid}, F(torch::zeros_like(x[0]))},
      {"arange", kReals, {grid}, F(torch::arange(x[0].numel(), x[0].options()))},
      {"eye", kNumbers, {grid}, F(torch::eye(x[0].size(0), x[0].options()))},
      {"cat_rows", kNumbers, {grid, grid}, F(torch::cat({x[0], x[1]}, 0))},
      {"cat_columns", kNumbers, {grid, grid}, F(torch::cat({x[0], x[1]}, 1))},
      {"stack_last", kNumbers, {grid, grid}, F(torch::stack({x[0], x[1]}, -1))},
      {"repeat", kNumbers, {row}, F(x[0].repeat({x[0].size(0), 1}))},
      {"repeat_interleave", kNumbers, {row}, F(x[0].repeat_interleave(x[0].size(0)))},
      {"tile", kNumbers, {grid}, F(x[0].tile({2, 2}))},
      {"flip_rows", kNumbers, {grid}, F(x[0].flip({0}))},
      {"flip_columns", kNumbers, {grid}, F(x[0].flip({1}))},
      {"roll", kNumbers, {grid}, F(x[0].roll(3, 1))},
      {"rot90", kNumbers, {grid}, F(x[0].rot90())},
      {"tril", kNumbers, {grid}, F(x[0].tril())},
      {"triu", kNumbers, {grid}, F(x[0].triu(1))},
      {"diag", kNumbers, {row}, F(x[0].diag())},
      {"diagonal_copy", kNumbers, {grid}, F(x[0].diagonal().contiguous())},
      {"pad", kNumbers, {images}, F(torch::constant_pad_nd(x[0], {1, 1, 1, 1}))},
      {"pad_reflect", kFloats, {images}, F(torch::reflection_pad2d(x[0], {1, 1, 1, 1}))},
      {"pad_replicate", kFloats, {images}, F(torch::replication_pad2d(x[0], {1, 1, 1, 1}))},
      {"unfold", kFloats, {images}, F(torch::im2col(x[0], {3, 3}, {1, 1}, {1, 1}, {1, 1}))},
      {"pixel_shuffle", kNumbers, {images}, F(torch::pixel_shuffle(x[0], 2))},
      {"channel_shuffle", kNumbers, {images}, F(torch::channel_shuffle(x[0], 4))},
      {"meshgrid", kNumbers, {row}, F(torch::meshgrid({x[0], x[0]}, "ij")[1].contiguous())},
      {"one_hot", kF32, {indices}, F(torch::one_hot(x[0], x[0].size(0)))},
  };
}

std::vector<Row> indexed() {
  return {
      {"index_select", kNumbers, {grid, indices}, F(x[0].index_select(0, x[1]))},
      {"index_select_columns", kNumbers, {grid, indices}, F(x[0].index_select(1, x[1]))},
      {"index_rows", kNumbers, {grid, indices}, F(x[0].index({x[1]}))},
      {"index_columns", kNumbers, {grid, indices}, F(x[0].index({torch::indexing::Slice(), x[1]}))},
      {"index_pairs", kNumbers, {grid, indices}, F(x[0].index({x[1], x[1]}))},
      {"index_places", kNumbers, {grid, places, places}, F(x[0].index({x[1], x[2]}))},
      {"index_mask", kNumbers, {grid, mask}, F(x[0].index({x[1]}))},
      {"masked_select", kNumbers, {grid, mask}, F(x[0].masked_select(x[1]))},
      {"nonzero", kNumbers, {grid}, F(x[0].nonzero())},
      {"mask_nonzero", kF32, {mask}, F(x[0].nonzero())},
      {"take", kNumbers, {grid, places}, F(x[0].take(x[1]))},
      {"gather_rows", kNumbers, {grid, places}, F(x[0].gather(1, x[1]))},
      {"gather_columns", kNumbers, {grid, places}, F(x[0].gather(0, x[1]))},
      {"scatter", kNumbers, {grid, places, grid}, F(x[0].scatter(1, x[1], x[2]))},
      {"scatter_add", kNumbers, {grid, places, grid}, F(x[0].scatter_add(1, x[1], x[2]))},
      {"scatter_add_columns", kNumbers, {grid, places, grid}, F(x[0].scatter_add(0, x[1], x[2]))},
      {"scatter_amax", kNumbers, {grid, places, grid}, F(x[0].scatter_reduce(1, x[1], x[2], "amax")), 256},
      {"index_add", kNumbers, {grid, indices, grid}, F(x[0].index_add(0, x[1], x[2]))},
      {"index_add_columns", kNumbers, {grid, indices, grid}, F(x[0].index_add(1, x[1], x[2]))},
      {"index_copy", kNumbers, {grid, indices, grid}, F(x[0].index_copy(0, x[1], x[2]))},
      {"index_fill", kNumbers, {grid, indices}, F(x[0].index_fill(1, x[1], 2))},
      {"index_put", kNumbers, {grid, indices, grid}, F(x[0].index_put({x[1]}, x[2]))},
      {"index_put_add", kNumbers, {grid, indices, grid}, F(x[0].index_put({x[1]}, x[2], true))},
      {"index_put_pairs", kNumbers, {grid, indices, row}, F(x[0].index_put({x[1], x[1]}, x[2]))},
      {"masked_scatter", kNumbers, {grid, mask, grid}, F(x[0].masked_scatter(x[1], x[2]))},
      {"select_row", kNumbers, {grid}, F(x[0][3])},
      {"slice_assign", kNumbers, {grid, row}, F((x[0].detach().select(0, 2).copy_(x[1].detach())))},
      {"embedding", kFloats, {grid, indices}, F(torch::embedding(x[0], x[1]))},
      {"embedding_bag",
       kWide,
       {grid, indices},
       F(std::get<0>(torch::embedding_bag(x[0], x[1], torch::arange(0, x[1].size(0), 4, x[1].options()))))},
      {"bucketize", kReals, {grid}, F(torch::bucketize(x[0], torch::arange(-8, 8, on_device(torch::kLong))))},
      {"isin", kReals, {grid, row}, F(torch::isin(x[0], x[1].slice(0, 0, 16)))},
  };
}

}  // namespace

std::vector<Row> shape_rows() {
  std::vector<Row> all = copies();
  for (auto& row : indexed()) all.push_back(row);
  return all;
}

}  // namespace sweep
