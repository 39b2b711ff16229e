#include "ops/nn/separable.h"

#include <numeric>
#include <string>
#include <string_view>

#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "backend/separable.h"
#include "ops/common/layout.h"

namespace hb::ops {
namespace {

using Index = std::vector<std::vector<int64_t>>;

/// A selection and its transpose, each the other's gradient.
struct Selection {
  std::string node, node_of_gradient;
  DimVector whole, picked;  // shapes
  bool channels_last, visible;
  SeparableIndex index;
};
using Shared = std::shared_ptr<const Selection>;

Shared selection(const char* node, const Tensor& x, Index index) {
  auto s = std::make_shared<Selection>();
  const int64_t dims = static_cast<int64_t>(index.size()), first = x.dim() - dims;
  constexpr std::string_view kEnd = "Backward0";
  s->node = node;
  s->node_of_gradient = s->node.substr(0, s->node.size() - kEnd.size()) + "BackwardBackward0";
  s->whole = s->picked = x.impl().sizes();
  s->channels_last = first >= 2 && !x.impl().physically_contiguous() && is_physically_channels_last(x);
  s->visible = is_visibly_channels_last(x);
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (d >= first) {
      s->index.size[3 - dims + d - first] = x.size(d);
      s->picked[d] = static_cast<int64_t>(index[d - first].size());
      s->index.index[3 - dims + d - first] = std::move(index[d - first]);
    } else if (s->channels_last && d == 1) {
      s->index.inner = x.size(d);
    } else if (s->channels_last && d > 1) {  // not selected from, but it lies inside of the channels' steps
      s->index.size[3 - dims + d - first] = x.size(d);
      auto& all = s->index.index[3 - dims + d - first];
      all.resize(x.size(d));
      std::iota(all.begin(), all.end(), 0);
    } else {
      s->index.outer *= x.size(d);
    }
  }
  return s;
}

Tensor result(const Selection& s, const Tensor& like, const DimVector& sizes) {
  if (s.channels_last) return empty_channels_last(sizes, like.scalar_type(), like.device(), s.visible);
  return empty(sizes, like.options());
}
Tensor operand(const Selection& s, const Tensor& t) { return s.channels_last ? to_channels_last(t) : to_contiguous(t); }

Tensor transposed(const Tensor& g, const Shared& s);

Tensor select(const Tensor& x, const Shared& s) {
  Tensor out = result(*s, x, s->picked);
  if (out.numel())
    separable_select_kernel(x.device())(x.impl().itemsize(), s->index, out.impl().raw_data(),
                                        operand(*s, x).impl().raw_data());
  if (needs_grad(x))
    record(s->node.c_str(), out, {&x}, [s](Backward& b) -> variable_list { return {transposed(b.grad(), s)}; });
  return out;
}

Tensor transposed(const Tensor& g, const Shared& s) {
  if (g.numel() == 0) return zeros(s->whole, g.options());
  if (g.is_complex()) return complex(transposed(real(g), s), transposed(imag(g), s));
  Tensor out = result(*s, g, s->whole);
  separable_sum_kernel(g.device())(g.scalar_type(), s->index, out.impl().raw_data(), operand(*s, g).impl().raw_data());
  if (needs_grad(g))
    record(s->node_of_gradient.c_str(), out, {&g}, [s](Backward& b) -> variable_list { return {select(b.grad(), s)}; });
  return out;
}

}  // namespace

Tensor select_separable(const char* node, const Tensor& x, Index index) {
  return select(x, selection(node, x, std::move(index)));
}

}  // namespace hb::ops
