// Inputs at the edge of what functions are called with: scalars, nothing, ties, other dtypes and layouts.
#include "parity/case.h"

using torch::Tensor;
namespace F = torch::nn::functional;

PARITY_CASE(edges, nothing) {
  const Tensor none = torch::empty({0}), rows = torch::empty({0, 3}), columns = torch::empty({3, 0});
  c.out("cat", torch::cat({none, none}));
  c.out("hstack", torch::hstack({none, none}));
  c.out("cat of rows", torch::cat({rows, rows}, 1));
  c.out("cross_entropy", torch::cross_entropy_loss(rows, torch::empty({0}, torch::kLong)));
  c.out("cross_entropy of probabilities", torch::cross_entropy_loss(rows, rows));
  c.out("cross_entropy without classes", torch::cross_entropy_loss(none, none));
  for (const Tensor& t : {none, rows, columns}) {
    c.scope("dim" + std::to_string(t.dim()) + std::to_string(t.size(0)), [&] {
      const Tensor x = t.clone().requires_grad_();
      c.gradients("block_diag", {x}, [&] { return torch::block_diag({x, x}); });
      c.gradients("diag_embed", {x}, [&] { return torch::diag_embed(x, 1, 0, -1); });
      c.gradients("masked_scatter", {x}, [&] { return x.masked_scatter(x > 0, x); });
    });
  }
  const Tensor x = columns.clone().requires_grad_();
  c.gradients("select_scatter", {x}, [&] { return torch::select_scatter(x, x.select(0, 0), 0, 1); });
  c.gradients("slice_scatter", {x}, [&] { return torch::slice_scatter(x, x.slice(0, 0, 1), 0, 1, 2); });
}

PARITY_CASE(edges, scalars) {
  const Tensor s = c.leaf({});
  c.gradients("movedim", {s}, [&] { return s.movedim(0, -1); });
  c.gradients("adjoint", {s}, [&] { return s.adjoint(); });
  c.gradients("mT", {s}, [&] { return s.mT(); });
  c.gradients("mH", {s}, [&] { return s.mH(); });
  const Tensor v = c.randn({3});
  c.throws("mT of a vector", [&] { v.mT(); });
  c.throws("mH of a vector", [&] { v.mH(); });
  c.throws("adjoint of a vector", [&] { v.adjoint(); });
  c.throws("type_as", [&] { v.type_as(Tensor()); });
  c.throws("take_along_dim", [&] { s.detach().take_along_dim(torch::zeros({}, torch::kLong), 0); });
}

PARITY_CASE(edges, layouts) {
  const Tensor image = c.randn({2, 3, 4, 5}).contiguous(torch::MemoryFormat::ChannelsLast);
  for (const int64_t dim : {0, 2, 4}) c.out("stack " + std::to_string(dim), torch::stack({image, image}, dim));
  const Tensor turned = c.randn({4, 5, 3}).permute({2, 0, 1});
  c.layout("stack of images", torch::stack({turned, turned}));
  c.out("complex values", torch::complex(image, image * 2));
  // Elements of an expanded tensor are one place of memory: its gradient is shared among them.
  const Tensor leaf = c.leaf({3, 1}, torch::kDouble);
  c.gradients("as_strided of expanded", {leaf}, [&] { return leaf.expand({3, 4}).as_strided({2, 2}, {1, 1}); });
}

PARITY_CASE(edges, attention_of_strided) {
  const Tensor leaf = c.leaf({2, 6, 5, 4});
  const auto attention = [&](const char* name, const std::function<Tensor()>& input) {
    for (const bool causal : {false, true})
      c.gradients(name + std::string(causal ? ", causal" : ""), {leaf}, [&] {
        const Tensor x = input();
        return torch::scaled_dot_product_attention(x, x * 0.5, x, {}, 0.0, causal);
      });
  };
  attention("channels last", [&] { return leaf.permute({0, 3, 1, 2}); });
  attention("every other", [&] { return torch::cat({leaf, leaf}, 3).slice(3, 0, 8, 2); });
  attention("turned", [&] { return leaf.transpose(-1, -2); });
  // A leaf that itself lies so.
  const Tensor own = leaf.detach().permute({0, 3, 1, 2}).requires_grad_();
  c.gradients("a leaf", {own}, [&] { return torch::scaled_dot_product_attention(own, own, own); });
}

