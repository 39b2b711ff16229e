#include "chain.h"

#include <algorithm>
#include <map>

#include "call_types.h"
#include "cpu/chain.h"
#include "cpu/parallel.h"
#include "operands.h"
#include "passes.h"

namespace hb::graph {

int64_t Chain::least_elements() { return cpu::kGrain * std::max(get_num_threads(), 1); }

void Chain::add(std::unique_ptr<capture::Call> call, const std::vector<int>& buffers) {
  Link link{std::move(call), nullptr, nullptr, {}};
  link.elementwise = graph::elementwise(*link.call);
  if (link.elementwise) {
    numel_ = std::get<0>(link.elementwise->kept).flat.numel;
  } else {
    link.affine = static_cast<const Affine*>(link.call.get());
  }
  std::fill(std::begin(link.buffer), std::end(link.buffer), -1);
  for (size_t k = 0; k < buffers.size(); ++k) {
    link.buffer[k] = buffers[k];
    buffers_ = std::max(buffers_, buffers[k] + 1);
  }
  links_.push_back(std::move(link));
}

const Reduction* whole_reduction(const capture::Call& call) {
  const Reduction* const r = as_call_of(reduce_kernel, call);
  if (!r) return nullptr;
  const ReduceLoop& l = std::get<0>(r->kept).value;
  const auto item = static_cast<int64_t>(element_size(l.in_dtype));
  return l.outputs == 1 && l.reduced.size() == 1 && l.reduced_in[0] == item ? r : nullptr;
}

void Chain::add_reduction(std::unique_ptr<capture::Call> call, int buffer) {
  reduction_ = std::move(call);
  reduced_ = buffer;
  buffers_ = std::max(buffers_, buffer + 1);
}

void Chain::show(capture::Operands& v) {
  for (Link& l : links_) l.call->show(v);
  if (reduction_) reduction_->show(v);
}

namespace {
/// The rows of a batch norm's result.
cpu::ChainFront front_of(const Affine& affine, int buffer) {
  const auto& [dtype, shape, y, x, scale, shift] = affine.kept;
  const auto item = static_cast<int64_t>(element_size(dtype.value));
  const auto fill = [&affine, item](int64_t at, int64_t n, char* to) {
    const auto& [dtype, shape, y, x, scale, shift] = affine.kept;
    NormShape s = shape.value;
    s.outer = n / s.channels;
    affine.fn(dtype.value, s, to ? to : static_cast<char*>(y.value) + at * item,
              static_cast<const char*>(x.value) + at * item, scale.value, shift.value);
  };
  return {fill, buffer, shape.value.channels};
}
}  // namespace

void Chain::run() {
  std::vector<cpu::ChainLink> links;
  std::optional<cpu::ChainFront> front;
  links.reserve(links_.size());
  for (const Link& l : links_) {
    if (l.affine) {
      front = front_of(*l.affine, l.buffer[0]);
      continue;
    }
    const auto& kept = std::get<0>(l.elementwise->kept);
    cpu::ChainLink& link =
        links.emplace_back(cpu::ChainLink{l.elementwise->fn, kept.flat, kept.value.compute, kept.value.params, {}});
    std::copy(std::begin(l.buffer), std::end(l.buffer), link.value);
  }
  std::optional<cpu::ChainTail> tail;
  if (reduction_) {
    const auto& [loop, op, compute, finish] = static_cast<const Reduction&>(*reduction_).kept;
    tail.emplace(cpu::ChainTail{loop.value, op.value, compute.value, finish.value, reduced_});
  }
  cpu::run_chain({links, numel_, buffers_, front ? &*front : nullptr, tail ? &*tail : nullptr});
}

namespace {

/// A run of calls that may become a chain.
class Candidate {
 public:
  Candidate(std::vector<RecordedCall>& calls, const std::vector<Memory>& memories, const std::vector<int>& uses)
      : calls_(calls), memories_(memories), uses_(uses) {}

