#include "passes.h"

#include <algorithm>

#include "backend/loss.h"
#include "backend/norm.h"
#include "call_types.h"
#include "chain.h"
#include "consumed_gradients.h"
#include "operands.h"

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
    const bool acts = !c.tensors.empty() || c.refresh || is_watch(c) || checks_values(c);
    if (!acts && std::none_of(c.places.begin(), c.places.end(), seen)) continue;
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
  for (const RecordedCall& c : calls)
    if (is_late(c))
      for (const Place& p : c.places)
        if (p.access == Access::reads) memories[p.memory].last = static_cast<int>(calls.size());
}

namespace {

/// An operand that a call reads element by element (or row by row), each before it writes the result's element in the
/// same place.
struct InPlace {
  const void *out, *in;  // where the call holds their addresses
  size_t bytes;          // of each
};

std::vector<InPlace> may_be_in_place(const RecordedCall& c) {
  std::vector<InPlace> list;
  if (const Elementwise* const call = elementwise(*c.call)) {
    const FlatLoop& flat = std::get<0>(call->kept).flat;
    for (int k = 1; k < flat.operands; ++k)
      if (!(flat.single >> k & 1) && flat.dtype[k] == flat.dtype[0])
        list.push_back({&flat.data[0], &flat.data[k], static_cast<size_t>(flat.numel) * element_size(flat.dtype[0])});
  } else if (const auto* const loss = as_call_of(cross_entropy_backward_kernel, *c.call)) {
    const ClassLoss& l = std::get<1>(loss->kept).value;
    const size_t bytes = static_cast<size_t>(l.outer * l.classes) * element_size(std::get<0>(loss->kept).value);
    list.push_back({&std::get<2>(loss->kept).value, &l.x, bytes});
  } else if (const auto* const norm = as_call_of(batch_norm_backward_kernel, *c.call)) {
    // Sums are there before the first element of the gradient is written.
    const auto& [dtype, shape, channels, grad, g, x] = norm->kept;
    const NormShape& s = shape.value;
    const size_t bytes = static_cast<size_t>(s.outer * s.channels * s.inner) * element_size(dtype.value);
    for (const void* const in : {static_cast<const void*>(&g.value), static_cast<const void*>(&x.value)})
      list.push_back({&grad.value.x, in, bytes});
  } else if (const auto* const rows = as_call_of(row_norm_backward_kernel, *c.call)) {
    const auto& [norm_of, grad_x, grad_weight, grad_bias, g, x, mean, rstd] = rows->kept;
    const RowNorm& r = norm_of.value;
    const size_t bytes = static_cast<size_t>(r.rows * r.n) * element_size(r.dtype);
    for (const void* const in : {static_cast<const void*>(&g.value), static_cast<const void*>(&x.value)})
      list.push_back({&grad_x.value, in, bytes});
  }
  return list;
}

}  // namespace

std::vector<int> share_in_place(const std::vector<RecordedCall>& calls, const std::vector<Memory>& memories) {
  std::vector<int> into(memories.size(), -1);
  for (int i = 0; i < static_cast<int>(calls.size()); ++i) {
    const std::vector<InPlace> ways = may_be_in_place(calls[i]);
    // Elements of it that are read otherwise would be overwritten before.
    const auto read_otherwise = [&](int memory) {
      const auto along = [&](const Place& p) {
        return p.offset == 0 &&
               std::any_of(ways.begin(), ways.end(), [&](const InPlace& w) { return w.in == p.pointer; });
      };
      const RecordedCall& c = calls[i];
      return std::any_of(c.places.begin(), c.places.end(),
                         [&](const Place& p) { return p.memory == memory && !along(p); }) ||
             std::any_of(c.tensors.begin(), c.tensors.end(), [&](const TensorPlace& t) { return t.memory == memory; });
    };
    for (const InPlace& way : ways) {
      const auto whole = [&](const Place* p) {
        return p && p->offset == 0 && memories[p->memory].temporary() && memories[p->memory].bytes == way.bytes;
      };
      const Place *const out = place_at(calls[i], way.out), *const in = place_at(calls[i], way.in);
      if (!whole(out) || memories[out->memory].first != i) break;
      if (!whole(in) || memories[in->memory].last != i || in->memory == out->memory || read_otherwise(in->memory))
        continue;
      into[out->memory] = in->memory;
      break;
    }
  }
  return into;
}

}  // namespace hb::graph
