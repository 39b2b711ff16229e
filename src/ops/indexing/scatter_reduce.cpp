// Scatters whose values meet in a reduction: scatter_reduce and index_reduce.
#include <limits>
#include <tuple>
#include <utility>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "core/geometry.h"
#include "ops/common/inplace.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/indexing/index_op.h"
#include "ops/indexing/scatter.h"

namespace hb {
namespace {

using ops::check_same;
using ops::check_shapes;
using ops::element_index;
using ops::gradients;
using ops::put_elements;

enum class Reduce { sum, prod, mean, amax, amin };

Reduce reduce_named(const char* name, std::string_view text) {
  if (text == "sum" || text == "add") return Reduce::sum;
  if (text == "prod" || text == "multiply") return Reduce::prod;
  if (text == "mean") return Reduce::mean;
  if (text == "amax") return Reduce::amax;
  HB_CHECK(text == "amin", "[", name, "] reduce argument must be either sum, prod, mean, amax or amin, got ", text);
  return Reduce::amin;
}

Scalar neutral(Reduce r, ScalarType t) {
  const double inf = std::numeric_limits<double>::infinity();
  if (r == Reduce::prod) return 1;
  if (r == Reduce::sum || r == Reduce::mean) return 0;
  if (is_floating_type(t)) return r == Reduce::amax ? -inf : inf;
  const bool low = r == Reduce::amax;
  switch (t) {
    case kByte:
      return low ? 0 : 255;
    case kChar:
      return low ? -128 : 127;
    case kShort:
      return low ? -32768 : 32767;
    case kInt:
      return low ? std::numeric_limits<int32_t>::lowest() : std::numeric_limits<int32_t>::max();
    case kBool:
      return !low;
    default:
      return low ? std::numeric_limits<int64_t>::lowest() : std::numeric_limits<int64_t>::max();
  }
}

PutOp put_op(Reduce r) {
  switch (r) {
    case Reduce::prod:
      return PutOp::multiply;
    case Reduce::amax:
      return PutOp::max;
    case Reduce::amin:
      return PutOp::min;
    default:
      return PutOp::add;
  }
}

/// How many values met at each place.
Tensor meeting_count(const Tensor& self, int64_t d, const Tensor& at, bool include_self) {
  const Tensor start = include_self ? ones_like(self) : zeros_like(self);
  return scatter_add(start, d, at, ones(at.sizes(), self.options())).clamp_min_(1);
}

/// Of what was put down; `count()` is asked for where it is a mean.
template <class Count>
Tensor finished(Reduce r, const Tensor& out, const Count& count) {
  if (r != Reduce::mean) return out;
  return out.is_floating_point() ? out / count() : out.div(count(), "floor");
}

Tensor scatter_reduce_forward(const Tensor& self, int64_t d, const Tensor& at, const Tensor& src, Reduce r,
                              bool include_self) {
  NoGradGuard no_history;
  const Tensor start = include_self ? self : scatter(self, d, at, neutral(r, self.scalar_type()));
  return finished(r, put_elements("scatter_reduce", start, d, at, src, put_op(r)),
                  [&] { return meeting_count(self, d, at, include_self); });
}

/// The same for whole rows.
Tensor index_reduce_forward(const Tensor& self, int64_t d, const Tensor& index, const Tensor& source, Reduce r,
                            bool include_self) {
  NoGradGuard no_history;
  const Tensor x = self.detach(), start = include_self ? x : index_fill(x, d, index, neutral(r, self.scalar_type()));
  return finished(r, ops::with_rows_put("index_reduce", start, d, index, source.detach(), put_op(r)), [&] {
    DimVector shape(static_cast<size_t>(self.dim()), 1);
    const auto all_ones = [&](int64_t n) {
      if (!shape.empty()) shape[d] = n;
      return ones(IntArrayRef(shape.data(), shape.size()), self.options());
    };
    const Tensor before = all_ones(self.dim() ? self.size(d) : 1);
    return ops::with_rows_put("index_reduce", include_self ? before : index_fill(before, d, index, 0), d, index,
                              all_ones(index.numel()), PutOp::add);
  });
}

/// Refuses the gradient of a gradient that lacks terms.
Tensor differentiable_once(const Tensor& gradient) {
  Tensor out = gradient.detach();
  record("DelayedErrorBackward0", out, {&gradient}, [](Backward&) -> variable_list {
    HB_NOT_SUPPORTED(
        "[scatter_reduce] Double backward is unsupported for src when >1 zeros in src are scattered to the same "
        "position in self");
  });
  return out;
}

/// Of a factor it is the product of the others at its place: of the one zero there, without it; beside zeros, zero.
std::pair<Tensor, Tensor> product_gradient(const Tensor& g, const Tensor& self, const Tensor& at, const Tensor& src,
                                           const Tensor& y, int64_t d, bool include_self) {
  const Tensor others = self.masked_fill(self == 0, 1);
  Tensor gx = g * scatter_reduce(others, d, at, src, "prod", include_self) / others;
  const Tensor zero = src == 0;
  const Tensor zeros_there = gather(scatter_add(zeros_like(self), d, at, zero.to(self.scalar_type())), d, at);
  const Tensor only = zero.logical_and(zeros_there == 1);
  const Tensor without = scatter_reduce(self, d, at, src.masked_fill(only, 1), "prod", include_self);
  Tensor gs = where(only, gather(g * without, d, at), gather(g * y, d, at) / src.masked_fill(zero, 1));
  if (gs.requires_grad() && any(zeros_there > 1).item().toBool()) gs = differentiable_once(gs);
  return {std::move(gx), std::move(gs)};
}

variable_list scatter_reduce_gradient(Backward& b, const Tensor& self, const Tensor& at, const Tensor& src,
                                      const Tensor& y, int64_t d, Reduce r, bool include_self) {
  const Tensor& g = b.grad();
  Tensor gx, gs;
  if (r == Reduce::prod) {
    std::tie(gx, gs) = product_gradient(g, self, at, src, y, d, include_self);
  } else if (r == Reduce::sum) {
    gx = g, gs = gather(g, d, at);
  } else if (r == Reduce::mean) {
    const Tensor share = g / meeting_count(self, d, at, include_self);
    gx = share, gs = gather(share, d, at);
  } else {
    const Tensor hit_self = (self == y).to(g.scalar_type()), hit_src = (src == gather(y, d, at)).to(g.scalar_type());
    Tensor count = include_self ? hit_self : scatter(hit_self, d, at, Scalar(0));
    count = scatter_add(count, d, at, hit_src).clamp_min(1);
    const Tensor share = g / count;
    gx = share * hit_self, gs = gather(share, d, at) * hit_src;
  }
  if (!include_self) gx = scatter(gx, d, at, Scalar(0));
  return gradients(std::move(gx), std::move(gs));
}

/// `src`: the part that the index covers.
void record_reduce(const char* node, Tensor& out, const Tensor& self, int64_t d, const Tensor& at, const Tensor& src,
                   Reduce r, bool include_self) {
  record(node, out, {&self, &src},
         {SavedTensor::input(self), SavedTensor::input(at), SavedTensor::input(src), SavedTensor::output(out)},
         [d, r, include_self](Backward& b, auto& s) {
           return scatter_reduce_gradient(b, s[0], s[1], s[2], s[3], d, r, include_self);
         });
}

}  // namespace

Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                      bool include_self) {
  HB_FUNCTION(scatter_reduce, self, dim, index, src, reduce, include_self);
  const int64_t d = geometry::wrap_dim("scatter_reduce", dim, self.dim());
  check_same("scatter_reduce", self, src);
  check_shapes("scatter_reduce", self, d, index, &src);
  const Reduce r = reduce_named("scatter_reduce", reduce);
  const Tensor at = element_index("scatter_reduce", index);
  Tensor out = scatter_reduce_forward(self, d, at, src, r, include_self);
  if (needs_grad(self, src)) {
    Tensor read = src;  // the part that the index covers
    for (int64_t k = 0; k < at.dim(); ++k)
      if (read.size(k) != at.size(k)) read = read.narrow(k, 0, at.size(k));
    record_reduce("ScatterReduceBackward0", out, self, d, at, read, r, include_self);
  }
  return out;
}

Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce,
                    bool include_self) {
  HB_FUNCTION(index_reduce, self, dim, index, source, reduce, include_self);
  HB_CHECK(reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin",
           "[index_reduce] expected reduce to be prod, mean, amax or amin, got ", reduce);
  HB_CHECK(self.scalar_type() != kBool, "[index_reduce] is not supported for dtype Bool");
  HB_CHECK_INDEX(index.dim() <= 1, "[index_reduce] index is supposed to be a vector, got shape ", index.sizes());
  const int64_t d = geometry::wrap_dim("index_reduce", dim, self.dim());
  ops::check_reduced_rows("index_reduce", self, d, index.numel(), source);
  const Reduce r = reduce_named("index_reduce", reduce);
  const Tensor at = ops::index_tensor("index_reduce", index);
  Tensor out = source.numel() ? index_reduce_forward(self, d, at, source, r, include_self)
                              : self.detach().clone(MemoryFormat::Contiguous);
  if (needs_grad(self, source)) {
    // A row of the source goes where its index says: the same index for all its elements.
    std::vector<int64_t> shape(static_cast<size_t>(self.dim()), 1);
    if (!shape.empty()) shape[d] = index.numel();
    record_reduce("IndexReduceBackward0", out, self, d, at.reshape(shape).expand(source.sizes()), source, r,
                  include_self);
  }
  return out;
}
Tensor& index_reduce_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce,
                      bool include_self) {
  HB_ONE_DEVICE(index_reduce_, self, index, source);
  return inplace("index_reduce_", self,
                 [&](const Tensor& x) { return index_reduce(x, dim, index, source, reduce, include_self); }, nullptr,
                 {&source});
}

}  // namespace hb
