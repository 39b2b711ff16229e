#include "parity/case.h"

using torch::Tensor;

PARITY_CASE(norms, batch_norm) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    int i = 0;
    for (auto shape : std::vector<parity::Shape>{{6, 5}, {4, 5, 7}, {3, 5, 4, 6}, {2, 5, 3, 4, 2}, {2, 70, 3, 3}}) {
      c.scope("shape" + std::to_string(i++), [&] {
        auto x = c.leaf(shape, dtype), w = c.leaf({shape[1]}, dtype), b = c.leaf({shape[1]}, dtype);
        auto mean = c.randn({shape[1]}, dtype), var = c.rand({shape[1]}, dtype, 0.5, 2);
        c.gradients("train", {x, w, b}, [&] { return torch::batch_norm(x, w, b, mean, var, true, 0.1, 1e-5, false); });
        c.out("mean", mean);
        c.out("var", var);
        c.gradients("eval", {x, w, b}, [&] { return torch::batch_norm(x, w, b, mean, var, false, 0.1, 1e-5, false); });
        c.gradients("bare", {x}, [&] { return torch::batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false); });
      });
    }
  });
  auto last = c.randn({3, 20, 4, 4}).contiguous(torch::MemoryFormat::ChannelsLast).requires_grad_();
  auto w = c.leaf({20}), b = c.leaf({20});
  c.gradients("channels_last", {last, w, b},
              [&] { return torch::batch_norm(last, w, b, {}, {}, true, 0.1, 1e-5, false); });
  auto x = c.leaf({2, 3, 8, 8}), k = c.leaf({20, 3, 3, 3});
  c.gradients("after_conv", {x, k, w, b}, [&] {
    return torch::relu(torch::batch_norm(torch::conv2d(x, k), w, b, {}, {}, true, 0.1, 1e-5, false));
  });
  c.tolerance(1e-4, 1e-4);  // the mean, 1000, has 3e-5 of rounding in f32: ours is 3e-5 off, LibTorch's 2e-5
  c.out("far_from_zero", torch::batch_norm(c.randn({4, 3, 5, 5}) + 1000, {}, {}, {}, {}, true, 0.1, 1e-5, false));
  c.tolerance(1e-5, 1e-6);
  auto xd = c.leaf({3, 2, 3, 2}, torch::kDouble), wd = c.leaf({2}, torch::kDouble), bd = c.leaf({2}, torch::kDouble);
  auto norm = [&] { return torch::batch_norm(xd, wd, bd, {}, {}, true, 0.1, 1e-5, false); };
  c.gradcheck(norm, {xd, wd, bd});
  c.gradgradcheck(norm, {xd, wd, bd});
}

PARITY_CASE(norms, layer_norm) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    for (int64_t n : {5, 33, 130})
      c.scope(std::to_string(n), [&] {
        auto x = c.leaf({3, 4, n}, dtype), w = c.leaf({n}, dtype), b = c.leaf({n}, dtype);
        c.gradients("affine", {x, w, b}, [&] { return torch::layer_norm(x, {n}, w, b); });
        c.gradients("bare", {x}, [&] { return torch::layer_norm(x, {n}); });
      });
    auto x = c.leaf({3, 4, 5}, dtype), w = c.leaf({4, 5}, dtype), b = c.leaf({4, 5}, dtype);
    c.gradients("two_dims", {x, w, b}, [&] { return torch::layer_norm(x, {4, 5}, w, b, 1e-3); });
  });
  c.out("empty", torch::layer_norm(c.randn({0, 5}), {5}));
  auto x = c.leaf({3, 4}, torch::kDouble), w = c.leaf({4}, torch::kDouble), b = c.leaf({4}, torch::kDouble);
  c.gradcheck([&] { return torch::layer_norm(x, {4}, w, b); }, {x, w, b});
  c.gradgradcheck([&] { return torch::layer_norm(x, {4}, w, b); }, {x, w, b});
  c.for_layouts({4, 6}, torch::kFloat, [&](Tensor t) { c.out("layout", torch::layer_norm(t, {6})); });
  c.throws("shape", [&] { torch::layer_norm(c.randn({3, 4}), {5}); });
  c.throws("weight", [&] { torch::layer_norm(c.randn({3, 4}), {4}, c.randn({3})); });
}

