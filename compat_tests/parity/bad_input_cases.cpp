// Views, parts and rearrangements of tensors used wrongly.
#include "parity/bad.h"

using torch::Tensor;
using Sizes = at::IntArrayRef;
using Tensors = std::vector<Tensor>;

PARITY_CASE(bad_input, views) {
  const Tensor x = c.randn({2, 3, 4}), number = c.randn({});
  SAYS("shape '[5, 5]' is invalid for input of size 24", x.view({5, 5}));
  SAYS("only one dimension can be inferred", x.view({-1, -1}));
  SAYS("invalid shape dimension -2 at index 0 of shape [-2, 12]", x.view({-2, 12}));
  SAYS("shape '[-1, 5]' is invalid for input of size 24", x.view({-1, 5}));
  SAYS("cannot reshape tensor of 0 elements into shape [-1, 0] because the unspecified dimension",
       c.randn({0, 3}).view({-1, 0}));
  SAYS("shape '[7]' is invalid for input of size 24", x.reshape({7}));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 3)", x.transpose(0, 3));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got -4)", x.transpose(-4, 0));
  SAYS("t() expects a tensor with <= 2 dimensions, but self is 3D", x.t());
  SAYS("number of dimensions in the tensor input does not match the length of the desired", x.permute({0, 1}));
  SAYS("duplicate dims are not allowed", x.permute({0, 1, 1}));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 5)", x.permute({0, 1, 5}));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 5)", x.movedim(0, 5));
  SAYS("Invalid source or destination dims: source ([0, 1] dims) should contain the same number",
       x.movedim({0, 1}, {0}));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 3)", x.squeeze(3));
  SAYS("Dimension out of range (expected to be in range of [-4, 3], but got 5)", x.unsqueeze(5));
  SAYS("Dimension out of range (expected to be in range of [-4, 3], but got -5)", x.unsqueeze(-5));
  SAYS("The expanded size of the tensor (3) must match the existing size (2) at non-singleton", x.expand({3, 3, 4}));
  SAYS("the number of sizes provided (1) must be greater or equal to the number of dimensions in", x.expand({3}));
  SAYS("The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension 0",
       x.expand({-1, 2, 3, 4}));
  SAYS("start (1) + length (2) exceeds dimension size (2)", x.narrow(0, 1, 2));
  SAYS("narrow(): length must be non-negative", x.narrow(0, 0, -1));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 3)", x.narrow(3, 0, 1));
  SAYS("start out of range (expected to be in range of [-2, 2], but got 3)", x.narrow(0, 3, 0));
  SAYS("start out of range (expected to be in range of [-2, 2], but got -3)", x.narrow(0, -3, 1));
  SAYS("narrow() cannot be applied to a 0-dim tensor", number.narrow(0, 0, 1));
}

PARITY_CASE(bad_input, parts) {
  const Tensor x = c.randn({2, 3, 4}), row = c.randn({4}), number = c.randn({});
  SAYS("index 2 out of range for tensor of size [2, 3, 4] at dimension 0", x.select(0, 2));
  SAYS("index -3 out of range for tensor of size [2, 3, 4] at dimension 0", x.select(0, -3));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 3)", x.select(3, 0));
  SAYS("select() cannot be applied to a 0-dim tensor", number.select(0, 0));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 3)", x.slice(3));
  SAYS("slice step must be positive", x.slice(0, 0, 2, 0));
  SAYS("slice step must be positive", x.slice(0, 0, 2, -1));
  SAYS("diagonal dimensions cannot be identical 1, 1", x.diagonal(0, 1, 1));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 3)", x.diagonal(0, 0, 3));
  SAYS("maximum size for tensor at dimension 2 is 4 but size is 5", x.unfold(2, 5, 1));
  SAYS("step is 0 but must be > 0", x.unfold(2, 2, 0));
  SAYS("size is -1 but must be >= 0", x.unfold(2, -1, 1));
  SAYS("mismatch in length of strides and shape", x.as_strided({2, 2}, {1}));
  SAYS("Storage size calculation overflowed with sizes=[-1] and strides=[1]", x.as_strided({-1}, {1}));
  SAYS("setStorage: sizes [100], strides [1], storage offset 0, and itemsize 4 requiring a", x.as_strided({100}, {1}));
  SAYS("as_strided: Negative strides are not supported at the moment, got strides: [-1]", x.as_strided({2}, {-1}));
  SAYS("Tensor: invalid storage offset -1", x.as_strided({2}, {1}, -1));
  SAYS("setStorage: sizes [2], strides [1], storage offset 23, and itemsize 4 requiring a storage",
       x.as_strided({2}, {1}, 23));
  SAYS("split expects split_size be non-negative, but got split_size=-1", x.split(-1));
  SAYS("split_size can only be 0 if dimension size is 0, but got dimension size of 2", x.split(0));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 3)", x.split(1, 3));
  SAYS("split_with_sizes expects split_sizes to sum exactly to 4 (input tensor's size at",
       x.split_with_sizes({1, 5}, 2));
  SAYS("split_with_sizes expects split_sizes have only non-negative entries, but got", x.split_with_sizes({5, -1}, 2));
  SAYS("chunk expects `chunks` to be greater than 0, got: 0", x.chunk(0));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 4)", x.chunk(2, 4));
  SAYS("number of sections must be larger than 0, got 0", x.tensor_split(0));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 3)", x.unbind(3));
  SAYS("flatten() has invalid args: start_dim cannot come after end_dim", x.flatten(2, 1));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 3)", x.flatten(0, 3));
  BAD(x.unflatten(1, {2, 2}));
  SAYS("only one dimension can be inferred", x.unflatten(1, {-1, -1}));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 3)", x.unflatten(3, {1}));
  SAYS("divisible by 2 to view Float as Double", x.view(torch::kDouble).sum().item<int>(),
       c.randn({3}).view(torch::kDouble));
  SAYS("the number of sizes provided (2) must be greater or equal to the number of dimensions in",
       x.broadcast_to({2, 3}));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 9)", x.swapaxes(0, 9));
  SAYS("Trying to create tensor with negative dimension -4", row.tile({-1}));
  SAYS("The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
       torch::broadcast_tensors({c.randn({2}), c.randn({3})}));
  SAYS("Expected 0D or 1D tensor in the tensor list but got", torch::meshgrid({x, row}));
  SAYS("Dimension out of range (expected to be in range of [-1, 0], but got 2)", Tensor(row).t_().transpose_(0, 2));
  SAYS("Dimension out of range (expected to be in range of [-1, 0], but got 4)", Tensor(row).squeeze_(4));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 4)", Tensor(row).unsqueeze_(4));
}

