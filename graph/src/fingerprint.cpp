#include "fingerprint.h"

#include <cstring>
#include <unordered_map>

#include <halfbridge/error.h>

#include "call_types.h"

namespace hb::graph {

namespace {

/// Names for memory that are the same in two runs: the step's own in the order in which calls meet it.
class MemoryNames {
 public:
  explicit MemoryNames(const std::vector<Memory>& memories) : memories_(memories) {}
  void append(std::string& to, int memory, size_t offset) {
    const Memory& m = memories_[memory];
    uintptr_t name = 0;
    if (m.origin == Memory::Origin::input)
      name = static_cast<uintptr_t>(m.input);
    else if (m.origin == Memory::Origin::outside)
      name = reinterpret_cast<uintptr_t>(m.impl);
    else
      name = order_.emplace(memory, order_.size()).first->second;
    to.push_back(static_cast<char>(m.origin));
    for (const uintptr_t part : {name, static_cast<uintptr_t>(offset)})
      to.append(reinterpret_cast<const char*>(&part), sizeof part);
  }

 private:
  const std::vector<Memory>& memories_;
  std::unordered_map<int, uintptr_t> order_;
};

}  // namespace

Fingerprint::Fingerprint(const Recording& r, const std::vector<Tensor>& results) {
  MemoryNames names(r.memories);
  calls_.reserve(r.calls.size());
  for (const RecordedCall& c : r.calls) {
    Entry e{c.call->name, c.refresh ? std::string() : numbers_of(*c.call), {}};
    for (const Place& p : c.places) names.append(e.memory, p.memory, p.offset);
    for (const TensorPlace& t : c.tensors) names.append(e.memory, t.memory, 0);
    calls_.push_back(std::move(e));
  }
  for (const Tensor& t : results) {
    const int memory = r.memory_of(t);
    if (memory < 0) continue;
    names.append(results_, memory, static_cast<size_t>(t.impl().physical_offset()));
    results_.push_back(static_cast<char>(t.impl().dtype()));
    for (const DimVector* const list : {&t.impl().sizes(), &t.impl().physical_strides()})
      for (const int64_t n : *list) results_.append(reinterpret_cast<const char*>(&n), sizeof n);
    results_.push_back('|');
  }
  for (const Memory& m : r.memories) keeps_ = keeps_ || m.keeps;
}

std::optional<std::string> Fingerprint::differs(const Fingerprint& later) const {
  const size_t n = std::min(calls_.size(), later.calls_.size());
  for (size_t i = 0; i < n; ++i) {
    const Entry &a = calls_[i], &b = later.calls_[i];
    if (a == b) continue;
    if (std::strcmp(a.name, b.name) != 0)
      return detail::str("[", b.name, "] is what it computes where it computed [", a.name, "]");
    if (a.numbers != b.numbers) return detail::str("[", a.name, "] gets other numbers");
    return detail::str("[", a.name, "] gets other tensors");
  }
  if (calls_.size() != later.calls_.size())
    return detail::str("it makes ", later.calls_.size(), " calls of kernels where it made ", calls_.size());
  if (results_ != later.results_) return "it returns other tensors";
  return std::nullopt;
}

}  // namespace hb::graph