PARITY_CASE(edges, viewed_as_dtype) {
  const Tensor x = c.randn({2, 4});
  for (const auto dtype : {torch::kByte, torch::kShort, torch::kDouble, torch::kLong, torch::kHalf})
    c.out(parity::dtype_name(dtype), x.view(dtype));
  c.layout("wider", x.view(torch::kDouble));
  c.layout("narrower part", x.slice(0, 1).view(torch::kByte));
  c.out("there and back", x.view(torch::kByte).view(torch::kFloat));
  c.throws("odd length", [&] { c.randn({2, 3}).view(torch::kDouble); });
  c.throws("strided", [&] { x.t().view(torch::kByte); });
  c.throws("scalar", [&] { torch::ones({}).view(torch::kByte); });
  c.throws("odd offset", [&] { x.flatten().slice(0, 1, 3).view(torch::kDouble); });
}

PARITY_CASE(edges, integers) {
  const Tensor x = c.values({-1, 0, 2, 3}, torch::kInt);
  c.out("number less integers", 2.5 - x);
  c.out("rsub", torch::rsub(x, 2.5));
  c.out("masked_fill cuts", x.masked_fill(x > 1, 0.5));
  c.out("masked_fill of bools", (x > 1).masked_fill(x > 0, 0.5));
  c.out("masked_fill_ of bools", (x > 1).masked_fill_(x > 0, 0.5));
  c.throws("masked_fill beyond", [&] { x.to(torch::kByte).masked_fill(x > 1, 300.5); });
  c.throws("fill_ beyond", [&] { torch::zeros({2}, torch::kByte).fill_(300); });
  const auto few = torch::zeros({3, 1});
  few.expand({3, 4}).fill_(2);
  c.out("fill_ of an expanded tensor", few);
  few.expand({2, 3, 4}).zero_();
  c.out("zero_ of an expanded tensor", few);
  c.throws("add_ of an expanded tensor", [&] { few.expand({3, 4}).add_(1); });
  c.throws("full_like beyond", [&] { torch::full_like(torch::zeros({2}, torch::kByte), 300); });
  c.throws("full beyond", [&] { torch::full({2}, 1e10, torch::kInt); });
  c.out("fill_ below 0", torch::zeros({2}, torch::kByte).fill_(-1));
  c.out("sum_to_size", c.values({1, 2, 3}, torch::kByte).sum_to_size({1}));
  c.out("sum_to_size, as it is", c.values({1, 2, 3}, torch::kByte).sum_to_size({3}));
  c.out("logaddexp2", torch::logaddexp2(c.values({1, 2}, torch::kHalf), c.values({3, 4}, torch::kLong)));
  c.out("bucketize", torch::bucketize(c.values({0.5, 2, 3.5}), c.values({1, 2, 3}, torch::kLong)));
  c.out("searchsorted", torch::searchsorted(c.values({0.5, 2, 3.5}), c.values({1, 2, 3}, torch::kInt)));
  c.value("equal", torch::equal(c.values({1, 2}), c.values({1, 2}, torch::kLong)));
  c.out("soft_margin_loss", torch::soft_margin_loss(c.values({0.5, -1}), c.values({1, 0}, torch::kByte)));
}

