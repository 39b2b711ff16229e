// Order along lines: sort, topk, kthvalue, mode, counting.
#include "backend/sort.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

#include "cpu/counted_order.h"
#include "cpu/first_of.h"
#include "cpu/parallel.h"
#include "cpu/radix_sort.h"
#include "cpu/rank.h"
#include "cpu/sorted_before.h"
#include "formulas/compared.h"

namespace hb::cpu {
namespace {

template <class T>
struct Entry {
  T value;
  int64_t index;
};

template <class T, bool Descending>
struct Before {
  bool operator()(const Entry<T>& a, const Entry<T>& b) const {
    const bool first = Descending ? less(b.value, a.value) : less(a.value, b.value);
    if (first) return true;
    const bool second = Descending ? less(a.value, b.value) : less(b.value, a.value);
    return !second && a.index < b.index;
  }
};

/// Brings what `order` asks for to its places; the rest stands anywhere.
template <class E, class Compare>
void put_in_order(std::vector<E>& line, const Order& order, const Compare& before) {
  const auto begin = line.begin(), end = line.end();
  const auto from = begin + order.from, to = from + order.count;
  if (order.count * 4 >= static_cast<int64_t>(line.size())) {
    std::sort(begin, end, before);
    return;
  }
  if (from != begin) std::nth_element(begin, from, end, before);
  const bool in_place = from != begin && order.count == 1;  // by the line above
  if (to != end && to != from && !in_place) std::nth_element(from, to - 1, end, before);
  std::sort(from, to, before);
}

/// Whether what is wanted of a line is among so few that the others need not be kept.
bool is_part(const Order& order, int64_t n) { return order.count > 0 && (order.from + order.count) * 32 <= n; }

constexpr int64_t kFew = 32;

/// The first few of the order, in `best`: most values are only compared with the last that is in so far.
template <class T, bool Descending>
void first_few(const T* x, int64_t n, int64_t stride, int64_t count, Entry<Compared<T>>* best) {
  int64_t size = 0;
  for (int64_t j = 0; j < n; ++j) {
    const auto v = static_cast<Compared<T>>(x[j * stride]);
    const auto before = [&](const Entry<Compared<T>>& e) { return Descending ? less(e.value, v) : less(v, e.value); };
    if (size < count)
      ++size;
    else if (!before(best[size - 1]))
      continue;
    int64_t at = size - 1;
    for (; at > 0 && before(best[at - 1]); --at) best[at] = best[at - 1];
    best[at] = {v, j};
  }
}

/// Whole lines that are long enough for counting to pay.
bool by_radix(const Order& order, int64_t n) {
  constexpr int64_t kLeast = 128;
  return order.from == 0 && order.count == n && n >= kLeast && n <= std::numeric_limits<uint32_t>::max();
}

template <class T>
void radix_lines(T* values, int64_t* indices, const T* in, Lines l, bool descending) {
  using Key = SortKey<T>;
  parallel_for(0, l.outer * l.inner, std::max<int64_t>(1, kGrain / (8 * l.n)), [&](int64_t b, int64_t e) {
    std::vector<KeyAt<Key>> line(l.n), other(l.n);
    for (int64_t i = b; i < e; ++i) {
      const int64_t first = i / l.inner * l.n * l.inner + i % l.inner;
      const T* x = in + first;
      for (int64_t j = 0; j < l.n; ++j) {
        const Key key = sort_key(x[j * l.inner]);
        line[j] = {descending ? static_cast<Key>(~key) : key, static_cast<uint32_t>(j)};
      }
      radix_sort(line, other);
      for (int64_t j = 0; j < l.n; ++j) {
        values[first + j * l.inner] = x[line[j].at * l.inner];
        indices[first + j * l.inner] = line[j].at;
      }
    }
  });
}

/// Whether what is wanted of a line is among its first few: most values are then only compared with the last that is in
/// so far.
bool is_few(const Order& order, int64_t n) {
  const int64_t first = order.from + order.count;
  return order.count > 0 && first <= kFew && first * 4 < n;
}

/// Whether one value is wanted of lines that are long enough for counting to pay.
bool is_rank(const Order& order, int64_t n) {
  constexpr int64_t kLeast = 512;
  return order.count == 1 && n >= kLeast && n <= std::numeric_limits<uint32_t>::max();
}

template <class T>
void ranked_lines(T* values, int64_t* indices, const T* in, Lines l, const Order& order) {
  static const auto place_at = isa_level() >= 4 ? v4::place_at_rank : v3::place_at_rank;
  parallel_for(0, l.outer * l.inner, std::max<int64_t>(1, kGrain / (8 * l.n)), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      const T* x = in + i / l.inner * l.n * l.inner + i % l.inner;
      indices[i] = place_at(dtype_of<T>::value, x, l.n, l.inner, order.descending, order.from);
      values[i] = x[indices[i] * l.inner];
    }
  });
}

