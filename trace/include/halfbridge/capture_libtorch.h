#pragma once
// Records what a LibTorch program computes, layer by layer, as a trace (docs/trace-format.md):
//
//   #include <halfbridge/capture_libtorch.h>
//   auto trace = hb::capture(*model, "trace-folder");
//
// After <torch/torch.h> of LibTorch 1.13 or later. LibTorch has no hooks on modules, so layers are recognised by the
// parameters that operators use and by their order: docs/capture.md says what that cannot see. Only what the
// thread that called hb::capture() does is recorded, and one trace at a time.

#include <atomic>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <halfbridge/trace/libtorch/session.h>

namespace hb {
namespace trace {

/// A trace that is being written. Its end, or close(), completes the files; after that nothing of it is left in
/// LibTorch: no callback, no hook. The modules must live until then.
class Capture {
 public:
  explicit Capture(const std::string& folder, Options options = Options::from_environment())
      : session_(std::make_unique<libtorch::Session>(folder, std::move(options))) {
    libtorch::Session* none = nullptr;
    if (!active().compare_exchange_strong(none, session_.get()))
      throw std::runtime_error("[capture] expected one trace at a time, got a second one in " + folder);
    auto callback = at::RecordFunctionCallback(&begin, &end).needsInputs(true).needsOutputs(true);
    handle_ = at::addThreadLocalCallback(callback.scopes({at::RecordScope::FUNCTION}));
  }
  Capture(Capture&& other) noexcept : session_(std::move(other.session_)), handle_(other.handle_) {}
  Capture& operator=(Capture&&) = delete;
  ~Capture() { close(); }

  /// A further module whose layers are named by their paths below it.
  Capture& add(const torch::nn::Module& root) {
    if (session_) session_->add_root(root);
    return *this;
  }
  /// Records the optimizer's states too, and tells its steps from other optimizers'. It must live until the end of the
  /// trace.
  Capture& watch(torch::optim::Optimizer& optimizer) {
    if (session_) session_->watch(optimizer);
    return *this;
  }
  /// On the thread that began the trace.
  void close() {
    if (!session_) return;
    at::removeCallback(handle_);
    active() = nullptr;
    session_->close();
    session_.reset();
  }

 private:
  struct Told : at::ObserverContext {};

  static std::atomic<libtorch::Session*>& active() {
    static std::atomic<libtorch::Session*> session{nullptr};
    return session;
  }
  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& fn) {
    libtorch::Session* session = active();
    return session && session->begin(fn) ? std::make_unique<Told>() : nullptr;
  }
  static void end(const at::RecordFunction& fn, at::ObserverContext* told) {
    libtorch::Session* session = active();
    if (session && told) session->end(fn);
  }

  std::unique_ptr<libtorch::Session> session_;
  at::CallbackHandle handle_ = 0;
};

}  // namespace trace

/// Begins a trace of this module in a folder. `options`: what is recorded; the HALFBRIDGE_TRACE_* variables unless
/// given. Throws std::runtime_error where the folder cannot be written, and where a trace is being written already.
inline trace::Capture capture(const torch::nn::Module& model, const std::string& folder,
                              trace::Options options = trace::Options::from_environment()) {
  trace::Capture c(folder, std::move(options));
  c.add(model);
  return c;
}

/// Captures several modules: `hb::capture({*generator, *critic}, "trace-folder")`.
inline trace::Capture capture(std::initializer_list<std::reference_wrapper<const torch::nn::Module>> models,
                              const std::string& folder, trace::Options options = trace::Options::from_environment()) {
  trace::Capture c(folder, std::move(options));
  for (const torch::nn::Module& model : models) c.add(model);
  return c;
}

}  // namespace hb
