#pragma once
// Tables of functions of one tensor: values, strides and the node's name, for inputs that lie in memory in several
// ways.
#include "parity/case.h"

#include <functional>
#include <string>
#include <vector>

namespace parity {

struct LayoutRow {
  const char* label;
  /// `y` has the sizes and strides of x.
  std::function<Tensor(const Tensor& x, const Tensor& y)> f;
  /// Whether the node is LibTorch's; where LibTorch or a back end composes what is one function here, or the reverse,
  /// it is not.
  bool same_node = true;
};

/// `values`: contiguous, 4-d, the first dimension of size 2.
inline void compare_layouts(Case& c, const Tensor& values, const std::vector<LayoutRow>& rows) {
  const Tensor others = values.flip({0}) * 0.5;
  const auto turned = [](const Tensor& t, int64_t a, int64_t b) {
    return t.transpose(a, b).contiguous().transpose(a, b);
  };
  const auto in_order = [&](const char* order, const std::function<Tensor(const Tensor&)>& lay) {
    const Tensor x = lay(values), y = lay(others);
    c.scope(order, [&] {
      for (const LayoutRow& row : rows)
        c.scope(row.label, [&] {
          const Tensor out = row.f(x, y);
          c.layout("strides", out);
          c.out("values", out);
        });
    });
  };
  in_order("first", [](const Tensor& t) { return t; });
  in_order("last", [](const Tensor& t) { return t.contiguous(torch::MemoryFormat::ChannelsLast); });
  in_order("turned", [&](const Tensor& t) { return turned(t, 2, 3); });
  in_order("channels_outmost", [&](const Tensor& t) { return turned(t, 0, 1); });
  in_order("expanded", [](const Tensor& t) { return t.narrow(0, 0, 1).expand(t.sizes()); });
  in_order("step", [](const Tensor& t) { return t.repeat_interleave(2, 3).slice(3, 0, 2 * t.size(3), 2); });
  for (const LayoutRow& row : rows)
    if (row.same_node)
      c.scope(row.label, [&] {
        const Tensor x = values.clone().requires_grad_(), y = others.clone().requires_grad_();
        const Tensor out = row.f(x, y);
        c.text("node", out.grad_fn() ? out.grad_fn()->name() : "none");
      });
}

}  // namespace parity

#define LAYOUT_ROW_OF(same_node, ...)                                                                              \
  {                                                                                                                \
#__VA_ARGS__, [](const torch::Tensor& x,                                                                       \
                     const torch::Tensor& y) -> torch::Tensor { return (void)x, (void)y, __VA_ARGS__; }, same_node \
  }
#define LAYOUT_ROW(...) LAYOUT_ROW_OF(true, __VA_ARGS__)
#define OTHER_NODE(...) LAYOUT_ROW_OF(false, __VA_ARGS__)