/// The first place from `from` on whose value stands before `limit`: most are passed over, many at a time.
template <class T>
int64_t next_before(const T* x, int64_t from, int64_t n, bool descending, SortKey<T> limit) {
  static const auto next = isa_level() >= 4 ? v4::next_before : v3::next_before;
  return next(dtype_of<T>::value, x, from, n, descending, limit);
}

/// Of values of up to four bytes: key and place in one number, which is compared in one step.
template <class T>
class Numbers {
 public:
  Numbers(const T* x, int64_t n, int64_t stride, bool descending)
      : x_(x), n_(n), stride_(stride), descending_(descending) {}

  uint64_t operator[](int64_t j) const {
    const SortKey<T> key = sort_key(x_[j * stride_]);
    return static_cast<uint64_t>(descending_ ? static_cast<SortKey<T>>(~key) : key) << 32 | static_cast<uint64_t>(j);
  }
  void give_all(std::vector<uint64_t>& line) const {
    line.resize(n_);
    for (int64_t j = 0; j < n_; ++j) line[j] = (*this)[j];
  }
  void give_first(FirstOf<uint64_t, std::less<uint64_t>>& first) const {
    for (int64_t j = 0; j < n_; ++j) {
      if (first.add((*this)[j]) || stride_ != 1 || !first.is_full()) continue;
      j = next_before<T>(x_, j + 1, n_, descending_, static_cast<SortKey<T>>(first.last() >> 32)) - 1;
    }
  }

 private:
  const T* const x_;
  const int64_t n_, stride_;
  const bool descending_;
};

template <class T>
void numbered_lines(T* values, int64_t* indices, const T* in, Lines l, const Order& order) {
  parallel_for(0, l.outer * l.inner, std::max<int64_t>(1, kGrain / (8 * l.n + 1)), [&](int64_t b, int64_t e) {
    std::vector<uint64_t> line;
    for (int64_t i = b; i < e; ++i) {
      const int64_t o = i / l.inner, k = i % l.inner, to = o * order.count * l.inner + k;
      const T* x = in + o * l.n * l.inner + k;
      const Numbers<T> numbers(x, l.n, l.inner, order.descending);
      if (is_part(order, l.n)) {
        FirstOf<uint64_t, std::less<uint64_t>> first(order.from + order.count, {});
        numbers.give_first(first);
        line.swap(first.kept());
      } else {
        numbers.give_all(line);
      }
      put_in_order(line, order, std::less<uint64_t>());
      for (int64_t j = 0; j < order.count; ++j) {
        const auto at = static_cast<int64_t>(static_cast<uint32_t>(line[order.from + j]));
        values[to + j * l.inner] = x[at * l.inner];
        indices[to + j * l.inner] = at;
      }
    }
  });
}

/// Lines of integers, where counting serves all of them.
template <class T>
bool counted_lines(T* values, int64_t* indices, const T* in, Lines l, const Order& order) {
  const auto put = [&](int64_t i) {
    const int64_t o = i / l.inner, k = i % l.inner, to = o * order.count * l.inner + k;
    CountedLine<T> line(in + o * l.n * l.inner + k, l.n, l.inner);
    if (line) line.put(values + to, indices + to, l.inner, order);
    return static_cast<bool>(line);
  };
  if (l.n == 0 || !put(0)) return false;
  std::atomic<bool> all = true;
  parallel_for(1, l.outer * l.inner, std::max<int64_t>(1, kGrain / (8 * l.n)), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i)
      if (!put(i)) all = false;
  });
  return all;
}

/// `line` begins with what is wanted.
template <class E, class T, class Compare>
void order_entries(std::vector<E>& line, const T* x, Lines l, const Order& order, const Compare& before) {
  const auto entry = [&](int64_t j) { return E{static_cast<decltype(E::value)>(x[j * l.inner]), j}; };
  if (is_part(order, l.n)) {
    FirstOf<E, Compare> first(order.from + order.count, before);
    for (int64_t j = 0; j < l.n; ++j) {
      if (first.add(entry(j)) || l.inner != 1 || !first.is_full()) continue;
      const SortKey<T> key = sort_key(x[first.last().index]);
      j = next_before<T>(x, j + 1, l.n, order.descending, order.descending ? static_cast<SortKey<T>>(~key) : key) - 1;
    }
    line.swap(first.kept());
  } else {
    line.resize(l.n);
    for (int64_t j = 0; j < l.n; ++j) line[j] = entry(j);
  }
  put_in_order(line, order, before);
}