  /// Whether call `i` continues the run.
  bool take(size_t i) {
    if (members_.empty() && take_norm(i)) return true;
    if (is_watch(calls_[i])) return take_watch(i);
    const Elementwise* const e = elementwise(*calls_[i].call);
    if (!e || calls_[i].refresh) return false;
    const FlatLoop& flat = std::get<0>(e->kept).flat;
    if (flat.numel < Chain::least_elements() || (!members_.empty() && flat.numel != numel_)) return false;
    auto touched = touched_;
    for (int k = 0; k < flat.operands; ++k) {
      const Place* const p = place_at(calls_[i], &flat.data[k]);
      if (!p) continue;
      const Touch now{p->offset, element_size(flat.dtype[k]), (flat.single >> k & 1) != 0, k == 0};
      auto& before = touched[p->memory];
      for (const Touch& t : before)
        if ((t.written || now.written) && !t.same_elements(now)) return false;
      before.push_back(now);
    }
    numel_ = flat.numel;
    touched_ = std::move(touched);
    members_.push_back(i);
    return true;
  }
  /// Whether call `i` reduces what the run has computed last, all of it.
  bool take_reduction(size_t i) {
    const Reduction* const r = whole_reduction(*calls_[i].call);
    if (!r || calls_[i].refresh || members_.empty() || !elementwise(*calls_[members_.front()].call)) return false;
    const RecordedCall& last = calls_[members_.back()];
    const ReduceLoop& loop = std::get<0>(r->kept).value;
    const FlatLoop& flat = std::get<0>(elementwise(*last.call)->kept).flat;
    const Place *const computed = place_at(calls_[members_.back()], &flat.data[0]),
                       *const in = place_at(calls_[i], &loop.in), *const out = place_at(calls_[i], &loop.out);
    if (!computed || !in || !out || in->memory != computed->memory || in->offset != computed->offset ||
        loop.in_dtype != flat.dtype[0] || loop.count != numel_ || touched_.count(out->memory))
      return false;
    reduction_ = i;
    reduced_ = in->memory;
    return true;
  }
  size_t size() const { return members_.size() + (reduction_ ? 1 : 0); }

  /// The statistics of the batch norm at its front, if there is one, and the chain.
  std::vector<RecordedCall> chained() {
    const std::map<int, int> buffers = find_buffers();
    auto chain = std::make_unique<Chain>();
    std::vector<RecordedCall> list;
    RecordedCall result;
    for (const size_t i : members_) {
      if (!elementwise(*calls_[i].call)) {
        RecordedCall affine = *affine_of(calls_[i]);
        const auto buffer = buffers.find(affine.places[0].memory);
        chain->add(std::move(affine.call), {buffer == buffers.end() ? -1 : buffer->second});
        for (const Place& p : affine.places)
          if (buffer == buffers.end() || p.memory != buffer->first) result.places.push_back(p);
        leave_out_affine(calls_[i]);
        list.push_back(std::move(calls_[i]));
        continue;
      }
      const FlatLoop& flat = std::get<0>(elementwise(*calls_[i].call)->kept).flat;
      std::vector<int> of(flat.operands, -1);
      for (int k = 0; k < flat.operands; ++k) {
        const Place* const p = place_at(calls_[i], &flat.data[k]);
        const auto buffer = p ? buffers.find(p->memory) : buffers.end();
        if (buffer != buffers.end()) of[k] = buffer->second;
        if (p && buffer == buffers.end()) result.places.push_back(*p);
      }
      chain->add(std::move(calls_[i].call), of);
    }
    if (reduction_) {
      RecordedCall& reduction = calls_[*reduction_];
      const auto buffer = buffers.find(reduced_);
      for (const Place& p : reduction.places)
        if (buffer == buffers.end() || p.memory != reduced_) result.places.push_back(p);
      chain->add_reduction(std::move(reduction.call), buffer == buffers.end() ? -1 : buffer->second);
    }
    result.call = std::move(chain);
    list.push_back(std::move(result));
    for (const size_t i : watches_) list.push_back(std::move(calls_[i]));
    return list;
  }

