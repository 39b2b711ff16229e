// Tensors and functions used wrongly.
#include "parity/bad.h"

using torch::Tensor;
using torch::indexing::Slice;
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

PARITY_CASE(bad_input, indexing) {
  const Tensor x = c.randn({4, 5}), number = c.randn({});
  const Tensor far = torch::tensor({0, 5}), negative = torch::tensor({-6}), real = torch::tensor({0.5f});
  SAYS("index 4 is out of bounds for dimension 0 with size 4", x.index({4}));
  SAYS("index -5 is out of bounds for dimension 0 with size 4", x.index({-5}));
  SAYS("index 5 is out of bounds for dimension 0 with size 4", x.index({far}));
  SAYS("index -6 is out of bounds for dimension", x.index({Slice(), negative}));
  SAYS("tensors used as indices must be long, int, byte or bool tensors", x.index({real}));
  SAYS("The shape of the mask [5] at index 0 does not match the shape of the indexed tensor [4,",
       x.index({c.bools({5})}));
  SAYS("The shape of the mask [4, 4] at index 1 does not match the shape of the indexed tensor",
       x.index({c.bools({4, 4})}));
  SAYS("too many indices for tensor of dimension 2", x.index({0, 0, 0}));
  SAYS("too many indices for tensor of dimension 2", x.index({c.bools({4, 5}), 0}));
  BAD(x.index({Slice(0, 4, -1)}));
  SAYS("shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]",
       x.index({torch::tensor({0, 1}), torch::tensor({0, 1, 2})}));
  SAYS("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in", number.index({0}));
  SAYS("select() cannot be applied to a 0-dim tensor", number[0]);
  SAYS("index 4 out of range for tensor of size [4, 5] at dimension 0", x[4]);
  SAYS("index 5 is out of bounds for dimension 0 with size 4", x.clone().index_put_({far}, 1.0));
  SAYS("shape mismatch: value tensor of shape [3] cannot be broadcast to indexing result of shape",
       x.clone().index_put_({torch::tensor({0, 1})}, c.randn({3})));
  SAYS("index 4 is out of bounds for dimension 0 with size 4", x.clone().index_put_({4}, 1.0));
  SAYS("shape mismatch: value tensor of shape [2, 7] cannot be broadcast to indexing result of",
       x.clone().index_put_({c.bools({4, 5})}, c.randn({2, 7})));
}

PARITY_CASE(bad_input, gather_and_scatter) {
  const Tensor x = c.randn({4, 5});
  const Tensor far = torch::tensor({0, 5}), real = torch::tensor({0.5f});
  SAYS("index out of range in self", x.index_select(0, far));
  SAYS("index out of range in self", x.index_select(0, torch::tensor({-1})));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", x.index_select(2, torch::tensor({0})));
  SAYS("Expected dtype int32 or int64 for index", x.index_select(0, real));
  SAYS("Index is supposed to be a vector", x.index_select(0, torch::zeros({1, 1}, torch::kLong)));
  SAYS("index 4 is out of bounds for dimension 0 with size 4", x.gather(0, torch::full({1, 5}, 4)));
  SAYS("index -1 is out of bounds for dimension 0 with size 4", x.gather(0, torch::full({1, 5}, -1)));
  SAYS("index [1, 6] to be no larger than self [4, 5] apart from dimension 0",
       x.gather(0, torch::zeros({1, 6}, torch::kLong)));
  SAYS("Index tensor must have the same number of dimensions as input tensor",
       x.gather(0, torch::zeros({3}, torch::kLong)));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)",
       x.gather(2, torch::zeros({1, 1}, torch::kLong)));
  SAYS("index 4 is out of bounds for dimension 0 with size 4", x.clone().scatter_(0, torch::full({1, 5}, 4), 1.0));
  SAYS("index -1 is out of bounds for dimension 0 with size 4", x.clone().scatter_(0, torch::full({1, 5}, -1), 1.0));
  SAYS("Expected index [2, 5] to be no larger",
       x.clone().scatter_(0, torch::zeros({2, 5}, torch::kLong), c.randn({1, 5})));
  SAYS("Expected index [1, 6] to be no larger than self [4, 5] apart from dimension 0",
       x.clone().scatter_(0, torch::zeros({1, 6}, torch::kLong), c.randn({1, 6})));
  SAYS("Expected self.dtype to be equal to src.dtype",
       x.clone().scatter_(0, torch::zeros({1, 5}, torch::kLong), c.randn({1, 5}, torch::kDouble)));
  SAYS("Expected dtype int32/int64 for index", x.clone().scatter_(0, torch::zeros({1, 5}), c.randn({1, 5})));
  SAYS("reduce argument must be either add or multiply",
       x.clone().scatter_(0, torch::zeros({1, 5}, torch::kLong), c.randn({1, 5}), "divide"));
  SAYS("index 5 is out of bounds for dimension 1 with size 5",
       x.clone().scatter_add_(1, torch::full({4, 1}, 5), c.randn({4, 1})));
  SAYS("Expected index [4, 2] to be no larger", x.clone().scatter_add_(1, torch::full({4, 2}, 0), c.randn({4, 1})));
  SAYS("reduce argument must be either sum, prod, mean, amax or amin, got median",
       x.scatter_reduce(0, torch::zeros({1, 5}, torch::kLong), c.randn({1, 5}), "median"));
}

