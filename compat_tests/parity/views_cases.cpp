#include "parity/case.h"

using torch::Tensor;
using torch::indexing::Slice;

PARITY_CASE(views, transpose_and_permute) {
  auto x = c.leaf({2, 3, 4});
  c.gradients("transpose", {x}, [&] { return x.transpose(0, 2); });
  c.gradients("permute", {x}, [&] { return x.permute({2, 0, 1}); });
  c.layout("transpose_layout", x.transpose(0, 2));
  c.layout("permute_layout", x.permute({2, 0, 1}));
}

PARITY_CASE(views, view_and_reshape) {
  c.for_layouts({4, 6}, torch::kFloat, [&](torch::Tensor x) {
    x.requires_grad_();
    c.gradients("reshape", {x}, [&] { return x.reshape({3, -1}); });
    c.layout("reshape_layout", x.reshape({2, 2, 6}));
  });
  c.throws("view_of_transposed", [&] { c.randn({3, 4}).t().view({12}); });
  c.throws("wrong_count", [&] { c.randn({3, 4}).view({5, 2}); });
}

PARITY_CASE(views, slices_alias) {
  auto x = c.arange({4, 5});
  x.index({Slice(1, 3), Slice(torch::indexing::None, torch::indexing::None, 2)}).fill_(-1);
  c.out("written_through", x);
  c.layout("slice", x.slice(1, 1, 5, 2));
  c.out("select", x.select(0, -1));
  c.out("empty_slice", x.slice(0, 2, 2));
}

PARITY_CASE(views, expand) {
  auto x = c.leaf({3, 1}, torch::kDouble);
  c.gradients("y", {x}, [&] { return x.expand({2, 3, 4}); });
  c.layout("layout", x.expand({2, 3, 4}));
  c.gradcheck([&] { return x.expand({2, 3, 4}) * 2; }, {x});
}

PARITY_CASE(views, printed) {
  c.printed("floats", c.arange({2, 3}));
  c.printed("ints", c.arange({2, 3}, torch::kLong));
}
// Of operands that repeat elements: the others decide how the result lies.
PARITY_CASE(views, results_beside_expanded_operands) {
  const auto x = c.arange({4, 3, 2}).permute({2, 1, 0}), one = torch::ones({}).expand({2, 3, 4});
  c.layout("first", one * x), c.layout("second", x * one), c.layout("both", one * one);
  c.layout("row", c.arange({4}).expand({3, 4}) + c.arange({4, 3}).t());
  c.layout("column", c.arange({3, 1}).expand({3, 4}) + c.arange({4, 3}).t());
  const auto images = c.randn({2, 3, 4, 5}).contiguous(torch::MemoryFormat::ChannelsLast);
  c.layout("images", torch::ones({}).expand(images.sizes()) - images);
}
PARITY_CASE(views, layouts_of_gradients) {
  c.tolerance(torch::kFloat, 1e-5, 1e-6);
  const auto grad = [&](const std::string& name, const Tensor& leaf, const std::function<Tensor()>& fn) {
    const auto g = torch::autograd::grad({fn()}, {leaf})[0];
    c.layout(name, g), c.out(name + " values", g);
  };
  const auto l = c.leaf({2, 3}), w = c.leaf({4, 3}), p = c.randn({2, 3}), v = c.randn({4, 5});
  grad("t", l, [&] { return (l.t() * 2).pow(2).sum(); });
  grad("permute", l, [&] { return l.permute({1, 0}).exp().sum(); });
  grad("relu", l, [&] { return l.t().relu().sum(); });
  grad("mm", w, [&] { return p.mm(w.t()).pow(2).sum(); });
  grad("matmul", w, [&] { return p.matmul(w.t()).pow(2).sum(); });
  grad("first", w, [&] { return w.t().mm(v).pow(2).sum(); });
  grad("addmm", w, [&] { return torch::addmm(torch::zeros({4}), p, w.t()).pow(2).sum(); });
  grad("linear", w, [&] { return torch::nn::functional::linear(p, w).pow(2).sum(); });
  const auto images = c.randn({2, 3, 4, 4}).contiguous(torch::MemoryFormat::ChannelsLast).requires_grad_();
  grad("channels_last", images, [&] { return (images * 2).tanh().sum(); });
  const auto again = torch::autograd::grad({p.mm(w.t()).pow(2).sum()}, {w}, {}, true, /*create_graph=*/true)[0];
  c.layout("recorded", again);
  grad("second", w,
       [&] { return torch::autograd::grad({p.mm(w.t()).pow(2).sum()}, {w}, {}, true, true)[0].pow(2).sum(); });
}
PARITY_CASE(views, copies_that_are_no_views) {
  const auto l = c.leaf({3, 2});
  const auto check = [&](const std::string& name, Tensor t) {
    c.value(name + " is_view", t.is_view());
    c.text(name + " node", t.grad_fn() ? t.grad_fn()->name() : "");
    t.detach_();
    c.out(name, t);
  };
  check("reshape", (l * 2).t().reshape({6}));
  check("flatten", (l * 2).t().flatten());
  check("layer", torch::nn::Flatten(torch::nn::FlattenOptions().start_dim(0))((l * 2).t()));
  c.gradients("gradient", {l}, [&] { return l.t().reshape({2, 3, 1}).cumsum(1); });
}
