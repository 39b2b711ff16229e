#include "parity/case.h"

using torch::Tensor;

namespace {
struct Pool {
  const char* name;
  int64_t kernel, stride, padding, dilation;
  bool ceil;
};
const std::vector<Pool> kPools{{"two", 2, 2, 0, 1, false},       {"three", 3, 2, 1, 1, false},
                               {"ceil", 3, 2, 1, 1, true},       {"overlap", 3, 1, 1, 1, false},
                               {"dilated", 2, 2, 1, 2, false},   {"ceil2", 2, 2, 0, 1, true},
                               {"wide_stride", 2, 3, 1, 1, true}};
}  // namespace

PARITY_CASE(pooling_layouts, max2d) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    for (const auto& p : kPools)
      c.scope(p.name, [&] {
        auto x = c.leaf({2, 5, 9, 8}, dtype);
        c.gradients("y", {x}, [&] { return torch::max_pool2d(x, p.kernel, p.stride, p.padding, p.dilation, p.ceil); });
        auto [y, index] = torch::max_pool2d_with_indices(x, p.kernel, p.stride, p.padding, p.dilation, p.ceil);
        c.out("values", y);
        c.out("indices", index);
      });
  });
  auto last = c.randn({2, 20, 6, 6}).contiguous(torch::MemoryFormat::ChannelsLast).requires_grad_();
  c.gradients("channels_last", {last}, [&] { return torch::max_pool2d(last, 2); });
  c.layout("channels_last_layout", torch::max_pool2d(last.detach(), 2));
  c.layout("contiguous_layout", torch::max_pool2d(c.randn({2, 3, 6, 6}), 2));
  auto x = c.leaf({3, 6, 6});
  c.gradients("unbatched", {x}, [&] { return torch::max_pool2d(x, 2); });
  c.for_layouts({2, 3, 6, 4}, torch::kFloat, [&](Tensor t) { c.out("layout", torch::max_pool2d(t, 2)); });
  // Padding and dilation leave a window without elements.
  for (const int64_t channels : {5, 64})
    c.out("no elements", torch::max_pool2d(c.randn({1, channels, 4, 4}), 2, 1, 1, 5));
  auto special = torch::cat({c.special(), c.special(), c.special(), c.special()});
  auto n = special.size(0) / 4 * 4;
  c.out("special", torch::max_pool2d(special.narrow(0, 0, n).view({1, 1, 4, n / 4}), 2));
  c.out("empty_batch", torch::max_pool2d(c.randn({0, 3, 4, 4}), 2));
  auto d = c.leaf({1, 2, 5, 5}, torch::kDouble);
  c.gradcheck([&] { return torch::max_pool2d(d, 3, 2, 1); }, {d});
  c.throws("padding", [&] { torch::max_pool2d(c.randn({1, 1, 4, 4}), 2, 2, 2); });
  c.throws("small", [&] { torch::max_pool2d(c.randn({1, 1, 2, 2}), 3); });
  c.throws("dims", [&] { torch::max_pool2d(c.randn({4, 4}), 2); });
}

PARITY_CASE(pooling_layouts, max1d_3d) {
  for (const auto& p : kPools)
    c.scope(p.name, [&] {
      auto x = c.leaf({2, 3, 11});
      c.gradients("one", {x}, [&] { return torch::max_pool1d(x, p.kernel, p.stride, p.padding, p.dilation, p.ceil); });
      auto v = c.leaf({2, 3, 7, 6, 5});
      c.gradients("three", {v},
                  [&] { return torch::max_pool3d(v, p.kernel, p.stride, p.padding, p.dilation, p.ceil); });
    });
  auto [y, index] = torch::max_pool1d_with_indices(c.randn({2, 3, 8}), 2);
  c.out("indices", index);
}

PARITY_CASE(pooling_layouts, average) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    for (const auto& p : kPools)
      for (bool count : {true, false})
        c.scope(std::string(p.name) + (count ? "_count" : ""), [&] {
          auto x = c.leaf({2, 5, 9, 8}, dtype);
          c.gradients("y", {x}, [&] { return torch::avg_pool2d(x, p.kernel, p.stride, p.padding, p.ceil, count); });
        });
  });
  auto line = c.leaf({2, 3, 9}), volume = c.leaf({2, 3, 6, 5, 4}), x = c.leaf({2, 3, 6, 5});
  c.gradients("one", {line}, [&] { return torch::avg_pool1d(line, 3, 2, 1, true, false); });
  c.gradients("three", {volume}, [&] { return torch::avg_pool3d(volume, 3, 2, 1, true, false); });
  c.gradients("divisor", {x}, [&] { return torch::avg_pool2d(x, 2, 2, 0, false, true, 3); });
  auto d = c.leaf({1, 2, 5, 5}, torch::kDouble);
  c.gradcheck([&] { return torch::avg_pool2d(d, 3, 2, 1); }, {d});
  c.gradgradcheck([&] { return torch::avg_pool2d(d, 3, 2, 1); }, {d});
}

PARITY_CASE(pooling_layouts, adaptive) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    for (int64_t out : {1, 3, 5, 8})
      c.scope(std::to_string(out), [&] {
        auto x = c.leaf({2, 4, 8, 7}, dtype);
        c.gradients("avg2d", {x}, [&] { return torch::adaptive_avg_pool2d(x, {out, 2}); });
        c.gradients("max2d", {x}, [&] { return std::get<0>(torch::adaptive_max_pool2d(x, {out, 2})); });
        c.out("indices", std::get<1>(torch::adaptive_max_pool2d(x, {out, 2})));
      });
  });
  auto line = c.leaf({2, 3, 9}), volume = c.leaf({2, 3, 6, 5, 4});
  c.gradients("avg1d", {line}, [&] { return torch::adaptive_avg_pool1d(line, 4); });
  c.gradients("max1d", {line}, [&] { return std::get<0>(torch::adaptive_max_pool1d(line, 4)); });
  c.gradients("avg3d", {volume}, [&] { return torch::adaptive_avg_pool3d(volume, {2, 3, 4}); });
  c.gradients("max3d", {volume}, [&] { return std::get<0>(torch::adaptive_max_pool3d(volume, {2, 3, 4})); });
}
