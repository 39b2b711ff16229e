// Sparse tensors: of coordinates, perhaps twice the same ones, and of compressed rows.
#include "calls.h"

using random_calls::Inputs;
using random_calls::joined;
using random_calls::Shape;
using random_calls::Tensors;
using torch::Tensor;

namespace {

/// Up to six values at random places of a tensor of `shape`, whose last `dense` dimensions are in the values.
Tensor sparse(Inputs& in, const Shape& shape, size_t dense = 0) {
  const int64_t count = in.between(0, 6);
  std::vector<Tensor> places;
  for (size_t d = 0; d + dense < shape.size(); ++d) places.push_back(in.integers({count}, 0, shape[d] - 1));
  const Tensor values = in.tensor(joined({count}, Shape(shape.end() - dense, shape.end())));
  const Tensor t = at::sparse_coo_tensor(torch::stack(places), values, shape);  // torch:: has no gradient in LibTorch
  return in.coin() ? t.coalesce() : t;
}

/// What a result has in it, whatever its layout.
Tensors parts(const Tensor& t) {
  if (t.layout() == torch::kSparse) {
    const Tensor sorted = t.coalesce();
    return {sorted.to_dense(), sorted.indices(), sorted.values().detach(),
            torch::tensor({t.sparse_dim(), t.dense_dim()})};
  }
  if (t.layout() == torch::kSparseCsr) return {t.to_dense(), t.crow_indices(), t.col_indices(), t.values().detach()};
  return {t};
}

/// f(sparse, in) of one of two or three dimensions.
template <class Function>
Tensors of(Inputs& in, Function f) {
  in.full_precision();
  in.second_gradients = false;
  const Shape shape = in.numbers(in.between(2, 3), 1, 4);
  return parts(f(sparse(in, shape, in.one_of(3) ? 1 : 0)));
}

/// f(sparse, other), the other sparse or not.
template <class Function>
Tensors of_two(Inputs& in, Function f) {
  in.full_precision();
  in.second_gradients = false;
  const Shape shape = in.numbers(2, 1, 4);
  const Tensor a = sparse(in, shape), b = in.coin() ? sparse(in, shape) : in.tensor(shape);
  return parts(f(a, b));
}

/// f(sparse matrix, matrix), the first perhaps of compressed rows.
template <class Function>
Tensors product(Inputs& in, Function f) {
  in.full_precision();
  in.second_gradients = false;
  const Shape n = in.numbers(3, 1, 4);
  Tensor a = sparse(in, {n[0], n[1]});
  if (in.coin()) a = a.detach().to_sparse_csr();
  const Tensor b = in.tensor({n[1], n[2]});
  return parts(f(a, b));
}

}  // namespace

DRAWN(of(in, [](auto s) { return s.to_dense(); }))
DRAWN(of(in, [](auto s) { return s.coalesce(); }))
DRAWN(of(in, [&](auto s) { return s.transpose(in.between(0, 1), 0); }))
DRAWN(of(in, [](auto s) { return s * 2; }))
DRAWN(of(in, [](auto s) { return s / 4; }))
DRAWN(of(in, [](auto s) { return s.neg(); }))
DRAWN(of(in, [](auto s) { return s.abs(); }))
DRAWN(of(in, [](auto s) { return s.sin(); }))
DRAWN(of(in, [](auto s) { return s.pow(2); }))
DRAWN(of(in, [](auto s) { return s.sqrt(); }))
DRAWN(of(in, [](auto s) { return s.sum(); }))
DRAWN(of(in, [&](auto s) { return torch::_sparse_sum(s, {in.between(-2, 1)}); }))
DRAWN(of(in, [&](auto s) { return s.index_select(in.between(0, 1), torch::tensor({0, 0})); }))
DRAWN(of(in, [&](auto s) { return s.select(0, in.between(-1, 0)); }))
DRAWN(of(in, [](auto s) { return s.to(torch::kDouble); }))
DRAWN(of(in, [](auto s) { return s.clone(); }))
DRAWN(of(in, [](auto s) { return s.detach().zero_(); }))
DRAWN(of(in, [](auto s) { return torch::zeros_like(s); }))
DRAWN(of(in, [](auto s) { return s.unsqueeze(0); }))
DRAWN(of(in, [](auto s) { return torch::cat({s, s}, 0); }))
DRAWN(of(in, [](auto s) { return torch::norm(s); }))
DRAWN(of(in, [](auto s) { return s.detach().mul_(3); }))
DRAWN(of(in, [](auto s) { return s.isnan(); }))
DRAWN(of(in, [](auto s) { return s.to_dense().to_sparse(1); }))
DRAWN(of(in, [](auto s) { return s.to_dense().to_sparse(); }))
DRAWN(of(in, [](auto s) { return s.coalesce().to_sparse_csr(); }))
DRAWN(of(in, [](auto s) { return torch::_sparse_softmax(s, 0); }))
DRAWN(of(in, [](auto s) { return torch::_sparse_log_softmax(s, 1); }))
DRAWN(of(in, [](auto s) { return s.sparse_resize_({5, 5, 5}, s.sparse_dim(), s.dense_dim()); }))
DRAWN(of_two(in, [](auto& a, auto& b) { return a + b; }))
DRAWN(of_two(in, [](auto& a, auto& b) { return b + a; }))
DRAWN(of_two(in, [](auto& a, auto& b) { return a - b; }))
DRAWN(of_two(in, [](auto& a, auto& b) { return a * b; }))
DRAWN(of_two(in, [](auto& a, auto& b) { return b.sparse_mask(a.coalesce()); }))
DRAWN(of_two(in, [](auto& a, auto& b) { return torch::add(b, a, 0.5); }))
DRAWN(of_two(in, [](auto& a, auto& b) { return b.detach().clone().add_(a.detach(), 2); }))
DRAWN(product(in, [](auto& a, auto& b) { return torch::mm(a, b); }))
DRAWN(product(in, [](auto& a, auto& b) { return torch::matmul(a, b); }))
DRAWN(product(in, [](auto& a, auto& b) { return torch::matmul(a, b.select(1, 0)); }))
DRAWN(product(in, [](auto& a, auto& b) { return torch::_sparse_mm(a, b); }))
DRAWN(product(in, [](auto& a, auto& b) { return torch::addmm(torch::ones({1, 1}, b.options()), a, b, 0.5, 2); }))
DRAWN(product(in, [](auto& a, auto& b) { return torch::sspaddmm(a, a, b); }))
DRAWN(product(in, [](auto& a, auto& b) { return torch::mm(a, a.t()); }))
