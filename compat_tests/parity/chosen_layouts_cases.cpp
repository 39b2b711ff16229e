// Where a program chose channels-last, results keep it.
#include "parity/case.h"

using torch::Tensor;
namespace F = torch::nn::functional;

namespace {

constexpr auto kLast = torch::MemoryFormat::ChannelsLast;

/// Result and gradient of `fn`, their strides too, for inputs in three orders.
template <class Fn>
void keeps(parity::Case& c, const char* name, Fn fn) {
  const auto one = [&](const char* order, const Tensor& values) {
    c.scope(order, [&] {
      Tensor x = values.detach().requires_grad_();
      Tensor y = fn(x);
      c.out(std::string(name) + ".values", y);
      c.layout(name, y.detach());
      if (!y.requires_grad()) return;
      y.backward(y.detach().cos());
      c.out(std::string(name) + ".grad", x.grad());
      c.layout(std::string(name) + ".grad_layout", x.grad());
    });
  };
  const Tensor x = c.randn({2, 8, 6, 5});
  one("last", x.contiguous(kLast));
  one("first", x);
  one("turned", x.transpose(2, 3).contiguous().transpose(2, 3));
}

}  // namespace

PARITY_CASE(chosen_layouts, resampling) {
  namespace f = torch;
  keeps(c, "bilinear", [](const Tensor& x) { return f::upsample_bilinear2d(x, {9, 4}, false); });
  keeps(c, "bilinear_corners", [](const Tensor& x) { return f::upsample_bilinear2d(x, {3, 9}, true); });
  keeps(c, "bicubic", [](const Tensor& x) { return f::upsample_bicubic2d(x, {9, 4}, false); });
  keeps(c, "nearest", [](const Tensor& x) { return f::upsample_nearest2d(x, {9, 4}); });
  c.layout("antialiased", f::_upsample_bilinear2d_aa(c.randn({2, 8, 6, 5}).contiguous(kLast), {3, 3}, false));
  c.layout("antialiased_cubic", f::_upsample_bicubic2d_aa(c.randn({2, 8, 6, 5}).contiguous(kLast), {3, 3}, false));
}

PARITY_CASE(chosen_layouts, rearranging) {
  keeps(c, "roll", [](const Tensor& x) { return torch::roll(x, {1, -2}, {1, 3}); });
  keeps(c, "pad", [](const Tensor& x) { return torch::constant_pad_nd(x, {1, 2, -1, 1}, 0.5); });
  keeps(c, "pixel_shuffle", [](const Tensor& x) { return torch::pixel_shuffle(x, 2); });
  keeps(c, "channel_shuffle", [](const Tensor& x) { return torch::channel_shuffle(x, 2); });
  c.layout("pixel_unshuffle", torch::pixel_unshuffle(c.randn({2, 3, 4, 6}).contiguous(kLast), 2));
}

PARITY_CASE(chosen_layouts, places_by_index) {
  const Tensor rows = torch::tensor({0, 3, 3}), values = c.randn({3});
  const Tensor places = torch::tensor({0, 7, -1});
  keeps(c, "index_fill", [&](const Tensor& x) { return torch::index_fill(x, 1, rows, 2.5); });
  keeps(c, "put", [&](const Tensor& x) { return torch::put(x, places, values); });
  keeps(c, "put_more", [&](const Tensor& x) { return torch::put(x, places, values, /*accumulate=*/true); });
  const Tensor self = c.leaf({4, 3}, torch::kDouble), source = c.leaf({2}, torch::kDouble);
  const Tensor two = torch::tensor({1, 6});
  for (const bool accumulate : {false, true}) {
    c.scope(accumulate ? "added" : "replaced", [&] {
      c.gradients("put", {self, source}, [&] { return torch::put(self.t(), two, source, accumulate); });
      c.gradgradcheck([&] { return torch::put(self.t(), two, source, accumulate); }, {self, source});
    });
  }
}

PARITY_CASE(chosen_layouts, complex_of_parts) {
  const auto parts = [](const Tensor& z) { return torch::view_as_real(z); };
  keeps(c, "complex", [&](const Tensor& x) { return parts(torch::complex(x, x * 2)); });
  keeps(c, "polar", [&](const Tensor& x) { return parts(torch::polar(x.abs(), x + 1)); });
  c.layout("turned", torch::complex(c.randn({3, 4, 5}).permute({2, 0, 1}), c.randn({3, 4, 5}).permute({2, 0, 1})));
  c.layout("step", torch::complex(c.randn({4, 6}).slice(1, 0, 6, 2), c.randn({4, 6}).slice(1, 0, 6, 2)));
  c.layout("expanded", torch::complex(c.randn({4, 1}).expand({4, 3}), c.randn({4, 1}).expand({4, 3})));
}

PARITY_CASE(chosen_layouts, group_norm) {
  const Tensor w = c.randn({8}), b = c.randn({8});
  keeps(c, "affine", [&](const Tensor& x) { return torch::group_norm(x, 2, w, b); });
  keeps(c, "plain", [&](const Tensor& x) { return torch::group_norm(x, 4); });
}

PARITY_CASE(chosen_layouts, sort) {
  for (const int64_t dim : {0, 1, 3}) {
    c.scope(std::to_string(dim), [&] {
      keeps(c, "values", [&](const Tensor& x) { return std::get<0>(torch::sort(x, dim)); });
      keeps(c, "indices", [&](const Tensor& x) { return std::get<1>(torch::sort(x, dim, true)); });
      keeps(c, "argsort", [&](const Tensor& x) { return torch::argsort(x, dim); });
    });
  }
  c.layout("step", std::get<0>(c.randn({4, 6}).slice(1, 0, 6, 2).sort(1)));
  c.layout("expanded", std::get<0>(c.randn({4, 1}).expand({4, 3}).sort(1)));
}

