// Matrices by rows (CSR) and by columns (CSC): parts, conversions, functions, products, gradients, errors.
#include "parity/case.h"

using parity::Tensors;
using torch::Tensor;

namespace {

void parts(parity::Case& c, const std::string& name, const Tensor& t) {
  c.text(name + " layout", c10::str(t.layout()));
  if (t.layout() == torch::kStrided) return c.out(name, t);
  c.text(name + " kind", t.toString() + " " + std::to_string(t.sparse_dim()) + std::to_string(t.dense_dim()) + " " +
                             std::to_string(t._nnz()));
  c.layout(name + " size", torch::empty(t.sizes()));
  if (t.layout() == torch::kSparse) {
    c.out(name + " indices", t._indices());
    return c.out(name + " values", t._values());
  }
  const bool rows = t.layout() == torch::kSparseCsr;
  c.out(name + " compressed", rows ? t.crow_indices() : t.ccol_indices());
  c.out(name + " plain", rows ? t.col_indices() : t.row_indices());
  c.out(name + " values", t.values());
}

Tensor longs(std::initializer_list<int64_t> values) { return torch::tensor(std::vector<int64_t>(values)); }
/// (3, 4), 5 entries, an empty row.
Tensor csr(parity::Case& c, torch::Dtype dtype = torch::kFloat) {
  return torch::sparse_csr_tensor(longs({0, 2, 2, 5}), longs({0, 3, 0, 1, 2}), c.any({5}, dtype), {3, 4}, dtype);
}
/// (4, 4), 4 entries.
Tensor square(parity::Case& c) {
  return torch::sparse_csr_tensor(longs({0, 1, 2, 4, 4}), longs({1, 0, 1, 3}), c.randn({4}), {4, 4},
                                  torch::TensorOptions());
}
Tensor leaf(const Tensor& t) { return t.detach().clone().requires_grad_(true); }

void gradients(parity::Case& c, const std::string& name, const Tensors& inputs, const std::function<Tensor()>& fn) {
  const Tensor result = fn();
  parts(c, name, result.detach());
  c.text(name + " node", result.grad_fn()->name());
  result.sum().backward();
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Tensor g = inputs[k].grad();
    c.text(name + " layout of grad " + std::to_string(k), c10::str(g.layout()));
    c.out(name + " grad " + std::to_string(k), g.to_dense());
    inputs[k].mutable_grad().reset();
  }
}

}  // namespace

PARITY_CASE(sparse_compressed, made) {
  c.for_dtypes(parity::kAll, [&](torch::Dtype dtype) { parts(c, "csr", csr(c, dtype)); });
  const Tensor values = c.randn({3});
  const torch::TensorOptions none;
  parts(c, "no size", torch::sparse_csr_tensor(longs({0, 1, 3}), longs({2, 0, 1}), values, none));
  parts(c, "int32",
        torch::sparse_csr_tensor(longs({0, 1, 3}).to(torch::kInt), longs({2, 0, 1}).to(torch::kInt), values, {2, 3},
                                 none));
  parts(c, "csc", torch::sparse_csc_tensor(longs({0, 1, 1, 3}), longs({1, 0, 1}), values, {2, 3}, none));
  parts(c, "layout",
        torch::sparse_compressed_tensor(longs({0, 1, 1, 3}), longs({1, 0, 1}), values, {2, 3}, torch::kSparseCsc));
  parts(c, "unsafe", torch::_sparse_csr_tensor_unsafe(longs({0, 1, 3}), longs({2, 0, 1}), values, {2, 3}, none));
  parts(c, "in no order", torch::sparse_csr_tensor(longs({0, 1, 3}), longs({2, 1, 0}), values, {2, 3}, none));
  const Tensor leaf = torch::sparse_csr_tensor(longs({0, 1, 3}), longs({2, 0, 1}), values, {2, 3},
                                               torch::TensorOptions().requires_grad(true));
  c.value("leaf", leaf.requires_grad() && leaf.is_leaf());
  parts(c, "zeros", torch::zeros({2, 3}, torch::TensorOptions().layout(torch::kSparseCsr)));
  const Tensor s = csr(c);
  parts(c, "zeros_like", torch::zeros_like(s));
  parts(c, "ones_like", torch::ones_like(s));
  c.value("is", s.is_sparse_csr() && !s.is_sparse() && s.options().layout() == torch::kSparseCsr && !s.has_storage());
}

