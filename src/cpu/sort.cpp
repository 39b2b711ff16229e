#include <algorithm>
#include <numeric>

#include "cpu/rows.h"
#include "kernels/rows.h"

namespace hb::cpu {
namespace {

// Calls f(row of T, order to fill, values to fill, indices to fill, length of the results' rows).
template <class F>
void ordered_rows(const char* name, Tensor& values, Tensor& indices, const Tensor& in, F f) {
  const Rows rows = rows_of(in);
  const int64_t kept = rows_of(values).length;
  with_type(name, in.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = in.data_ptr<T>();
    T* to = values.data_ptr<T>();
    int64_t* where = indices.data_ptr<int64_t>();
    for_rows(rows, [&](int64_t r) {
      thread_local std::vector<int64_t> order;
      order.resize(rows.length);
      std::iota(order.begin(), order.end(), 0);
      f(from + r * rows.length, order, to + r * kept, where + r * kept);
    });
  });
}

void sort_cpu(Tensor& values, Tensor& indices, const Tensor& in, bool descending) {
  ordered_rows("sort", values, indices, in, [&](const auto* row, std::vector<int64_t>& order, auto* out, int64_t* where) {
    if (descending) {
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return below(row[b], row[a]); });
    } else {
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return below(row[a], row[b]); });
    }
    for (size_t i = 0; i < order.size(); ++i) out[i] = row[order[i]], where[i] = order[i];
  });
}

void topk_cpu(Tensor& values, Tensor& indices, const Tensor& in, int64_t k, bool largest) {
  ordered_rows("topk", values, indices, in, [&](const auto* row, std::vector<int64_t>& order, auto* out, int64_t* where) {
    // Among equal values the first stands first.
    const auto before = [&](int64_t a, int64_t b) {
      if (largest ? below(row[b], row[a]) : below(row[a], row[b])) return true;
      if (largest ? below(row[a], row[b]) : below(row[b], row[a])) return false;
      return a < b;
    };
    std::partial_sort(order.begin(), order.begin() + k, order.end(), before);
    for (int64_t i = 0; i < k; ++i) out[i] = row[order[i]], where[i] = order[i];
  });
}

void mode_cpu(Tensor& values, Tensor& indices, const Tensor& in) {
  const Rows rows = rows_of(in);
  with_type("mode", in.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    for_rows(rows, [&](int64_t r) {
      const T* row = in.data_ptr<T>() + r * rows.length;
      thread_local std::vector<int64_t> order;
      order.resize(rows.length);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return below(row[a], row[b]); });
      int64_t best = 0, best_run = 0, run = 0;
      for (size_t i = 0; i < order.size(); ++i) {
        const bool same = i > 0 && !below(row[order[i - 1]], row[order[i]]);
        run = same ? run + 1 : 1;
        if (run > best_run) best_run = run, best = order[i];
      }
      values.data_ptr<T>()[r] = row[best];
      indices.data_ptr<int64_t>()[r] = best;
    });
  });
}

void lexicographic_order_cpu(Tensor& order, const Tensor& in) {
  const Rows rows{in.size(0), in.size(1)};
  int64_t* out = order.data_ptr<int64_t>();
  std::iota(out, out + rows.count, 0);
  with_type("unique_dim", in.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    const T* base = in.data_ptr<T>();
    std::stable_sort(out, out + rows.count, [&](int64_t a, int64_t b) {
      return std::lexicographical_compare(base + a * rows.length, base + (a + 1) * rows.length, base + b * rows.length,
                                          base + (b + 1) * rows.length, [](T x, T y) { return below(x, y); });
    });
  });
}

void searchsorted_cpu(Tensor& out, const Tensor& sorted, const Tensor& values, bool right) {
  const Rows rows = rows_of(values);
  const int64_t length = sorted.size(-1);
  const bool shared = sorted.dim() == 1;
  with_type("searchsorted", sorted.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    for_rows(rows, [&](int64_t r) {
      const T* row = sorted.data_ptr<T>() + (shared ? 0 : r * length);
      const T* wanted = values.data_ptr<T>() + r * rows.length;
      int64_t* to = out.data_ptr<int64_t>() + r * rows.length;
      for (int64_t i = 0; i < rows.length; ++i)
        to[i] = (right ? std::upper_bound(row, row + length, wanted[i], below<T>)
                       : std::lower_bound(row, row + length, wanted[i], below<T>)) - row;
    });
  });
}

HB_REGISTER_CPU(sort_kernel, sort_cpu);
HB_REGISTER_CPU(topk_kernel, topk_cpu);
HB_REGISTER_CPU(mode_kernel, mode_cpu);
HB_REGISTER_CPU(lexicographic_order_kernel, lexicographic_order_cpu);
HB_REGISTER_CPU(searchsorted_kernel, searchsorted_cpu);

}  // namespace
}  // namespace hb::cpu
