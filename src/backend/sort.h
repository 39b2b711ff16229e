#pragma once

#include <halfbridge/tensor.h>

#include "backend/kernel.h"
#include "backend/reduce.h"

namespace hb {

/// Which part of each line's order is wanted: places [from, from + count). NaN counts as the largest; equal values keep
/// their order.
struct Order {
  int64_t from, count;
  bool descending;
};
HB_NO_OPERANDS(Order)
/// values and indices: contiguous (outer, count, inner); in: contiguous lines.
HB_API inline Kernel<void(const Tensor& values, const Tensor& indices, const Tensor& in, Lines, Order)> order_kernel{
    "sort"};
/// The values of a contiguous tensor in ascending order, NaN last; zeros of both signs in any order. Where a device has
/// none, the order is asked for them.
HB_API inline Kernel<void(const Tensor& values, const Tensor& in)> sorted_values_kernel{"unique"};
/// The middle of each line, the lower of two, and its place: of all elements, where the first NaN wins, or of the
/// numbers among them. Where a device has none, the order is asked for it.
HB_API inline Kernel<void(const Tensor& values, const Tensor& indices, const Tensor& in, Lines, bool of_numbers)>
    median_kernel{"median"};
/// The value that each line has most often (the smallest of several) and its last place.
HB_API inline Kernel<void(const Tensor& values, const Tensor& indices, const Tensor& in, Lines)> mode_kernel{"mode"};
/// For every value of `in` (outer, m): where it would stand in the sorted line of `sorted` (outer or 1, n). Same dtype.
HB_API inline Kernel<void(const Tensor& out, const Tensor& sorted, const Tensor& in, int64_t outer, bool right)>
    searchsorted_kernel{"searchsorted"};

enum class ScanOp { sum, prod, log_sum_exp, max, min };
/// Running results along each line; out and in of one dtype, contiguous. indices (of max and min) may be undefined.
HB_API inline Kernel<void(const Tensor& out, const Tensor& indices, const Tensor& in, Lines, ScanOp)> scan_kernel{
    "cumsum"};

/// counts[v] += weight or 1 for int64 values v in range.
HB_API inline Kernel<void(const Tensor& counts, const Tensor& values, const Tensor& weights)> bincount_kernel{
    "bincount"};
/// counts[k] (int64) += elements in the k-th of equal parts of [low, high], the last of which has high, too.
HB_API inline Kernel<void(const Tensor& counts, const Tensor& in, double low, double high)> histogram_kernel{"histc"};

}  // namespace hb
