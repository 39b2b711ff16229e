// Sparse (COO) tensors: parts, conversions, element-wise functions, sums, products, shapes, gradients, optimizers.
#include "parity/case.h"

using parity::Tensors;
using torch::Tensor;

namespace {

/// Indices, values and flags; two tensors that list the same places in the same order.
void parts(parity::Case& c, const std::string& name, const Tensor& t) {
  c.value(name + " sparse", t.is_sparse());
  if (!t.is_sparse()) return c.out(name, t);
  c.text(name + " kind", t.toString() + " " + std::to_string(t.sparse_dim()) + std::to_string(t.dense_dim()));
  c.value(name + " coalesced", t.is_coalesced());
  c.out(name + " indices", t._indices());
  c.out(name + " values", t._values());
  c.layout(name + " size", torch::empty(t.sizes()));
}
/// Of a tensor whose entries may stand in any order, a gradient say.
void same(parity::Case& c, const std::string& name, const Tensor& t) {
  if (!t.defined()) return c.fail(name + ": undefined");
  parts(c, name, t.is_sparse() ? t.detach().coalesce() : t.detach());
}

Tensor coo(const Tensor& indices, const Tensor& values, parity::Shape size) {
  return torch::sparse_coo_tensor(indices, values, size, values.scalar_type());
}
/// (3, 4) with 6 entries of which two are listed twice.
Tensor matrix(parity::Case& c, torch::Dtype dtype = torch::kFloat) {
  return coo(torch::tensor({{0, 2, 1, 0, 2, 2}, {3, 0, 2, 3, 1, 0}}, torch::kLong), c.any({6}, dtype), {3, 4});
}
/// (3, 4, 2): two sparse dimensions, one dense.
Tensor hybrid(parity::Case& c) {
  return coo(torch::tensor({{0, 2, 1, 0}, {3, 0, 2, 3}}, torch::kLong), c.randn({4, 2}), {3, 4, 2});
}
Tensor leaf(const Tensor& t) { return t.detach().clone().requires_grad_(true); }
Tensor weights(const Tensor& t) {
  return torch::arange(t.numel(), torch::kDouble).reshape(t.sizes()).to(t.scalar_type()) * 0.25 - 1;
}
/// Gradients of sparse leaves through fn, whose result is sparse or not.
void gradients(parity::Case& c, const std::string& name, const Tensors& inputs, const std::function<Tensor()>& fn) {
  const Tensor result = fn();
  same(c, name, result);
  const Tensor dense = result.is_sparse() ? result.to_dense() : result;
  (dense * weights(dense)).sum().backward();
  for (size_t k = 0; k < inputs.size(); ++k) {
    same(c, name + " grad " + std::to_string(k), inputs[k].grad());
    inputs[k].mutable_grad().reset();
  }
}

}  // namespace

PARITY_CASE(sparse, made) {
  c.for_dtypes(parity::kAll, [&](torch::Dtype dtype) {
    const Tensor s = matrix(c, dtype);
    parts(c, "given", s);
    if (dtype != torch::kBool) parts(c, "coalesced", s.coalesce());
    if (dtype != torch::kBool) c.out("dense", s.to_dense());
    const Tensor d = (c.any({3, 4}, dtype) * c.bools({3, 4})).to(dtype);
    parts(c, "to_sparse", d.to_sparse());
    parts(c, "to_sparse 1", d.to_sparse(1));
  });
  const Tensor s = matrix(c);
  parts(c, "no size", torch::sparse_coo_tensor(s._indices(), s._values()));
  parts(c, "dtype", torch::sparse_coo_tensor(s._indices(), s._values(), {3, 4}, torch::kDouble));
  parts(c, "one entry", torch::sparse_coo_tensor(torch::tensor({{1}}, torch::kLong), c.randn({1}), {3}, torch::kFloat));
  parts(c, "declared",
        torch::sparse_coo_tensor(torch::tensor({{1, 2}}, torch::kLong), c.randn({2}), {3}, torch::kFloat, true));
  parts(c, "unsafe", torch::_sparse_coo_tensor_unsafe(s._indices(), s._values(), {5, 5}, torch::kFloat));
  parts(c, "size alone", torch::sparse_coo_tensor({3, 0}, torch::kFloat));
  parts(c, "zeros", torch::zeros({2, 3}, torch::TensorOptions(torch::kSparse).dtype(torch::kDouble)));
  parts(c, "empty", torch::empty({2, 3}, torch::TensorOptions(torch::kSparse)));
  parts(c, "zeros_like", torch::zeros_like(hybrid(c)));
  parts(c, "new_zeros", s.new_zeros({2, 2}));
  parts(c, "hybrid", hybrid(c).coalesce());
  c.out("hybrid dense", hybrid(c).to_dense());
  parts(c, "to_sparse 2 of 3", c.randn({3, 2, 2}).relu().to_sparse(2));
  parts(c, "number", torch::tensor(2.0F).to_sparse());
  parts(c, "of nothing", torch::zeros({3, 4}).to_sparse());
  c.out("of nothing dense", torch::zeros({3, 4}).to_sparse().to_dense());
  c.text("layout", c10::str(s.layout(), s.options(), s.is_coalesced(), s.requires_grad()));
  c.value("numel", s.numel());
  c.value("dims", s.dim() * 100 + s.sparse_dim() * 10 + s.dense_dim());
  c.value("dims of strided", torch::ones({2, 2}).sparse_dim() * 10 + torch::ones({2, 2}).dense_dim());
  c.value("storage", s.has_storage());
  c.printed("printed", s);
  c.printed("printed hybrid", hybrid(c));
}