PARITY_CASE(edges, ties) {
  const Tensor x = c.values({3, 1, 2, 2, 2, 5, 4}, torch::kDouble).requires_grad_();
  c.gradients("median", {x}, [&] { return x.median(); });
  c.gradients("nanmedian", {x}, [&] { return x.nanmedian(); });
  const Tensor gaps =
      torch::where(x.detach() == 1, std::numeric_limits<double>::quiet_NaN(), x.detach()).requires_grad_();
  c.gradients("median of NaN", {gaps}, [&] { return gaps.median(); });
  c.gradients("nanmedian of NaN", {gaps}, [&] { return gaps.nanmedian(); });
  const auto [values, inverse, counts] = torch::unique_dim(c.values({2, 1, 2, 3}), 0);
  c.out("unique_dim", values), c.out("inverse", inverse), c.out("counts", counts);
  for (const auto dtype : {torch::kFloat, torch::kLong, torch::kByte, torch::kBool}) {
    const Tensor rows = c.randint(0, 2, {20, 3}).to(dtype);
    for (int64_t dim : {0, 1})
      c.scope(std::string(parity::dtype_name(dtype)) + (dim ? " columns" : " rows"), [&] {
        const auto [some, places, times] = torch::unique_dim(rows, dim);
        c.out("unique_dim", some), c.out("inverse", places), c.out("counts", times);
      });
  }
  const Tensor scores = c.values({0.5, 1.5, -0.5, 0.25}).view({1, 4}).requires_grad_();
  c.gradients("multi_margin_loss", {scores},
              [&] { return torch::multi_margin_loss(scores, torch::ones({1}, torch::kLong)); });
  c.gradients("multilabel_margin_loss", {scores}, [&] {
    return torch::multilabel_margin_loss(scores, c.values({1, -1, 0, 0}, torch::kLong).view({1, 4}));
  });
  // Vectors of equal singular values are not unique, the gradient of the values' sum of squares is.
  const Tensor twice =
      torch::cat({torch::eye(3, torch::kDouble), torch::zeros({3, 1}, torch::kDouble)}, 1).requires_grad_();
  c.gradients("svdvals", {twice}, [&] { return torch::linalg_svdvals(twice).square().sum(); });
}

PARITY_CASE(edges, gradients_in_place) {
  const Tensor a = c.leaf({4}), b = a.detach().flip(0).requires_grad_();
  const auto changed = [&](const char* name, const std::function<void(Tensor)>& change) {
    c.gradients(name, {a}, [&] {
      const Tensor x = a * 2;
      change(x);
      return x + a;
    });
  };
  changed("eq_", [&](Tensor x) { x.eq_(b); });
  changed("lt_", [&](Tensor x) { x.lt_(0.5); });
  changed("ge_", [&](Tensor x) { x.ge_(b); });
  changed("ne_", [&](Tensor x) { x.ne_(0); });
  const Tensor p = c.values({-0.5, 0.25, 0.75, 1.5}).requires_grad_();
  c.gradients("logit", {p}, [&] { return torch::logit(p); });
}

PARITY_CASE(edges, broadcast_pairs) {
  const Tensor a = c.leaf({3, 4}, torch::kDouble), number = c.leaf({}, torch::kDouble),
               row = c.leaf({4}, torch::kDouble);
  c.gradients("cosine_similarity", {a, number}, [&] { return torch::cosine_similarity(a, number, -1); });
  c.gradients("cosine_similarity of rows", {a, row}, [&] { return torch::cosine_similarity(a, row, 0); });
  c.out("cosine_similarity of integers", torch::cosine_similarity(a.detach(), c.arange({4}, torch::kLong), 1));
  c.throws("cosine_similarity of integers alone",
           [&] { torch::cosine_similarity(c.arange({4}, torch::kLong), c.arange({4}, torch::kLong), 0); });
  const Tensor half = a.detach().to(torch::kHalf), scalar = torch::full({}, 0.5, torch::kFloat);
  c.out("mse_loss of a scalar of another dtype", torch::mse_loss(half, scalar));
  c.out("l1_loss of a scalar of another dtype", torch::l1_loss(half, scalar));
  c.out("bce with logits", torch::binary_cross_entropy_with_logits(number.detach(), a.detach().sigmoid()));
  c.throws("bce with logits, functional", [&] { F::binary_cross_entropy_with_logits(a, row.detach().sigmoid()); });
}

