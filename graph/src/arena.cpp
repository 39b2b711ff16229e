#include "arena.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, bytes)
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes)
#endif

namespace hb::graph {

namespace {
constexpr size_t kAlignment = 64;
size_t rounded(size_t bytes) { return (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment; }

struct Span {
  size_t begin, end;
};

/// The smallest gap among `taken` (sorted) that `bytes` fit in, or the end of all.
size_t best_gap(const std::vector<Span>& taken, size_t bytes) {
  size_t best = SIZE_MAX, best_size = SIZE_MAX, at = 0;
  for (const Span& s : taken) {
    if (s.begin > at && s.begin - at >= bytes && s.begin - at < best_size) best = at, best_size = s.begin - at;
    at = std::max(at, s.end);
  }
  return best == SIZE_MAX ? at : best;
}
}  // namespace

namespace {
/// One after the other in this order, each in the smallest gap.
size_t place(std::vector<Lifetime>& values, const std::vector<size_t>& order) {
  std::vector<size_t> placed;
  std::vector<Span> taken;
  size_t size = 0;
  for (const size_t i : order) {
    Lifetime& v = values[i];
    taken.clear();
    for (const size_t j : placed) {
      const Lifetime& other = values[j];
      if (other.first <= v.last && v.first <= other.last)
        taken.push_back({other.offset, other.offset + rounded(other.bytes)});
    }
    std::sort(taken.begin(), taken.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
    v.offset = best_gap(taken, rounded(v.bytes));
    size = std::max(size, v.offset + rounded(v.bytes));
    placed.push_back(i);
  }
  return size;
}
}  // namespace

size_t plan_arena(std::vector<Lifetime>& values) {
  std::vector<size_t> order(values.size());
  const auto lasts = [&](size_t i) { return values[i].last - values[i].first; };
  const std::function<bool(size_t, size_t)> orders[] = {
      [&](size_t a, size_t b) { return values[a].bytes > values[b].bytes; },
      [&](size_t a, size_t b) { return lasts(a) > lasts(b); },
      [&](size_t a, size_t b) {
        return values[a].bytes != values[b].bytes ? values[a].bytes > values[b].bytes : lasts(a) > lasts(b);
      },
      [&](size_t a, size_t b) { return values[a].first < values[b].first; }};
  size_t best = SIZE_MAX;
  std::vector<Lifetime> chosen;
  for (const auto& earlier : orders) {
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), earlier);
    const size_t size = place(values, order);
    if (size < best) best = size, chosen = values;
  }
  values = std::move(chosen);
  return values.empty() ? 0 : best;
}

void close_place(char* begin, size_t bytes) {
  ASAN_UNPOISON_MEMORY_REGION(begin, bytes);
  std::memset(begin, 0xff, bytes);
  ASAN_POISON_MEMORY_REGION(begin, bytes);
}
void open_places(char* block, const std::vector<Lifetime>& values, int call) {
  for (const Lifetime& v : values) {
    if (v.first == call) {
      ASAN_UNPOISON_MEMORY_REGION(block + v.offset, v.bytes);
    }
  }
}
void close_places(char* block, const std::vector<Lifetime>& values, int call) {
  for (const Lifetime& v : values)
    if (v.last == call) close_place(block + v.offset, v.bytes);
}

}  // namespace hb::graph
