// Traces a LibTorch program that nobody edited:
//
//   LD_PRELOAD=libhalfbridge_capture.so HALFBRIDGE_TRACE=folder ./program
//
// Operators in their order alone: no module is known, weights are inputs of calls. What the main thread does is
// recorded; the folder is made when the first operator runs, so that programs which only start others make none.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include <halfbridge/capture_libtorch.h>

namespace {

using hb::trace::Capture;

struct Preloaded {
  std::string folder;
  at::CallbackHandle first_operator = 0;
  std::unique_ptr<Capture> capture;
};

// Never destroyed: operators may run while the process ends.
Preloaded& preloaded() {
  static auto* all = new Preloaded;
  return *all;
}

// At the end of the main thread, before LibTorch's own objects of that thread go.
struct EndOfThread {
  ~EndOfThread() { preloaded().capture.reset(); }
};

std::unique_ptr<at::ObserverContext> begin_trace(const at::RecordFunction& /*fn*/) {
  Preloaded& p = preloaded();
  at::removeCallback(p.first_operator);
  try {
    p.capture = std::make_unique<Capture>(p.folder);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    std::exit(2);
  }
  static thread_local EndOfThread end;
  (void)end;
  return nullptr;
}

__attribute__((constructor)) void watch_first_operator() {
  const char* folder = std::getenv("HALFBRIDGE_TRACE");
  if (!folder || !*folder) return;
  preloaded().folder = folder;
  auto callback = at::RecordFunctionCallback(&begin_trace);
  preloaded().first_operator = at::addThreadLocalCallback(callback.scopes({at::RecordScope::FUNCTION}));
}

}  // namespace