PARITY_CASE(edges, convolutions_of_other_numbers) {
  const Tensor x = c.randint(-5, 6, {2, 4, 7, 6}), w = c.randint(-3, 4, {6, 4, 3, 3}), b = c.randint(-9, 9, {6});
  for (const auto dtype : {torch::kLong, torch::kInt, torch::kShort, torch::kChar})
    c.out(parity::dtype_name(dtype), torch::conv2d(x.to(dtype), w.to(dtype), b.to(dtype), 2, 1));
  c.out("bytes wrap", torch::conv2d(x.abs().to(torch::kByte) * 10, w.abs().to(torch::kByte) * 9));
  c.out("transposed", torch::conv_transpose2d(x, w.transpose(0, 1).contiguous(), {}, 2));
  c.out("unbatched", torch::conv1d(x.select(0, 0).select(2, 0), w.select(3, 1)));
  const auto complex = [&](parity::Shape shape) {
    return torch::complex(c.randn(shape, torch::kDouble), c.randn(shape, torch::kDouble)).requires_grad_();
  };
  const Tensor z = complex({2, 4, 6, 5}), v = complex({6, 2, 3, 3}), u = complex({6});
  c.gradients("complex", {z, v, u}, [&] { return torch::conv2d(z, v, u, 1, 1, 1, 2); });
  c.gradients("complex, transposed", {z, v}, [&] { return torch::conv_transpose2d(z, v.slice(0, 0, 4), {}, 2); });
  for (const auto dtype : {torch::kLong, torch::kByte, torch::kShort}) {
    const auto [values, places] = torch::max_pool2d_with_indices(x.abs().to(dtype), 3, 2, 1);
    c.out("max_pool2d " + parity::dtype_name(dtype), values);
    c.out("places " + parity::dtype_name(dtype), places);
  }
}

PARITY_CASE(edges, interpolation) {
  const Tensor image = c.leaf({2, 3, 9, 7}), line = c.leaf({2, 3, 5}), volume = c.leaf({1, 2, 3, 4, 5});
  const auto exact = F::InterpolateFuncOptions().mode(torch::kNearestExact);
  c.gradients("nearest-exact, smaller", {image}, [&] {
    return F::interpolate(image, F::InterpolateFuncOptions(exact).size(std::vector<int64_t>{4, 5}));
  });
  c.gradients("nearest-exact, scaled", {image}, [&] {
    return F::interpolate(image, F::InterpolateFuncOptions(exact).scale_factor(std::vector<double>{1.7, 0.6}));
  });
  c.gradients("nearest-exact, line", {line}, [&] {
    return F::interpolate(line, F::InterpolateFuncOptions(exact).scale_factor(std::vector<double>{2.3}));
  });
  c.gradients("nearest-exact, volume", {volume}, [&] {
    return F::interpolate(volume, F::InterpolateFuncOptions(exact).size(std::vector<int64_t>{2, 7, 3}));
  });
  for (const bool align : {false, true})
    for (const bool cubic : {false, true}) {
      auto o = F::InterpolateFuncOptions().align_corners(align).antialias(true);
      if (cubic)
        o.mode(torch::kBicubic);
      else
        o.mode(torch::kBilinear);
      c.scope(std::string(cubic ? "bicubic" : "bilinear") + (align ? " aligned" : ""), [&] {
        for (const auto& size : std::vector<std::vector<int64_t>>{{4, 3}, {13, 5}, {1, 1}})
          c.gradients(std::to_string(size[0]), {image},
                      [&] { return F::interpolate(image, F::InterpolateFuncOptions(o).size(size)); });
        c.gradients("scaled", {image}, [&] {
          return F::interpolate(image, F::InterpolateFuncOptions(o).scale_factor(std::vector<double>{0.45, 1.3}));
        });
      });
    }
  c.throws("antialias of nearest", [&] {
    F::interpolate(image, F::InterpolateFuncOptions(exact).antialias(true).size(std::vector<int64_t>{4, 5}));
  });
}