PARITY_CASE(sparse, errors) {
  const Tensor s = matrix(c), d = c.randn({3, 4}), i = s._indices(), v = s._values();
  c.throws("float indices", [&] { coo(i.to(torch::kFloat), v, {3, 4}); });
  c.throws("layout", [&] { torch::sparse_coo_tensor(i, v, {3, 4}, v.options()); });
  c.throws("nnz", [&] { coo(i, v.slice(0, 0, 3), {3, 4}); });
  c.throws("dims", [&] { coo(i, v, {3, 4, 5}); });
  c.throws("dense size", [&] { coo(i, c.randn({6, 2}), {3, 4, 5}); });
  c.throws("negative size", [&] { coo(i, v, {3, -4}); });
  c.throws("negative index", [&] { torch::sparse_coo_tensor(i - 1, v); });
  c.throws("ones", [&] { torch::ones({2}, torch::TensorOptions(torch::kSparse)); });
  c.throws("ones_like", [&] { torch::ones_like(s); });
  c.throws("indices", [&] { s.indices(); });
  c.throws("values", [&] { s.values(); });
  c.throws("indices of strided", [&] { d.indices(); });
  c.throws("_nnz of strided", [&] { d._nnz(); });
  c.throws("coalesce strided", [&] { d.coalesce(); });
  c.throws("is_coalesced strided", [&] { d.is_coalesced(); });
  c.throws("to_sparse 3", [&] { d.to_sparse(3); });
  c.throws("to_sparse 0", [&] { d.to_sparse(0); });
  c.throws("storage", [&] { s.storage(); });
  c.throws("data_ptr", [&] { s.data_ptr<float>(); });
  c.throws("item", [&] { s.item(); });
  c.throws("exp", [&] { s.exp(); });
  c.throws("cos", [&] { s.cos(); });
  c.throws("pow 0", [&] { s.pow(0); });
  c.throws("add a number", [&] { s + 1; });
  c.throws("sparse + strided", [&] { s + d; });
  c.throws("sparse += strided", [&] { s.clone().add_(d); });
  c.throws("to strided", [&] { s.to(torch::kStrided); });
  c.throws("divide by a vector", [&] { s / torch::ones({1}); });
  c.throws("alpha", [&] { s.to(torch::kInt).add(s.to(torch::kInt), 0.5); });
  c.throws("divide", [&] { s / d; });
  c.throws("add shapes", [&] { s + s.t(); });
  c.throws("broadcast", [&] { torch::ones({2, 3, 4}) + s; });
  c.throws("mul shapes", [&] { s* s.t(); });
  c.throws("mm shapes", [&] { s.mm(d); });
  c.throws("mm dtypes", [&] { s.mm(c.randn({4, 2}, torch::kDouble)); });
  c.throws("copy", [&] { torch::zeros({3, 4}).copy_(s); });
  c.throws("copy to sparse", [&] { s.clone().copy_(d); });
  c.throws("fill", [&] { s.clone().fill_(1); });
  c.throws("view", [&] { s.view({12}); });
  c.throws("reshape", [&] { s.reshape({12}); });
  c.throws("slice", [&] { s.slice(0, 0, 1); });
  c.throws("max", [&] { s.max(); });
  c.throws("softmax", [&] { torch::softmax(s, 1); });
  c.throws("equal", [&] { torch::equal(s, s); });
  c.throws("where", [&] { torch::where(d > 0, s, d); });
  c.throws("cat", [&] { torch::cat({s, d}); });
  c.throws("shrink", [&] { s.clone().sparse_resize_({2, 2}, 2, 0); });
  c.throws("transpose hybrid", [&] { hybrid(c).transpose(0, 2); });
  c.throws("index", [&] { s.index_select(0, torch::tensor({3})); });
  c.throws("leaf in place", [&] { leaf(s).mul_(2); });
}

