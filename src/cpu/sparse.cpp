// Sparse tensors on the CPU: the order of entries.
#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <vector>

#include "backend/sparse.h"

namespace hb::cpu {
namespace {

struct Entry {
  int64_t key, place;
};

// Least significant digit first, stable; as many passes as `limit` has digits.
void radix_sort(std::vector<Entry>& entries, int64_t limit) {
  constexpr int kBits = 11, kDigits = 1 << kBits;
  const int bits = std::bit_width(static_cast<uint64_t>(std::max<int64_t>(limit - 1, 0)));
  std::vector<Entry> other(entries.size());
  for (int shift = 0; shift < bits; shift += kBits) {
    std::array<size_t, kDigits> at{};
    const auto digit = [shift](const Entry& e) { return static_cast<size_t>(e.key >> shift) & (kDigits - 1); };
    for (const Entry& e : entries) ++at[digit(e)];
    std::exclusive_scan(at.begin(), at.end(), at.begin(), size_t{0});
    for (const Entry& e : entries) other[at[digit(e)]++] = e;
    entries.swap(other);
  }
}

int64_t group(const int64_t* keys, int64_t n, int64_t limit, int64_t* order, int64_t* group) {
  std::vector<Entry> entries(n);
  for (int64_t i = 0; i < n; ++i) {
    HB_CHECK_INDEX(keys[i] >= 0 && keys[i] < limit, "[coalesce] expected indices within the size of the tensor");
    entries[i] = {keys[i], i};
  }
  const auto before = [](const Entry& a, const Entry& b) { return a.key < b.key; };
  // A pass of the radix sort costs as much as its table of counts at least.
  if (n < 1024)
    std::stable_sort(entries.begin(), entries.end(), before);
  else if (!std::is_sorted(entries.begin(), entries.end(), before))
    radix_sort(entries, limit);
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || entries[i].key != entries[i - 1].key) ++count;
    order[i] = entries[i].place;
    group[entries[i].place] = count - 1;
  }
  return count;
}
HB_REGISTER_CPU(sparse_group_kernel, group);

void rows(const char* name, const int64_t* row, const int64_t* column, int64_t n, int64_t rows, int64_t columns,
          int64_t* first) {
  std::fill_n(first, rows + 1, 0);
  for (int64_t e = 0; e < n; ++e) {
    HB_CHECK_INDEX(row[e] >= 0 && row[e] < rows && column[e] >= 0 && column[e] < columns, "[", name,
                   "] expected indices within the matrix of shape [", rows, ", ", columns, "], got (", row[e], ", ",
                   column[e], ")");
    ++first[row[e] + 1];
  }
  for (int64_t r = 0; r < rows; ++r) first[r + 1] += first[r];
}
HB_REGISTER_CPU(sparse_rows_kernel, rows);

}  // namespace
}  // namespace hb::cpu
