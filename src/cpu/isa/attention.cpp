// Attention by blocks of queries: scores of one block against all keys it sees stay in cache.
#include "kernels/attention.h"

#include <vector>

#include "cpu/isa/vec.h"
#include "kernels/gemm.h"

namespace hb::cpu::HB_ISA {
namespace {

template <class T>
T* rows_at(const HeadsRef& x, int64_t b, int64_t h, int64_t row) {
  return static_cast<T*>(x.data) + b * x.batch + h * x.head + row * x.row;
}

template <class T>
void gather(const HeadsRef& x, int64_t b, int64_t h, int64_t first, int64_t count, int64_t width, compute_t<T>* out) {
  for (int64_t i = 0; i < count; ++i) load(rows_at<const T>(x, b, h, first + i), out + i * width, width);
}
template <class T>
void scatter(const HeadsRef& x, int64_t b, int64_t h, int64_t first, int64_t count, int64_t width,
             const compute_t<T>* in) {
  for (int64_t i = 0; i < count; ++i) store(in + i * width, rows_at<T>(x, b, h, first + i), width);
}

GemmMatrix matrix(const void* data, int64_t cols, bool transposed = false) {
  GemmMatrix m;
  m.data = const_cast<void*>(data), m.row = transposed ? 1 : cols, m.col = transposed ? cols : 1;
  return m;
}

// c (m, n) = alpha op(a) op(b) + beta c, all dense.
template <class C>
void multiply(int64_t m, int64_t n, int64_t k, const C* a, bool ta, const C* b, bool tb, C* c, double beta = 0) {
  Gemm g;
  g.dtype = dtype_of<C>::value;
  g.m = m, g.n = n, g.k = k, g.beta = beta;
  g.a = matrix(a, ta ? m : k, ta), g.b = matrix(b, tb ? k : n, tb), g.c = matrix(c, n);
  gemm_kernel(kCPU)(g);
}

int64_t block_rows(const Attention& a) {
  return std::min(a.queries, std::clamp<int64_t>(32768 / std::max<int64_t>(a.keys, 1), 32, 64));
}
int64_t keys_seen(const Attention& a, int64_t query) { return a.causal ? std::min(a.keys, query + 1) : a.keys; }

// Scores of rows [first, first + rows) against keys [0, n), scaled and masked.
template <class T>
void scores(const Attention& a, int64_t b, int64_t h, int64_t first, int64_t rows, int64_t n, const compute_t<T>* q,
            const compute_t<T>* k, compute_t<T>* s) {
  using C = compute_t<T>;
  multiply(rows, n, a.width, q, false, k, true, s);
  if (!a.mask) return;
  const T* mask = static_cast<const T*>(a.mask) + b * a.mask_stride[0] + h * a.mask_stride[1];
  for (int64_t i = 0; i < rows; ++i) {
    const T* row = mask + (first + i) * a.mask_stride[2];
    C* out = s + i * n;
    for (int64_t j = 0; j < n; ++j) out[j] += widen(row[j * a.mask_stride[3]]);
  }
}

// Queries are scaled once instead of the scores.
template <class C>
void scale_all(C* x, int64_t n, double by) {
  const C f = static_cast<C>(by);
  for (int64_t i = 0; i < n; ++i) x[i] *= f;
}

// Turns scores into probabilities; returns the logarithm of the sum. A row that sees nothing becomes zeros.
template <class C>
C softmax_row(C* __restrict s, int64_t seen, int64_t n) {
  const C top = max_over<C>(seen, [=](int64_t j) { return s[j]; });
  if (seen == 0 || top == -std::numeric_limits<C>::infinity()) {
    std::fill(s, s + n, C(0));
    return std::numeric_limits<C>::infinity();
  }
  // Whole vectors: what is hidden becomes exp(-infinity) = 0.
  std::fill(s + seen, s + n, -std::numeric_limits<C>::infinity());
  for (int64_t j = 0; j < n; ++j) s[j] = exp_of(s[j] - top);
  const C sum = sum_over<C>(n, [=](int64_t j) { return s[j]; }), scale = C(1) / sum;
  for (int64_t j = 0; j < n; ++j) s[j] *= scale;
  return top + std::log(sum);
}

template <class T>
void forward(const Attention& a) {
  using C = compute_t<T>;
  const int64_t rows = block_rows(a), blocks = (a.queries + rows - 1) / rows;
  parallel_for(0, a.batch * a.heads * blocks, 1, [&](int64_t from, int64_t to) {
    std::vector<C> k(a.keys * a.width), v(a.keys * a.value_width), q(rows * a.width), s(rows * a.keys),
        o(rows * a.value_width);
    int64_t loaded = -1;
    for (int64_t unit = from; unit < to; ++unit) {
      const int64_t head = unit / blocks, b = head / a.heads, h = head % a.heads, kv = h / (a.heads / a.kv_heads);
      const int64_t first = unit % blocks * rows, count = std::min(rows, a.queries - first);
      if (const int64_t wanted = b * a.kv_heads + kv; loaded != wanted) {
        gather<T>(a.k, b, kv, 0, a.keys, a.width, k.data());
        gather<T>(a.v, b, kv, 0, a.keys, a.value_width, v.data());
        loaded = wanted;
      }
      const int64_t n = keys_seen(a, first + count - 1);
      gather<T>(a.q, b, h, first, count, a.width, q.data());
      scale_all(q.data(), count * a.width, a.scale);
      scores<T>(a, b, h, first, count, n, q.data(), k.data(), s.data());
      C* kept = a.normalizer ? static_cast<C*>(a.normalizer) + head * a.queries + first : nullptr;
      for (int64_t i = 0; i < count; ++i) {
        const C sum = softmax_row(s.data() + i * n, keys_seen(a, first + i), n);
        if (kept) kept[i] = sum;
      }
      multiply(count, a.value_width, n, s.data(), false, v.data(), false, o.data());
      scatter<T>(a.out, b, h, first, count, a.value_width, o.data());
    }
  });
}

// One head of keys and values with the queries of its group.
template <class T>
struct BackwardHead {
  using C = compute_t<T>;
  const Attention& a;
  const AttentionGrad& g;
  int64_t rows = block_rows(a);
  std::vector<C> k = std::vector<C>(a.keys * a.width), v = std::vector<C>(a.keys * a.value_width);
  std::vector<C> dk = k, dv = v;
  std::vector<C> q = std::vector<C>(rows * a.width), dq = q;
  std::vector<C> go = std::vector<C>(rows * a.value_width), o = go;
  std::vector<C> p = std::vector<C>(rows * a.keys), dp = p;