PARITY_CASE(sparse, copies) {
  const Tensor s = matrix(c);
  parts(c, "clone", s.clone());
  parts(c, "detach", s.detach());
  parts(c, "to", s.to(torch::kDouble));
  parts(c, "to half", s.coalesce().to(torch::kHalf));
  Tensor x = s.clone();
  parts(c, "zero_", x.zero_());
  x.copy_(s);
  parts(c, "copy_", x);
  x.sparse_resize_({5, 6}, 2, 0);
  parts(c, "sparse_resize_", x);
  x.sparse_resize_and_clear_({5, 6, 2}, 2, 1);
  parts(c, "sparse_resize_and_clear_", x);
  parts(c, "mask", c.randn({3, 4}).sparse_mask(s));
  parts(c, "mask sparse", s.sparse_mask(s.coalesce()));
  parts(c, "mask with another", c.randn({3, 4}).relu().to_sparse().sparse_mask(s.coalesce()));
  parts(c, "mask hybrid", c.randn({3, 4, 2}).sparse_mask(hybrid(c).coalesce()));
  parts(c, "_coalesced_", s.coalesce()._coalesced_(false));
}

PARITY_CASE(sparse, elementwise) {
  const Tensor s = matrix(c), other = c.randn({3, 4}).relu().to_sparse(), d = c.randn({3, 4});
  const std::vector<std::pair<const char*, Tensor (*)(const Tensor&)>> functions{
      {"neg", torch::neg},     {"abs", torch::abs},     {"sin", torch::sin},       {"tanh", torch::tanh},
      {"relu", torch::relu},   {"sqrt", torch::sqrt},   {"sign", torch::sign},     {"floor", torch::floor},
      {"round", torch::round}, {"expm1", torch::expm1}, {"square", torch::square}, {"isnan", torch::isnan}};
  for (const auto& [name, f] : functions) parts(c, name, f(s));
  parts(c, "pow", s.pow(3));
  parts(c, "times", s * 3);
  parts(c, "times 0-d", s * torch::tensor(3.0F));
  parts(c, "over", s / 4);
  parts(c, "times strided", s * d);
  parts(c, "strided times", d * s);
  parts(c, "times row", s * d[0]);
  parts(c, "times column", s.coalesce() * d.slice(1, 0, 1));
  parts(c, "times sparse", s * s.coalesce());
  parts(c, "times other", s.coalesce() * other);
  same(c, "plus itself", s + s);
  parts(c, "plus", s.coalesce() + other);
  parts(c, "plus alpha", s.coalesce().add(other, 2.5));
  parts(c, "minus", s.coalesce() - other);
  parts(c, "plus hybrid", hybrid(c).coalesce() + hybrid(c).coalesce());
  c.out("strided plus", d + s);
  c.out("strided minus", d - s);
  c.out("strided plus alpha", d.add(s, -0.5));
  c.out("strided plus hybrid", c.randn({3, 4, 2}) + hybrid(c));
  parts(c, "plus f64", s.coalesce() + other.to(torch::kDouble));
  Tensor x = s.clone(), y = d.clone(), view = torch::ones({4, 3});
  parts(c, "mul_", x.mul_(2));
  parts(c, "div_", x.div_(4));
  same(c, "add_", x.add_(other, 2));
  parts(c, "neg_", x.coalesce().neg_());
  c.out("strided add_", y.add_(s, 0.5));
  c.out("strided sub_", y.sub_(hybrid(c).select(2, 0)));
  view.t().add_(s);
  c.out("view add_", view);
  Tensor shared = s.clone();
  shared.t().mul_(2), shared.unsqueeze(0).mul_(2), shared.detach().mul_(2);
  parts(c, "mul_ of others", shared);
  const Tensor line = coo(torch::tensor({{0, 2, 0}}, torch::kLong), c.randn({3, 2}), {3, 2});
  same(c, "times hybrid", line * line);
  parts(c, "times one f64", s * torch::tensor({1.5}, torch::kDouble));
  parts(c, "times 0-d f64", s * torch::tensor(1.5, torch::kDouble));
  parts(c, "integers times 0-d f64", s.to(torch::kInt) * torch::tensor(1.5, torch::kDouble));
  parts(c, "conj", coo(s._indices(), torch::complex(c.randn({6}), c.randn({6})), {3, 4}).coalesce());
}

