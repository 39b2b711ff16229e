// Indices, gathers and scatters used wrongly.
#include "parity/bad.h"

using torch::Tensor;
using torch::indexing::Slice;

PARITY_CASE(bad_indexing, indexing) {
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

PARITY_CASE(bad_indexing, gather_and_scatter) {
  const Tensor x = c.randn({4, 5});
  const Tensor far = torch::tensor({0, 5}), real = torch::tensor({0.5f});
  SAYS("index out of range in self", x.index_select(0, far));
  SAYS("index out of range in self", x.index_select(0, torch::tensor({-1})));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", x.index_select(2, torch::tensor({0})));
  SAYS("out of range: tried to access index 20 on a tensor of 20 elements.", x.take(torch::tensor({0, 20})));
  SAYS("out of range: tried to access index -21 on a tensor of 20 elements.", x.take(torch::tensor({-21})));
  SAYS("out of range: tried to access index 20 on a tensor of 20 elements.",
       x.clone().put_(torch::tensor({20}), c.randn({1})));
  SAYS("out of range: tried to access index -21 on a tensor of 20 elements.",
       x.put(torch::tensor({-21}), c.randn({1}), true));
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

PARITY_CASE(bad_indexing, index_functions) {
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

PARITY_CASE(bad_indexing, complex_fills) {
  const Tensor first = torch::tensor({0}), none = first.slice(0, 0, 0);
  const c10::complex<double> one(1, 0);
  const auto refused = [&](Tensor x) {
    SAYS("Converting complex Scalar to non-complex type is not supported", x.index_fill(0, first, one));
    SAYS("index_fill_(): Converting complex Scalar to non-complex type", x.index_fill_(0, first, one));
    SAYS("index_fill_(): Converting complex Scalar to non-complex type", x.index_fill_(0, none, one));
    SAYS("Converting complex Scalar to non-complex type", x.index_fill(0, first, torch::tensor(one)));
    SAYS("Converting complex Scalar to non-complex type", x.index_fill_(0, first, torch::tensor(one)));
    c.out("kept", x);
  };
  c.scope("float", [&] { refused(c.values({1, 2, 3})); });
  c.scope("long", [&] { refused(torch::arange(3)); });
  c.out("complex", c.randn({3}, torch::kComplexFloat).index_fill_(0, first, one));
}
