// Distances between all rows of a matrix.
#include "backend/pair_distance.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "cpu/isa/row_sums.h"
#include "cpu/parallel.h"

namespace hb::cpu::HB_ISA {
namespace {

/// Where the pairs of row i begin, less i + 1: that of rows i < j is the j-th from there.
inline int64_t pairs_of(int64_t i, int64_t n) { return i * (2 * n - i - 1) / 2 - i - 1; }

template <class C>
C largest_apart(const C* a, const C* b, int64_t m) {
  C largest = 0;
  bool unordered = false;
  for (int64_t k = 0; k < m; ++k) {
    const C apart = std::abs(a[k] - b[k]);
    largest = std::max(largest, apart), unordered |= apart != apart;
  }
  return unordered ? std::numeric_limits<C>::quiet_NaN() : largest;
}

template <class C>
C distance(const C* a, const C* b, int64_t m, double p) {
  if (p == 2) {
    const auto lanes = [=](int64_t k) {
      const auto apart = lanes_at(a + k) - lanes_at(b + k);
      return apart * apart;
    };
    return std::sqrt(sum_in_lanes<C>(m, lanes, [=](int64_t k) { return (a[k] - b[k]) * (a[k] - b[k]); }));
  }
  if (p == 1) {
    const auto lanes = [=](int64_t k) {
      const auto apart = lanes_at(a + k) - lanes_at(b + k);
      return apart < 0 ? -apart : apart;
    };
    return sum_in_lanes<C>(m, lanes, [=](int64_t k) { return std::abs(a[k] - b[k]); });
  }
  if (p == 0) {
    int64_t differing = 0;
    for (int64_t k = 0; k < m; ++k) differing += a[k] != b[k];
    return static_cast<C>(differing);
  }
  return largest_apart(a, b, m);
}

template <class C>
void distances(C* out, const C* x, int64_t n, int64_t m, double p) {
  parallel_for(0, n, std::max<int64_t>(1, kGrain / (n * m + 1)), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i)
      for (int64_t j = i + 1; j < n; ++j) out[pairs_of(i, n) + j] = distance(x + i * m, x + j * m, m, p);
  });
}

template <class C>
inline C sign_of(C v) {
  return static_cast<C>((v > 0) - (v < 0));
}

/// Adds to `sum` weights[j] times what row a is apart from row j of x, of [0, n). Of four rows at a time.
template <class C>
void add_differences(C* sum, const C* a, const C* x, const C* weights, int64_t n, int64_t m) {
  int64_t j = 0;
  for (; j + 4 <= n; j += 4) {
    const C *b = x + j * m, *c = b + m, *d = c + m, *e = d + m;
    const C u = weights[j], v = weights[j + 1], w = weights[j + 2], z = weights[j + 3];
    HB_INDEPENDENT
    for (int64_t k = 0; k < m; ++k)
      sum[k] += (u * (a[k] - b[k]) + v * (a[k] - c[k])) + (w * (a[k] - d[k]) + z * (a[k] - e[k]));
  }
  for (; j < n; ++j) {
    HB_INDEPENDENT
    for (int64_t k = 0; k < m; ++k) sum[k] += weights[j] * (a[k] - x[j * m + k]);
  }
}

/// Adds to `sum` the gradient of row a by its distance to b, of order 1 or infinity.
template <class C>
void add_signs(C* sum, const C* a, const C* b, int64_t m, C grad, C distance, double p) {
  for (int64_t k = 0; k < m; ++k)
    if (p == 1 || std::abs(a[k] - b[k]) == distance) sum[k] += grad * sign_of(a[k] - b[k]);
}

/// What the difference of two rows counts in their gradients, of order 2: for each pair.
template <class C>
std::unique_ptr<C[]> pair_weights(const C* grad, const C* apart, int64_t pairs) {
  std::unique_ptr<C[]> weights(new C[pairs]);
  parallel_for(0, pairs, kGrain, [&](int64_t from, int64_t to) {
    C* out = weights.get();
    HB_INDEPENDENT
    for (int64_t k = from; k < to; ++k) out[k] = apart[k] == 0 ? C(0) : grad[k] / apart[k];
  });
  return weights;
}
/// Those of row i with each row, that with itself 0.
template <class C>
void weights_of_row(C* weights, const C* of_pairs, int64_t i, int64_t n) {
  for (int64_t j = 0; j < i; ++j) weights[j] = of_pairs[pairs_of(j, n) + i];
  weights[i] = 0;
  std::copy_n(of_pairs + pairs_of(i, n) + i + 1, n - i - 1, weights + i + 1);
}

/// Each pair counts for both of its rows, so that no thread writes to another's.
template <class C>
void gradients(C* grad_x, const C* grad, const C* x, const C* apart, int64_t n, int64_t m, double p) {
  const std::unique_ptr<C[]> of_pairs = p == 2 ? pair_weights(grad, apart, n * (n - 1) / 2) : nullptr;
  parallel_for(0, n, std::max<int64_t>(1, kGrain / (2 * n * m + 1)), [&](int64_t from, int64_t to) {
    std::vector<C> weights(p == 2 ? n : 0);
    for (int64_t i = from; i < to; ++i) {
      C* sum = grad_x + i * m;
      std::fill_n(sum, m, C(0));
      if (p == 2) {
        weights_of_row(weights.data(), of_pairs.get(), i, n);
        add_differences(sum, x + i * m, x, weights.data(), n, m);
        continue;
      }
      for (int64_t j = 0; j < n && p != 0; ++j) {
        const int64_t pair = pairs_of(std::min(i, j), n) + std::max(i, j);
        if (j != i && apart[pair] != 0) add_signs(sum, x + i * m, x + j * m, m, grad[pair], apart[pair], p);
      }
    }
  });
}

template <class C>
C* data(const Tensor& t) {
  return static_cast<C*>(t.impl().raw_data());
}

void pair_distance(const Tensor& out, const Tensor& x, double p) {
  if (x.scalar_type() == kFloat) return distances(data<float>(out), data<float>(x), x.size(0), x.size(1), p);
  HB_CHECK(x.scalar_type() == kDouble, "[pdist] expected f32 or f64, got ", x.scalar_type());
  distances(data<double>(out), data<double>(x), x.size(0), x.size(1), p);
}

template <class C>
void backward(const Tensor& grad_x, const Tensor& grad, const Tensor& x, const Tensor& apart, double p) {
  gradients(data<C>(grad_x), data<C>(grad), data<C>(x), data<C>(apart), x.size(0), x.size(1), p);
}
void pair_distance_backward(const Tensor& grad_x, const Tensor& grad, const Tensor& x, const Tensor& apart, double p) {
  if (x.scalar_type() == kFloat) return backward<float>(grad_x, grad, x, apart, p);
  HB_CHECK(x.scalar_type() == kDouble, "[pdist] expected f32 or f64, got ", x.scalar_type());
  backward<double>(grad_x, grad, x, apart, p);
}

HB_REGISTER_ISA(pair_distance_kernel, pair_distance);
HB_REGISTER_ISA(pair_distance_backward_kernel, pair_distance_backward);

}  // namespace
}  // namespace hb::cpu::HB_ISA