PARITY_CASE(edges, parts_put_into_inputs_with_gaps) {
  const auto base = c.randn({4, 6});
  const auto put = [&](const std::string& name, const Tensor& y) {
    c.out(name, y);
    c.text(name + " strides", c10::str(y.strides()));
  };
  const std::vector<Tensor> inputs{base, base.slice(1, 1, 6, 2), base.t(), base.narrow(0, 1, 2),
                                   base.select(0, 2).expand({4, 6})};
  for (const auto& x : inputs) {
    c.scope(c10::str(x.sizes(), " ", x.strides(), " ", x.storage_offset()), [&] {
      put("select", x.select_scatter(torch::full({x.size(1)}, -1.), 0, 1));
      put("slice", x.slice_scatter(torch::full({1, x.size(1)}, -1.), 0, 1, 2));
      put("diagonal", x.diagonal_scatter(torch::full({std::min(x.size(0), x.size(1))}, -1.)));
      put("as_strided", torch::as_strided_scatter(x, torch::full({2}, -1.), {2}, {3}));
      put("as_strided at 2", torch::as_strided_scatter(x, torch::full({2}, -1.), {2}, {3}, 2));
    });
  }
  const auto x = base.slice(1, 1, 6, 2).detach().requires_grad_(), row = c.leaf({3}), two = c.leaf({2}),
             whole = c.randn({2, 3});
  c.gradients("select", {x, row}, [&] { return x.select_scatter(row, 0, 1); });
  c.gradients("slice", {x, row}, [&] { return x.slice_scatter(row.unsqueeze(0), 0, 2, 3); });
  // LibTorch's gradient of the input of as_strided_scatter keeps that of the part and drops the rest.
  c.gradients("as_strided", {two}, [&] { return torch::as_strided_scatter(whole, two, {2}, {3}, 1); });
}

PARITY_CASE(edges, margin_loss_of_a_scalar) {
  const auto x = c.leaf({}), line = c.leaf({3});
  for (const int64_t reduction : {0, 1, 2})
    for (const auto& target : {torch::tensor(0), torch::tensor({0})}) {
      const std::string name = c10::str(reduction, " ", target.sizes());
      c.gradients("scalar " + name, {x}, [&] { return torch::multi_margin_loss(x, target, 1, 1, {}, reduction); });
      c.gradients("line " + name, {line}, [&] { return torch::multi_margin_loss(line, target, 2, 1, {}, reduction); });
    }
}

PARITY_CASE(edges, pools_of_little) {
  for (const torch::Dtype dtype : {torch::kByte, torch::kChar, torch::kShort, torch::kInt, torch::kLong, torch::kFloat})
    c.out("all padding " + parity::dtype_name(dtype),  // a window that reaches no element
          torch::max_pool2d(torch::full({1, 1, 2, 2}, 3, dtype), {2, 2}, {1, 1}, {1, 1}, {3, 3}));
  const auto line = c.leaf({0, 4}), plane = c.leaf({0, 4, 5}), batch = c.leaf({2, 0, 4, 5}), box = c.leaf({0, 3, 4, 5});
  c.gradients("avg1", {line}, [&] { return torch::adaptive_avg_pool1d(line, {2}); });
  c.gradients("max1", {line}, [&] { return std::get<0>(torch::adaptive_max_pool1d(line, {2})); });
  c.gradients("avg2", {plane}, [&] { return torch::adaptive_avg_pool2d(plane, {2, 3}); });
  c.gradients("avg2 to one", {plane}, [&] { return torch::adaptive_avg_pool2d(plane, {1, 1}); });
  c.gradients("max2", {plane}, [&] { return std::get<0>(torch::adaptive_max_pool2d(plane, {2, 3})); });
  c.out("avg2 batch", torch::adaptive_avg_pool2d(batch, {2, 3}));
  c.throws("max2 batch", [&] { torch::adaptive_max_pool2d(batch, {2, 3}); });
  c.gradients("avg3", {box}, [&] { return torch::adaptive_avg_pool3d(box, {2, 3, 1}); });
  c.gradients("max3", {box}, [&] { return std::get<0>(torch::adaptive_max_pool3d(box, {2, 3, 1})); });
  c.throws("avg3 batch", [&] { torch::adaptive_avg_pool3d(c.randn({2, 0, 3, 4, 5}), {2, 3, 1}); });
  c.throws("max2 plain", [&] { torch::max_pool2d(plane, {1, 1}); });
}