PARITY_CASE(sparse_compressed, conversions) {
  const Tensor s = csr(c), d = c.randn({4, 3}) * c.bools({4, 3});
  parts(c, "dense", s.to_dense());
  parts(c, "coo", s.to_sparse());
  parts(c, "coo 2", s.to_sparse(2));
  parts(c, "csc", s.to_sparse_csc());
  parts(c, "csc csr", s.to_sparse_csc().to_sparse_csr());
  parts(c, "csc dense", s.to_sparse_csc().to_dense());
  parts(c, "csc coo", s.to_sparse_csc().to_sparse());
  parts(c, "of dense", d.to_sparse_csr());
  parts(c, "csc of dense", d.to_sparse_csc());
  parts(c, "layout", d.to_sparse(torch::kSparseCsr));
  parts(c, "of coo", s.to_sparse().to_sparse_csr());
  const Tensor twice =
      torch::sparse_coo_tensor(torch::tensor({{0, 0, 1}, {1, 1, 0}}, torch::kLong), c.randn({3}), {2, 2});
  parts(c, "of uncoalesced", twice.to_sparse_csr());
  for (bool small : {false, true}) {
    c.out("rows", torch::_convert_indices_from_coo_to_csr(longs({0, 0, 2}), 4, small));
    c.out("coordinates", torch::_convert_indices_from_csr_to_coo(s.crow_indices(), s.col_indices(), small, false));
    c.out("transposed", torch::_convert_indices_from_csr_to_coo(s.crow_indices(), s.col_indices(), small, true));
  }
}

PARITY_CASE(sparse_compressed, copies) {
  const Tensor s = csr(c);
  parts(c, "clone", s.clone());
  parts(c, "detach", s.detach());
  parts(c, "double", s.to(torch::kDouble));
  Tensor t = s.clone();
  t.copy_(s.to(torch::kDouble) * 2);
  parts(c, "copied", t);
  t.values().mul_(10);
  parts(c, "values changed", t);
  t.zero_();
  parts(c, "cleared", t);
  parts(c, "t", s.t());
  parts(c, "transposed twice", s.transpose(0, 1).t());
  parts(c, "row", s[2]);
  parts(c, "column", s.select(1, 0));
  parts(c, "mask", c.randn({3, 4}).sparse_mask(s));
}

PARITY_CASE(sparse_compressed, functions) {
  const Tensor s = csr(c), q = square(c), x = c.randn({3, 4}), y = c.randn({4, 4});
  for (const auto& [name, f] : std::vector<std::pair<std::string, std::function<Tensor(const Tensor&)>>>{
           {"neg", [](const Tensor& t) { return -t; }},
           {"abs", [](const Tensor& t) { return t.abs(); }},
           {"sin", [](const Tensor& t) { return t.sin(); }},
           {"tanh", [](const Tensor& t) { return torch::tanh(t); }},
           {"relu", [](const Tensor& t) { return torch::relu(t); }},
           {"sign", [](const Tensor& t) { return t.sign(); }},
           {"isnan", [](const Tensor& t) { return torch::isnan(t); }},
           {"expm1", [](const Tensor& t) { return torch::expm1(t); }},
           {"tan", [](const Tensor& t) { return t.tan(); }}}) {
    parts(c, name, f(s));
    parts(c, name + " csc", f(s.t()));
  }
  parts(c, "0-d", s * torch::tensor(2.F));
  parts(c, "number", s * 2);
  parts(c, "add", q + square(c));
  parts(c, "add alpha", torch::add(q, q, 0.5));
  const Tensor other = torch::sparse_csr_tensor(longs({0, 2, 2, 3, 5}), longs({0, 1, 2, 1, 3}), c.randn({5}), {4, 4},
                                                torch::TensorOptions());
  parts(c, "add other entries", q + other);
  parts(c, "add other entries alpha", torch::add(other, q, -2));
  parts(c, "dense add", y + q);
  parts(c, "add dense", q + y);
  parts(c, "mul", q * q);
  parts(c, "mul dense", s * x);
  parts(c, "dense mul", x * s);
  Tensor changed = q.clone();
  changed.add_(q).mul_(3).neg_();
  parts(c, "in place", changed);
  Tensor dense = y.clone();
  dense.add_(q);
  parts(c, "dense in place", dense);
  parts(c, "sum", s.sum());
  parts(c, "sum 0", s.sum(at::IntArrayRef{0}, true));
  parts(c, "sum 1", s.sum(at::IntArrayRef{1}, true));
}

