// Attention by blocks of queries: scores of one block against all keys it sees stay in cache.
#include "backend/attention.h"

#include <vector>

#include "backend/gemm.h"
#include "cpu/amx/amx.h"
#include "cpu/isa/copy_bytes.h"
#include "cpu/isa/pair_product.h"
#include "cpu/isa/vec.h"
#include "cpu/pieces.h"

namespace hb::cpu::HB_ISA {
namespace {

template <class T>
T* rows_at(const HeadsRef& x, int64_t b, int64_t h, int64_t row) {
  return static_cast<T*>(x.data) + b * x.batch + h * x.head + row * x.row;
}

// M: what products take their factors in, what is computed in or, on CPUs that multiply bf16, bf16 as it is stored.
template <class T, class M>
void gather(const HeadsRef& x, int64_t b, int64_t h, int64_t first, int64_t count, int64_t width, M* out) {
  for (int64_t i = 0; i < count; ++i) {
    const T* row = rows_at<const T>(x, b, h, first + i);
    if constexpr (std::is_same_v<T, M>) {
      copy_bytes(out + i * width, row, width * sizeof(T));
    } else {
      load(row, out + i * width, width);
    }
  }
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
template <class M, class C>
void multiply(int64_t m, int64_t n, int64_t k, const M* a, bool ta, const M* b, bool tb, C* c, double beta = 0,
              double alpha = 1) {
  Gemm g;
  g.dtype = dtype_of<M>::value;
  g.m = m, g.n = n, g.k = k, g.alpha = alpha, g.beta = beta;
  g.a = matrix(a, ta ? m : k, ta), g.b = matrix(b, tb ? k : n, tb), g.c = matrix(c, n);
  if constexpr (std::is_same_v<M, BFloat16>) {
    has_bf16_tiles() ? amx::gemm_to_float(g) : pair_product(g);
  } else {
    gemm_kernel(kCPU)(g);
  }
}

// Computed values as factors of a product: themselves, or rounded into `buffer`.
template <class M, class C>
const M* factors(const C* x, int64_t n, std::vector<M>& buffer) {
  if constexpr (std::is_same_v<M, C>) {
    return x;
  } else {
    buffer.resize(n);
    round_to_bf16(x, buffer.data(), n);
    return buffer.data();
  }
}

int64_t block_rows(const Attention& a) {
  return std::min(a.queries, std::clamp<int64_t>(32768 / std::max<int64_t>(a.keys, 1), 32, 64));
}
int64_t keys_seen(const Attention& a, int64_t query) { return a.causal ? std::min(a.keys, query + 1) : a.keys; }

// Scores of rows [first, first + rows) against keys [0, n), scaled and masked.
template <class T, class M>
void scores(const Attention& a, int64_t b, int64_t h, int64_t first, int64_t rows, int64_t n, const M* q, const M* k,
            compute_t<T>* s) {
  using C = compute_t<T>;
  multiply(rows, n, a.width, q, false, k, true, s, 0, a.scale);
  if (!a.mask) return;
  const T* mask = static_cast<const T*>(a.mask) + b * a.mask_stride[0] + h * a.mask_stride[1];
  for (int64_t i = 0; i < rows; ++i) {
    const T* row = mask + (first + i) * a.mask_stride[2];
    C* out = s + i * n;
    for (int64_t j = 0; j < n; ++j) out[j] += widen(row[j * a.mask_stride[3]]);
  }
}

// Turns scores into probabilities; returns the logarithm of the sum. A row that sees nothing becomes zeros.
template <class C>
C softmax_row(C* __restrict s, int64_t seen, int64_t n) {
  const C top = max_over<C>(seen, [=](int64_t j) { return s[j]; });
  if (seen == 0 || top == -std::numeric_limits<C>::infinity()) {
    // What is hidden adds up to -infinity, with a score of NaN to NaN.
    const C sum = seen == 0 ? top : sum_over<C>(seen, [=](int64_t j) { return s[j]; });
    std::fill(s, s + n, std::isnan(sum) ? sum : C(0));
    return -sum;
  }
  // Whole vectors: what is hidden becomes exp(-infinity) = 0.
  std::fill(s + seen, s + n, -std::numeric_limits<C>::infinity());
  for (int64_t j = 0; j < n; ++j) s[j] = quick_exp(s[j] - top);
  const C sum = sum_over<C>(n, [=](int64_t j) { return s[j]; }), scale = C(1) / sum;
  for (int64_t j = 0; j < n; ++j) s[j] *= scale;
  return top + std::log(sum);
}

template <class T, class M>
void forward(const Attention& a) {
  using C = compute_t<T>;
  const int64_t rows = block_rows(a), blocks = (a.queries + rows - 1) / rows;
  parallel_pieces(0, a.batch * a.heads * blocks, 1, [&](int64_t from, int64_t to) {
    std::vector<M> k(a.keys * a.width), v(a.keys * a.value_width), q(rows * a.width), p;
    std::vector<C> s(rows * a.keys), o(rows * a.value_width);
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
      scores<T>(a, b, h, first, count, n, q.data(), k.data(), s.data());
      C* kept = a.normalizer ? static_cast<C*>(a.normalizer) + head * a.queries + first : nullptr;
      for (int64_t i = 0; i < count; ++i) {
        const C sum = softmax_row(s.data() + i * n, keys_seen(a, first + i), n);
        if (kept) kept[i] = sum;
      }
      multiply(count, a.value_width, n, factors<M>(s.data(), count * n, p), false, v.data(), false, o.data());
      scatter<T>(a.out, b, h, first, count, a.value_width, o.data());
    }
  });
}

// One head of keys and values with the queries of its group.
template <class T, class M>
struct BackwardHead {
  using C = compute_t<T>;
  const Attention& a;
  const AttentionGrad& g;
  int64_t rows = block_rows(a);
  std::vector<M> k = std::vector<M>(a.keys * a.width), v = std::vector<M>(a.keys * a.value_width);
  std::vector<M> q = std::vector<M>(rows * a.width), go = std::vector<M>(rows * a.value_width), factor = {};
  std::vector<C> dk = std::vector<C>(k.size()), dv = std::vector<C>(v.size()), dq = std::vector<C>(q.size());
  std::vector<C> o = std::vector<C>(go.size()), p = std::vector<C>(rows * a.keys), dp = p;

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
    gather<T>(g.grad_out, b, h, first, count, a.value_width, go.data());
    gather<T>(a.out, b, h, first, count, a.value_width, o.data());
    scores<T>(a, b, h, first, count, n, q.data(), k.data(), p.data());
    const C* kept = static_cast<const C*>(a.normalizer) + (b * a.heads + h) * a.queries + first;
    for (int64_t i = 0; i < count; ++i) {
      C* __restrict row = p.data() + i * n;
      const int64_t seen = keys_seen(a, first + i);
      const C sum = kept[i];
      std::fill(row + seen, row + n, -std::numeric_limits<C>::infinity());
      for (int64_t j = 0; j < n; ++j) row[j] = quick_exp(row[j] - sum);
    }
    multiply(n, a.value_width, count, factors<M>(p.data(), count * n, factor), true, go.data(), false, dv.data(), 1);
    multiply(count, n, a.value_width, go.data(), false, v.data(), true, dp.data());
    for (int64_t i = 0; i < count; ++i) {
      const M* x = go.data() + i * a.value_width;
      const C* y = o.data() + i * a.value_width;
      const C delta = sum_over<C>(a.value_width, [=](int64_t j) { return widen(x[j]) * y[j]; });
      C* __restrict d = dp.data() + i * n;
      const C* __restrict row = p.data() + i * n;
      for (int64_t j = 0; j < n; ++j) d[j] = row[j] * (d[j] - delta);
    }
    const M* ds = factors<M>(dp.data(), count * n, factor);
    multiply(n, a.width, count, ds, true, q.data(), false, dk.data(), 1, a.scale);
    multiply(count, a.width, n, ds, false, k.data(), false, dq.data(), 0, a.scale);
    scatter<T>(g.q, b, h, first, count, a.width, dq.data());
  }
};

// Calls f(T(), M()) with the types of the dtype.
template <class F>
void with_types(const char* name, ScalarType dtype, const F& f) {
  HB_FLOATING_SWITCH(name, dtype, [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_same_v<T, BFloat16>) {
      if (has_bf16_tiles() || has_fast_bf16()) return f(T(), T());
    }
    f(T(), compute_t<T>());
  });
}

void attention(const Attention& a) {
  with_types("scaled_dot_product_attention", a.dtype,
             [&](auto type, auto factor) { forward<decltype(type), decltype(factor)>(a); });
}
void attention_backward(const Attention& a, const AttentionGrad& g) {
  with_types("scaled_dot_product_attention_backward", a.dtype, [&](auto type, auto factor) {
    parallel_pieces(0, a.batch * a.kv_heads, 1, [&](int64_t from, int64_t to) {
      BackwardHead<decltype(type), decltype(factor)> head{a, g};
      for (int64_t i = from; i < to; ++i) head.run(i / a.kv_heads, i % a.kv_heads);
    });
  });
}
HB_REGISTER_ISA(attention_kernel, attention);
HB_REGISTER_ISA(attention_backward_kernel, attention_backward);

}  // namespace
}  // namespace hb::cpu::HB_ISA
