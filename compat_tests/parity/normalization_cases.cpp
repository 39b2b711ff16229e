// batch, layer, group and instance normalisation; running statistics.
#include "parity/case.h"

using torch::Tensor;
using Shape = parity::Shape;

namespace {

void tolerances(parity::Case& c) {
  c.tolerance(torch::kFloat, 1e-5, 1e-5);  // gradients are small differences of large sums
}

}  // namespace

PARITY_CASE(normalization, batch_norm_training) {
  tolerances(c);
  for (const Shape& shape : {Shape{6, 4}, Shape{3, 4, 5}, Shape{3, 4, 5, 6}, Shape{2, 4, 3, 3, 3}}) {
    c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
      const auto name = "rank" + std::to_string(shape.size());
      auto x = c.leaf(shape, dtype), w = c.leaf({4}, dtype), b = c.leaf({4}, dtype);
      auto mean = c.randn({4}, dtype), var = c.rand({4}, dtype, 0.5, 2);
      c.gradients(name, {x, w, b}, [&] { return torch::batch_norm(x, w, b, mean, var, true, 0.1, 1e-5, true); });
      c.out(name + "_running_mean", mean);
      c.out(name + "_running_var", var);
    });
  }
  auto x = c.leaf({4, 3, 2}), none = c.leaf({3});
  c.gradients("no_affine", {x}, [&] { return torch::batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, true); });
  auto last = c.randn({2, 4, 3, 3}).contiguous(torch::MemoryFormat::ChannelsLast).requires_grad_();
  auto w = c.leaf({4}), b = c.leaf({4});
  c.gradients("channels_last", {last, w, b},
              [&] { return torch::batch_norm(last, w, b, {}, {}, true, 0.1, 1e-5, true); });
  c.throws("one_value", [&] {
    torch::nn::functional::batch_norm(c.randn({1, 3}), {}, {},
                                      torch::nn::functional::BatchNormFuncOptions().training(true));
  });
}

PARITY_CASE(normalization, batch_norm_eval) {
  tolerances(c);
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf({3, 4, 5, 2}, dtype), w = c.leaf({4}, dtype), b = c.leaf({4}, dtype);
    auto mean = c.randn({4}, dtype), var = c.rand({4}, dtype, 0.5, 2);
    c.gradients("y", {x, w, b}, [&] { return torch::batch_norm(x, w, b, mean, var, false, 0.1, 1e-5, true); });
  });
}

PARITY_CASE(normalization, layer_norm) {
  tolerances(c);
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf({3, 4, 10}, dtype), w = c.leaf({10}, dtype), b = c.leaf({10}, dtype);
    c.gradients("last", {x, w, b}, [&] { return torch::layer_norm(x, {10}, w, b); });
    c.gradients("no_affine", {x}, [&] { return torch::layer_norm(x, {10}); });
    auto w2 = c.leaf({4, 10}, dtype), b2 = c.leaf({4, 10}, dtype);
    c.gradients("two", {x, w2, b2}, [&] { return torch::layer_norm(x, {4, 10}, w2, b2, 1e-3); });
    auto wide = c.leaf({2, 700}, dtype);
    c.gradients("wide", {wide}, [&] { return torch::layer_norm(wide, {700}); });
  });
  c.for_layouts({4, 6}, torch::kFloat, [&](Tensor x) {
    if (x.stride(0) == 0) return;
    x.requires_grad_();
    c.gradients("y", {x}, [&] { return torch::layer_norm(x, {6}); });
  });
  c.throws("shape", [&] { torch::layer_norm(c.randn({3, 4}), {5}); });
}

PARITY_CASE(normalization, group_norm) {
  tolerances(c);
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf({2, 6, 3, 4}, dtype), w = c.leaf({6}, dtype), b = c.leaf({6}, dtype);
    for (int64_t groups : {1, 2, 3, 6}) {
      c.gradients("groups" + std::to_string(groups), {x, w, b}, [&] { return torch::group_norm(x, groups, w, b); });
    }
    c.gradients("no_affine", {x}, [&] { return torch::group_norm(x, 3); });
  });
  c.throws("groups", [&] { torch::group_norm(c.randn({2, 5, 3}), 2); });
}

PARITY_CASE(normalization, instance_norm) {
  tolerances(c);
  auto x = c.leaf({2, 3, 4, 5}), w = c.leaf({3}), b = c.leaf({3});
  c.gradients("y", {x, w, b}, [&] { return torch::instance_norm(x, w, b, {}, {}, true, 0.1, 1e-5, true); });
}

PARITY_CASE(normalization, gradcheck) {
  auto x = c.leaf({3, 2, 2}, torch::kDouble), w = c.leaf({2}, torch::kDouble), b = c.leaf({2}, torch::kDouble);
  c.gradcheck([&] { return torch::batch_norm(x, w, b, {}, {}, true, 0.1, 1e-5, true); }, {x, w, b});
  c.gradgradcheck([&] { return torch::batch_norm(x, w, b, {}, {}, true, 0.1, 1e-5, true); }, {x, w, b});
  c.gradcheck([&] { return torch::layer_norm(x, {2, 2}); }, {x});
  auto lw = c.leaf({2}, torch::kDouble), lb = c.leaf({2}, torch::kDouble), y = c.leaf({2, 3, 2}, torch::kDouble);
  c.gradcheck([&] { return torch::layer_norm(y, {2}, lw, lb, 0.1); }, {y, lw, lb});
  c.gradgradcheck([&] { return torch::layer_norm(y, {2}, lw, lb, 0.1); }, {y, lw, lb});
  auto z = c.leaf({1, 4, 2}, torch::kDouble);
  c.gradcheck([&] { return torch::group_norm(z, 2); }, {z});
  c.gradgradcheck([&] { return torch::group_norm(z, 2); }, {z});
}
