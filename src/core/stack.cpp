#include "core/stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <memory>

#include <halfbridge/error.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace hb::detail {

namespace {

constexpr size_t kRoom = size_t{192} << 10, kStackBytes = size_t{8} << 20;

struct Bounds {
  uintptr_t low = 0, high = 0;
  bool hold(uintptr_t at) const { return at - low < high - low; }
  bool have_room(uintptr_t at) const { return hold(at) && at - low >= kRoom; }
};
// Bounds of the stack that the thread ran on when it last asked.
thread_local constinit Bounds current;

uintptr_t here() { return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); }

// The stack that the thread began with.
Bounds own_bounds() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  const auto from = reinterpret_cast<uintptr_t>(low);
  return {from, from + size};
}

// Memory that is taken where it is touched, above a page that nobody may touch.
class Stack {
 public:
  Stack() : guard_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    block_ = mmap(nullptr, guard_ + kStackBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    HB_CHECK(block_ != MAP_FAILED, "[autograd] expected memory for another stack of ", kStackBytes, " bytes, got none");
    mprotect(block_, guard_, PROT_NONE);
  }
  ~Stack() { munmap(block_, guard_ + kStackBytes); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  char* low() const { return static_cast<char*>(block_) + guard_; }
  Bounds bounds() const {
    const auto from = reinterpret_cast<uintptr_t>(low());
    return {from, from + kStackBytes};
  }

 private:
  size_t guard_;
  void* block_;
};

// A thread keeps one stack: a small thread takes it for each pass, a recursion around the end of a stack again and
// again.
thread_local constinit bool keeps = true;
struct Spare {
  std::unique_ptr<Stack> stack;
  ~Spare() { keeps = false; }
};
std::unique_ptr<Stack>& spare() {
  thread_local Spare s;
  return s.stack;
}

std::unique_ptr<Stack> take_stack() {
  if (keeps && spare()) return std::move(spare());
  return std::make_unique<Stack>();
}
void give_stack(std::unique_ptr<Stack> stack) {
  if (keeps && !spare()) spare() = std::move(stack);
}

// One call, and how sanitizers learn of the change of stacks.
struct Switch {
  void (*f)(void*);
  void* argument;
  std::exception_ptr error;
  ucontext_t outer, inner;
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack = nullptr;
  const void* outer_low = nullptr;
  size_t outer_size = 0;
  void leave(const void* low, size_t size) { __sanitizer_start_switch_fiber(&fake_stack, low, size); }
  void begun() { __sanitizer_finish_switch_fiber(nullptr, &outer_low, &outer_size); }
  void end() { __sanitizer_start_switch_fiber(nullptr, outer_low, outer_size); }
  void back() { __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr); }
#elif defined(__SANITIZE_THREAD__)
  void *fiber = __tsan_create_fiber(0), *before = __tsan_get_current_fiber();
  void leave(const void*, size_t) { __tsan_switch_to_fiber(fiber, 0); }
  void begun() {}
  void end() { __tsan_switch_to_fiber(before, 0); }
  void back() { __tsan_destroy_fiber(fiber); }
#else
  void leave(const void*, size_t) {}
  void begun() {}
  void end() {}
  void back() {}
#endif
};

// makecontext passes ints.
void run(unsigned high, unsigned low) {
  auto& s = *reinterpret_cast<Switch*>(static_cast<uintptr_t>(high) << 32 | low);
  s.begun();
  try {
    s.f(s.argument);
  } catch (...) {
    s.error = std::current_exception();  // no exception may leave the first function of a stack
  }
  s.end();
}

}  // namespace

bool stack_has_room() noexcept {
  const uintptr_t at = here();
  if (current.have_room(at)) return true;
  if (current.hold(at)) return false;
  current = own_bounds();  // not asked yet, or back on the thread's own; a fiber of the program's is neither
  return current.have_room(at);
}

void call_on_fresh_stack(void (*f)(void*), void* argument) {
  std::unique_ptr<Stack> stack = take_stack();
  auto s = std::make_unique<Switch>();
  s->f = f, s->argument = argument;
  getcontext(&s->inner);
  s->inner.uc_stack.ss_sp = stack->low(), s->inner.uc_stack.ss_size = kStackBytes;
  s->inner.uc_link = &s->outer;
  const auto address = reinterpret_cast<uintptr_t>(s.get());
  makecontext(&s->inner, reinterpret_cast<void (*)()>(&run), 2, static_cast<unsigned>(address >> 32),
              static_cast<unsigned>(address));
  const Bounds before = std::exchange(current, stack->bounds());
  s->leave(stack->low(), kStackBytes);
  swapcontext(&s->outer, &s->inner);
  s->back();
  current = before;
  give_stack(std::move(stack));
  if (s->error) std::rethrow_exception(std::move(s->error));
}

}  // namespace hb::detail