PARITY_CASE(sparse_compressed, products) {
  for (torch::Dtype dtype : {torch::kFloat, torch::kDouble, torch::kComplexFloat}) {
    const std::string name = c10::str(dtype) + " ";
    const Tensor s = csr(c, dtype), d = c.any({4, 5}, dtype), e = c.any({5, 3}, dtype), v = c.any({4}, dtype);
    const Tensor m = c.any({3, 5}, dtype);
    parts(c, name + "mm", s.mm(d));
    parts(c, name + "matmul", torch::matmul(s, d));
    parts(c, name + "strided", s.mm(c.any({5, 4}, dtype).t()));
    parts(c, name + "csc", s.to_sparse_csc().mm(d));
    parts(c, name + "dense first", e.mm(s));
    parts(c, name + "dense csc", e.mm(s.to_sparse_csc()));
    parts(c, name + "mv", s.mv(v));
    parts(c, name + "matmul vector", torch::matmul(s, v));
    parts(c, name + "addmm", torch::addmm(m, s, d, 2, 3));
    parts(c, name + "addmv", torch::addmv(c.any({3}, dtype), s, v));
    parts(c, name + "_sparse_mm", torch::_sparse_mm(s, d));
    parts(c, name + "sparse", s.mm(s.t().to_sparse_csr()));
  }
  const Tensor s = csr(c);
  Tensor out = torch::zeros({3, 5});
  torch::mm_out(out, s, c.randn({4, 5}));
  parts(c, "out", out);
  torch::nn::Linear linear(4, 2);
  parts(c, "linear", linear(s).detach());
}

PARITY_CASE(sparse_compressed, gradients) {
  const Tensor s = leaf(csr(c)), q = leaf(square(c)), d = leaf(c.randn({4, 5})), e = leaf(c.randn({5, 3}));
  const Tensor m = leaf(c.randn({3, 5})), x = leaf(c.randn({3, 4})), y = leaf(c.randn({4, 4}));
  gradients(c, "mm", {s, d}, [&] { return s.mm(d); });
  gradients(c, "dense first", {s, e}, [&] { return e.mm(s); });
  gradients(c, "_sparse_mm", {s}, [&] { return torch::_sparse_mm(s, d.detach()); });
  gradients(c, "sparse", {q}, [&] { return q.mm(q.detach()); });
  gradients(c, "dense", {s}, [&] { return s.to_dense(); });
  gradients(c, "of dense", {x}, [&] { return x.to_sparse_csr(); });
  gradients(c, "csc", {s}, [&] { return s.to_sparse_csc(); });
  gradients(c, "values", {s}, [&] { return s.values(); });
  gradients(c, "neg", {s}, [&] { return -s; });
  gradients(c, "add", {q}, [&] { return q + q; });
  gradients(c, "dense add", {q, y}, [&] { return y + q; });
  gradients(c, "sum", {s}, [&] { return s.sum(); });
  gradients(c, "sum 0", {s}, [&] { return s.sum(at::IntArrayRef{0}, true); });
  gradients(c, "clone", {s}, [&] { return s.clone().mm(d.detach()); });
  for (int k = 0; k < 2; ++k) s.mm(d.detach()).sum().backward();
  c.out("accumulated", s.grad());
  const Tensor product = torch::addmm(m, s.detach(), d, 2, 3);
  product.sum().backward();
  c.out("addmm grad", d.grad());
}

PARITY_CASE(sparse_compressed, errors) {
  const Tensor s = csr(c), values = c.randn({3});
  const torch::TensorOptions none;
  c.throws("dtype", [&] {
    torch::sparse_csr_tensor(longs({0, 1, 3}), longs({2, 0, 1}), values, {2, 3}, torch::TensorOptions(torch::kDouble));
  });
  c.throws("no layout", [&] {
    torch::sparse_compressed_tensor(longs({0, 1, 3}), longs({2, 0, 1}), values, {2, 3}, none);
  });
  c.throws("strides", [&] { s.strides(); });
  c.throws("memory", [&] { s.data_ptr<float>(); });
  c.throws("storage", [&] { s.storage(); });
  c.throws("indices", [&] { s.indices(); });
  c.throws("coalesce", [&] { s.coalesce(); });
  c.throws("rows of csr", [&] { s.row_indices(); });
  c.throws("columns of csc", [&] { s.t().col_indices(); });
  c.throws("values of dense", [&] { values.values(); });
  c.throws("crow of dense", [&] { values.crow_indices(); });
  c.throws("to_dense dtype", [&] { s.to_dense(torch::kDouble); });
  c.throws("to_sparse 1", [&] { s.to_sparse(1); });
  c.throws("cos", [&] { s.cos(); });
  c.throws("exp", [&] { s.exp(); });
  c.throws("add number", [&] { s + 1; });
  c.throws("shapes", [&] { s.mm(c.randn({3, 3})); });
  c.throws("dtypes", [&] { s.mm(c.randn({4, 3}).to(torch::kDouble)); });
  c.throws("sum without keepdim", [&] { s.sum(0); });
  c.throws("view", [&] { s.view({4, 3}); });
  c.throws("slice", [&] { s.slice(0, 0, 2); });
  c.throws("sizes", [&] { s + square(c); });
}