PARITY_CASE(bad_input, index_functions) {
  const Tensor x = c.randn({4, 5});
  const Tensor far = torch::tensor({0, 5}), real = torch::tensor({0.5f});
  SAYS("index 5 is out of bounds for", x.clone().index_add_(0, far, c.randn({2, 5})));
  SAYS("Number of indices (2) should be equal to source.size(dim)",
       x.clone().index_add_(0, torch::tensor({0, 1}), c.randn({3, 5})));
  SAYS("source tensor shape must match self tensor shape, excluding the specified dimension. Got",
       x.clone().index_add_(0, torch::tensor({0, 1}), c.randn({2, 4})));
  SAYS("must have the same scalar type",
       x.clone().index_add_(0, torch::tensor({0, 1}), c.randn({2, 5}, torch::kDouble)));
  SAYS("index 5 is out of bounds for", x.clone().index_copy_(0, far, c.randn({2, 5})));
  SAYS("Number of indices (2) should be equal to source.size(dim)",
       x.clone().index_copy_(0, torch::tensor({0, 1}), c.randn({3, 5})));
  SAYS("index 5 is out of bounds for", x.clone().index_fill_(0, far, 0));
  SAYS("Expected dtype", x.clone().index_fill_(0, real, 0));
  SAYS(") must match the size of tensor b", x.masked_select(c.bools({3})));
  SAYS("expected BoolTensor for mask", x.masked_select(c.randn({4, 5})));
  SAYS("The size of tensor a (3) must match the size of tensor b (5) at non-singleton dimension 1",
       x.masked_fill(c.bools({3}), 0));
  SAYS("only supports a 0-dimensional value tensor, but got tensor with 1 dimension(s)",
       x.masked_fill(c.bools({4, 5}), c.randn({2})));
  SAYS("output with shape [4, 5] doesn't match the broadcast shape [2, 4, 5]",
       x.clone().masked_fill_(c.bools({2, 4, 5}), 0));
  SAYS("Number of elements of source < number of ones in mask",
       x.masked_scatter(torch::ones({4, 5}, torch::kBool), c.randn({3})));
  SAYS("only supports boolean masks, but got mask with dtype Float", x.masked_scatter(c.randn({4, 5}), c.randn({20})));
  SAYS("out of range", x.take(torch::tensor({20})));
  SAYS("Expected a long tensor for index, but got Float", x.take(real));
  SAYS("input and indices should have the same number of dimensions",
       x.take_along_dim(torch::zeros({1}, torch::kLong), 0));
  SAYS("out of range", x.clone().put_(torch::tensor({20}), c.randn({1})));
  SAYS("Expected source and index to have the same number of elements, but got source.numel() =",
       x.clone().put_(torch::tensor({1, 2}), c.randn({1})));
  SAYS("self and source", x.clone().put_(torch::tensor({1}), c.randn({1}, torch::kDouble)));
  SAYS("The size of tensor a (3) must match the size of tensor b (5) at non-singleton dimension 1",
       torch::where(c.bools({3}), x, x));
  SAYS("Class values must be non-negative", torch::one_hot(torch::tensor({-1, 2})));
  SAYS("Class values must be smaller than num_classes", torch::one_hot(torch::tensor({3}), 2));
  SAYS("one_hot is only applicable to index tensor of type LongTensor", torch::one_hot(real));
}

