// Sorting and what is found in sorted order.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "backend/sort.h"
#include "core/empty_contiguous.h"
#include "core/geometry.h"
#include "core/warnings.h"
#include "ops/common/layout.h"
#include "ops/common/refused_dtypes.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/reduction/extremum.h"
#include "ops/reduction/reduce_op.h"

namespace hb {
namespace {

using ops::gradients;

/// Gradients of values that were moved to where `indices` say; they move back the same way.
void attach_gradient(const char* node, Tensor& values, const Tensor& self, const Tensor& indices, int64_t d,
                     uint64_t dropped = 0) {
  if (!needs_grad(self)) return;
  record(node, values, {&self}, {SavedTensor::input(indices)},
         [d, dropped, sizes = self.impl().sizes()](Backward& b, auto& s) {
           if (sizes.empty()) return gradients(b.grad());
           const Tensor g = ops::restore_dims(b.grad(), sizes, dropped, false),
                        at = ops::restore_dims(s[0], sizes, dropped, false);
           return gradients(zeros(IntArrayRef(sizes.data(), sizes.size()), g.options()).scatter_(d, at, g));
         });
}

TensorTuple2 ordered(const Tensor& self, int64_t d, Order order) {
  const Tensor x = self.detach().contiguous();
  DimVector sizes = x.impl().sizes();
  if (!sizes.empty()) sizes[d] = order.count;
  Tensor values = empty_contiguous(sizes, x.scalar_type(), x.device()),
         indices = empty_contiguous(sizes, kLong, x.device());
  order_kernel(self.device())(values, indices, x, ops::lines_of(x, d), order);
  return {values, indices};
}

int64_t length(const Tensor& self, int64_t d) { return self.dim() ? self.sizes()[d] : 1; }

/// All of each line; the results lie in memory as `self` does.
TensorTuple2 whole_sort(const Tensor& self, int64_t d, bool descending) {
  const Order whole{0, length(self, d), descending};
  const Tensor x = self.detach();
  const Tensor values = ops::empty_in_order_of(x, x.scalar_type());
  if (values.is_contiguous()) return ordered(self, d, whole);
  const Tensor indices = ops::empty_in_order_of(x, kLong);
  std::vector<int64_t> order(x.sizes().size());
  std::iota(order.begin(), order.end(), 0);
  const IntArrayRef strides = values.strides();
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  const int64_t along = std::find(order.begin(), order.end(), d) - order.begin();
  const Tensor rows = x.permute(order).contiguous();
  order_kernel(self.device())(values.permute(order), indices.permute(order), rows, ops::lines_of(rows, along), whole);
  return {values, indices};
}

}  // namespace

TensorTuple2 sort(const Tensor& self, std::optional<bool> stable, int64_t dim, bool descending) {
  HB_FUNCTION(sort, self, stable, dim, descending);
  const int64_t d = geometry::wrap_dim("sort", dim, self.dim());
  auto [values, indices] = whole_sort(self, d, descending);
  attach_gradient("SortBackward0", values, self, indices, d);
  return {values, indices};
}
TensorTuple2 sort(const Tensor& self, int64_t dim, bool descending) {
  HB_FUNCTION(sort, self, dim, descending);
  return sort(self, std::optional<bool>(), dim, descending);
}
Tensor argsort(const Tensor& self, int64_t dim, bool descending) {
  const int64_t d = geometry::wrap_dim("argsort", dim, self.dim());
  return std::get<1>(whole_sort(self, d, descending));
}
Tensor argsort(const Tensor& self, bool stable, int64_t dim, bool descending) {
  return std::get<1>(sort(self, std::optional<bool>(stable), dim, descending));
}
Tensor msort(const Tensor& self) { return std::get<0>(sort(self, 0, false)); }

TensorTuple2 topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted) {
  HB_FUNCTION(topk, self, k, dim, largest, sorted);
  HB_CHECK(self.scalar_type() != kBool, "[topk] topk does not support bool dtypes on CPU");
  const int64_t d = geometry::wrap_dim("topk", dim, self.dim());
  HB_CHECK(k >= 0 && k <= length(self, d), "[topk] selected index k out of range: got ", k, " for a dimension of size ",
           length(self, d));
  // A 0-d tensor gives itself, whatever k is.
  auto [values, indices] = ordered(self, d, {0, self.dim() ? k : 1, largest});
  attach_gradient("TopkBackward0", values, self, indices, d);
  return {values, indices};
}