PARITY_CASE(norms, group_norm) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf({3, 6, 4, 5}, dtype), w = c.leaf({6}, dtype), b = c.leaf({6}, dtype);
    for (int64_t groups : {1, 2, 6})
      c.gradients("groups" + std::to_string(groups), {x, w, b}, [&] { return torch::group_norm(x, groups, w, b); });
    c.gradients("bare", {x}, [&] { return torch::group_norm(x, 3); });
  });
  auto x = c.leaf({2, 4, 3}, torch::kDouble), w = c.leaf({4}, torch::kDouble), b = c.leaf({4}, torch::kDouble);
  c.gradcheck([&] { return torch::group_norm(x, 2, w, b); }, {x, w, b});
  c.throws("groups", [&] { torch::group_norm(c.randn({2, 5, 3}), 2); });
}

PARITY_CASE(norms, instance_norm) {
  auto x = c.leaf({3, 4, 5, 6}), w = c.leaf({4}), b = c.leaf({4});
  auto mean = c.randn({4}), var = c.rand({4}, torch::kFloat, 0.5, 2);
  c.gradients("affine", {x, w, b}, [&] { return torch::instance_norm(x, w, b, {}, {}, true, 0.1, 1e-5, false); });
  c.gradients("running", {x, w, b}, [&] { return torch::instance_norm(x, w, b, mean, var, true, 0.1, 1e-5, false); });
  c.out("mean", mean);
  c.out("var", var);
  c.gradients("eval", {x, w, b}, [&] { return torch::instance_norm(x, w, b, mean, var, false, 0.1, 1e-5, false); });
}

PARITY_CASE(norms, rms_norm) {
  c.tolerance(torch::kHalf, 2e-3, 2e-3);
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf({3, 4, 12}, dtype), w = c.leaf({12}, dtype);
    c.gradients("default_eps", {x, w}, [&] { return torch::rms_norm(x, {12}, w); });
    c.gradients("eps", {x}, [&] { return torch::rms_norm(x, {12}, {}, 1e-3); });
  });
}

PARITY_CASE(norms, softmax) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    for (int64_t n : {1, 7, 65, 300})
      for (int64_t dim : {0, 1, -1})
        c.scope(std::to_string(n) + "_" + std::to_string(dim), [&] {
          auto x = c.leaf(dim == -1  ? parity::Shape{3, 2, n}
                          : dim == 0 ? parity::Shape{n, 5}
                                     : parity::Shape{2, n, 70},
                          dtype);
          c.gradients("softmax", {x}, [&] { return torch::softmax(x, dim); });
          c.gradients("log_softmax", {x}, [&] { return torch::log_softmax(x, dim); });
        });
  });
  auto x = c.leaf({3, 4}, torch::kDouble);
  c.gradcheck([&] { return torch::softmax(x, 1); }, {x});
  c.gradgradcheck([&] { return torch::softmax(x, 1); }, {x});
  c.gradcheck([&] { return torch::log_softmax(x, 0); }, {x});
  c.gradgradcheck([&] { return torch::log_softmax(x, 0); }, {x});
  c.out("large", torch::softmax(c.values({1000, 0, -1000, 88, 89}), 0));
  c.out("minus_infinity",
        torch::softmax(torch::stack({c.values({-INFINITY, 0, 1}), c.values({-INFINITY, -INFINITY, -INFINITY})}), 1));
  c.out("special", torch::softmax(c.special(), 0));
  c.out("log_special", torch::log_softmax(c.values({INFINITY, 1, NAN}), 0));
  c.out("zero_dim", torch::softmax(c.randn({}), 0));
  c.out("empty", torch::softmax(c.randn({0, 3}), 1));
  c.out("to_double", torch::softmax(c.randn({3, 3}), 1, torch::kDouble));
  c.out("from_int", torch::softmax(c.arange({4}, torch::kLong), 0, torch::kFloat));
  c.for_layouts({4, 6}, torch::kFloat, [&](Tensor t) { c.out("layout", torch::log_softmax(t, 0)); });
  c.throws("dim", [&] { torch::softmax(c.randn({2, 2}), 5); });
  c.throws("int", [&] { torch::softmax(c.arange({4}, torch::kLong), 0); });
}