template <class T>
void order_lines(T* values, int64_t* indices, const T* in, Lines l, const Order& order) {
  using C = Compared<T>;
  if (!is_few(order, l.n) && is_rank(order, l.n)) return ranked_lines(values, indices, in, l, order);
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (!is_few(order, l.n) && !is_part(order, l.n) && counted_lines(values, indices, in, l, order)) return;
  }
  if (by_radix(order, l.n)) return radix_lines(values, indices, in, l, order.descending);
  const bool few = is_few(order, l.n);
  if constexpr (sizeof(T) <= 4) {
    if (!few && l.n <= std::numeric_limits<uint32_t>::max()) return numbered_lines(values, indices, in, l, order);
  }
  const int64_t lines = l.outer * l.inner;
  parallel_for(0, lines, std::max<int64_t>(1, kGrain / (16 * l.n + 1)), [&](int64_t b, int64_t e) {
    std::vector<Entry<C>> line(few ? kFew : 0);
    for (int64_t i = b; i < e; ++i) {
      const int64_t o = i / l.inner, k = i % l.inner;
      const T* x = in + o * l.n * l.inner + k;
      if (few) {
        order.descending ? first_few<T, true>(x, l.n, l.inner, order.from + order.count, line.data())
                         : first_few<T, false>(x, l.n, l.inner, order.from + order.count, line.data());
      } else {
        order.descending ? order_entries(line, x, l, order, Before<C, true>())
                         : order_entries(line, x, l, order, Before<C, false>());
      }
      const int64_t to = o * order.count * l.inner + k;
      for (int64_t j = 0; j < order.count; ++j) {
        values[to + j * l.inner] = x[line[order.from + j].index * l.inner];
        indices[to + j * l.inner] = line[order.from + j].index;
      }
    }
  });
}

/// The most frequent value of a line, of several the least, and its last place.
template <class T>
void mode_of(T& value, int64_t& index, const T* x, int64_t n, int64_t stride, std::vector<SortKey<T>>& keys) {
  for (int64_t j = 0; j < n; ++j) keys[j] = sort_key(x[j * stride]);
  std::sort(keys.begin(), keys.end());
  int64_t best = 0;
  SortKey<T> most{};
  for (int64_t j = 0; j < n;) {
    int64_t stop = j + 1;
    while (stop < n && keys[j] == keys[stop]) ++stop;
    if (stop - j > best) best = stop - j, most = keys[j];
    j = stop;
  }
  index = n - 1;
  while (sort_key(x[index * stride]) != most) --index;
  value = x[index * stride];
}

template <class T>
void mode_lines(T* values, int64_t* indices, const T* in, Lines l) {
  std::vector<SortKey<T>> keys(l.n);
  for (int64_t i = 0; i < l.outer * l.inner; ++i) {
    const T* x = in + i / l.inner * l.n * l.inner + i % l.inner;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (const CountedLine<T> counted(x, l.n, l.inner); counted) {
        counted.mode(values[i], indices[i]);
        continue;
      }
    }
    mode_of(values[i], indices[i], x, l.n, l.inner, keys);
  }
}

#define HB_FOR_DTYPE(name, dtype, body)                                  \
  switch (dtype) {                                                       \
    HB_FORALL_REAL_DTYPES(body)                                          \
    HB_FORALL_WIDE_UNSIGNED_DTYPES(body)                                 \
    default:                                                             \
      HB_NOT_SUPPORTED("[" name "] is not supported for dtype ", dtype); \
  }

template <class T>
T* data(const Tensor& t) {
  return static_cast<T*>(t.impl().raw_data());
}

void order(const Tensor& values, const Tensor& indices, const Tensor& in, Lines l, Order o) {
  if (values.numel() == 0) return;
#define HB_CASE(T, Name) \
  case ScalarType::Name: \
    return order_lines(data<T>(values), data<int64_t>(indices), data<T>(in), l, o);
  HB_FOR_DTYPE("sort", in.scalar_type(), HB_CASE)
#undef HB_CASE
}

void mode(const Tensor& values, const Tensor& indices, const Tensor& in, Lines l) {
#define HB_CASE(T, Name) \
  case ScalarType::Name: \
    return mode_lines(data<T>(values), data<int64_t>(indices), data<T>(in), l);
  HB_FOR_DTYPE("mode", in.scalar_type(), HB_CASE)
#undef HB_CASE
}

void bincount(const Tensor& counts, const Tensor& values, const Tensor& weights) {
  const int64_t* v = data<int64_t>(values);
  const int64_t n = values.numel();
  if (!weights.defined()) {
    int64_t* to = data<int64_t>(counts);
    for (int64_t i = 0; i < n; ++i) ++to[v[i]];
  } else if (weights.scalar_type() == kFloat) {
    for (int64_t i = 0; i < n; ++i) data<float>(counts)[v[i]] += data<float>(weights)[i];
  } else {
    for (int64_t i = 0; i < n; ++i) data<double>(counts)[v[i]] += data<double>(weights)[i];
  }
}

HB_REGISTER_CPU(order_kernel, order);
HB_REGISTER_CPU(mode_kernel, mode);
HB_REGISTER_CPU(bincount_kernel, bincount);

}  // namespace
}  // namespace hb::cpu
