// What is computed twice is computed once.
#include <map>
#include <string>

#include "call_types.h"
#include "operands.h"
#include "passes.h"

namespace hb::graph {

namespace {

/// Whether a value is made by this call alone, of nothing that was there, and is gone with the step.
bool sole_result(const RecordedCall& c, int at, int memory, const std::vector<std::vector<int>>& writers,
                 const std::vector<Memory>& memories) {
  return memories[memory].temporary() && writers[memory].size() == 1 && writers[memory][0] == at && !reads(c, memory);
}

/// Whether call `b` computes again what call `a` left.
bool same(const std::vector<RecordedCall>& calls, int a, int b, const std::vector<std::vector<int>>& writers,
          const std::vector<Memory>& memories) {
  const std::vector<Operand> of_a = operands_of(calls[a]), of_b = operands_of(calls[b]);
  if (of_a.size() != of_b.size()) return false;
  for (size_t k = 0; k < of_a.size(); ++k) {
    const Operand &x = of_a[k], &y = of_b[k];
    if (x.written != y.written || x.offset != y.offset) return false;
    if (x.written) {
      if (!sole_result(calls[a], a, x.memory, writers, memories) ||
          !sole_result(calls[b], b, y.memory, writers, memories) ||
          memories[x.memory].bytes != memories[y.memory].bytes)
        return false;
      continue;
    }
    if (x.memory != y.memory) return false;
    for (const int w : writers[x.memory])
      if (w > a && w < b) return false;
  }
  return true;
}

}  // namespace

void share_common(std::vector<RecordedCall>& calls, const std::vector<Memory>& memories) {
  const auto writers = writers_of(calls, memories.size());
  std::map<std::string, std::vector<int>> known;  // calls with these numbers
  std::vector<bool> left_out(calls.size());
  for (int i = 0; i < static_cast<int>(calls.size()); ++i) {
    if (!repeats(calls[i])) continue;
    std::string numbers = numbers_of(*calls[i].call);
    if (numbers.empty()) continue;
    std::vector<int>& earlier = known[std::move(numbers)];
    int twin = -1;
    for (const int e : earlier)
      if (twin < 0 && same(calls, e, i, writers, memories)) twin = e;
    if (twin < 0) {
      earlier.push_back(i);
      continue;
    }
    const std::vector<Operand> of_twin = operands_of(calls[twin]), own = operands_of(calls[i]);
    std::map<int, int> instead;
    for (size_t k = 0; k < own.size(); ++k)
      if (own[k].written) instead[own[k].memory] = of_twin[k].memory;
    for (size_t j = static_cast<size_t>(i) + 1; j < calls.size(); ++j) move_operands(calls[j], instead);
    left_out[i] = true;
  }
  std::vector<RecordedCall> kept;
  for (size_t i = 0; i < calls.size(); ++i)
    if (!left_out[i]) kept.push_back(std::move(calls[i]));
  calls = std::move(kept);
}

}  // namespace hb::graph
