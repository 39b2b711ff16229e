// Wrong calls of functions of tensors: what programs search messages for.
#include "parity/bad.h"

#include <vector>

using torch::Tensor;
using torch::indexing::Slice;
namespace nn = torch::nn;

PARITY_CASE(bad_tensors, products_and_shapes) {
  const Tensor a = c.randn({2, 3}), b = c.randn({4, 5}), v = c.randn({3}), t = c.randn({2, 3, 4}), z = c.randn({});
  const Tensor i = torch::tensor({0, 1}), e = torch::empty({0});
  SAYS("size mismatch, got input (3), mat (2x3), vec (3)", torch::addmv(v, a, v));
  SAYS("Expected one or more matrices", torch::chain_matmul({}));
  SAYS("inputs dimension 0 must have length 3. Got 2 and 2", torch::cross(a, a, 0));
  SAYS("cdist only supports at least 2D tensors, X1 got: 1D", torch::cdist(v, v));
  SAYS("expected total dims >= 2, but got total dims = 1", v.rot90());
  SAYS("repeated dim in `destination` ([0, 0])", torch::movedim(a, {0, 1}, {0, 0}));
  SAYS("Input tensors must have 2 or fewer dimensions. Input 1 has 3 dimensions", torch::block_diag({a, t}));
  SAYS("Expect a 1D vector, but got shape [2, 3]", torch::combinations(a));
  SAYS("expected scalar type Long but found Int", torch::nll_loss(a, i.to(torch::kInt)));
  SAYS("linalg.cholesky: The factorization could not be completed because the input",
       torch::linalg_cholesky(-torch::eye(3)));
  SAYS("linalg.inv: The diagonal element 1 is zero, the inversion could not be", torch::inverse(torch::zeros({2, 2})));
  SAYS("view size is not compatible with input tensor's size and stride (at least one", a.t().view({6}));
  SAYS("cannot reshape tensor of 0 elements into shape [-1, 0] because the", e.view({-1, 0}));
  SAYS("the number of sizes provided (1) must be greater or equal to the number of", a.expand({3}));
  SAYS("Target sizes: [4, 5].  Tensor sizes: [2, 3]", a.expand_as(b));
  SAYS("number of dimensions in the tensor input does not match the length of the", a.permute({0}));
  SAYS("slice() cannot be applied to a 0-dim tensor", z.slice(0));
  SAYS("chunk expects at least a 1-dimensional tensor", z.chunk(1));
  SAYS("split_with_sizes expects split_sizes have only non-negative entries, but got", a.split_with_sizes({-1, 3}));
  SAYS("Invalid source or destination dims: source ([0, 1] dims) should contain the", a.movedim({0, 1}, {0}));
  SAYS("self.dim() cannot be 0 to view Float as Half (different element sizes)", z.view(torch::kHalf));
  SAYS("repeated dim in `source` ([0, 0])", torch::movedim(a, {0, 0}, {0, 1}));
  SAYS("expects a non-empty TensorList", torch::stack({}));
  SAYS("indexing must be one of \"xy\" or \"ij\", but received: xx", torch::meshgrid({v, v}, "xx"));
  SAYS("expected condition to be a boolean tensor", torch::where(a, a, a));
  SAYS("`lengths` array must be sorted in decreasing order when `enforce_sorted` is",
       nn::utils::rnn::pack_sequence({torch::randn({2}), torch::randn({3})}));
  SAYS("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)", torch::matmul(a, b));
  SAYS("The expanded size of the tensor (2) must match the existing size (7) at",
       torch::addmm(torch::randn({7, 7}), a, a.t()));
  SAYS("expected a matrix, but got tensor with dim 3", torch::trace(t));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 5)", a.permute({0, 5}));
  SAYS("start out of range (expected to be in range of [-2, 2], but got -3)", a.narrow(0, -3, 1));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", a.unbind(2));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 3)", a.flip({3}));
  SAYS("divisible by 2 to view Float as Double", a.view(torch::kDouble));
  SAYS("Sizes of tensors must match except in dimension 1. Expected size 2 but got", torch::column_stack({a, v}));
}

