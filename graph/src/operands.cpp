#include "operands.h"

#include <string_view>

#include "backend/conv.h"
#include "call_types.h"

namespace hb::graph {

namespace {
/// How many of the tensors of a call it may write: its first ones. A call keeps only those that are defined.
size_t written_tensors(const RecordedCall& c) {
  const std::string_view name = c.call->name;
  if (name == "convolution_backward") {
    const auto* const of_weight = as_call_of(conv_backward_weight_kernel, *c.call);
    return of_weight && std::get<1>(of_weight->kept).value.defined() ? 2 : 1;
  }
  if (name == "max_pool") return 2;
  for (const char* one : {"convolution", "avg_pool", "max_pool_backward", "avg_pool_backward"})
    if (name == one) return 1;
  return c.tensors.size();
}

}  // namespace

std::vector<Operand> operands_of(const RecordedCall& c) {
  std::vector<Operand> list;
  for (const Place& p : c.places) list.push_back({p.memory, p.offset, p.access != Access::reads});
  const size_t written = written_tensors(c);
  for (size_t k = 0; k < c.tensors.size(); ++k) list.push_back({c.tensors[k].memory, 0, k < written});
  return list;
}

bool reads(const RecordedCall& c, int memory) {
  for (const Operand& o : operands_of(c))
    if (o.memory == memory && !o.written) return true;
  return false;
}

bool repeats(const RecordedCall& c) {
  return !c.refresh && (c.tensors.empty() || written_tensors(c) < c.tensors.size());
}

void move_operands(RecordedCall& c, const std::map<int, int>& moved) {
  const auto move = [&](int& memory) {
    if (const auto at = moved.find(memory); at != moved.end()) memory = at->second;
  };
  for (Place& p : c.places) move(p.memory);
  for (TensorPlace& t : c.tensors) move(t.memory);
}

std::vector<std::vector<int>> writers_of(const std::vector<RecordedCall>& calls, size_t memories) {
  std::vector<std::vector<int>> writers(memories);
  for (int i = 0; i < static_cast<int>(calls.size()); ++i)
    for (const Operand& o : operands_of(calls[i]))
      if (o.written && (writers[o.memory].empty() || writers[o.memory].back() != i)) writers[o.memory].push_back(i);
  return writers;
}

}  // namespace hb::graph
