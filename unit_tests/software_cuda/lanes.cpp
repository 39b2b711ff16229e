#include "software_cuda/lanes.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "software_cuda/memory.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

// Saves this fiber's registers on its stack and goes on with another's. (from: where to leave the stack's address)
extern "C" void software_cuda_switch(void** from, void* to) __attribute__((visibility("hidden")));
asm(R"(
.text
.hidden software_cuda_switch
.globl software_cuda_switch
.type software_cuda_switch, @function
software_cuda_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size software_cuda_switch, .-software_cuda_switch
)");

namespace software_cuda {

uint64_t block_number = 0;
char* dynamic_shared = nullptr;

namespace {

constexpr size_t kStack = 64 << 10;
constexpr unsigned kWarp = 32, kFull = ~0u;

enum class LaneState : uint8_t { fresh, running, waiting, ready, ended };

struct Fiber {
  char* stack = nullptr;
  void* at = nullptr;
};

struct Lane {
  LaneState state = LaneState::fresh;
  Meeting kind{};
  unsigned mask = 0;
  int source = 0;
  uint64_t value = 0, result = 0;
  Fiber* fiber = nullptr;
};

// One block at a time, on one thread at a time (queue.cpp holds a lock).
struct Runner {
  Geometry launch{};
  void (*body)(void*) = nullptr;
  void* argument = nullptr;
  uint64_t seed = 0;
  unsigned lanes = 0, first = 0, step = 1;  // the k-th lane is first + k * step, modulo lanes
  unsigned begun = 0, ended = 0, at_barrier = 0;
  std::vector<Lane> lane;
  std::vector<unsigned> ended_of_warp;    // bits, those that there are not among them
  std::vector<unsigned> waiting_of_warp;  // bits, for others of the warp
  std::vector<unsigned> ready;
  std::vector<Fiber*> fibers, idle;
  Fiber* current = nullptr;
  unsigned current_lane = 0;
  void* executor = nullptr;
  bool active = false, failed = false;
  char message[1024] = "";
} r;

uint64_t draw() {
  r.seed += 0x9e3779b97f4a7c15ull;
  uint64_t z = r.seed;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// An order of n things: first + k * step.
void draw_order(unsigned n, unsigned& first, unsigned& step) {
  first = static_cast<unsigned>(draw() % n);
  do step = static_cast<unsigned>(draw() % n) | (n > 1 ? 1u : 0u);
  while (n > 1 && std::gcd(step, n) != 1);
  if (n == 1) step = 1;
}

uint3 place(unsigned at, const dim3& of) { return {at % of.x, at / of.x % of.y, at / of.x / of.y}; }

void become(unsigned lane) {
  r.current_lane = lane;
  threadIdx = place(lane, r.launch.block);
}

void fiber_main();

Fiber* fresh_fiber() {
  if (r.idle.empty()) {
    auto* made = new Fiber;
    made->stack = static_cast<char*>(mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (made->stack == MAP_FAILED) std::abort();
    r.fibers.push_back(made);
    r.idle.push_back(made);
  }
  Fiber* fiber = r.idle.back();
  r.idle.pop_back();
  auto** top = reinterpret_cast<void**>(fiber->stack + kStack);
  *--top = nullptr;  // where fiber_main would return to
  *--top = reinterpret_cast<void*>(&fiber_main);
  for (int i = 0; i < 6; ++i) *--top = nullptr;
  fiber->at = top;
  return fiber;
}

void go_to(Fiber* next) {
  Fiber* from = r.current;
  r.current = next;
  software_cuda_switch(&from->at, next->at);
}

[[noreturn]] void leave_block() {
  void* unused;
  software_cuda_switch(&unused, r.executor);
  __builtin_unreachable();
}

unsigned warp_of(unsigned lane) { return lane / kWarp; }

void wake(unsigned lane) {
  r.waiting_of_warp[warp_of(lane)] &= ~(1u << lane % kWarp);
  r.lane[lane].state = LaneState::ready;
  r.ready.push_back(lane);
}

bool block_complete() { return r.at_barrier > 0 && r.at_barrier + r.ended == r.lanes; }

void finish_barrier(unsigned self) {
  r.at_barrier = 0;
  for (unsigned i = 0; i < r.lanes; ++i)
    if (i != self && r.lane[i].state == LaneState::waiting && r.lane[i].kind == Meeting::block) wake(i);
}

unsigned arrived(unsigned warp, unsigned mask, Meeting kind) {
  unsigned bits = 0;
  for (unsigned i = 0; i < kWarp && warp * kWarp + i < r.lanes; ++i) {
    const Lane& l = r.lane[warp * kWarp + i];
    if (l.state == LaneState::waiting && l.kind == kind && l.mask == mask) bits |= 1u << i;
  }
  return bits;
}

void answer(unsigned warp, unsigned group, Meeting kind) {
  const Lane* of_warp = &r.lane[warp * kWarp];
  unsigned truth = 0;
  for (unsigned i = 0; i < kWarp; ++i)
    if ((group >> i & 1) && of_warp[i].value) truth |= 1u << i;
  for (unsigned i = 0; i < kWarp; ++i) {
    if (!(group >> i & 1)) continue;
    Lane& l = r.lane[warp * kWarp + i];
    l.result = truth;
    if (kind == Meeting::shuffle) {
      if (!(group >> l.source & 1))
        fail_lane("lane %u shuffles with lane %d, which is not in the group %08x", i, l.source, group);
      l.result = of_warp[l.source].value;
    } else if (kind == Meeting::match) {
      l.result = 0;
      for (unsigned j = 0; j < kWarp; ++j)
        if ((group >> j & 1) && of_warp[j].value == l.value) l.result |= 1u << j;
    }
  }
}

// Ends a meeting whose lanes are all there, `self` being one of them or none (kFull).
void finish_group(unsigned warp, unsigned mask, Meeting kind, unsigned self) {
  if (mask & ~(r.waiting_of_warp[warp] | r.ended_of_warp[warp])) return;
  const unsigned group = arrived(warp, mask, kind);
  if ((group | r.ended_of_warp[warp]) != (mask | r.ended_of_warp[warp])) return;
  answer(warp, group, kind);
  for (unsigned i = 0; i < kWarp; ++i) {
    if (!(group >> i & 1)) continue;
    wake(warp * kWarp + i);
    if (warp * kWarp + i != self) continue;
    r.ready.pop_back();
    r.lane[self].state = LaneState::running;
  }
}

// The lane that ended may be the one that others no longer wait for.
void lane_ended(unsigned lane) {
  r.lane[lane].state = LaneState::ended;
  ++r.ended;
  const unsigned warp = warp_of(lane);
  r.ended_of_warp[warp] |= 1u << lane % kWarp;
  if (block_complete()) finish_barrier(kFull);
  for (unsigned i = warp * kWarp; i < std::min(r.lanes, (warp + 1) * kWarp); ++i)
    if (r.lane[i].state == LaneState::waiting && r.lane[i].kind != Meeting::block)
      finish_group(warp, r.lane[i].mask, r.lane[i].kind, kFull);
}

Fiber* next_ready() {
  const size_t at = draw() % r.ready.size();
  const unsigned lane = r.ready[at];
  r.ready[at] = r.ready.back();
  r.ready.pop_back();
  become(lane);
  r.lane[lane].state = LaneState::running;
  return r.lane[lane].fiber;
}

// The running lane waits: another goes on. Returns when it was woken.
void wait_here(unsigned lane) {
  r.lane[lane].fiber = r.current;
  if (r.begun < r.lanes)
    go_to(fresh_fiber());
  else if (!r.ready.empty())
    go_to(next_ready());
  else if (r.lane[lane].state == LaneState::waiting)
    fail_lane("lanes wait for each other at different barriers");
}

void fiber_main() {
  while (true) {
    while (r.begun < r.lanes) {
      const unsigned lane = static_cast<unsigned>((r.first + uint64_t{r.begun++} * r.step) % r.lanes);
      become(lane);
      r.lane[lane].state = LaneState::running;
      r.body(r.argument);
      lane_ended(r.current_lane);
    }
    if (r.ended == r.lanes) leave_block();
    if (r.ready.empty()) fail_lane("lanes wait for each other at different barriers");
    r.idle.push_back(r.current);
    go_to(next_ready());
  }
}

void prepare_block(unsigned block) {
  r.begun = r.ended = r.at_barrier = 0;
  r.ready.clear();
  r.lane.assign(r.lanes, Lane{});
  const unsigned warps = (r.lanes + kWarp - 1) / kWarp;
  r.ended_of_warp.assign(warps, 0);
  r.waiting_of_warp.assign(warps, 0);
  if (r.lanes % kWarp) r.ended_of_warp[warps - 1] = kFull << r.lanes % kWarp;
  draw_order(r.lanes, r.first, r.step);
  blockIdx = place(block, r.launch.grid);
  ++block_number;
  dynamic_shared = shared_memory(r.launch.shared);
}

void run_block(unsigned block) {
  prepare_block(block);
  r.current = fresh_fiber();
  Fiber* const first = r.current;
  software_cuda_switch(&r.executor, first->at);
  r.idle = r.fibers;  // what a lane that failed left behind, too
}

}  // namespace

bool run_blocks(const Geometry& launch, void (*body)(void*), void* argument, uint64_t seed) {
  r.launch = launch;
  r.body = body, r.argument = argument, r.seed = seed;
  r.lanes = launch.block.x * launch.block.y * launch.block.z;
  r.failed = false;
  gridDim = launch.grid, blockDim = launch.block;
  const unsigned blocks = launch.grid.x * launch.grid.y * launch.grid.z;
  unsigned first, step;
  draw_order(blocks, first, step);
  r.active = true;
  for (unsigned k = 0; k < blocks && !r.failed; ++k)
    run_block(static_cast<unsigned>((first + uint64_t{k} * step) % blocks));
  r.active = false;
  return !r.failed;
}

const char* failure() { return r.message; }
bool in_kernel() { return r.active; }
const char* running_kernel() { return r.active ? r.launch.name : nullptr; }

// The stacks of the lanes that are left behind are not used again: what stands on them is lost.
void fail_lane(const char* format, ...) {
  char what[700];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  std::snprintf(r.message, sizeof r.message, "kernel %s, block (%u, %u, %u), thread (%u, %u, %u): %s", r.launch.name,
                blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, what);
  r.failed = true;
  leave_block();
}

unsigned lane_of_warp() { return r.current_lane % kWarp; }

void meet_block() {
  const unsigned self = r.current_lane;
  Lane& l = r.lane[self];
  l.kind = Meeting::block;
  ++r.at_barrier;
  if (block_complete()) return finish_barrier(self);
  l.state = LaneState::waiting;
  wait_here(self);
}

uint64_t meet_warp(Meeting kind, unsigned mask, uint64_t value, int source) {
  const unsigned self = r.current_lane;
  Lane& l = r.lane[self];
  if (!(mask >> self % kWarp & 1)) fail_lane("meets lanes %08x, of which it is none", mask);
  l.kind = kind, l.mask = mask, l.value = value, l.source = source;
  l.state = LaneState::waiting;
  r.waiting_of_warp[warp_of(self)] |= 1u << self % kWarp;
  finish_group(warp_of(self), mask, kind, self);
  if (l.state != LaneState::running) wait_here(self);
  return l.result;
}

}  // namespace software_cuda