PARITY_CASE(bad_tensors, undefined_in_cat) {
  const Tensor a = c.randn({2, 3}), leaf = c.leaf({2, 3});
  c.out("skipped", torch::cat({a, Tensor(), a}));
  c.gradients("of the others", {leaf}, [&] { return torch::cat({leaf, Tensor(), leaf * 2}, 1); });
  BAD(torch::cat({Tensor(), a}));
  BAD(torch::stack({a, Tensor()}));
}

PARITY_CASE(bad_tensors, indices_dtypes_and_gradients) {
  Tensor a = c.randn({2, 3}), g = c.leaf({2, 3});
  const Tensor b = c.randn({4, 5}), d = c.randn({2, 3}, torch::kDouble), v = c.randn({3}), z = c.randn({});
  const Tensor l = torch::ones({2, 3}, torch::kLong), bo = torch::ones({2, 3}, torch::kBool);
  SAYS("step must be greater than zero", a.index({Slice(0, 2, -1)}));
  SAYS("slice step cannot be zero", a.index({Slice(0, 2, 0)}));
  SAYS("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or", z.index({0}));
  SAYS("expected self and source to have same dtypes but got", a.clone().masked_scatter_(bo, d));
  SAYS("Expected tensor for argument #1 'indices' to have one of the following scalar",
       torch::embedding(a, torch::tensor({0.5})));
  SAYS("mean(): could not infer output dtype. Input dtype must be either a floating", l.mean());
  SAYS("mean(): could not infer output dtype. Input dtype must be either a floating", bo.mean());
  SAYS("q values must be in the range [0, 1]", a.quantile(torch::tensor({0.5, 2.})));
  SAYS("the first N-1 dimensions of boundaries tensor and input value tensor must", torch::searchsorted(a, b));
  SAYS("boundaries tensor must be 1 dimension, but got dim(2)", torch::bucketize(a, a));
  SAYS("Subtraction, the `-` operator, with two bool tensors is not supported. Use", bo - bo);
  SAYS("Negation, the `-` operator, on a bool tensor is not supported. If you are", -bo);
  SAYS("Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve,", torch::Device("gpu"));
  SAYS("Invalid device string: 'cpu:x'", torch::Device("cpu:x"));
  SAYS("Invalid device string: 'cuda:-2'", torch::Device("cuda:-2"));
  SAYS("Invalid device string: 'cpu:1:2'", torch::Device("cpu:1:2"));
  SAYS("Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor`", a.set_data(Tensor()));
  SAYS("Tensor must have a last dimension of size 2", torch::view_as_complex(v));
  SAYS("At least one of 'min' or 'max' must not be None", a.clamp());
  SAYS("Float did not match Double", a.allclose(d));
  SAYS("of the differentiated Tensors appears to not have been used in the graph. Set",
       torch::autograd::grad({g.sum()}, {torch::randn({2}, torch::requires_grad())}));
  SAYS("Trying to backward through the graph a second time (or directly access saved", {
    auto s = g.exp().sum();
    s.backward();
    s.backward();
  });
  SAYS("one of the variables needed for gradient computation has been modified by an", {
    auto q = g.exp();
    auto s = q.sum();
    q.add_(1);
    s.backward();
  });
  SAYS("index 5 is out of bounds for dimension 0 with size 2", a.index({5}));
  SAYS("index out of range in self", a.index_select(0, torch::tensor({2})));
  SAYS("out of range: tried to access index 6 on a tensor of 6 elements", a.take(torch::tensor({6})));
  SAYS("Expected reduction dim 1 to have non-zero size", torch::empty({2, 0}).argmax(1));
  SAYS("only supports 1-d non-negative integral inputs", l.bincount());
  SAYS("is not supported for", a.to(torch::kComplexFloat).floor());
  SAYS("result type Float can't be cast to the desired output type Long",
       torch::tensor({1., 2.}).to(torch::kLong).sigmoid_());
  SAYS("The size of tensor a (3) must match the size of tensor b (5) at non-singleton", torch::addcmul(a, b, a));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 5)", torch::cumprod(a, 5));
}
