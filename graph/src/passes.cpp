#include "passes.h"

#include <algorithm>

#include "chain.h"

namespace hb::graph {

void drop_dead(std::vector<RecordedCall>& calls, const std::vector<Memory>& memories) {
  std::vector<bool> read(memories.size());
  const auto seen = [&](const Place& p) {
    return p.access != Access::reads && (!memories[p.memory].temporary() || read[p.memory]);
  };
  std::vector<RecordedCall> kept;
  for (size_t i = calls.size(); i-- > 0;) {
    RecordedCall& c = calls[i];
    // What takes whole tensors may draw random numbers or check indices.
    if (c.tensors.empty() && !c.refresh && std::none_of(c.places.begin(), c.places.end(), seen)) continue;
    for (const Place& p : c.places)
      if (p.access != Access::writes) read[p.memory] = true;
    for (const TensorPlace& t : c.tensors) read[t.memory] = true;
    kept.push_back(std::move(c));
  }
  std::reverse(kept.begin(), kept.end());
  calls = std::move(kept);
}

void find_lifetimes(const std::vector<RecordedCall>& calls, std::vector<Memory>& memories) {
  for (Memory& m : memories) m.first = m.last = -1;
  const auto touch = [&](int memory, size_t call) {
    Memory& m = memories[memory];
    if (m.first < 0) m.first = static_cast<int>(call);
    m.last = static_cast<int>(call);
  };
  for (size_t i = 0; i < calls.size(); ++i) {
    for (const Place& p : calls[i].places) touch(p.memory, i);
    for (const TensorPlace& t : calls[i].tensors) touch(t.memory, i);
  }
}

std::vector<int> share_in_place(const std::vector<RecordedCall>& calls, const std::vector<Memory>& memories) {
  std::vector<int> into(memories.size(), -1);
  for (size_t i = 0; i < calls.size(); ++i) {
    const Elementwise* const call = elementwise(*calls[i].call);
    if (!call) continue;
    const FlatLoop& flat = std::get<0>(call->kept).flat;
    const auto place_of = [&](int k) -> const Place* {
      for (const Place& p : calls[i].places)
        if (p.pointer == &flat.data[k]) return &p;
      return nullptr;
    };
    const auto whole = [&](const Place* p) {
      return p && p->offset == 0 && memories[p->memory].temporary() &&
             memories[p->memory].bytes == static_cast<size_t>(flat.numel) * element_size(flat.dtype[0]);
    };
    const Place* const out = place_of(0);
    if (!whole(out) || memories[out->memory].first != static_cast<int>(i)) continue;
    for (int k = 1; k < flat.operands; ++k) {
      const Place* const in = place_of(k);
      if (!whole(in) || flat.single >> k & 1 || flat.dtype[k] != flat.dtype[0]) continue;
      if (memories[in->memory].last != static_cast<int>(i) || in->memory == out->memory) continue;
      into[out->memory] = in->memory;
      break;
    }
  }
  return into;
}

}  // namespace hb::graph
