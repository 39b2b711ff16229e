#include "operands.h"

#include <algorithm>
#include <string_view>

#include "backend/amp.h"
#include "backend/attention.h"
#include "backend/conv.h"
#include "backend/decompositions.h"
#include "backend/distributions.h"
#include "backend/embedding_bag.h"
#include "backend/indexing.h"
#include "backend/loss.h"
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

const Place* place_at(const RecordedCall& call, const void* pointer) {
  for (const Place& p : call.places)
    if (p.pointer == pointer) return &p;
  return nullptr;
}

bool changes(const RecordedCall& call, int memory) {
  const auto changed = [&](const Place& p) { return p.memory == memory && p.access != Access::reads; };
  const auto seen = [&](const TensorPlace& t) { return t.memory == memory; };
  return std::any_of(call.places.begin(), call.places.end(), changed) ||
         std::any_of(call.tensors.begin(), call.tensors.end(), seen);
}
bool changed(const std::vector<RecordedCall>& calls, int memory, size_t from, size_t to) {
  return std::any_of(calls.begin() + static_cast<std::ptrdiff_t>(from), calls.begin() + static_cast<std::ptrdiff_t>(to),
                     [&](const RecordedCall& c) { return changes(c, memory); });
}

int sole_writer(const std::vector<RecordedCall>& calls, int memory, size_t reader, bool others) {
  int writer = -1, read = 0;
  for (size_t i = 0; i < (others ? reader + 1 : calls.size()); ++i) {
    for (const TensorPlace& t : calls[i].tensors)
      if (t.memory == memory) return -1;
    for (const Place& p : calls[i].places) {
      if (p.memory != memory) continue;
      if (i == reader && p.access == Access::reads) {
        if (++read > 1) return -1;
        continue;
      }
      if (writer >= 0 || p.access != Access::writes || i >= reader) return -1;
      writer = static_cast<int>(i);
    }
  }
  return writer;
}

bool reads(const RecordedCall& c, int memory) {
  for (const Operand& o : operands_of(c))
    if (o.memory == memory && !o.written) return true;
  return false;
}

// Backward functions use indices and classes that their forward functions have looked at.
bool checks_values(const RecordedCall& c) {
  if (!c.call) return false;
  const std::string_view name = c.call->name;
  for (const char* one :
       {check_norm_kernel.name(), check_unit_range_kernel.name(), wrap_index_kernel.name(), select_rows_kernel.name(),
        gather_kernel.name(), masked_scatter_kernel.name(), nll_kernel.name(), cross_entropy_kernel.name(),
        embedding_kernel.name(), embedding_bag_kernel.name(), bernoulli_each_kernel.name(), poisson_kernel.name(),
        multinomial_kernel.name(), pivot_order_kernel.name(), cholesky_inverse_kernel.name(), check_info_kernel.name(),
        check_finite_kernel.name()})
    if (name == one) return true;
  return false;
}

namespace {
/// The memory of the index by which a call puts values into places; -1 where it is another call.
int index_of(const RecordedCall& c) {
  if (!c.call) return -1;
  const Tensor* index = nullptr;
  if (const auto* const rows = as_call_of(put_rows_kernel, *c.call))
    index = &std::get<2>(rows->kept).value;
  else if (const auto* const places = as_call_of(scatter_kernel, *c.call))
    index = &std::get<2>(places->kept).value;
  for (const TensorPlace& t : c.tensors)
    if (t.tensor == index) return t.memory;
  return -1;
}
}  // namespace

bool checks_values(const std::vector<RecordedCall>& calls, size_t at) {
  if (checks_values(calls[at])) return true;
  const int index = index_of(calls[at]);
  const auto looks = [&](const RecordedCall& c) {
    const auto reads = [&](const TensorPlace& t) { return t.memory == index; };
    return (checks_values(c) || index_of(c) == index) && std::any_of(c.tensors.begin(), c.tensors.end(), reads);
  };
  return index >= 0 && std::none_of(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(at), looks);
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
