#include "parity/case.h"

using torch::Tensor;

namespace {
struct Geometry {
  const char* name;
  int64_t n, in, out, size, kernel, stride, padding, dilation, groups;
};
const std::vector<Geometry> kGeometries{
    {"plain", 2, 3, 5, 9, 3, 1, 0, 1, 1},          {"padded", 2, 4, 6, 8, 3, 1, 1, 1, 1},
    {"strided", 2, 3, 8, 11, 3, 2, 1, 1, 1},       {"dilated", 1, 4, 4, 10, 3, 1, 2, 2, 1},
    {"groups", 2, 6, 9, 7, 3, 1, 1, 1, 3},         {"depthwise", 2, 16, 16, 8, 3, 1, 1, 1, 16},
    {"depthwise_odd", 2, 5, 10, 7, 3, 2, 1, 1, 5}, {"depthwise_far", 1, 43, 43, 5, 4, 3, 5, 2, 43},
    {"pointwise", 3, 16, 32, 6, 1, 1, 0, 1, 1},    {"pointwise_strided", 2, 8, 16, 6, 1, 2, 0, 1, 1},
    {"even_kernel", 2, 3, 4, 8, 4, 2, 1, 1, 1},    {"one_channel", 2, 1, 6, 12, 5, 1, 2, 1, 1},
    {"wide", 2, 32, 48, 10, 3, 1, 1, 1, 1}};
parity::Shape shape(int dims, int64_t a, int64_t b, int64_t size) {
  parity::Shape s{a, b};
  for (int d = 0; d < dims; ++d) s.push_back(size + (d == 1 ? 1 : 0));
  return s;
}
parity::Shape kernel_shape(int dims, int64_t a, int64_t b, int64_t size) {
  parity::Shape s{a, b};
  s.resize(2 + dims, size);
  return s;
}
Tensor conv(int dims, const Tensor& x, const Tensor& w, const Tensor& b, const Geometry& g) {
  if (dims == 1) return torch::conv1d(x, w, b, g.stride, g.padding, g.dilation, g.groups);
  if (dims == 2) return torch::conv2d(x, w, b, g.stride, g.padding, g.dilation, g.groups);
  return torch::conv3d(x, w, b, g.stride, g.padding, g.dilation, g.groups);
}
Tensor transposed(int dims, const Tensor& x, const Tensor& w, const Tensor& b, const Geometry& g, int64_t extra) {
  if (dims == 1) return torch::conv_transpose1d(x, w, b, g.stride, g.padding, extra, g.groups, g.dilation);
  if (dims == 2) return torch::conv_transpose2d(x, w, b, g.stride, g.padding, extra, g.groups, g.dilation);
  return torch::conv_transpose3d(x, w, b, g.stride, g.padding, extra, g.groups, g.dilation);
}
// LibTorch's f16 volumes go through partial sums in f16: up to 2.1 rounding steps from the exact result, ours 0.3. So
// do its bf16 convolutions on a CPU without bf16 instructions: up to 2.2 times the usual tolerance from ours, none of
// which is further from the exact result than its own.
void tolerances(parity::Case& c, int dims) {
  if (dims == 3) c.tolerance(torch::kHalf, 4e-3, 4e-3);
  c.tolerance(torch::kBFloat16, 2e-2, 2e-2);
}
void all_geometries(parity::Case& c, int dims) {
  tolerances(c, dims);
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    for (const auto& g : kGeometries) {
      c.scope(g.name, [&] {
        auto x = c.leaf(shape(dims, g.n, g.in, g.size), dtype);
        auto w = c.leaf_in(-0.3, 0.3, kernel_shape(dims, g.out, g.in / g.groups, g.kernel), dtype),
             b = c.leaf({g.out}, dtype);
        c.gradients("y", {x, w, b}, [&] { return conv(dims, x, w, b, g); });
        c.out("no_bias", conv(dims, x, w, {}, g));
      });
    }
  });
}
void all_transposed(parity::Case& c, int dims) {
  tolerances(c, dims);
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    for (const auto& g : kGeometries) {
      c.scope(g.name, [&] {
        auto x = c.leaf(shape(dims, g.n, g.in, g.size), dtype);
        auto w = c.leaf_in(-0.3, 0.3, kernel_shape(dims, g.in, g.out / g.groups, g.kernel), dtype),
             b = c.leaf({g.out}, dtype);
        c.gradients("y", {x, w, b}, [&] { return transposed(dims, x, w, b, g, 0); });
        if (g.stride > 1) c.out("output_padding", transposed(dims, x, w, {}, g, 1));
      });
    }
  });
}
}  // namespace

PARITY_CASE(convolution, conv1d) { all_geometries(c, 1); }
PARITY_CASE(convolution, conv2d) { all_geometries(c, 2); }
PARITY_CASE(convolution, conv3d) { all_geometries(c, 3); }
PARITY_CASE(convolution, transpose1d) { all_transposed(c, 1); }
PARITY_CASE(convolution, transpose2d) { all_transposed(c, 2); }
PARITY_CASE(convolution, transpose3d) { all_transposed(c, 3); }

