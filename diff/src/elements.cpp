#include "elements.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "read_double.h"

namespace hb::layer_diff {
namespace {

constexpr int64_t kRead = 65536;  // elements read at a time
constexpr int64_t kBlock = 2048;  // elements converted at a time: both tensors' stay in the first-level cache
constexpr int64_t kCells = 64;    // of a heat map, per side

// Calls visit(ref, test, count, index) for elements `first` to `last` in order.
template <class F>
void for_each_block(const Elements& ref, const Elements& test, int64_t first, int64_t last, const F& visit) {
  const int64_t room = std::min(kRead, last - first);
  if (room <= 0) return;
  const auto ref_size = static_cast<int64_t>(element_size(ref.dtype));
  const auto test_size = static_cast<int64_t>(element_size(test.dtype));
  const std::unique_ptr<char[]> ref_bytes(new char[room * ref_size]), test_bytes(new char[room * test_size]);
  double ref_values[kBlock], test_values[kBlock];
  for (int64_t at = first; at < last; at += room) {
    const int64_t n = std::min(room, last - at);
    ref.read(at, n, ref_bytes.get());
    test.read(at, n, test_bytes.get());
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t count = std::min(kBlock, n - i);
      to_double(ref.dtype, ref_bytes.get() + i * ref_size, count, ref_values);
      to_double(test.dtype, test_bytes.get() + i * test_size, count, test_values);
      visit(ref_values, test_values, count, at + i);
    }
  }
}

}  // namespace

Elements elements_of(const Trace& trace, const Record& record) {
  return {record.dtype, record.shape, [&trace, &record](int64_t first, int64_t count, char* bytes) {
            trace.read_raw(record, first, count, bytes);
          }};
}

ErrorSums sums_of(const Elements& ref, const Elements& test, int64_t first, int64_t last, const Tolerance& tolerance) {
  const UlpRule ulp(ref.dtype, test.dtype);
  ErrorSums sums;
  for_each_block(ref, test, first, last, [&](const double* r, const double* t, int64_t count, int64_t index) {
    sums.add(r, t, count, index, tolerance, ulp);
  });
  return sums;
}

Histogram histogram_of(const Elements& ref, const Elements& test) {
  Histogram histogram;
  constexpr int kPerDecade = 4;
  const double bins = (histogram.high - histogram.low) * kPerDecade;
  histogram.counts.assign(static_cast<size_t>(bins), 0);
  int64_t numel = 1;
  for (int64_t size : ref.shape) numel *= size;
  for_each_block(ref, test, 0, numel, [&](const double* r, const double* t, int64_t count, int64_t) {
    for (int64_t i = 0; i < count; ++i) {
      const double d = distance(r[i], t[i]);
      const double bin = d > 0 ? std::floor((std::log10(d) - histogram.low) * kPerDecade) : -1;
      if (bin < 0) {
        ++histogram.below;
      } else if (bin >= bins) {
        ++histogram.above;
      } else {
        ++histogram.counts[static_cast<size_t>(bin)];
      }
    }
  });
  return histogram;
}

HeatMap heat_map_of(const Elements& ref, const Elements& test, const std::vector<int64_t>& worst) {
  HeatMap map;
  const size_t dims = ref.shape.size();
  const int64_t columns = dims >= 1 ? ref.shape[dims - 1] : 1, rows = dims >= 2 ? ref.shape[dims - 2] : 1;
  if (dims > 2) map.slice.assign(worst.begin(), worst.end() - 2);
  int64_t first = 0;
  for (size_t i = 0; i < map.slice.size(); ++i) first = first * ref.shape[i] + map.slice[i];
  first *= rows * columns;
  map.rows = std::min(rows, kCells);
  map.columns = std::min(columns, kCells);
  map.cells.assign(static_cast<size_t>(map.rows * map.columns), 0);
  std::vector<int64_t> counts(map.cells.size(), 0);
  for_each_block(ref, test, first, first + rows * columns,
                 [&](const double* r, const double* t, int64_t count, int64_t index) {
                   for (int64_t i = 0; i < count; ++i) {
                     const int64_t at = index - first + i;
                     const int64_t row = at / columns * map.rows / rows, column = at % columns * map.columns / columns;
                     const auto cell = static_cast<size_t>(row * map.columns + column);
                     map.cells[cell] += distance(r[i], t[i]);
                     ++counts[cell];
                   }
                 });
  for (size_t i = 0; i < map.cells.size(); ++i) map.cells[i] /= static_cast<double>(std::max<int64_t>(counts[i], 1));
  return map;
}

}  // namespace hb::layer_diff
