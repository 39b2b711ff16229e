#include "cpu/chain.h"

#include <numeric>

#include "cpu/isa/chain_program.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int64_t kBlock = 4096;  // elements that go through links, or come from a front, at once
constexpr int64_t kLargestItem = 16;

char* aligned_memory(int64_t bytes) {
  thread_local std::vector<char> memory;
  if (memory.size() < static_cast<size_t>(bytes) + 64) memory.resize(bytes + 64);
  return memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64);
}

/// Elements [at, at + n) through one link after the other: for dtypes that are no steps, and for what is too little for
/// them. The chain's value v lies at values + v * kBlock * kLargestItem.
void run_links(const ChainCall& chain, int64_t at, int64_t n, char* values) {
  for (const ChainLink& link : chain.links) {
    FlatLoop flat = link.flat;
    flat.numel = n;
    for (int k = 0; k < flat.operands; ++k) {
      if (link.value[k] >= 0)
        flat.data[k] = values + link.value[k] * kBlock * kLargestItem;
      else if (!(flat.single >> k & 1))
        flat.data[k] += at * static_cast<int64_t>(element_size(flat.dtype[k]));
    }
    link.fn({&flat, nullptr, link.compute, link.params});
  }
}

/// Elements in a block: as many as fit of those that stay together, in whole groups if they fit.
int64_t block_of(const ChainCall& chain) {
  const int64_t unit = chain.front ? chain.front->unit : 1;
  const int64_t groups = std::lcm(unit, kStepElements);
  return kBlock / (groups <= kBlock ? groups : unit) * (groups <= kBlock ? groups : unit);
}

}  // namespace

void run_chain(const ChainCall& chain, int64_t from, int64_t to) {
  char* const values = aligned_memory(chain.values * kBlock * kLargestItem);
  const bool front_value = chain.front && chain.front->value >= 0;
  char* const front = front_value ? values + chain.front->value * kBlock * kLargestItem : nullptr;
  std::optional<ChainProgram> steps;
  if (ChainProgram::takes(chain)) steps.emplace(chain);
  const int64_t block = chain.front || !steps ? block_of(chain) : to - from;
  for (int64_t at = from; at < to; at += block) {
    const int64_t n = std::min(block, to - at), whole = steps ? n - n % kStepElements : 0;
    if (chain.front) chain.front->fill(at, n, front);
    if (whole) {
      if (front_value) steps->place_front(front, at);
      steps->run(at, at + whole);
    }
    if (whole == n) continue;
    if (front_value && whole) std::memmove(front, front + whole * chain.front->item, (n - whole) * chain.front->item);
    run_links(chain, at + whole, n - whole, values);
  }
}

}  // namespace hb::cpu::HB_ISA
