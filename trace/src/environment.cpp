// HALFBRIDGE_TRACE=dir, HALFBRIDGE_TRACE_MASKS=dir: a trace of a program that knows nothing of it.
// HALFBRIDGE_AMP_REPORT=file: counts of its gradients.
//
// Both open when the first module is made: nothing can be thrown while the library loads, and a program that
// prints its help leaves no folder.
#include <cstdlib>
#include <mutex>

#include "gradient_recorder.h"
#include "tracer.h"

namespace hb::trace {
namespace {

std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

bool traced() { return !value_of("HALFBRIDGE_TRACE").empty() || !value_of("HALFBRIDGE_TRACE_MASKS").empty(); }

class FirstModule final : public bridge::nn::ModuleWatcher {
 public:
  void made(Module& module, bool copy) override {
    open();
    bridge::nn::tell_module_watcher([&](bridge::nn::ModuleWatcher& opened) { opened.made(module, copy); });
  }
  void gone(Module&) override {}
  void children_changed() override {}

 private:
  // Throws the error again at every module, in case the program goes on. Of several threads that make their first, one
  // opens the session.
  void open() {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (bridge::nn::module_watcher_slot != this) return;
    const std::string report = value_of("HALFBRIDGE_AMP_REPORT");
    if (report.empty())
      return Tracer::instance().open(value_of("HALFBRIDGE_TRACE"), {}, SessionOptions::from_environment());
    HB_CHECK(!traced(), "[HALFBRIDGE_AMP_REPORT] expected HALFBRIDGE_TRACE not to be set: one at a time");
    static auto* recorder = new GradientRecorder(report);  // never destroyed: modules live until the process ends
    recorder->open();
  }
};

const bool read = [] {
  if (!traced() && value_of("HALFBRIDGE_AMP_REPORT").empty()) return false;
  static auto* first = new FirstModule;  // never destroyed, and reachable when the session has its slot
  bridge::nn::module_watcher_slot = first;
  return true;
}();

}  // namespace
}  // namespace hb::trace
