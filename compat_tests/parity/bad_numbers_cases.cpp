// Arithmetic, factories and reductions used wrongly.
#include "parity/bad.h"

using torch::Tensor;
using Sizes = at::IntArrayRef;
using Tensors = std::vector<Tensor>;

PARITY_CASE(bad_numbers, numbers) {
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

PARITY_CASE(bad_numbers, factories) {
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

PARITY_CASE(bad_numbers, reductions) {
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