PARITY_CASE(bad_input, numbers) {
  const Tensor x = c.randn({2, 3}), i = c.randint(0, 5, {2, 3}), b = c.bools({2, 3}), other = c.randn({4});
  SAYS("The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1", x + other);
  SAYS("The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1", x.add(other, 2));
  SAYS("Expected a proper Tensor but got None (or an undefined Tensor in C++)", x * Tensor());
  SAYS("Expected a proper Tensor but got None (or an undefined Tensor in C++)", Tensor().sum());
  SAYS("a Tensor with 0 elements cannot be converted to Scalar", Tensor().item());
  BAD(Tensor().backward());
  SAYS("output with shape [2, 3] doesn't match the broadcast shape [2, 2, 3]", x.clone().add_(c.randn({2, 2, 3})));
  SAYS("result type Float can't be cast to the desired output type Long", i.clone().add_(0.5));
  SAYS("result type Float can't be cast to the desired output type Long", i.clone().div_(2));
  SAYS("result type Float can't be cast to the desired output type Long", i.clone().mul_(x));
  SAYS("result type Long can't be cast to the desired output type Bool", b.clone().add_(1));
  SAYS("Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or", b - b);
  SAYS("Negation, the `-` operator, on a bool tensor is not supported. If you are trying to", -b);
  SAYS("not implemented for 'Float'", x & x);
  SAYS("not implemented for 'Float'", ~x);
  BAD(i.div(torch::zeros({3}, torch::kLong), "trunc"));
  BAD(i.fmod(0));
  BAD(i.remainder(torch::zeros({3}, torch::kLong)));
  BAD(torch::floor_divide(i, 0));
  SAYS("expected rounding_mode to be one of None, 'trunc', or 'floor' but found 'round'", x.div(2, "round"));
  SAYS("Integers to negative integer powers are not allowed", i.pow(-2));
  SAYS("result type Float can't be cast to the desired output type Long", i.clone().sqrt_());
  SAYS("result type Float can't be cast to the desired output type Long", i.clone().sigmoid_());
  SAYS("expected dtype", torch::lerp(x, i, 0.5));
  SAYS("The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
       torch::lerp(x, other, 0.5));
  SAYS("The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
       torch::addcmul(x, other, other));
  SAYS("polygamma(n, x) does not support negative n", x.polygamma(-1));
  Tensor out = i.clone();
  SAYS("result type Float can't be cast to the desired output type Long", torch::sigmoid_out(out, x));
  SAYS("result type Float can't be cast to the desired output type Long", torch::add_out(out, x, x));
  SAYS("Float did not match Long", x.allclose(i));
  SAYS("The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1", x.allclose(other));
  SAYS("rtol must be greater than or equal to zero, but got -1", x.isclose(x, -1));
  SAYS("a Tensor with 6 elements cannot be converted to Scalar", x.item());
  SAYS("a Tensor with 0 elements cannot be converted to Scalar", c.randn({0}).item<float>());
  SAYS("Boolean value of Tensor with more than one value is ambiguous", bool(x.is_nonzero()));
  SAYS("expected scalar type Int but found Float", x.data_ptr<int>());
  BAD(x.accessor<float, 3>());
  SAYS("expected scalar type Double but found Float", x.accessor<double, 2>());
  SAYS("Only Tensors of floating point and complex dtype can require gradients", i.requires_grad_());
  SAYS("you can only change requires_grad flags of leaf variables. If you want to use a computed",
       x.clone().requires_grad_().mul(2).requires_grad_(false));
}

