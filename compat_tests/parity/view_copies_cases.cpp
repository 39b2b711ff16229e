// Copies of what views show, and functions that leave unchanged what their in-place form changes.
#include "parity/bad.h"
#include "parity/case.h"

#include <vector>

#define COPY(...) copied(c, #__VA_ARGS__, x, __VA_ARGS__)

namespace {

void copied(parity::Case& c, const std::string& name, const torch::Tensor& x, const torch::Tensor& made) {
  c.check(!made.is_alias_of(x), name + ": expected memory of its own");
  c.layout(name, made);
  c.out(name, made);
  if (made.requires_grad()) {
    c.text(name + " node", made.grad_fn()->name());
    c.backward(name, made, {x});
  }
}

}  // namespace

PARITY_CASE(view_copies, of_strided) {
  c.for_dtypes({torch::kFloat, torch::kDouble}, [&](torch::Dtype dtype) {
    const torch::Tensor x = c.leaf({2, 3}, dtype);
    COPY(torch::alias_copy(x));
    COPY(torch::as_strided_copy(x, {3, 2}, {1, 3}));
    COPY(torch::diagonal_copy(x));
    COPY(torch::expand_copy(x, {2, 2, 3}));
    COPY(torch::permute_copy(x, {1, 0}));
    COPY(torch::select_copy(x, 1, 1));
    COPY(torch::slice_copy(x, 1, 1, 3));
    COPY(torch::squeeze_copy(x.unsqueeze(0)));
    COPY(torch::squeeze_copy(x.unsqueeze(0), 0));
    COPY(torch::squeeze_copy(x.unsqueeze(0), torch::IntArrayRef({0})));
    COPY(torch::t_copy(x));
    COPY(torch::transpose_copy(x, 0, 1));
    COPY(torch::unfold_copy(x, 1, 2, 1));
    COPY(torch::unsqueeze_copy(x, 0));
    COPY(torch::view_copy(x, {3, 2}));
    COPY(torch::_neg_view_copy(x));
    COPY(torch::_reshape_alias_copy(x, {3, 2}, {2, 1}));
    COPY(torch::lift_fresh_copy(x));
    COPY(torch::view_as_real_copy(torch::complex(x, x)));
    COPY(torch::split_copy(x, 1)[0]);
    COPY(torch::split_with_sizes_copy(x, {1, 1})[1]);
    COPY(torch::unbind_copy(x)[1]);
  });
}

PARITY_CASE(view_copies, without_gradient) {
  const torch::Tensor x = c.randn({2, 4});
  COPY(torch::detach_copy(x));
  COPY(torch::view_copy(x, torch::kInt));
  COPY(torch::view_as_complex_copy(x.view({4, 2})));
}

PARITY_CASE(view_copies, of_sparse) {
  const torch::Tensor x = c.randn({2, 3}), rows = x.to_sparse_csr(), columns = x.to_sparse_csc();
  c.out("crow", torch::crow_indices_copy(rows));
  c.out("col", torch::col_indices_copy(rows));
  c.out("ccol", torch::ccol_indices_copy(columns));
  c.out("row", torch::row_indices_copy(columns));
}

PARITY_CASE(view_copies, out_forms) {
  const torch::Tensor x = c.randn({2, 3});
  const auto fresh = [&] { return torch::empty({0}, x.options()); };
  torch::Tensor out = fresh(), wide = fresh(), doubles = torch::empty({0}, x.options().dtype(torch::kDouble));
  c.layout("t", torch::t_copy_out(out, x));
  c.out("t", out);
  c.out("expand", torch::expand_copy_out(wide, x, {2, 2, 3}));
  c.out("view", torch::view_copy_outf(x, torch::IntArrayRef({3, 2}), out));
  c.out("select", torch::select_copy_out(out = fresh(), x, 0, 1));
  c.out("slice", torch::slice_copy_out(out = fresh(), x, 1, 0, 2));
  std::vector<torch::Tensor> outs{fresh(), fresh()}, one{fresh()};
  torch::split_with_sizes_copy_out(outs, x, {1, 1});
  c.out("parts 0", outs[0]);
  c.out("parts 1", outs[1]);
  torch::unbind_copy_out(outs = {torch::empty({3}, x.options()), torch::empty({3}, x.options())}, x);
  c.out("rows", outs[1]);
  SAYS("expected an out= argument of size 2, got size 1", torch::split_copy_out(one, x, 1));
  SAYS("Expected out tensor to have dtype", torch::t_copy_out(doubles, x));
  SAYS("Expected out tensor to have dtype", torch::lift_fresh_copy_out(doubles, x));
}

PARITY_CASE(view_copies, unchanged_self) {
  const torch::Tensor x = c.randn({2, 3}), y = c.randn({3, 2}), was = x.clone();
  c.out("copy", torch::copy(x, y.t()));
  c.out("copy of one", torch::copy(x, y[0][0]));
  c.out("copy to int64", torch::copy(x.to(torch::kLong), x * 3));
  c.layout("copy turned around", torch::copy(x.t(), y));
  c.out("set", torch::set(x, y));
  c.check(torch::set(x, y).is_alias_of(y), "set takes the memory");
  c.out("set storage", torch::set(x, y.storage()));
  c.out("set part", torch::set(x, y.storage(), 1, {2}, {2}));
  c.layout("set nothing", torch::set(x));
  c.out("resize", torch::resize(x, {4}));
  c.layout("resize turned around", torch::resize(x.t(), {3, 2}));
  c.check(torch::lift(x).is_alias_of(x) && torch::lift_fresh(x).is_alias_of(x), "lift is an alias");
  c.out("self", x);
  c.check(torch::equal(x, was), "self is what it was");
  torch::Tensor out = torch::empty({0}, x.options()), doubles = torch::empty({0}, x.options().dtype(torch::kDouble));
  c.out("copy, out", torch::copy_out(out, x, y.t()));
  c.out("zero, out", torch::zero_out(out, x));
  c.out("lift, out", torch::lift_out(out, x));
  torch::resize_out(out, x, {2, 3});
  c.out("resize, out", out);
  out = torch::empty({0}, x.options());
  c.out("set, out", torch::set_out(out, x, y));
  BAD(torch::copy(x, y));
  SAYS("Expected out tensor to have dtype", torch::copy_out(doubles, x, y.t()));
  SAYS("Expected out tensor to have dtype", torch::zero_out(doubles, x));
}

PARITY_CASE(view_copies, set_to_a_part) {
  const torch::Tensor y = c.randn({3, 2});
  torch::Tensor x = c.randn({4});
  x.set_(y, 1, {2, 2}, {1, 2});
  c.layout("part", x);
  c.out("part", x);
  x.set_(y.slice(0, 1), 1, {2});
  c.out("from a part", x);
  c.check(x.is_alias_of(y), "the memory is shared");
  SAYS("must be contiguous", x.set_(y.t(), 0, {2}));
}
