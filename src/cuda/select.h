#pragma once
// What stands at some places of the order of long lines, without sorting them.

#include "backend/sort.h"
#include "cuda/sort_key.h"

namespace hb::cuda {

/// Whose middle is wanted, in place of what an order says: that of all elements, where a NaN wins, or of the numbers.
enum class Middle { none, of_all, of_numbers };

struct SelectedLines {
  void* values;      // (outer, count, inner) as the indices: the first `count` of each line's order, or the one that
  int64_t* indices;  // is wanted. Several stand in the order of the line, not in the one that is asked for.
  const void* in;
  Lines l;
  Order order;
  KeyRule rule;
  Middle middle = Middle::none;
};

/// Whether selecting costs less than sorting.
inline bool is_selected(const Lines& l, const Order& order) {
  if (l.n >= INT32_MAX || l.outer * l.inner >= INT32_MAX) return false;
  return order.count == 1 ? l.n > 64 : order.from == 0 && l.n > 1024 && order.count <= l.n / 4;
}
void select_lines(const SelectedLines& s);

}  // namespace hb::cuda