PARITY_CASE(bad_input, factories) {
  const Tensor x = c.randn({2, 3});
  BAD(x.to(torch::kCUDA));
  BAD(torch::empty({2}, torch::kCUDA));
  SAYS("Trying to create tensor with negative dimension -2: [-2]", torch::empty({-2}));
  SAYS("Storage size calculation overflowed with sizes=[1099511627776, 1099511627776]",
       torch::zeros({1ll << 40, 1ll << 40}));
  SAYS("Trying to create tensor with negative dimension -1: [-1]", torch::full({-1}, 1));
  SAYS("n must be greater or equal to 0, got -1", torch::eye(-1));
  SAYS("number of steps must be non-negative", torch::linspace(0, 1, -1));
  SAYS("number of steps must be non-negative", torch::logspace(0, 1, -1));
  SAYS("step must be nonzero", torch::arange(0, 5, 0));
  SAYS("upper bound and lower bound inconsistent with step sign", torch::arange(5, 0, 1));
  SAYS("upper bound and lower bound inconsistent with step sign", torch::range(5, 0, 1));
  SAYS("dimensionality of sizes (2) must match dimensionality of strides (1)", torch::empty_strided({2, 2}, {1}));
  BAD(torch::empty_strided({2}, {-1}));
  SAYS("random_ expects 'from' to be less than 'to', but got from=5 >= to=5", torch::randint(5, 5, {2}));
  SAYS("Trying to create tensor with negative dimension -1", torch::randperm(-1));
  SAYS("Trying to create tensor with negative dimension -1: [-1]", torch::rand({-1}));
  SAYS("Expected p_in >= 0 && p_in <= 1 to be true, but got false", torch::bernoulli(c.values({2})));
  SAYS("cannot sample n_sample <= 0 samples", torch::multinomial(torch::ones({2}), 0));
  SAYS("cannot sample n_sample > prob_dist.size(-1) samples without replacement",
       torch::multinomial(torch::ones({2}), 3));
  SAYS("normal expects std >= 0.0, but found std -1", torch::normal(0.0, -1.0, {2}));
}

PARITY_CASE(bad_input, reductions) {
  const Tensor x = c.randn({2, 3}), i = c.randint(0, 5, {2, 3}), none = c.randn({2, 0});
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", x.sum(2));
  SAYS("dim 0 appears multiple times in the list of dims", x.sum(Sizes({0, 0})));
  SAYS("appears multiple times in the list of dims", x.sum(Sizes({0, -2})));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 3)", x.mean(3));
  SAYS("mean(): could not infer output dtype. Input dtype must be either a floating point or", i.mean());
  SAYS("std and var only support floating point and complex dtypes", i.var());
  SAYS("std and var only support floating point and complex dtypes", i.std(0));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 4)", x.prod(4));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 5)", x.var(Sizes({5})));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", x.max(2));
  SAYS("Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim", none.max());
  SAYS("Expected reduction dim 1 to have non-zero size", none.max(1));
  SAYS("Expected reduction dim 1 to have non-zero size", none.min(1));
  SAYS("Expected reduction dim", none.amax(1));
  SAYS("Expected reduction dim to be specified for input.numel() == 0", none.amin());
  SAYS("Expected reduction dim 1 to have non-zero size", none.argmin(1));
  BAD(none.aminmax());
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", x.argmax(2));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", x.any(2));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", x.logsumexp(2));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", x.cumsum(2));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got -3)", x.cumprod(-3));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", x.cummax(2));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", x.logcumsumexp(2));
  SAYS("order must be non-negative but got -1", x.diff(-1));
  SAYS("diff expects input to be at least one-dimensional", c.randn({}).diff());
  SAYS("expected a matrix, but got tensor with dim 1", c.randn({3}).trace());
  SAYS("Expected reduction dim 1 to have non-zero size", none.median(1));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", x.median(2));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", x.mode(2));
  SAYS("Expected reduction dim 1 to have non-zero size", none.mode(1));
  SAYS("q must be in the range [0, 1] but got 1.5", x.quantile(1.5));
  SAYS("q must be in the range [0, 1] but got -0.1", x.quantile(-0.1));
  SAYS("input tensor must be either float or double dtype", i.quantile(0.5));
  BAD(x.bincount());
  SAYS("only supports 1-d non-negative integral inputs", torch::tensor({-1, 2}).bincount());
  SAYS("bins must be > 0, but got 0", x.histc(0));
  SAYS("max must be larger than min", x.histc(5, 3, 1));
  SAYS("range of [0, nan] is not finite", c.values({NAN, 1}).histc(4, 0, NAN));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 5)", x.norm(2, 5));
  SAYS("input dtype should be either floating point or complex. Got Long instead", i.norm());
  SAYS("non-positive-norm not supported", x.renorm(-1, 0, 1));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 3)", x.renorm(2, 3, 1));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", x.sort(2));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", x.argsort(2, true));
  SAYS("selected index k out of range", x.topk(4));
  SAYS("selected index k out of range", x.topk(-1));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", x.topk(1, 2));
  SAYS("selected number k out of range for dimension 1", x.kthvalue(0));
  SAYS("selected number k out of range for dimension 1", x.kthvalue(4));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", torch::softmax(x, 2));
  SAYS("not implemented for 'Long'", torch::softmax(i, 0));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got -3)", torch::log_softmax(x, -3));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", x.count_nonzero(Sizes({2})));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", torch::cosine_similarity(x, x, 2));
  SAYS("The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
       torch::cosine_similarity(x, c.randn({4})));
}