PARITY_CASE(chosen_layouts, losses) {
  const Tensor target = c.randn({2, 8, 6, 5}), last = target.contiguous(kLast);
  for (const Tensor& t : {target, last}) {
    c.scope(t.is_contiguous() ? "first" : "last", [&] {
      keeps(c, "mse", [&](const Tensor& x) { return torch::mse_loss(x, t, at::Reduction::None); });
      keeps(c, "l1", [&](const Tensor& x) { return torch::l1_loss(x, t, at::Reduction::None); });
      keeps(c, "smooth_l1", [&](const Tensor& x) { return torch::smooth_l1_loss(x, t, at::Reduction::None); });
      keeps(c, "huber", [&](const Tensor& x) { return torch::huber_loss(x, t, at::Reduction::None); });
      keeps(c, "mse_mean", [&](const Tensor& x) { return torch::mse_loss(x, t); });
    });
  }
}

// The gradient of a sum that a program is given is a view of one number; that of a mean, and a leaf's sum, is written
// out.
PARITY_CASE(chosen_layouts, gradients_of_sums) {
  const auto look = [&](const char* name, auto fn) {
    c.scope(name, [&] {
      Tensor x = c.leaf({2, 3, 4, 4});
      const Tensor middle = x * 2;
      for (const Tensor& of : {x, middle}) {
        Tensor g = torch::autograd::grad({fn(of)}, {of}, {}, /*retain_graph=*/true)[0];
        c.layout("returned", g);
        c.out("values", g);
        c.layout("differentiable", torch::autograd::grad({fn(of)}, {of}, {}, true, /*create_graph=*/true)[0].detach());
        if (!g.is_contiguous()) c.throws("changed", [&] { g.mul_(2); });
      }
      c.out("through", torch::autograd::grad({fn(x * x)}, {x})[0]);
      fn(x).backward();
      c.layout("leaf", x.grad());
      x.mutable_grad().select(0, 0).mul_(3);  // memory of its own
      fn(x).backward();
      c.out("twice", x.grad());
      Tensor last = c.randn({2, 3, 4, 4}).contiguous(kLast).requires_grad_();
      c.layout("returned_last", torch::autograd::grad({fn(last)}, {last})[0]);
      fn(last).backward();
      c.layout("leaf_last", last.grad());
      c.out("leaf_values", last.grad());
    });
  };
  look("all", [](const Tensor& x) { return x.sum(); });
  look("rows", [](const Tensor& x) { return x.sum(3).pow(2).sum(); });
  look("columns", [](const Tensor& x) { return x.sum(at::IntArrayRef({0, 2}), true).sin().sum(); });
  look("wide", [](const Tensor& x) { return x.sum(torch::kDouble); });
  look("viewed", [](const Tensor& x) { return x.permute({1, 0, 3, 2}).sum(0).sum(); });
  look("flat", [](const Tensor& x) { return x.reshape({-1}).sum(); });
  look("part", [](const Tensor& x) { return x.select(1, 1).sum(); });
  look("nansum", [](const Tensor& x) { return x.nansum(); });
  look("mean", [](const Tensor& x) { return x.mean(); });
  look("mean_flat", [](const Tensor& x) { return x.reshape({-1}).mean(); });
  look("mean_rows", [](const Tensor& x) { return x.mean(3).sum(); });
  look("added", [](const Tensor& x) { return (x + 1).sum() + x.mean(); });
  look("var", [](const Tensor& x) { return x.var(); });
  look("broadcast", [](const Tensor& x) { return (x + x.narrow(0, 0, 1)).sum(); });
  Tensor few = c.randn({2, 1}).expand({2, 3}).requires_grad_();  // a leaf whose elements repeat
  few.sum().backward();
  c.layout("expanded_leaf", few.grad());
  few.sum(1).sum().backward();
  c.out("expanded_leaf_twice", few.grad());
}

// A gradient that a program is given has memory of its own, though that of a mean is one number for many elements.
PARITY_CASE(chosen_layouts, gradients_of_means) {
  const auto look = [&](const char* name, auto fn) {
    const Tensor x = c.leaf({2, 3, 4, 4});
    Tensor g = torch::autograd::grad({fn(x)}, {x})[0];
    c.layout(name, g);
    c.out(std::string(name) + ".changed", g.mul_(2).view({2, -1}));
    c.scope(name, [&] {
      const Tensor middle = x * 2;
      middle.register_hook([&](const Tensor& seen) {
        c.out("seen", seen.view({-1}));
        c.layout("seen_layout", seen);
      });
      middle.retain_grad();
      fn(middle).backward();
      c.out("retained", middle.grad().add_(1).view({-1}));
      c.out("leaf", x.grad());
    });
  };
  look("all", [](const Tensor& x) { return x.mean(); });
  look("planes", [](const Tensor& x) { return x.mean({2, 3}).pow(2).sum(); });
  look("pool", [](const Tensor& x) { return torch::adaptive_avg_pool2d(x, {1, 1}).exp().sum(); });
  const Tensor x = c.leaf({2, 3});
  const Tensor g = torch::autograd::grad({x.mean() * x.sum()}, {x}, {}, std::nullopt, /*create_graph=*/true)[0];
  c.backward("second", g.pow(2).sum(), {x});
}