  void run(int64_t b, int64_t kv) {
    gather<T>(a.k, b, kv, 0, a.keys, a.width, k.data());
    gather<T>(a.v, b, kv, 0, a.keys, a.value_width, v.data());
    std::fill(dk.begin(), dk.end(), C(0));
    std::fill(dv.begin(), dv.end(), C(0));
    const int64_t group = a.heads / a.kv_heads;
    for (int64_t h = kv * group; h < (kv + 1) * group; ++h)
      for (int64_t first = 0; first < a.queries; first += rows) block(b, h, first, std::min(rows, a.queries - first));
    scatter<T>(g.k, b, kv, 0, a.keys, a.width, dk.data());
    scatter<T>(g.v, b, kv, 0, a.keys, a.value_width, dv.data());
  }

  void block(int64_t b, int64_t h, int64_t first, int64_t count) {
    const int64_t n = keys_seen(a, first + count - 1);
    gather<T>(a.q, b, h, first, count, a.width, q.data());
    scale_all(q.data(), count * a.width, a.scale);
    gather<T>(g.grad_out, b, h, first, count, a.value_width, go.data());
    gather<T>(a.out, b, h, first, count, a.value_width, o.data());
    scores<T>(a, b, h, first, count, n, q.data(), k.data(), p.data());
    const C* kept = static_cast<const C*>(a.normalizer) + (b * a.heads + h) * a.queries + first;
    for (int64_t i = 0; i < count; ++i) {
      C* __restrict row = p.data() + i * n;
      const int64_t seen = keys_seen(a, first + i);
      const C sum = kept[i];
      std::fill(row + seen, row + n, -std::numeric_limits<C>::infinity());
      for (int64_t j = 0; j < n; ++j) row[j] = exp_of(row[j] - sum);
    }
    multiply(n, a.value_width, count, p.data(), true, go.data(), false, dv.data(), 1);
    multiply(count, n, a.value_width, go.data(), false, v.data(), true, dp.data());
    for (int64_t i = 0; i < count; ++i) {
      const C *x = go.data() + i * a.value_width, *y = o.data() + i * a.value_width;
      const C delta = sum_over<C>(a.value_width, [=](int64_t j) { return x[j] * y[j]; });
      C* __restrict d = dp.data() + i * n;
      const C* __restrict row = p.data() + i * n;
      for (int64_t j = 0; j < n; ++j) d[j] = row[j] * (d[j] - delta);
    }
    // q is scaled already; the gradient of the query takes the factor now.
    multiply(n, a.width, count, dp.data(), true, q.data(), false, dk.data(), 1);
    multiply(count, a.width, n, dp.data(), false, k.data(), false, dq.data());
    scale_all(dq.data(), count * a.width, a.scale);
    scatter<T>(g.q, b, h, first, count, a.width, dq.data());
  }
};

void attention(const Attention& a) {
  HB_FLOATING_SWITCH("scaled_dot_product_attention", a.dtype, [&](auto type) { forward<decltype(type)>(a); });
}
void attention_backward(const Attention& a, const AttentionGrad& g) {
  HB_FLOATING_SWITCH("scaled_dot_product_attention_backward", a.dtype, [&](auto type) {
    parallel_for(0, a.batch * a.kv_heads, 1, [&](int64_t from, int64_t to) {
      BackwardHead<decltype(type)> head{a, g};
      for (int64_t i = from; i < to; ++i) head.run(i / a.kv_heads, i % a.kv_heads);
    });
  });
}
HB_REGISTER_ISA(attention_kernel, attention);
HB_REGISTER_ISA(attention_backward_kernel, attention_backward);

}  // namespace
}  // namespace hb::cpu::HB_ISA
