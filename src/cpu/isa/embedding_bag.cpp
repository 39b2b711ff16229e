#include "backend/embedding_bag.h"

#include <vector>

#include "cpu/isa/runs.h"

namespace hb::cpu::HB_ISA {
namespace {

/// Calls f(place in the list, row of the table) for each index of a bag; says how many there are.
template <class F>
inline int64_t over_bag(const EmbeddingBag& p, int64_t bag, const F& f) {
  int64_t count = 0;
  for (int64_t i = p.begin[bag]; i < p.end(bag); ++i) {
    if (p.index[i] == p.padding) continue;
    f(i, p.index[i]);
    ++count;
  }
  return count;
}
int64_t count_of(const EmbeddingBag& p, int64_t bag) {
  return over_bag(p, bag, [](int64_t, int64_t) {});
}

constexpr int64_t kTogether = 4;  // rows that are added in one pass over the sum

template <class T>
struct Table {
  const EmbeddingBag& p;
  RunBuffer<T> wide;
  explicit Table(const EmbeddingBag& bags) : p(bags), wide(kTogether * bags.width) {}
  /// `slot`: below kTogether, of rows that are looked at together.
  const compute_t<T>* row(int64_t r, int64_t slot = 0) {
    return computable(static_cast<const T*>(p.weight) + r * p.width, wide.data() + slot * p.width, p.width);
  }
  compute_t<T> factor(int64_t i) const { return p.samples ? widen(static_cast<const T*>(p.samples)[i]) : 1; }
};

template <class C>
struct Term {
  const C* row;
  C factor;
};
/// To what is in `sum`, or (kFirst) to 0.
template <int kTerms, bool kFirst, class C>
void add_terms(C* __restrict sum, int64_t width, const Term<C>* terms) {
  const C* row[kTerms];
  C factor[kTerms];
  for (int k = 0; k < kTerms; ++k) row[k] = terms[k].row, factor[k] = terms[k].factor;
  for (int64_t j = 0; j < width; ++j) {
    C s = kFirst ? C(0) : sum[j];
    for (int k = 0; k < kTerms; ++k) s += row[k][j] * factor[k];
    sum[j] = s;
  }
}
// In their order, so that it does not matter how many are added in one pass.
template <class C>
void add_terms(C* sum, int64_t width, const Term<C>* terms, int64_t count) {
  if (count == kTogether) return add_terms<kTogether, false>(sum, width, terms);
  for (int64_t k = 0; k < count; ++k) add_terms<1, false>(sum, width, terms + k);
}

template <class T>
void sum_bag(Table<T>& table, int64_t bag, compute_t<T>* sum) {
  using C = compute_t<T>;
  const int64_t width = table.p.width;
  Term<C> terms[kTogether];
  int64_t held = 0;
  bool first = true;
  const int64_t count = over_bag(table.p, bag, [&](int64_t i, int64_t r) {
    terms[held] = {table.row(r, held), table.factor(i)};
    if (++held < kTogether) return;
    first ? add_terms<kTogether, true>(sum, width, terms) : add_terms(sum, width, terms, held);
    first = false, held = 0;
  });
  if (first) std::fill(sum, sum + width, C(0));
  add_terms(sum, width, terms, held);
  if (table.p.mode == BagMode::mean && count > 1)
    for (int64_t j = 0; j < width; ++j) sum[j] /= static_cast<C>(count);
}

// The first of several; NaN wins.
template <class T>
void max_bag(Table<T>& table, int64_t bag, compute_t<T>* __restrict top) {
  using C = compute_t<T>;
  const int64_t width = table.p.width;
  int64_t* __restrict place = table.p.places + bag * width;
  std::fill(top, top + width, C(0));
  std::fill(place, place + width, int64_t{-1});
  over_bag(table.p, bag, [&](int64_t, int64_t r) {
    const C* __restrict row = table.row(r);
    for (int64_t j = 0; j < width; ++j) {
      const bool better = (place[j] < 0) | (row[j] > top[j]) | ((row[j] != row[j]) & (top[j] == top[j]));
      top[j] = better ? row[j] : top[j];
      place[j] = better ? r : place[j];
    }
  });
}

int64_t grain_for(const EmbeddingBag& p) {
  const int64_t values = std::max<int64_t>(1, p.width * std::max<int64_t>(1, p.indices / std::max<int64_t>(1, p.bags)));
  return std::max<int64_t>(1, kGrain / values);
}

template <class T>
void forward(const EmbeddingBag& p, T* out) {
  parallel_for(0, p.bags, grain_for(p), [&](int64_t from, int64_t to) {
    Table<T> table(p);
    RunBuffer<T> pooled(p.width);
    for (int64_t b = from; b < to; ++b) {
      compute_t<T>* y = results(out + b * p.width, pooled.data());
      if (p.mode == BagMode::max)
        max_bag(table, b, y);
      else
        sum_bag(table, b, y);
      finish(y, out + b * p.width, p.width);
    }
  });
}

void embedding_bag(const EmbeddingBag& p, void* out) {
  for (int64_t i = 0; i < p.indices; ++i)
    HB_CHECK(p.index[i] >= 0 && p.index[i] < p.rows, "[embedding_bag] Index ", i, " of input takes value ", p.index[i],
             " which is not in the valid range [0, ", p.rows, "): index out of range in self");
  HB_FLOATING_SWITCH("embedding_bag", p.dtype, [&](auto type) { forward(p, static_cast<decltype(type)*>(out)); });
}
HB_REGISTER_ISA(embedding_bag_kernel, embedding_bag);

// Adds what comes from one bag to rows [from, to) of the table's gradient.
template <class C, class Factor>
void add_bag(const EmbeddingBag& p, int64_t bag, C* table, const C* __restrict g, int64_t from, int64_t to,
             const Factor& factor_of) {
  const int64_t width = p.width;
  if (p.mode == BagMode::max) {
    for (int64_t j = 0; j < width; ++j) {
      const int64_t r = p.places[bag * width + j];
      if (r >= from && r < to) table[(r - from) * width + j] += g[j];
    }
    return;
  }
  const C part = p.mode == BagMode::mean ? C(1) / static_cast<C>(count_of(p, bag)) : C(1);
  over_bag(p, bag, [&](int64_t i, int64_t r) {
    if (r < from || r >= to) return;
    C* __restrict sum = table + (r - from) * width;
    const C factor = factor_of(i) * part;
    for (int64_t j = 0; j < width; ++j) sum[j] += g[j] * factor;
  });
}

template <class T>
void table_gradient(const EmbeddingBag& p, T* grad_weight, const T* grad) {
  using C = compute_t<T>;
  // Each thread owns a range of rows, so that the order of the sums does not depend on the number of threads.
  parallel_for(0, p.rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(p.width, 1)), [&](int64_t from, int64_t to) {
    RunBuffer<T> sums((to - from) * p.width), wide(p.width);
    const Table<T> factors(p);
    C* table = results(grad_weight + from * p.width, sums.data());
    std::fill(table, table + (to - from) * p.width, C(0));
    for (int64_t b = 0; b < p.bags; ++b)
      add_bag(p, b, table, computable(grad + b * p.width, wide.data(), p.width), from, to,
              [&](int64_t i) { return factors.factor(i); });
    finish(table, grad_weight + from * p.width, (to - from) * p.width);
  });
}

template <class T>
void sample_gradients(const EmbeddingBag& p, T* out, const T* grad) {
  using C = compute_t<T>;
  std::fill(out, out + p.indices, T(0));
  parallel_for(0, p.bags, grain_for(p), [&](int64_t from, int64_t to) {
    Table<T> table(p);
    RunBuffer<T> wide(p.width);
    for (int64_t b = from; b < to; ++b) {
      const C* g = computable(grad + b * p.width, wide.data(), p.width);
      over_bag(p, b, [&](int64_t i, int64_t r) {
        const C* row = table.row(r);
        out[i] = narrow<T>(sum_over<C>(p.width, [=](int64_t j) { return g[j] * row[j]; }));
      });
    }
  });
}

void embedding_bag_backward(const EmbeddingBag& p, void* grad_weight, void* grad_samples, const void* grad) {
  HB_FLOATING_SWITCH("embedding_bag_backward", p.dtype, [&](auto type) {
    using T = decltype(type);
    const auto* g = static_cast<const T*>(grad);
    if (grad_weight) table_gradient(p, static_cast<T*>(grad_weight), g);
    if (grad_samples) sample_gradients(p, static_cast<T*>(grad_samples), g);
  });
}
HB_REGISTER_ISA(embedding_bag_backward_kernel, embedding_bag_backward);

}  // namespace
}  // namespace hb::cpu::HB_ISA
