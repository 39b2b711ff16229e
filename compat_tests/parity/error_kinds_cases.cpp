// The kinds of errors: programs that catch c10::IndexError must not meet another one.
#include "parity/bad.h"
#include "parity/error_of.h"

using parity::kind_of;
using torch::Tensor;

#define KIND(...) c.text(#__VA_ARGS__, kind_of([&] { __VA_ARGS__; }))

PARITY_CASE(error_kinds, indices) {
  const Tensor x = c.randn({3, 4}), row = c.randn({4});
  const Tensor far = torch::tensor({0, 7}), wide = far.view({1, 2}), negative = torch::tensor({-9, 0});
  KIND(x.gather(1, wide));
  KIND(x.gather(0, negative.view({1, 2})));
  KIND(row.gather(0, far));
  KIND(x.clone().scatter_(1, wide, torch::ones({1, 2})));
  KIND(x.clone().scatter_(1, wide, 2.0));
  KIND(x.clone().scatter_add_(1, wide, torch::ones({1, 2})));
  KIND(x.scatter_reduce(1, wide, torch::ones({1, 2}), "amax"));
  KIND(x.index_select(0, far));
  KIND(row.index_select(0, negative));
  KIND(x.index_add(0, far, torch::ones({2, 4})));
  KIND(row.index_add(0, far, torch::ones({2})));
  KIND(x.index_copy(0, far, torch::ones({2, 4})));
  KIND(x.index_fill(0, far, 1));
  KIND(x.take(far + 12));
  KIND(x.clone().put_(far + 12, torch::ones({2})));
  KIND(x.clone().put_(torch::tensor({1, 2}), torch::ones({3})));
  KIND(torch::embedding(x, far));
  KIND(torch::embedding_bag(x, far, torch::tensor({0})));
  KIND(torch::embedding_bag(x, negative, torch::tensor({0}), false, 2));
  KIND(x.index({far}));
  KIND(x.clone().index_put_({far}, 1.0));
  KIND(torch::nll_loss(x, torch::tensor({0, 1, 4})));
  KIND(torch::one_hot(far, 3));
}

PARITY_CASE(error_kinds, bits) {
  const Tensor whole = torch::arange(3), real = c.randn({3});
  KIND(whole.clone().bitwise_and_(1.5));
  KIND(whole.clone().bitwise_or_(1.5));
  KIND(whole.clone().bitwise_xor_(real));
  KIND(whole.clone().bitwise_left_shift_(1.5));
  KIND(whole.bitwise_and(1.5));
  KIND(real.clone().bitwise_and_(1));
}

PARITY_CASE(error_kinds, matrices) {
  const Tensor m = torch::ones({2, 2}, torch::kLong), half = torch::ones({2, 2}, torch::kHalf);
  KIND(torch::linalg_eigh(m));
  KIND(torch::linalg_eigvalsh(m));
  KIND(torch::linalg_eigh(half));
  KIND(torch::linalg_lu(m));
  KIND(torch::linalg_lu_factor(m));
  KIND(torch::linalg_solve_triangular(m, m, true));
  KIND(torch::triangular_solve(m, m));
  KIND(torch::cholesky(m));
  KIND(torch::cholesky_inverse(m));
  KIND(torch::cholesky_solve(m, m));
  KIND(torch::linalg_householder_product(m, m[0]));
  KIND(torch::geqrf(m));
  KIND(torch::linalg_svd(m));
  KIND(torch::linalg_qr(m));
  KIND(torch::linalg_inv(m));
  KIND(torch::linalg_inv(half));
  KIND(torch::linalg_det(m));
  KIND(torch::linalg_cholesky(m));
  KIND(torch::linalg_svd(half));
  KIND(torch::linalg_svdvals(half));
  KIND(torch::linalg_cond(half));
  KIND(torch::linalg_qr(half));
  KIND(torch::linalg_eigvals(half.to(torch::kBFloat16)));
  KIND(torch::linalg_solve(half, half));
  KIND(torch::linalg_solve(m, m));
  KIND(torch::linalg_det(half));
  KIND(torch::linalg_slogdet(half));
  KIND(torch::linalg_matrix_norm(half, 2));
}

