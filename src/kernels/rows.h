#pragma once
// Kernels that work along the last dimension of contiguous tensors: running sums and orders.

#include <halfbridge/tensor.h>

#include "kernels/kernel.h"

namespace hb {

enum class Scan { sum, prod, logsumexp };
/// Running sum (product, log of the sum of exponentials) of each row; same dtype in and out.
inline Kernel<void(Tensor& out, const Tensor& in, Scan scan)> scan_kernel{"cumsum"};
/// Running maximum or minimum of each row and where it stands (int64; the last of equal ones). NaN outranks all.
inline Kernel<void(Tensor& values, Tensor& indices, const Tensor& in, bool largest)> running_extremum_kernel{"cummax"};
/// Each row in order (stable; NaN above everything) and where each value stood (int64).
inline Kernel<void(Tensor& values, Tensor& indices, const Tensor& in, bool descending)> sort_kernel{"sort"};
/// The k largest (smallest) of each row, in order, and where they stand.
inline Kernel<void(Tensor& values, Tensor& indices, const Tensor& in, int64_t k, bool largest)> topk_kernel{"topk"};
/// The most frequent value of each row (the smallest of those) and where it stands last.
inline Kernel<void(Tensor& values, Tensor& indices, const Tensor& in)> mode_kernel{"mode"};
/// Numbers of the rows of a 2-d tensor in lexicographic order (int64, stable).
inline Kernel<void(Tensor& order, const Tensor& rows)> lexicographic_order_kernel{"unique_dim"};
/// For each value the number of elements of its sorted row that are less (right: less or equal). One row serves all.
inline Kernel<void(Tensor& out, const Tensor& sorted, const Tensor& values, bool right)> searchsorted_kernel{
    "searchsorted"};

}  // namespace hb
