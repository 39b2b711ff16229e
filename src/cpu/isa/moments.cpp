// Variance: blocks that fit the cache are read twice, for their mean and their deviations; blocks are joined in double
// (Chan, Golub, LeVeque), so that no large mean swallows a small variance.
#include <cmath>

#include "cpu/isa/convert.h"
#include "cpu/isa/reduce_step.h"
#include "cpu/parallel.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int64_t kBlock = 1024;
constexpr int64_t kColumns = 128;
constexpr int64_t kRows = 32;

struct Moments {
  double n = 0, mean = 0, m2 = 0;
  void join(double other_n, double other_mean, double other_m2) {
    const double total = n + other_n, d = other_mean - mean;
    mean += d * other_n / total;
    m2 += other_m2 + d * d * n * other_n / total;
    n = total;
  }
};

template <class T>
T deviations(const T* x, int64_t n, T mean) {
  using V = Vector<T>;
  constexpr int64_t lanes = kVectorBytes / sizeof(T);
  V a{}, b{};
  const V m = V{} + mean;
  const auto* v = reinterpret_cast<const V*>(x);
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes, v += 2) {
    const V d = v[0] - m, e = v[1] - m;
    a += d * d, b += e * e;
  }
  a += b;
  T total = 0;
  for (int64_t j = 0; j < lanes; ++j) total += a[j];
  for (; i < n; ++i) total += (x[i] - mean) * (x[i] - mean);
  return total;
}

template <class T>
struct Work {
  const ReduceLoop& l;
  ConvertRows load = convert_rows(dtype_of<T>::value, l.in_dtype);
  bool same = l.in_dtype == dtype_of<T>::value;

  const T* read(T* buffer, const char* p, int64_t stride, int64_t n) const {
    if (same && stride == static_cast<int64_t>(sizeof(T))) return reinterpret_cast<const T*>(p);
    load({reinterpret_cast<char*>(buffer), sizeof(T), 0}, {const_cast<char*>(p), stride, 0}, {n, 1});
    return buffer;
  }
  void inner(const char* in, Moments& out) const {
    T buffer[kBlock];
    for (int64_t i = 0; i < l.count;) {
      int64_t at;
      const char* p = in + l.reduced_offset(i, at);
      const int64_t n = std::min({l.reduced[0] - at, l.count - i, kBlock});
      const T* x = read(buffer, p, l.reduced_in[0], n);
      const T mean = reduce_run<ReduceOp::sum, T>(x, n) / static_cast<T>(n);
      out.join(static_cast<double>(n), mean, deviations(x, n, mean));
      i += n;
    }
  }

  void outer(const char* in, int64_t columns, Moments* out) const {
    alignas(64) T buffer[kRows][kColumns];
    T mean[kColumns], square[kColumns];
    const T* rows[kRows];
    for (int64_t i = 0; i < l.count;) {
      const int64_t n = std::min(l.count - i, kRows);
      for (int64_t r = 0; r < n; ++r) {
        int64_t at;
        rows[r] = read(buffer[r], in + l.reduced_offset(i + r, at), l.kept_in[0], columns);
      }
      std::fill_n(mean, columns, T(0));
      std::fill_n(square, columns, T(0));
      for (int64_t r = 0; r < n; ++r)
        for (int64_t k = 0; k < columns; ++k) mean[k] += rows[r][k];
      for (int64_t k = 0; k < columns; ++k) mean[k] /= static_cast<T>(n);
      for (int64_t r = 0; r < n; ++r)
        for (int64_t k = 0; k < columns; ++k) square[k] += (rows[r][k] - mean[k]) * (rows[r][k] - mean[k]);
      for (int64_t k = 0; k < columns; ++k) out[k].join(static_cast<double>(n), mean[k], square[k]);
      i += n;
    }
  }
};

/// Where the results of a run of neighbours go.
struct Results {
  const ReduceLoop& l;
  const ReduceLoop* mean_loop;
  double correction;
  bool root;

  void put(int64_t kept_index, const Moments* m, int64_t n) const {
    double value[kColumns], mean[kColumns];
    for (int64_t k = 0; k < n; ++k) {
      const double v = m[k].m2 / std::max(0.0, static_cast<double>(l.count) - correction);
      value[k] = root ? std::sqrt(v) : v;
      mean[k] = m[k].mean;
    }
    store(l, kept_index, value, n);
    if (mean_loop) store(*mean_loop, kept_index, mean, n);
  }
  static void store(const ReduceLoop& to, int64_t index, double* values, int64_t n) {
    int64_t rest = index, offset = 0;
    for (size_t d = 0; d < to.kept.size(); ++d) {
      offset += rest % to.kept[d] * to.kept_out[d];
      rest /= to.kept[d];
    }
    convert_rows(to.out_dtype, kDouble)({to.out + offset, to.kept_out[0], 0}, {reinterpret_cast<char*>(values), 8, 0},
                                        {n, 1});
  }
};

template <class T>
void run(const ReduceLoop& l, const Results& results) {
  const Work<T> work{l};
  const bool along = l.kept[0] == 1 || (l.reduced_in[0] <= l.kept_in[0] && !(l.count < 32 && l.kept[0] >= 16));
  parallel_for(0, l.outputs, std::max<int64_t>(1, kGrain / (2 * l.count)), [&](int64_t b, int64_t e) {
    while (b < e) {
      int64_t rest = b, in = 0;
      for (size_t d = 0; d < l.kept.size(); ++d) {
        in += rest % l.kept[d] * l.kept_in[d];
        rest /= l.kept[d];
      }
      const int64_t n = std::min({l.kept[0] - b % l.kept[0], e - b, kColumns});
      Moments m[kColumns];
      if (along) {
        for (int64_t k = 0; k < n; ++k) work.inner(l.in + in + k * l.kept_in[0], m[k]);
      } else {
        work.outer(l.in + in, n, m);
      }
      results.put(b, m, n);
      b += n;
    }
  });
}

void moments(const ReduceLoop& l, const ReduceLoop* mean_loop, double correction, bool root) {
  if (l.outputs == 0 || l.count == 0) return;
  const Results results{l, mean_loop, correction, root};
  if (l.in_dtype == kDouble) return run<double>(l, results);
  run<float>(l, results);
}

HB_REGISTER_ISA(moments_kernel, moments);

}  // namespace
}  // namespace hb::cpu::HB_ISA