 private:
  struct Touch {
    size_t offset, item;
    bool single, written;
    bool same_elements(const Touch& o) const { return offset == o.offset && item == o.item && !single && !o.single; }
  };
  /// A trace's call waits until the chain is done: no member may write to what it reads.
  bool take_watch(size_t i) {
    if (members_.empty()) return false;
    for (const Place& p : calls_[i].places) touched_[p.memory].push_back({p.offset, 0, true, false});
    watches_.push_back(i);
    return true;
  }
  /// A batch norm whose rows of channels lie one after the other.
  bool take_norm(size_t i) {
    const int y = result_of_norm(calls_[i]);
    const std::optional<RecordedCall> affine = y < 0 ? std::nullopt : affine_of(calls_[i]);
    if (!affine) return false;
    const auto& [dtype, shape, out, in, scale, shift] = static_cast<const Affine&>(*affine->call).kept;
    const NormShape& s = shape.value;
    const int64_t numel = s.outer * s.channels;
    if (s.inner != 1 || s.channels > cpu::kChainBlock || numel < Chain::least_elements()) return false;
    const Place &to = affine->places[0], &from = affine->places[1];
    if (to.memory == from.memory) return false;
    const size_t item = element_size(dtype.value);
    touched_[to.memory].push_back({to.offset, item, false, true});
    touched_[from.memory].push_back({from.offset, item, false, false});
    numel_ = numel;
    members_.push_back(i);
    return true;
  }
  /// Values that nobody else sees: which buffer each has. One is free again behind the last call that reads it.
  std::map<int, int> find_buffers() const {
    std::map<int, int> buffer, last, count;
    for (size_t m = 0; m < members_.size(); ++m)
      for (const Place& p : calls_[members_[m]].places) last[p.memory] = static_cast<int>(m), ++count[p.memory];
    if (reduction_) last[reduced_] = static_cast<int>(members_.size()), ++count[reduced_];
    std::vector<int> busy_until;
    for (size_t m = 0; m < members_.size(); ++m) {
      for (const Place& p : calls_[members_[m]].places) {
        const auto touches = touched_.find(p.memory);
        if (p.access == Access::reads || buffer.count(p.memory) || touches == touched_.end()) continue;
        const Touch& first = touches->second.front();
        const bool own = memories_[p.memory].temporary() && uses_[p.memory] == count[p.memory] && first.written &&
                         first.offset == 0 && memories_[p.memory].bytes == static_cast<size_t>(numel_) * first.item;
        if (!own) continue;
        size_t b = reduction_ && p.memory == reduced_ ? busy_until.size() : 0;
        while (b < busy_until.size() && busy_until[b] >= static_cast<int>(m)) ++b;
        if (b == busy_until.size()) busy_until.push_back(0);
        busy_until[b] = last[p.memory];
        buffer[p.memory] = static_cast<int>(b);
      }
    }
    return buffer;
  }

  std::vector<RecordedCall>& calls_;
  const std::vector<Memory>& memories_;
  const std::vector<int>& uses_;
  std::vector<size_t> members_, watches_;
  std::optional<size_t> reduction_;
  int reduced_ = -1;  // the memory
  std::map<int, std::vector<Touch>> touched_;
  int64_t numel_ = 0;
};

}  // namespace

void fuse_chains(std::vector<RecordedCall>& calls, const std::vector<Memory>& memories) {
  std::vector<int> uses(memories.size());
  for (const RecordedCall& c : calls) {
    for (const Place& p : c.places) ++uses[p.memory];
    for (const TensorPlace& t : c.tensors) uses[t.memory] += 2;
  }
  std::vector<RecordedCall> out;
  for (size_t i = 0; i < calls.size();) {
    Candidate candidate(calls, memories, uses);
    size_t end = i;
    while (end < calls.size() && candidate.take(end)) ++end;
    if (end < calls.size() && candidate.take_reduction(end)) ++end;
    if (candidate.size() > 1) {
      for (RecordedCall& c : candidate.chained()) out.push_back(std::move(c));
      i = end;
    } else {
      out.push_back(std::move(calls[i++]));
    }
  }
  calls = std::move(out);
}

}  // namespace hb::graph