PARITY_CASE(bad_input, products) {
  const Tensor a = c.randn({2, 3}), b = c.randn({3, 4}), v = c.randn({3}), i = c.randint(0, 5, {3, 4});
  const Tensor batch = c.randn({2, 3, 4}), number = c.randn({});
  SAYS("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)", a.mm(a));
  SAYS("expected m1 and m2 to have the same dtype", a.mm(i));
  SAYS("mat2 must be a matrix", a.mm(v));
  SAYS("size mismatch, got", a.mv(c.randn({2})));
  SAYS("vector + matrix @ vector expected, got", a.mv(b));
  SAYS("inconsistent tensor size, expected tensor [3] and src [2] to have the same number of", v.dot(c.randn({2})));
  SAYS("1D tensors expected, but got 1D and 2D tensors", v.dot(b));
  SAYS("outer: Expected 1-D argument vec2, but got 2-D", v.outer(b));
  SAYS("Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [2, 3]", batch.bmm(batch));
  SAYS("batch2 must be a 3D tensor", batch.bmm(a));
  SAYS("Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [3, 4]",
       batch.bmm(c.randn({3, 4, 2})));
  SAYS("both arguments to matmul need to be at least 1D, but they are 2D and 0D", a.matmul(number));
  SAYS("The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
       batch.matmul(c.randn({3, 4, 2})));
  SAYS("expected m1 and m2 to have the same dtype", a.matmul(b.to(torch::kHalf)));
  SAYS("The expanded size of the tensor (4) must match the existing size (3) at non-singleton", torch::addmm(v, a, b));
  SAYS("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)", torch::addmm(number, a, a));
  BAD(torch::addmv(v, a, v));
  SAYS("Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [2, 3]",
       torch::baddbmm(batch, batch, batch));
  BAD(torch::addbmm(a, batch, batch));
  SAYS("2) at non-singleton dimension 0", torch::addr(a, v, v));
  SAYS("fewer operands were provided than specified in the equation", torch::einsum("ij,jk->ik", {a}));
  SAYS("does not appear in the equation for any input operand", torch::einsum("ij,jk->il", {a, b}));
  SAYS("which does not broadcast with previously seen size 2", torch::einsum("ij,ij->", {a, b}));
  SAYS("the number of subscripts in the equation (3) does not match the number of dimensions (2)",
       torch::einsum("ijk->i", {a}));
  SAYS("in the equation string, subscripts must be in [a-zA-Z]", torch::einsum("i1->i", {a}));
  SAYS("appears more than once in the output", torch::einsum("ij->ii", {a}));
  SAYS("contracted dimensions need to match, but first has size 2 in dim 0 and second has size 3",
       torch::tensordot(a, b, {0}, {0}));
  SAYS("both dimension lists should have same length", torch::tensordot(a, b, {0, 1}, {0}));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", torch::tensordot(a, b, {2}, {0}));
  SAYS("cannot be multiplied", torch::chain_matmul({a, a}));
  SAYS("X1 and X2 must have the same number of columns", torch::cdist(a, b));
  SAYS("cdist only supports non-negative p values", torch::cdist(a, a, -1));
  SAYS("pdist only supports 2D tensors, got: 1D", torch::pdist(v));
  SAYS("The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
       torch::pairwise_distance(a, b));
  SAYS("Expected a proper Tensor but got None (or an undefined Tensor in C++)", torch::kron(a, Tensor()));
}