PARITY_CASE(sparse, shapes) {
  const Tensor s = matrix(c), h = hybrid(c);
  parts(c, "t", s.t());
  parts(c, "transpose", h.transpose(0, 1));
  parts(c, "permute", h.permute({1, 0, 2}));
  same(c, "unsqueeze 0", s.unsqueeze(0));
  same(c, "unsqueeze last", h.unsqueeze(-1));
  same(c, "index_select", s.index_select(0, torch::tensor({2, 0, 2})));
  same(c, "index_select 1", s.index_select(1, torch::tensor({3, 3})));
  same(c, "index_select dense", h.index_select(2, torch::tensor({1, 0, 1})));
  same(c, "select", s.select(0, 2));
  same(c, "brackets", s[-1]);
  same(c, "select dense", h.select(2, 1));
  same(c, "select of one", s[0][3]);
  same(c, "narrow_copy", s.narrow_copy(1, 1, 3));
  same(c, "narrow_copy dense", h.narrow_copy(2, 1, 1));
  parts(c, "cat 0", torch::cat({s, s.coalesce()}, 0));
  parts(c, "cat 1", torch::cat({s, s.coalesce()}, -1));
  same(c, "cat dense", torch::cat({h, h}, 2));
  parts(c, "stack", torch::stack({s, s}, 1));
}

PARITY_CASE(sparse, sums) {
  const Tensor s = matrix(c), h = hybrid(c);
  c.out("sum", s.sum());
  c.out("_sparse_sum", torch::_sparse_sum(s));
  c.out("f64", torch::_sparse_sum(s, torch::kDouble));
  parts(c, "sum 0", s.sum(0));
  same(c, "sum 1 keep", s.sum(1, true));
  parts(c, "all", torch::_sparse_sum(s, {0, 1}));
  parts(c, "hybrid 0", torch::_sparse_sum(h, {0}));
  parts(c, "hybrid 2", torch::_sparse_sum(h, {2}));
  parts(c, "hybrid 0 1", torch::_sparse_sum(h, {0, 1}));
  parts(c, "hybrid 1 2", torch::_sparse_sum(h, {1, 2}));
  c.out("norm", s.norm());
  c.out("norm 1", s.norm(1));
  c.out("any", s.any());
  for (int64_t d : {0, 1}) {
    parts(c, "softmax " + std::to_string(d), torch::_sparse_softmax(s, d));
    parts(c, "log_softmax " + std::to_string(d), torch::_sparse_log_softmax(s, d));
  }
  parts(c, "softmax of dense dimension", torch::_sparse_softmax(h, 2));
  parts(c, "softmax of hybrid", torch::_sparse_softmax(h, 0));
}

