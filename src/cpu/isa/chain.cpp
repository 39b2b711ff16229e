#include "cpu/chain.h"

#include <numeric>

#include "cpu/isa/chain_program.h"
#include "cpu/isa/whole_reduction.h"
#include "cpu/parallel.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int64_t kLargestItem = 16;
static_assert(kChainBlock % WholeReduction::kRun == 0);

constexpr int64_t kUnit = 1024;  // of which threads take whole ones

char* aligned_memory(int64_t bytes) {
  thread_local std::vector<char> memory;
  if (memory.size() < static_cast<size_t>(bytes) + 64) memory.resize(bytes + 64);
  return memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64);
}

char* block_of_value(char* values, int value) { return values + value * kChainBlock * kLargestItem; }

/// Elements [at, at + n), the block's from `skip` on, through one link after the other: for dtypes that are no steps,
/// and for what is too little for them.
void run_links(const ChainCall& chain, int64_t at, int64_t skip, int64_t n, char* values) {
  for (const ChainLink& link : chain.links) {
    FlatLoop flat = link.flat;
    flat.numel = n;
    for (int k = 0; k < flat.operands; ++k) {
      const auto item = static_cast<int64_t>(element_size(flat.dtype[k]));
      if (link.value[k] >= 0)
        flat.data[k] = block_of_value(values, link.value[k]) + skip * item;
      else if (!(flat.single >> k & 1))
        flat.data[k] += at * item;
    }
    link.fn({&flat, nullptr, link.compute, link.params});
  }
}

/// Elements in a block: as many as fit of those that stay together, in whole groups if they fit.
int64_t block_of(const ChainCall& chain) {
  const int64_t unit = chain.front ? chain.front->unit : 1;
  const int64_t groups = std::lcm(unit, kStepElements);
  return kChainBlock / (groups <= kChainBlock ? groups : unit) * (groups <= kChainBlock ? groups : unit);
}

WholeReduction reduction_of(const ChainTail& tail) { return {tail.loop, tail.op, tail.compute, tail.finish}; }

/// Elements [from, to), by one thread.
void run_part(const ChainCall& chain, int64_t from, int64_t to, WholeReduction::Total* total) {
  char* const values = aligned_memory(chain.values * kChainBlock * kLargestItem);
  const bool front_value = chain.front && chain.front->value >= 0, tail_value = chain.tail && chain.tail->value >= 0;
  char* const front = front_value ? block_of_value(values, chain.front->value) : nullptr;
  std::optional<ChainProgram> steps;
  if (ChainProgram::takes(chain)) steps.emplace(chain);
  const int64_t block = chain.front || chain.tail || !steps ? block_of(chain) : to - from;
  for (int64_t at = from; at < to; at += block) {
    const int64_t n = std::min(block, to - at), whole = steps ? n - n % kStepElements : 0;
    if (chain.front) chain.front->fill(at, n, front);
    if (whole) {
      if (front_value) steps->place_front(front, at);
      if (tail_value) steps->place_tail(block_of_value(values, chain.tail->value), at);
      steps->run(at, at + whole);
    }
    if (whole < n) run_links(chain, at + whole, n <= kChainBlock ? whole : 0, n - whole, values);
    if (!chain.tail) continue;
    const auto item = static_cast<int64_t>(element_size(chain.tail->loop.in_dtype));
    const char* const reduced =
        tail_value ? block_of_value(values, chain.tail->value) : chain.tail->loop.in + at * item;
    reduction_of(*chain.tail).take(reduced, n, *total);
  }
}

}  // namespace

void run_chain(const ChainCall& chain) {
  const int64_t unit = chain.front ? chain.front->unit : chain.tail ? 1 : kUnit;
  const int64_t units = (chain.numel + unit - 1) / unit;
  const int threads = threads_for(chain.numel, kGrain);
  std::vector<WholeReduction::Total> totals(threads);
  parallel_ranges(0, units, threads, [&](int64_t from, int64_t to, int part) {
    run_part(chain, from * unit, std::min(to * unit, chain.numel), &totals[part]);
  });
  if (chain.tail) reduction_of(*chain.tail).store(totals.data(), threads);
}

}  // namespace hb::cpu::HB_ISA
