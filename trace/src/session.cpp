#include <halfbridge/trace/session.h>

#include <cstdlib>
#include <exception>

#include "tracer.h"

namespace hb::trace {

SessionOptions SessionOptions::from_environment() {
  try {
    SessionOptions options = Options::from_environment();
    if (const char* masks = std::getenv("HALFBRIDGE_TRACE_MASKS")) options.masks = masks;
    return options;
  } catch (const std::invalid_argument& e) {
    throw ValueError(e.what());
  }
}

Session::Session(const std::string& folder, const std::vector<std::shared_ptr<bridge::nn::Module>>& roots,
                 SessionOptions options)
    : exceptions_(std::uncaught_exceptions()) {
  Tracer::instance().open(folder, roots, options);
}
Session::~Session() {
  Tracer::instance().close(std::uncaught_exceptions() > exceptions_ ? "left by an exception" : "complete");
}
void Session::close() { Tracer::instance().close("complete"); }
int64_t Session::step() const { return Tracer::instance().step(); }
bool Session::stopped() const { return Tracer::instance().stopped(); }

}  // namespace hb::trace