PARITY_CASE(error_kinds, dtypes) {
  const Tensor real = c.randn({4}), whole = torch::tensor({1, 2});
  KIND(torch::bincount(real));
  KIND(torch::bincount(torch::tensor({-1, 2})));
  KIND(torch::histc(whole, 4));
  KIND(torch::mse_loss(whole, whole));
  KIND(torch::smooth_l1_loss(whole, whole));
  KIND(torch::binary_cross_entropy(torch::ones({2}, torch::kLong), torch::ones({2}, torch::kLong)));
  KIND(torch::layer_norm(whole, {2}));
  KIND(torch::lerp(whole, whole, 0.5));
  KIND(torch::nll_loss(torch::ones({2, 2}, torch::kLong), torch::tensor({0, 1})));
  KIND(torch::cross_entropy_loss(torch::ones({2, 2}, torch::kLong), torch::tensor({0, 1})));
  KIND(torch::softmax(whole, 0));
  KIND(whole.mean());
}

PARITY_CASE(error_kinds, shapes) {
  const Tensor flat = c.randn({2, 3}), number = c.randn({});
  KIND(torch::nn::ReplicationPad2d(1)(flat));
  KIND(torch::nn::ReplicationPad2d(1)(c.randn({1, 1, 1, 2, 3})));
  KIND(torch::nn::ReplicationPad1d(1)(c.randn({1, 1, 2, 3})));
  KIND(torch::nn::ReflectionPad2d(1)(flat));
  KIND(torch::replication_pad1d(c.randn({1, 0, 3}), {1, 1}));
  KIND(torch::replication_pad2d(c.randn({1, 0, 3, 3}), {1, 1, 1, 1}));
  KIND(torch::reflection_pad3d(c.randn({1, 0, 3, 3, 3}), {1, 1, 1, 1, 1, 1}));
  KIND(torch::replication_pad1d(c.randn({0, 1, 3}), {1, 1}));
  KIND(torch::replication_pad1d(c.randn({1, 1, 3}), {-2, -1}));
  KIND(torch::reflection_pad1d(c.randn({1, 1, 3}), {-2, -1}));
  KIND(number.tensor_split(2));
  KIND(flat.select(0, 3));
  KIND(flat.transpose(0, 2));
  KIND(flat.narrow(0, 9, 1));
  KIND(flat.view({5}));
  KIND(flat.sum(3));
  KIND(torch::ones({0}).amax());
  KIND(torch::ones({0, 2}).amin({0}));
  KIND(torch::nn::ReplicationPad3d(1)(flat));
  KIND(flat.contiguous(torch::MemoryFormat::Preserve));
  KIND(flat.t().contiguous(torch::MemoryFormat::Preserve));
}

PARITY_CASE(error_kinds, training) {
  KIND(at::detail::createCPUGenerator().set_state(torch::ones({3})));
  const auto step_with_sparse = [](auto make) {
    auto p = torch::ones({2}, torch::requires_grad());
    p.mutable_grad() = torch::ones({2}).to_sparse();
    make(p).step();
  };
  KIND(step_with_sparse([](auto& p) { return torch::optim::Adam({p}); }));
  KIND(step_with_sparse([](auto& p) { return torch::optim::AdamW({p}); }));
  KIND(step_with_sparse([](auto& p) { return torch::optim::RMSprop({p}); }));
}

PARITY_CASE(error_kinds, steps_without_a_closure) {
  auto p = torch::ones({2}, torch::requires_grad());
  torch::optim::SGD sgd({p}, 0.5);
  (p * p).sum().backward();
  sgd.step({});
  sgd.step(nullptr);
  static_cast<torch::optim::Optimizer&>(sgd).step({});
  c.out("parameter", p.detach());
}

PARITY_CASE(error_kinds, memory_that_grows) {
  auto whole = torch::arange(4.0);
  const auto part = whole.slice(0, 1, 3);
  const auto storage = whole.storage();
  whole.resize_({8});
  whole.slice(0, 4).fill_(9);
  whole[1] = 42;
  c.out("part", part);
  c.value("bytes", static_cast<int64_t>(storage.nbytes()));
  c.value("alias", storage.data() == part.storage().data());
  whole.resize_({16});
  whole.slice(0, 8).fill_(7);
  whole[2] = 43;
  c.out("part again", part);
  c.out("whole", whole);
  part.resize_({20});
  whole[1] = 44;
  c.out("first of the part", part[0]);
  c.value("bytes again", static_cast<int64_t>(whole.storage().nbytes()));
}