PARITY_CASE(convolution, gradcheck) {
  for (const auto& g : {Geometry{"plain", 2, 2, 3, 5, 3, 1, 1, 1, 1}, Geometry{"strided", 1, 2, 2, 6, 3, 2, 1, 1, 1},
                        Geometry{"groups", 1, 4, 2, 5, 2, 1, 0, 2, 2}}) {
    auto x = c.leaf({g.n, g.in, g.size, g.size}, torch::kDouble);
    auto w = c.leaf({g.out, g.in / g.groups, g.kernel, g.kernel}, torch::kDouble), b = c.leaf({g.out}, torch::kDouble);
    c.gradcheck([&] { return conv(2, x, w, b, g); }, {x, w, b});
    c.gradgradcheck([&] { return conv(2, x, w, b, g); }, {x, w, b});
    auto v = c.leaf({g.in, g.out / g.groups, g.kernel, g.kernel}, torch::kDouble);
    c.gradcheck([&] { return transposed(2, x, v, b, g, 0); }, {x, v, b});
    c.gradgradcheck([&] { return transposed(2, x, v, b, g, 0); }, {x, v, b});
  }
}

PARITY_CASE(convolution, layouts) {
  auto w = c.randn({4, 3, 3, 3});
  c.for_layouts({2, 3, 6, 5}, torch::kFloat, [&](Tensor x) { c.out("conv", torch::conv2d(x, w, {}, 1, 1)); });
  auto x = c.leaf({2, 3, 6, 5});
  auto last = x.contiguous(torch::MemoryFormat::ChannelsLast);
  c.out("channels_last", torch::conv2d(last, w, {}, 1, 1));
  c.value("stays_channels_last", torch::conv2d(last, w, {}, 1, 1).is_contiguous(torch::MemoryFormat::ChannelsLast));
  c.layout("contiguous", torch::conv2d(x.detach(), w, {}, 1, 1));
  auto y = torch::conv2d(x, w, {}, 1, 1);
  c.gradients("view_after", {x}, [&] { return torch::conv2d(x, w, {}, 1, 1).view({2, -1}); });
  c.gradients("through_relu_pool", {x},
              [&] { return torch::max_pool2d(torch::relu(torch::conv2d(x, w, {}, 1, 1)), 2).flatten(1); });
  c.gradients("residual", {x}, [&] {
    auto t = torch::conv2d(x, w, {}, 1, 1);
    auto u = t * 2;
    u += t;
    return u.transpose(1, 2);
  });
  auto in_place = torch::conv2d(x.detach(), w, {}, 1, 1);
  in_place.relu_();
  c.out("in_place", in_place);
  auto sliced = torch::conv2d(x.detach(), w, {}, 1, 1);
  sliced.select(1, 0).fill_(7);
  c.out("sliced", sliced);
  auto cloned = torch::conv2d(x.detach(), w, {}, 1, 1).clone();
  c.layout("cloned", cloned);
  c.layout("detached", torch::conv2d(x, w, {}, 1, 1).detach());
  c.out("sum", torch::conv2d(x.detach(), w, {}, 1, 1).sum({2, 3}));
  c.out("mul_contiguous", torch::conv2d(x.detach(), w, {}, 1, 1) * c.randn({2, 4, 6, 5}));
}

PARITY_CASE(convolution, unbatched_and_empty) {
  auto x = c.leaf({3, 6, 5}), w = c.leaf({4, 3, 3, 3}), b = c.leaf({4});
  c.gradients("unbatched", {x, w, b}, [&] { return torch::conv2d(x, w, b); });
  auto none = c.leaf({0, 3, 6, 5});
  c.gradients("empty", {none, w, b}, [&] { return torch::conv2d(none, w, b, 1, 1); });
  auto line = c.leaf({3, 9}), wl = c.leaf({4, 3, 3});
  c.gradients("unbatched1d", {line, wl, b}, [&] { return torch::conv1d(line, wl, b, 2); });
}

PARITY_CASE(convolution, same) {
  for (int64_t k : {1, 2, 3, 4}) {
    auto x = c.leaf({2, 3, 7, 8}), w = c.leaf({4, 3, k, k});
    c.gradients("same" + std::to_string(k), {x, w}, [&] { return torch::conv2d(x, w, {}, 1, "same", k == 3 ? 2 : 1); });
    c.gradients("valid" + std::to_string(k), {x, w}, [&] { return torch::conv2d(x, w, {}, 2, "valid"); });
  }
  auto x = c.leaf({2, 3, 9}), w = c.leaf({4, 3, 4});
  c.gradients("conv1d", {x, w}, [&] { return torch::conv1d(x, w, {}, 1, "same"); });
  c.throws("strided", [&] { torch::conv2d(c.randn({1, 1, 4, 4}), c.randn({1, 1, 3, 3}), {}, 2, "same"); });
}

PARITY_CASE(convolution, errors) {
  const int64_t no_padding = 0;
  auto w = c.randn({4, 3, 3, 3});
  c.throws("channels", [&] { torch::conv2d(c.randn({1, 2, 5, 5}), w); });
  c.throws("dims", [&] { torch::conv2d(c.randn({5, 5}), w); });
  c.throws("small", [&] { torch::conv2d(c.randn({1, 3, 2, 2}), w); });
  c.throws("bias", [&] { torch::conv2d(c.randn({1, 3, 5, 5}), w, c.randn({3})); });
  c.throws("dtype", [&] { torch::conv2d(c.randn({1, 3, 5, 5}, torch::kDouble), w); });
  c.throws("groups", [&] { torch::conv2d(c.randn({1, 3, 5, 5}), w, Tensor(), 1, no_padding, 1, 2); });
  c.throws("stride", [&] { torch::conv2d(c.randn({1, 3, 5, 5}), w, Tensor(), 0); });
  c.throws("padding", [&] { torch::conv2d(c.randn({1, 3, 5, 5}), w, Tensor(), 1, -1); });
}