namespace {

/// One value of each line and its place; the dimension goes unless kept.
TensorTuple2 one_of_line(const char* node, const Tensor& self, int64_t d, bool keepdim, TensorTuple2 found) {
  auto& [values, places] = found;
  const uint64_t dropped = keepdim || self.dim() == 0 ? 0 : uint64_t{1} << d;
  if (dropped) ops::drop_dims(values, dropped), ops::drop_dims(places, dropped);
  attach_gradient(node, values, self, places, d, dropped);
  return found;
}
/// One place of the order.
TensorTuple2 one_of_order(const char* node, const Tensor& self, int64_t d, int64_t place, bool keepdim) {
  return one_of_line(node, self, d, keepdim, ordered(self, d, {place, 1, false}));
}

}  // namespace

TensorTuple2 kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  ops::refuse_bool("kthvalue", self.scalar_type());
  const int64_t d = geometry::wrap_dim("kthvalue", dim, self.dim());
  HB_CHECK(k >= 1 && k <= length(self, d), "[kthvalue] selected number k out of range for dimension ", d, ": got ", k,
           " for size ", length(self, d));
  return one_of_order("KthvalueBackward0", self, d, k - 1, keepdim);
}

namespace {

/// The largest of all is NaN where one is.
bool has_nan(const Tensor& x) { return x.is_floating_point() && x.numel() > 0 && std::isnan(max(x).item().toDouble()); }

/// By the device's own kernel, which knows NaN, so that nothing waits for it.
TensorTuple2 median_by_kernel(const char* node, const Tensor& self, int64_t d, bool keepdim, bool of_numbers) {
  const Tensor x = self.detach().contiguous();
  const uint64_t mask = self.dim() ? uint64_t{1} << d : 0;
  const Tensor values = ops::reduced_result(x, mask, x.scalar_type()), indices = ops::reduced_result(x, mask, kLong);
  median_kernel(self.device())(values, indices, x, ops::lines_of(x, d), of_numbers);
  return one_of_line(node, self, d, keepdim, {values, indices});
}

/// NaN wins: a line that has one gives its first.
TensorTuple2 median_along(const Tensor& self, int64_t d, bool keepdim) {
  ops::refuse_bool("median", self.scalar_type());
  const int64_t n = length(self, d);
  HB_CHECK_INDEX(n > 0, "[median] Expected reduction dim ", d, " to have non-zero size.");
  if (median_kernel.available(self.device())) return median_by_kernel("MedianBackward1", self, d, keepdim, false);
  const Tensor x = self.detach();
  if (!has_nan(x)) return one_of_order("MedianBackward1", self, d, (n - 1) / 2, keepdim);
  const auto [unused, usual] = one_of_order("", x, d, (n - 1) / 2, true);
  const auto [first_nan, has] = isnan(x).max(d, true);
  const Tensor at = where(first_nan, has, usual);
  return one_of_line("MedianBackward1", self, d, keepdim, {self.dim() ? gather(x, d, at) : x.clone(), at});
}

/// The middle of those that are no NaN, which is sorted to the end.
TensorTuple2 nanmedian_along(const Tensor& self, int64_t d, bool keepdim) {
  constexpr const char* kNode = "NanmedianBackward1";
  if (median_kernel.available(self.device())) return median_by_kernel(kNode, self, d, keepdim, true);
  const Tensor x = self.detach();
  const int64_t n = length(self, d);
  if (!has_nan(x)) return one_of_order(kNode, self, d, (n - 1) / 2, keepdim);
  const Tensor count = isnan(x).logical_not().sum(IntArrayRef({d}), true);
  const Tensor middle = (count - 1).clamp_min(0).div(2, "floor");
  if (middle.numel() == 1) return one_of_order(kNode, self, d, middle.item().toLong(), keepdim);
  const auto [sorted, places] = whole_sort(x, d, false);
  return one_of_line(kNode, self, d, keepdim, {sorted.gather(d, middle), places.gather(d, middle)});
}

}  // namespace