PARITY_CASE(bad_input, rearranging) {
  const Tensor x = c.randn({2, 3, 4}), number = c.randn({});
  SAYS("Tensors must have same number of dimensions: got 3 and 2", torch::cat({x, c.randn({2, 3})}));
  SAYS("Sizes of tensors must match except in dimension 0. Expected size 3 but got size 2 for",
       torch::cat({x, c.randn({2, 2, 4})}));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 3)", torch::cat({x, x}, 3));
  SAYS("zero-dimensional tensor (at position 0) cannot be concatenated", torch::cat({number, number}));
  SAYS("expected a non-empty list of Tensors", torch::cat(Tensors{}));
  SAYS("a non-empty TensorList", torch::stack(Tensors{}));
  SAYS("expects each tensor to be equal size, but got [2, 3, 4] at entry 0 and [2, 3, 5] at entry",
       torch::stack({x, c.randn({2, 3, 5})}));
  SAYS("Dimension out of range (expected to be in range of [-4, 3], but got 5)", torch::stack({x, x}, 5));
  SAYS("expects each tensor to be equal size, but got [2, 3, 4] at entry 0 and [0] at entry 1",
       torch::stack({x, Tensor()}));
  SAYS("Sizes of tensors must match except in dimension 0. Expected size 3 but got size 2 for",
       torch::vstack({x, c.randn({2, 2, 5})}));
  SAYS("Sizes of tensors must match except in dimension 1. Expected size 2 but got size 3 for",
       torch::hstack({c.randn({2, 3}), c.randn({3, 3})}));
  SAYS("dim 0 appears multiple times in the list of dims", x.flip({0, 0}));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 3)", x.flip({3}));
  SAYS("Input must be >= 2-d", c.randn({3}).fliplr());
  SAYS("Input must be >= 1-d", number.flipud());
  SAYS("shifts and dimensions must align. shifts: 2, dims", x.roll({1, 2}, {0}));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 3)", x.roll({1}, {3}));
  SAYS("expected total rotation dims == 2, but got dims = 1", x.rot90(1, {0}));
  SAYS("expected rotation dims to be different, but got dim0 = 1 and dim1 = 1", x.rot90(1, {1, 1}));
  BAD(x.rot90(1, {0, 3}));
  SAYS("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor", x.repeat({2, 2}));
  SAYS("Trying to create tensor with negative dimension -4", x.repeat({2, 2, -1}));
  SAYS("Repeats must be non-negative", x.repeat_interleave(-1, 0));
  SAYS("repeats must have the same size as input along dim, but got", x.repeat_interleave(torch::tensor({1, 2, 3}), 0));
  SAYS("repeats can not be negative", x.repeat_interleave(torch::tensor({1, -2}), 0));
  BAD(x.repeat_interleave(torch::tensor({1.0f, 2.0f}), 0));
  SAYS("input tensor must have at least 2 dimensions", c.randn({3}).tril());
  SAYS("input tensor must have at least 2 dimensions", number.triu());
  SAYS("Supports 1D or 2D tensors. Got 3D", x.diag());
  SAYS("diagonal dimensions cannot be identical 1, 1", x.diag_embed(0, 1, 1));
  SAYS("The size of tensor a (4) must match the size of tensor b (5) at non-singleton dimension 2",
       x.copy_(c.randn({5})));
  SAYS("The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
       x.expand({2, 3, 4}).clone().expand({2, 3, 4}).copy_(c.randn({3, 3, 4})));
  SAYS("row must be non-negative, got", torch::tril_indices(-1, 2));
  SAYS("col must be non-negative, got", torch::triu_indices(2, -2));
  SAYS("pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of",
       torch::pixel_shuffle(x, 2));
  SAYS("pixel_shuffle expects a positive upscale_factor, but got 0", torch::pixel_shuffle(c.randn({1, 4, 2, 2}), 0));
  SAYS("pixel_unshuffle expects height to be divisible by downscale_factor",
       torch::pixel_unshuffle(c.randn({1, 1, 3, 3}), 2));
  SAYS("Number of channels must be divisible by groups. Got 3 channels and 2 groups",
       torch::channel_shuffle(c.randn({1, 3, 2, 2}), 2));
  SAYS("Number of groups to divide channels in must be positive. Value of groups:0",
       torch::channel_shuffle(c.randn({1, 4, 2, 2}), 0));
}