PARITY_CASE(sparse, products) {
  for (auto dtype : {torch::kFloat, torch::kDouble, torch::kComplexFloat}) {
    c.scope(torch::toString(dtype), [&] {
      const auto numbers = [&](parity::Shape shape) { return c.randn(shape).to(dtype) * c.randn({1}).to(dtype); };
      const Tensor s = coo(matrix(c)._indices(), numbers({6}), {3, 4}), m = numbers({4, 5}), d = numbers({2, 3});
      c.out("mm", s.mm(m));
      c.out("strided first", d.mm(s));
      c.out("matmul", torch::matmul(s, m));
      c.out("mv", s.mv(m.select(1, 0)));
      c.out("matmul vector", s.matmul(m.select(1, 0)));
      c.out("_sparse_mm", torch::_sparse_mm(s, m));
      c.out("of a transpose", s.t().mm(d.t()));
      same(c, "sparse", torch::_sparse_mm(s, s.t()));
      same(c, "sparse mm", s.coalesce().mm(s.t().coalesce()));
    });
  }
  const Tensor s = matrix(c), m = c.randn({4, 5});
  c.out("addmm", torch::addmm(torch::ones({3, 5}), s, m, 0.5, 2));
  c.out("_sparse_addmm", torch::_sparse_addmm(torch::ones({3, 5}), s, m, 0.5, 2));
  same(c, "smm", torch::smm(s, m));
  same(c, "sspaddmm", torch::sspaddmm(s.mm(m).to_sparse(), s, m, 0.5, 2));
  same(c, "hspmm", torch::hspmm(s, m));
  c.out("bmm", torch::stack({s, s}).bmm(c.randn({2, 4, 3})));
  c.out("no entries", torch::zeros({3, 4}).to_sparse().mm(m));
  c.out("no rows", torch::sparse_coo_tensor({0, 4}, torch::kFloat).mm(m));
  const Tensor large =
      coo(torch::stack({c.randint(0, 300, {5000}), c.randint(0, 200, {5000})}), c.randn({5000}), {300, 200});
  c.out("large", large.mm(c.randn({200, 33})));
  parts(c, "large coalesced", large.coalesce());
}

PARITY_CASE(sparse, leaf_gradients) {
  const Tensor s = leaf(matrix(c)), d = leaf(c.randn({3, 4})), m = leaf(c.randn({4, 5})), u = leaf(c.randn({2, 3}));
  const Tensor t = leaf(c.randn({3, 4}).relu().to_sparse());
  gradients(c, "to_dense", {s}, [&] { return s.to_dense(); });
  gradients(c, "to_dense everywhere", {s}, [&] { return s.to_dense(std::nullopt, false); });
  gradients(c, "values", {s}, [&] { return s.coalesce().values(); });
  gradients(c, "to_sparse", {d}, [&] { return d.to_sparse(); });
  gradients(c, "mask", {d}, [&] { return d.sparse_mask(s.detach().coalesce()); });
  gradients(c, "mm", {s, m}, [&] { return s.mm(m); });
  gradients(c, "_sparse_mm", {s, m}, [&] { return torch::_sparse_mm(s, m); });
  gradients(c, "strided first", {u, s}, [&] { return u.mm(s); });
  gradients(c, "addmm", {s, m}, [&] { return torch::addmm(torch::ones({3, 5}), s, m, 1, 2); });
  gradients(c, "_sparse_addmm", {s, m}, [&] { return torch::_sparse_addmm(torch::ones({3, 5}), s, m, 1, 2); });
  gradients(c, "sum", {s}, [&] { return s.sum(); });
  gradients(c, "_sparse_sum", {s}, [&] { return torch::_sparse_sum(s); });
  gradients(c, "_sparse_sum 0", {s}, [&] { return torch::_sparse_sum(s, {0}); });
  gradients(c, "plus", {s, t}, [&] { return s + t; });
  gradients(c, "strided plus", {s, d}, [&] { return d + s; });
  gradients(c, "numbers", {s}, [&] { return s * 3 / 2; });
  gradients(c, "times strided", {s, d}, [&] { return s * d; });
  gradients(c, "times sparse", {s, t}, [&] { return s.coalesce() * t; });
  gradients(c, "neg", {s}, [&] { return -s; });
  gradients(c, "relu", {s}, [&] { return torch::relu(s); });
  gradients(c, "pow", {s}, [&] { return s.pow(2); });
  gradients(c, "t", {s}, [&] { return s.t(); });
  gradients(c, "to", {s}, [&] { return s.to(torch::kDouble); });
  gradients(c, "softmax", {t}, [&] { return torch::_sparse_softmax(t, 1); });
  gradients(c, "log_softmax", {t}, [&] { return torch::_sparse_log_softmax(t, 0); });
  for (int k = 0; k < 2; ++k) (s.to_dense() * weights(d)).sum().backward();
  same(c, "accumulated", s.grad());
}

