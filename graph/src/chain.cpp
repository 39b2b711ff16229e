#include "chain.h"

#include <algorithm>
#include <map>

#include "cpu/parallel.h"
#include "passes.h"

namespace hb::graph {

namespace {
constexpr int64_t kBufferBytes = Chain::kBlock * 16;  // of the largest dtype
}

int64_t Chain::least_elements() { return cpu::kGrain * std::max(get_num_threads(), 1); }

void Chain::add(std::unique_ptr<capture::Call> call, const std::vector<int>& buffers) {
  Link link{std::move(call), nullptr, {}};
  link.elementwise = graph::elementwise(*link.call);
  std::fill(std::begin(link.buffer), std::end(link.buffer), -1);
  for (size_t k = 0; k < buffers.size(); ++k) {
    link.buffer[k] = buffers[k];
    buffers_ = std::max(buffers_, buffers[k] + 1);
  }
  links_.push_back(std::move(link));
}

void Chain::show(capture::Operands& v) {
  for (Link& l : links_) l.call->show(v);
}

void Chain::run_part(int64_t from, int64_t to) const {
  thread_local std::vector<char> memory;
  if (memory.size() < static_cast<size_t>(buffers_ * kBufferBytes + 64)) memory.resize(buffers_ * kBufferBytes + 64);
  char* const base = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64);
  for (int64_t at = from; at < to; at += kBlock) {
    for (const Link& link : links_) {
      const auto& kept = std::get<0>(link.elementwise->kept);
      FlatLoop flat = kept.flat;
      flat.numel = std::min(kBlock, to - at);
      for (int k = 0; k < flat.operands; ++k) {
        if (link.buffer[k] >= 0)
          flat.data[k] = base + link.buffer[k] * kBufferBytes;
        else if (!(flat.single >> k & 1))
          flat.data[k] += at * static_cast<int64_t>(element_size(flat.dtype[k]));
      }
      link.elementwise->fn({&flat, nullptr, kept.value.compute, kept.value.params});
    }
  }
}

void Chain::run() {
  const int64_t n = std::get<0>(links_[0].elementwise->kept).flat.numel;
  cpu::parallel_ranges(0, n, in_chunk() ? 1 : get_num_threads(),
                       [&](int64_t from, int64_t to, int) { run_part(from, to); });
}

namespace {

/// A run of calls that may become a chain.
class Candidate {
 public:
  Candidate(std::vector<RecordedCall>& calls, const std::vector<Memory>& memories, const std::vector<int>& uses)
      : calls_(calls), memories_(memories), uses_(uses) {}

  /// Whether call `i` continues the run.
  bool take(size_t i) {
    const Elementwise* const e = elementwise(*calls_[i].call);
    if (!e || calls_[i].refresh) return false;
    const FlatLoop& flat = std::get<0>(e->kept).flat;
    if (flat.numel < Chain::least_elements() || (!members_.empty() && flat.numel != numel_)) return false;
    auto touched = touched_;
    for (int k = 0; k < flat.operands; ++k) {
      const Place* const p = place(i, &flat.data[k]);
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
  size_t size() const { return members_.size(); }

  RecordedCall chained() {
    const std::map<int, int> buffers = find_buffers();
    auto chain = std::make_unique<Chain>();
    RecordedCall result;
    for (const size_t i : members_) {
      const FlatLoop& flat = std::get<0>(elementwise(*calls_[i].call)->kept).flat;
      std::vector<int> of(flat.operands, -1);
      for (int k = 0; k < flat.operands; ++k) {
        const Place* const p = place(i, &flat.data[k]);
        const auto buffer = p ? buffers.find(p->memory) : buffers.end();
        if (buffer != buffers.end()) of[k] = buffer->second;
        if (p && buffer == buffers.end()) result.places.push_back(*p);
      }
      chain->add(std::move(calls_[i].call), of);
    }
    result.call = std::move(chain);
    return result;
  }

 private:
  struct Touch {
    size_t offset, item;
    bool single, written;
    bool same_elements(const Touch& o) const { return offset == o.offset && item == o.item && !single && !o.single; }
  };
  const Place* place(size_t i, const void* pointer) const {
    for (const Place& p : calls_[i].places)
      if (p.pointer == pointer) return &p;
    return nullptr;
  }
  /// Values that nobody else sees: which buffer each has. One is free again behind the last call that reads it.
  std::map<int, int> find_buffers() const {
    std::map<int, int> buffer, last, count;
    for (size_t m = 0; m < members_.size(); ++m)
      for (const Place& p : calls_[members_[m]].places) last[p.memory] = static_cast<int>(m), ++count[p.memory];
    std::vector<int> busy_until;
    for (size_t m = 0; m < members_.size(); ++m) {
      for (const Place& p : calls_[members_[m]].places) {
        if (p.access == Access::reads || buffer.count(p.memory)) continue;
        const Touch& first = touched_.at(p.memory).front();
        const bool own = memories_[p.memory].temporary() && uses_[p.memory] == count[p.memory] && first.written &&
                         first.offset == 0 && memories_[p.memory].bytes == static_cast<size_t>(numel_) * first.item;
        if (!own) continue;
        size_t b = 0;
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
  std::vector<size_t> members_;
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
    if (candidate.size() > 1) {
      out.push_back(candidate.chained());
      i = end;
    } else {
      out.push_back(std::move(calls[i++]));
    }
  }
  calls = std::move(out);
}

}  // namespace hb::graph