TensorTuple2 median(const Tensor& self, int64_t dim, bool keepdim) {
  return median_along(self, geometry::wrap_dim("median", dim, self.dim()), keepdim);
}
Tensor median(const Tensor& self) {
  if (self.numel() == 0) return full({}, std::nan(""), self.options().dtype(kDouble)).to(self.scalar_type());
  return ops::middle_of_whole("MedianBackward0", self, [](const Tensor& x) { return median_along(x, 0, false); });
}

TensorTuple2 nanmedian(const Tensor& self, int64_t dim, bool keepdim) {
  if (!self.is_floating_point() || self.dim() == 0) return median(self, dim, keepdim);
  const int64_t d = geometry::wrap_dim("nanmedian", dim, self.dim());
  HB_CHECK_INDEX(self.size(d) > 0, "[nanmedian] expected dimension ", d, " to have a size other than 0");
  return nanmedian_along(self, d, keepdim);
}
Tensor nanmedian(const Tensor& self) {
  if (self.numel() == 0) return median(self);
  return ops::middle_of_whole("NanmedianBackward0", self, [](const Tensor& x) { return nanmedian(x, 0, false); });
}

TensorTuple2 mode(const Tensor& self, int64_t dim, bool keepdim) {
  const int64_t d = geometry::wrap_dim("mode", dim, self.dim());
  HB_CHECK_INDEX(length(self, d) > 0, "[mode] Expected reduction dim ", d, " to have non-zero size.");
  const Tensor x = self.detach().contiguous();
  const uint64_t mask = ops::reduced_dim("mode", dim, self.dim());
  const Tensor values = ops::reduced_result(x, mask, x.scalar_type()), indices = ops::reduced_result(x, mask, kLong);
  mode_kernel(self.device())(values, indices, x, ops::lines_of(x, d));
  return one_of_line("ModeBackward0", self, d, keepdim, {values, indices});
}

// --- search

Tensor searchsorted(const Tensor& sequence, const Tensor& self, bool out_int32, bool right,
                    std::optional<std::string_view> side, const std::optional<Tensor>& sorter) {
  HB_ONE_DEVICE(searchsorted, sequence, self, sorter);
  if (side) {
    HB_CHECK(*side == "left" || *side == "right", "[searchsorted] side can only be 'left' or 'right' but got ", *side);
    HB_CHECK(*side == "right" || !right,
             "[searchsorted] side and right can't be set to opposites, got side of left while right was True");
    right = *side == "right";
  }
  HB_CHECK(!sorter || !sorter->defined() || sorter->sizes() == sequence.sizes(),
           "[searchsorted] boundary and sorter must have the same size, but got boundary tensor ", sequence.sizes(),
           " and got sorter tensor ", sorter->sizes());
  const Tensor sorted_sequence = sorter && sorter->defined() ? sequence.gather(-1, *sorter) : sequence;
  HB_CHECK(sorted_sequence.dim() >= 1, "[searchsorted] boundaries tensor should have at least one dimension");
  const bool shared = sorted_sequence.dim() == 1;
  int64_t outer = 1;
  if (!sorted_sequence.is_contiguous())
    HB_WARN_ONCE(
        "torch.searchsorted(): boundary tensor is non-contiguous, this will lower the performance: it is copied.");
  if (!self.is_contiguous())
    HB_WARN_ONCE(
        "torch.searchsorted(): input value tensor is non-contiguous, this will lower the performance: it is copied.");
  if (!shared) {
    HB_CHECK(self.dim() == sorted_sequence.dim(),
             "[searchsorted] boundaries tensor should be 1 dimension or the first N-1 dimensions of "
             "boundaries tensor and input value tensor must match, got ",
             sorted_sequence.sizes(), " and ", self.sizes());
    for (int64_t k = 0; k + 1 < self.dim(); ++k) {
      HB_CHECK(self.size(k) == sorted_sequence.size(k),
               "[searchsorted] the first N-1 dimensions of boundaries tensor and input value tensor "
               "must match, got ",
               sorted_sequence.sizes(), " and ", self.sizes());
      outer *= self.size(k);
    }
  }
  const ScalarType t = promote_types(sorted_sequence.scalar_type(), self.scalar_type());
  ops::refuse_bool("searchsorted", t);
  Tensor out = empty(self.sizes(), self.options().dtype(kLong));
  searchsorted_kernel(self.device())(out, sorted_sequence.detach().to(t).contiguous(), self.detach().to(t).contiguous(),
                                     outer, right);
  return out_int32 ? out.to(kInt) : out;
}

Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  HB_CHECK(boundaries.dim() == 1, "[bucketize] boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(),
           ")");
  return searchsorted(boundaries, self, out_int32, right);
}