PARITY_CASE(sparse, embeddings) {
  const Tensor index = torch::tensor({{0, 2, 1}, {2, 4, 1}}, torch::kLong);
  const auto look_up = [&](const Tensor& w, bool sparse) { return torch::embedding(w, index, -1, false, sparse); };
  const Tensor w = leaf(c.randn({5, 3}));
  look_up(w, true).pow(2).sum().backward();
  parts(c, "first", w.grad());
  const Tensor handle = w.grad();
  look_up(w, true).sum().backward();
  parts(c, "second", w.grad());
  parts(c, "second by its handle", handle);
  look_up(w, false).sum().backward();
  parts(c, "strided added", w.grad());
  look_up(w, true).sum().backward();
  parts(c, "added to strided", w.grad());
  w.mutable_grad().reset();
  (look_up(w, true).sum() + look_up(w, false).sum()).backward();
  parts(c, "both", w.grad());
  w.mutable_grad().reset();
  torch::embedding(w, index, 2, false, true).sum().backward();
  parts(c, "padding", w.grad());
  c.throws("by frequency", [&] { torch::embedding(w, index, -1, true, true).sum().backward(); });
  namespace F = torch::nn::functional;
  for (bool mean : {false, true}) {
    w.mutable_grad().reset();
    auto o = F::EmbeddingBagFuncOptions().offsets(torch::tensor({0, 0, 4}, torch::kLong)).sparse(true);
    if (mean) o.mode(torch::kMean);
    if (!mean) o.mode(torch::kSum);
    F::embedding_bag(index.reshape({-1}), w, o).pow(2).sum().backward();
    same(c, mean ? "bag mean" : "bag sum", w.grad());
  }
  c.throws("bag max", [&] {
    F::embedding_bag(index, w, F::EmbeddingBagFuncOptions().mode(torch::kMax).sparse(true)).sum().backward();
  });
  w.mutable_grad().reset();
  w.gather(0, index, true).pow(2).sum().backward();
  parts(c, "gather", w.grad());
  const Tensor line = leaf(c.randn({3}));
  line.gather(0, torch::tensor(2, torch::kLong), true).backward();
  parts(c, "gather of one", line.grad());
  w.mutable_grad().reset();
  look_up(w, true).pow(2).sum().backward();
  c.out("norm", torch::full({}, torch::nn::utils::clip_grad_norm_(w, 1e6), torch::kFloat));  // computed in float
  parts(c, "norm below", w.grad());
}

namespace {
template <class Make>
void train(parity::Case& c, const std::string& name, const Make& make) {
  torch::nn::Embedding layer(torch::nn::EmbeddingOptions(6, 3).sparse(true));
  {
    torch::NoGradGuard no_grad;
    layer->weight.copy_(c.randn({6, 3}));
  }
  auto optimizer = make(layer->parameters());
  for (int k = 0; k < 4; ++k) {
    optimizer.zero_grad(k % 2 == 0);
    layer->forward(torch::tensor({{0, 2, k}, {2, 4, 1}}, torch::kLong)).pow(2).sum().backward();
    optimizer.step();
  }
  c.out(name, layer->weight);
}
}  // namespace

PARITY_CASE(sparse, optimizers) {
  using namespace torch::optim;
  using Parameters = std::vector<Tensor>;
  train(c, "SGD", [](Parameters p) { return SGD(p, SGDOptions(0.1)); });
  train(c, "momentum", [](Parameters p) { return SGD(p, SGDOptions(0.1).momentum(0.9)); });
  train(c, "dampening", [](Parameters p) { return SGD(p, SGDOptions(0.1).momentum(0.5).dampening(0.3)); });
  train(c, "nesterov", [](Parameters p) { return SGD(p, SGDOptions(0.1).momentum(0.9).nesterov(true)); });
  train(c, "Adagrad", [](Parameters p) { return Adagrad(p, AdagradOptions(0.1)); });
  train(c, "Adagrad decay",
        [](Parameters p) { return Adagrad(p, AdagradOptions(0.1).lr_decay(0.1).initial_accumulator_value(0.5)); });
  const auto fails = [&](const std::string& name, auto make) { c.throws(name, [&] { train(c, name, make); }); };
  fails("SGD weight decay", [](Parameters p) { return SGD(p, SGDOptions(0.1).weight_decay(0.1)); });
  fails("Adagrad weight decay", [](Parameters p) { return Adagrad(p, AdagradOptions(0.1).weight_decay(0.1)); });
  fails("Adam", [](Parameters p) { return Adam(p, AdamOptions(0.1)); });
  fails("AdamW", [](Parameters p) { return AdamW(p, AdamWOptions(0.1)); });
  fails("RMSprop", [](Parameters p) { return RMSprop(p, RMSpropOptions(0.1)); });
}
