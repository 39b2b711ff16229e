// Convolutions: 1 to 3 dimensions, transposed, strides, paddings, dilations, groups, layouts.
#include "parity/case.h"

using torch::Tensor;
using Shape = parity::Shape;

namespace {

void tolerances(parity::Case& c) {  // sums of many products, blocked differently
  c.tolerance(torch::kFloat, 1e-5, 5e-6);
  c.tolerance(torch::kHalf, 2e-3, 2e-3);  // volumes: LibTorch is up to 1.1 steps of f16 from the exact result, we 0.2
}

struct Setup {
  const char* name;
  Shape input, weight, stride, padding, dilation;
  int64_t groups = 1;
};

using Convolve = std::function<Tensor(const Tensor&, const Tensor&, const Tensor&, const Setup&)>;

void sweep(parity::Case& c, const std::vector<Setup>& setups, const Convolve& convolve, bool transposed = false) {
  tolerances(c);
  for (const auto& setup : setups) {
    c.scope(setup.name, [&] {
      c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
        auto x = c.leaf(setup.input, dtype), w = c.leaf(setup.weight, dtype);
        auto b = c.leaf({transposed ? setup.weight[1] * setup.groups : setup.weight[0]}, dtype);
        c.gradients("bias", {x, w, b}, [&] { return convolve(x, w, b, setup); });
        c.out("no_bias", convolve(x, w, {}, setup));
      });
    });
  }
}

Tensor conv2d(const Tensor& x, const Tensor& w, const Tensor& b, const Setup& s) {
  return torch::conv2d(x, w, b, s.stride, s.padding, s.dilation, s.groups);
}

}  // namespace

PARITY_CASE(conv, conv1d) {
  sweep(c,
        {{"plain", {2, 3, 10}, {4, 3, 3}, {1}, {0}, {1}},
         {"padded", {2, 3, 10}, {4, 3, 5}, {2}, {2}, {1}},
         {"dilated", {1, 2, 12}, {2, 2, 3}, {1}, {2}, {2}},
         {"grouped", {2, 4, 9}, {6, 2, 3}, {1}, {1}, {1}, 2},
         {"pointwise", {2, 3, 7}, {5, 3, 1}, {1}, {0}, {1}}},
        [](const Tensor& x, const Tensor& w, const Tensor& b, const Setup& s) {
          return torch::conv1d(x, w, b, s.stride, s.padding, s.dilation, s.groups);
        });
}