PARITY_CASE(bad_input, linear_algebra) {
  const Tensor a = c.randn({2, 3}), b = c.randn({3, 4}), v = c.randn({3});
  SAYS("linalg.inv: A must be batches of square matrices, but they are 2 by 3 matrices", torch::linalg_inv(a));
  SAYS("linalg.det: A must be batches of square matrices, but they are 2 by 3 matrices", torch::linalg_det(a));
  SAYS("linalg.det: Expected a floating point or complex tensor as input. Got Long",
       torch::linalg_det(torch::ones({2, 2}, torch::kLong)));
  SAYS("linalg.cholesky: The factorization could not be completed because the input is not",
       torch::linalg_cholesky(torch::full({2, 2}, -1.0f)));
  SAYS("linalg.solve: A must be batches of square matrices, but they are 2 by 3 matrices", torch::linalg_solve(a, b));
  SAYS("linalg.solve: Incompatible shapes of A and B for the equation AX = B (2x2 and 3x1)",
       torch::linalg_solve(torch::eye(2), c.randn({3})));
  SAYS("linalg.qr: The input tensor A must have at least 2 dimensions", torch::linalg_qr(v));
  SAYS("qr received unrecognized mode 'half' but expected one of 'reduced' (default), 'r', or",
       torch::linalg_qr(a, "half"));
  SAYS("linalg.svd: The input tensor A must have at least 2 dimensions", torch::linalg_svd(v));
  SAYS("linalg.eigh: A must be batches of square matrices, but they are 2 by 3 matrices", torch::linalg_eigh(a));
  SAYS("Expected UPLO argument to be 'L' or 'U', but got X", torch::linalg_eigh(torch::eye(2), "X"));
  SAYS("linalg.svd: The algorithm failed to converge because the input matrix contained",
       torch::linalg_svd(torch::full({2, 2}, NAN)));
  SAYS("linalg.cholesky: The factorization could not be completed because the input is not",
       torch::linalg_cholesky(torch::full({2, 2}, NAN)));
  SAYS("linalg.matrix_power: A must be batches of square matrices", torch::linalg_matrix_power(a, 2));
  SAYS("linalg.inv: The diagonal element 1 is zero, the inversion could not be completed because",
       torch::linalg_matrix_power(torch::zeros({2, 2}), -1));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)",
       torch::linalg_vector_norm(a, 2, Sizes({2})));
  BAD(torch::bilinear(a, a, c.randn({4, 2, 2})));
  SAYS("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x3)", torch::linear(a, b));
  SAYS("3) at non-singleton dimension 1", torch::linear(a, c.randn({4, 3}), c.randn({3})));
  SAYS("expected m1 and m2 to have the same dtype", torch::linear(a, c.randn({4, 3}, torch::kDouble)));
  SAYS("x must be a one-dimensional tensor", torch::vander(a));
  BAD(torch::cross(v, c.randn({2})));
}