Tensor searchsorted(const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
                    std::optional<std::string_view> side, const std::optional<Tensor>& sorter) {
  HB_CHECK(sorted_sequence.dim() == 1,
           "[searchsorted] input value can be a scalar only when boundaries tensor dimension "
           "is 1, but we got boundaries tensor dim(",
           sorted_sequence.dim(), ")");
  // An integer among integers keeps its value, whatever fits their dtype.
  const bool integers = self.isIntegral(true) && is_integral_type(sorted_sequence.scalar_type(), true);
  const TensorOptions options = sorted_sequence.options().dtype(integers ? kLong : sorted_sequence.scalar_type());
  return searchsorted(sorted_sequence, scalar_tensor(self, options), out_int32, right, side, sorter);
}
Tensor bucketize(const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
  return searchsorted(boundaries, self, out_int32, right, std::nullopt, std::nullopt);
}

Tensor isin(const Tensor& elements, const Tensor& test_elements, bool /*assume_unique*/, bool invert) {
  HB_DEFINED(isin, elements, test_elements);
  if (invert) return isin(elements, test_elements).logical_not();
  for (const Tensor* x : {&elements, &test_elements})
    HB_CHECK(x->scalar_type() != kBool && !x->is_complex(),
             "[isin] Unsupported input type encountered for isin(): ", x->scalar_type());
  const ScalarType t = promote_types(elements.scalar_type(), test_elements.scalar_type());
  if (test_elements.numel() == 0) return zeros(elements.sizes(), elements.options().dtype(kBool));
  const Tensor tests = test_elements.detach().reshape(-1).to(t), x = elements.detach().to(t).contiguous();
  // A pass for each of a few values takes less time than a search for each element; of a device's launches a search has
  // few.
  if (tests.numel() < (x.is_cuda() ? 3 : 10 * std::pow(static_cast<double>(x.numel()), 0.145))) {
    Tensor found = x == tests[0];
    for (int64_t i = 1; i < tests.numel(); ++i) found.bitwise_or_(x == tests[i]);
    return found;
  }
  const Tensor sorted = std::get<0>(sort(tests, 0));
  const Tensor at = searchsorted(sorted, x).clamp_max(sorted.numel() - 1);
  return sorted.index_select(0, at.reshape(-1)).reshape(x.sizes()) == x;
}

Tensor isin(const Tensor& elements, const Scalar& test_element, bool /*assume_unique*/, bool invert) {
  return invert ? elements.ne(test_element) : elements.eq(test_element);
}
Tensor isin(const Scalar& element, const Tensor& test_elements, bool assume_unique, bool invert) {
  return isin(full({}, element, TensorOptions().device(test_elements.device())), test_elements, assume_unique, invert);
}

}  // namespace hb