PARITY_CASE(conv, conv2d) {
  sweep(c,
        {{"plain", {2, 3, 8, 7}, {4, 3, 3, 3}, {1, 1}, {0, 0}, {1, 1}},
         {"same", {2, 3, 8, 8}, {4, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}},
         {"strided", {2, 3, 9, 9}, {4, 3, 3, 3}, {2, 2}, {1, 1}, {1, 1}},
         {"uneven", {1, 2, 9, 11}, {3, 2, 3, 5}, {2, 1}, {0, 2}, {1, 1}},
         {"dilated", {1, 2, 10, 10}, {3, 2, 3, 3}, {1, 1}, {2, 2}, {2, 2}},
         {"grouped", {2, 4, 6, 6}, {8, 2, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 2},
         {"depthwise", {2, 6, 6, 6}, {6, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 6},
         {"depthwise_multiplied", {1, 3, 6, 6}, {6, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 3},
         {"pointwise", {2, 8, 5, 5}, {4, 8, 1, 1}, {1, 1}, {0, 0}, {1, 1}},
         {"large_kernel", {1, 3, 16, 16}, {8, 3, 7, 7}, {2, 2}, {3, 3}, {1, 1}},
         {"channels_16", {2, 16, 14, 14}, {32, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}}},
        conv2d);
}

// Windows that tile the image, as a vision transformer's patches.
PARITY_CASE(conv, patches) {
  sweep(c,
        {{"images", {2, 3, 32, 24}, {16, 3, 8, 8}, {8, 8}, {0, 0}, {1, 1}},
         {"cut", {2, 3, 27, 19}, {16, 3, 8, 8}, {8, 8}, {0, 0}, {1, 1}},
         {"gray", {3, 1, 28, 28}, {12, 1, 14, 7}, {14, 7}, {0, 0}, {1, 1}},
         {"padded", {2, 3, 32, 32}, {8, 3, 8, 8}, {8, 8}, {4, 4}, {1, 1}}},
        conv2d);
  sweep(c, {{"signals", {2, 16, 35}, {6, 16, 8}, {8}, {0}, {1}}},
        [](const Tensor& x, const Tensor& w, const Tensor& b, const Setup& s) {
          return torch::conv1d(x, w, b, s.stride, s.padding, s.dilation, s.groups);
        });
  sweep(c, {{"volumes", {2, 2, 8, 9, 8}, {6, 2, 4, 4, 4}, {4, 4, 4}, {0, 0, 0}, {1, 1, 1}}},
        [](const Tensor& x, const Tensor& w, const Tensor& b, const Setup& s) {
          return torch::conv3d(x, w, b, s.stride, s.padding, s.dilation, s.groups);
        });
  const auto w = c.leaf({5, 3, 8, 8}), b = c.leaf({5});
  c.for_layouts({2, 3, 16, 24}, torch::kFloat, [&](Tensor x) {
    x.requires_grad_();
    c.gradients("layouts", {x, w, b}, [&] { return torch::conv2d(x, w, b, 8); });
    c.layout("result", torch::conv2d(x, w, b, 8));
    const auto last = x.detach().contiguous(torch::MemoryFormat::ChannelsLast);
    c.layout("of_channels_last", torch::conv2d(last, w, b, 8));
    c.layout("of_channels_last_weights", torch::conv2d(x, w.contiguous(torch::MemoryFormat::ChannelsLast), b, 8));
  });
}

// Enough channels and tiles for the scheme with fewer multiplications: tiles cut by the border, every padding.
PARITY_CASE(conv, conv2d_3x3_many_channels) {
  sweep(c,
        {{"same", {2, 32, 16, 16}, {64, 32, 3, 3}, {1, 1}, {1, 1}, {1, 1}},
         {"cut", {3, 64, 13, 11}, {32, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1}},
         {"unpadded", {4, 32, 10, 14}, {32, 32, 3, 3}, {1, 1}, {0, 0}, {1, 1}},
         {"widely_padded", {4, 32, 6, 9}, {96, 32, 3, 3}, {1, 1}, {2, 1}, {1, 1}}},
        conv2d);
}

PARITY_CASE(conv, conv3d) {
  sweep(c,
        {{"plain", {1, 2, 5, 6, 6}, {3, 2, 3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
         {"strided", {2, 2, 6, 6, 6}, {3, 2, 2, 2, 2}, {2, 2, 2}, {0, 0, 0}, {1, 1, 1}}},
        [](const Tensor& x, const Tensor& w, const Tensor& b, const Setup& s) {
          return torch::conv3d(x, w, b, s.stride, s.padding, s.dilation, s.groups);
        });
}

PARITY_CASE(conv, transposed) {
  c.scope("1d", [&] {
    sweep(
        c, {{"plain", {2, 3, 6}, {3, 4, 3}, {2}, {1}, {1}}},
        [](const Tensor& x, const Tensor& w, const Tensor& b, const Setup& s) {
          return torch::conv_transpose1d(x, w, b, s.stride, s.padding, /*output_padding=*/1, s.groups, s.dilation);
        },
        true);
  });
  c.scope("2d", [&] {
    sweep(
        c,
        {{"plain", {2, 3, 4, 4}, {3, 5, 3, 3}, {1, 1}, {0, 0}, {1, 1}},
         {"dcgan", {2, 8, 4, 4}, {8, 4, 4, 4}, {2, 2}, {1, 1}, {1, 1}},
         {"from_one_pixel", {2, 10, 1, 1}, {10, 6, 4, 4}, {1, 1}, {0, 0}, {1, 1}},
         {"grouped", {1, 4, 5, 5}, {4, 3, 3, 3}, {2, 2}, {1, 1}, {1, 1}, 2},
         {"dilated", {1, 2, 5, 5}, {2, 3, 3, 3}, {1, 1}, {1, 1}, {2, 2}}},
        [](const Tensor& x, const Tensor& w, const Tensor& b, const Setup& s) {
          return torch::conv_transpose2d(x, w, b, s.stride, s.padding, 0, s.groups, s.dilation);
        },
        true);
  });
  c.scope("3d", [&] {
    sweep(
        c, {{"plain", {1, 2, 3, 3, 3}, {2, 3, 2, 2, 2}, {2, 2, 2}, {0, 0, 0}, {1, 1, 1}}},
        [](const Tensor& x, const Tensor& w, const Tensor& b, const Setup& s) {
          return torch::conv_transpose3d(x, w, b, s.stride, s.padding, 0, s.groups, s.dilation);
        },
        true);
  });
}

// The result has rows behind the last that the kernel reaches: as many as a stride, or more.
PARITY_CASE(conv, transposed_with_much_output_padding) {
  c.for_dtypes({torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16}, [&](torch::Dtype dtype) {
    tolerances(c);
    const auto line = c.leaf({2, 3, 5}, dtype), w1 = c.leaf({3, 4, 3}, dtype), b = c.leaf({4}, dtype);
    c.gradients("1d", {line, w1, b}, [&] { return torch::conv_transpose1d(line, w1, b, 1, 0, 1, 1, 2); });
    c.gradients("padded", {line, w1}, [&] { return torch::conv_transpose1d(line, w1, {}, 1, 1, 3, 1, 4); });
    const auto x = c.leaf({2, 3, 4, 5}, dtype), w2 = c.leaf({3, 2, 3, 2}, dtype);
    c.gradients("2d", {x, w2}, [&] { return torch::conv_transpose2d(x, w2, {}, {1, 2}, {0, 1}, {1, 2}, 1, {2, 3}); });
    const auto box = c.leaf({1, 2, 3, 2, 3}, dtype), w3 = c.leaf({2, 1, 2, 2, 2}, dtype);
    c.gradients("3d", {box, w3}, [&] { return torch::conv_transpose3d(box, w3, {}, 1, 0, {2, 0, 1}, 2, 3); });
  });
  const auto x = c.leaf({1, 2, 4}, torch::kDouble), w = c.leaf({2, 2, 2}, torch::kDouble),
             b = c.leaf({2}, torch::kDouble);
  c.gradcheck([&] { return torch::conv_transpose1d(x, w, b, 1, 0, 1, 1, 2); }, {x, w, b});
  c.gradgradcheck([&] { return torch::conv_transpose1d(x, w, b, 1, 1, 2, 1, 3); }, {x, w});
  const auto g = c.randn({1, 2, 7}, torch::kDouble);
  const auto [dx, dw, db] =
      torch::convolution_backward(g, x.detach(), w.detach(), {{2}}, {1}, {0}, {2}, true, {1}, 1, {true, true, true});
  c.out("dx", dx);
  c.out("dw", dw);
  c.out("db", db);
}

// Without channels in the input the result has none either, whatever the weight says.
PARITY_CASE(conv, no_channels) {
  c.for_dtypes({torch::kFloat, torch::kDouble, torch::kBFloat16}, [&](torch::Dtype dtype) {
    const auto line = c.leaf({2, 0, 5}, dtype), w1 = c.leaf({3, 0, 2}, dtype), b = c.leaf({3}, dtype);
    c.gradients("1d", {line, w1}, [&] { return torch::conv1d(line, w1); });
    c.gradients("bias", {line, w1, b}, [&] { return torch::conv1d(line, w1, b, 2, 1); });
    const auto x = c.leaf({2, 0, 4, 5}, dtype), w2 = c.leaf({3, 0, 2, 3}, dtype);
    c.gradients("2d", {x, w2, b}, [&] { return torch::conv2d(x, w2, b); });
    c.gradients("same", {x, w2, b}, [&] { return torch::conv2d(x, w2, b, 1, "same"); });
    c.gradients("grouped", {x, w2, b}, [&] { return torch::conv2d(x, w2, b, 1, 1, 1, 3); });
    const auto box = c.leaf({1, 0, 3, 3, 3}, dtype), w3 = c.leaf({3, 0, 2, 2, 2}, dtype);
    c.gradients("3d", {box, w3, b}, [&] { return torch::conv3d(box, w3, b); });
  });
}

PARITY_CASE(conv, gradcheck) {
  auto x = c.leaf({1, 2, 4, 4}, torch::kDouble), w = c.leaf({2, 2, 3, 3}, torch::kDouble),
       b = c.leaf({2}, torch::kDouble);
  c.gradcheck([&] { return torch::conv2d(x, w, b, 1, 1); }, {x, w, b});
  c.gradgradcheck([&] { return torch::conv2d(x, w, b, 2, 1); }, {x, w, b});
  auto v = c.leaf({2, 2, 3, 3}, torch::kDouble);
  c.gradcheck([&] { return torch::conv_transpose2d(x, v, b, 2, 1); }, {x, v, b});
  c.gradgradcheck([&] { return torch::conv_transpose2d(x, v, b, 2); }, {x, v, b});
  auto line = c.leaf({1, 2, 6}, torch::kDouble), k = c.leaf({2, 1, 3}, torch::kDouble);
  c.gradcheck([&] { return torch::conv1d(line, k, {}, 1, 1, 1, 2); }, {line, k});
}

PARITY_CASE(conv, layouts) {
  tolerances(c);
  auto w = c.leaf({4, 3, 3, 3}), b = c.leaf({4});
  auto x = c.randn({2, 3, 6, 6});
  auto last = x.contiguous(torch::MemoryFormat::ChannelsLast).requires_grad_();
  c.gradients("channels_last", {last, w, b}, [&] { return torch::conv2d(last, w, b, 1, 1); });
  c.layout("channels_last_result", torch::conv2d(last, w, b, 1, 1));
  c.layout("contiguous_result", torch::conv2d(x, w, b, 1, 1));
  auto permuted = c.randn({2, 6, 6, 3}).permute({0, 3, 1, 2}).requires_grad_();
  c.gradients("permuted", {permuted, w, b}, [&] { return torch::conv2d(permuted, w, b, 1, 1); });
  auto sliced = c.randn({2, 3, 12, 12}).slice(2, 0, 12, 2).slice(3, 3, 9).requires_grad_();
  c.gradients("sliced", {sliced, w, b}, [&] { return torch::conv2d(sliced, w, b, 1, 1); });
  auto y = torch::conv2d(x, w, b, 1, 1);  // what a program does next with a result
  c.out("viewed", y.view({2, -1}));
  c.out("reshaped", y.flatten(1));
  c.out("transposed", y.permute({0, 2, 3, 1}).contiguous());
  c.out("sliced_result", y.slice(1, 1, 3).select(2, 0));
  c.out("in_place", y.detach().clone().mul_(2).add_(x.sum()));
  c.out("chain", torch::max_pool2d(torch::relu(torch::conv2d(y, c.randn({2, 4, 3, 3}))), 2));
}

PARITY_CASE(conv, shapes_and_padding_names) {
  auto w = c.leaf({4, 3, 3, 3});
  auto image = c.leaf({3, 6, 6});
  c.gradients("no_batch", {image, w}, [&] { return torch::conv2d(image, w); });
  auto x = c.leaf({2, 3, 7, 6});
  c.gradients("same", {x, w}, [&] { return torch::conv2d(x, w, {}, 1, "same"); });
  c.gradients("valid", {x, w}, [&] { return torch::conv2d(x, w, {}, 1, "valid"); });
  c.gradients("same_even_kernel", {x}, [&] { return torch::conv2d(x, c.randn({2, 3, 4, 2}), {}, 1, "same"); });
  c.out("empty_batch", torch::conv2d(c.randn({0, 3, 5, 5}), w));
  auto both = torch::convolution(x, w, {}, {1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 1);
  c.out("convolution", both);
  c.throws("channels", [&] { torch::conv2d(c.randn({1, 4, 5, 5}), w); });
  c.throws("kernel_too_large", [&] { torch::conv2d(c.randn({1, 3, 2, 2}), w); });
  c.throws("rank", [&] { torch::conv2d(c.randn({3, 5}), w); });
  c.throws("dtypes", [&] { torch::conv2d(c.randn({1, 3, 5, 5}, torch::kDouble), w); });
  c.throws("bias_size", [&] { torch::conv2d(c.randn({1, 3, 5, 5}), w, c.randn({5})); });
  c.throws("same_with_stride", [&] { torch::conv2d(x, w, {}, 2, "same"); });
}
