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
    // Those that were opened were not attached yet when this module was made.
    bridge::nn::ModuleWatchers::each([&](bridge::nn::ModuleWatcher& w) {
      if (&w != this) w.made(module, copy);
    });
  }
  void gone(Module&) override {}
  void children_changed() override {}

 private:
  // Throws the error again at every module, in case the program goes on. Of several threads that make their first, one
  // opens the session.
  void open() {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (opened_) return;
    const std::string report = value_of("HALFBRIDGE_AMP_REPORT");
    if (!report.empty() && !recorder_) {
      recorder_ = new GradientRecorder(report);  // never destroyed: modules live until the process ends
      recorder_->open();
    }
    Tracer& tracer = Tracer::instance();  // a session that the program opened itself goes before
    if (traced() && !tracer.is_open())
      tracer.open(value_of("HALFBRIDGE_TRACE"), {}, SessionOptions::from_environment());
    opened_ = true;
    bridge::nn::ModuleWatchers::detach(*this);
  }

  GradientRecorder* recorder_ = nullptr;
  bool opened_ = false;
};

const bool read = [] {
  if (!traced() && value_of("HALFBRIDGE_AMP_REPORT").empty()) return false;
  static auto* first = new FirstModule;  // never destroyed: other threads may be within it
  bridge::nn::ModuleWatchers::attach(*first);
  return true;
}();

}  // namespace
}  // namespace hb::trace
