#pragma once
// Records what a program computes, layer by layer, into a trace (docs/trace-format.md).

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include <halfbridge/bridge/nn/module.h>
#include <halfbridge/trace/options.h>

namespace hb::trace {

struct SessionOptions : Options {
  SessionOptions() = default;
  SessionOptions(Options options) : Options(std::move(options)) {}  // NOLINT
  /// Folder of another run's trace: dropout takes its masks from there. HALFBRIDGE_TRACE_MASKS.
  std::string masks;
  /// The HALFBRIDGE_TRACE_* variables. Throws hb::ValueError, which names the variable, for a malformed value.
  HB_API static SessionOptions from_environment();
};

/// Records until it is closed or destroyed. One at a time.
///
///   hb::trace::Session trace("trace-dir", {net.ptr()});
///
/// `net->forward(x)` of a class of one's own is a plain member call that nothing can see: its parameters, submodules
/// and functions are recorded, its own inputs and outputs are not. Numbers, graph and random state of the program are
/// those without a trace. Errors of writing do not reach the program, see Writer. Modules may be called from several
/// threads, optimizers step in one of them. No other thread makes or calls modules while a session opens or closes, nor
/// gives one a child or a parameter while another is called.
class HB_API Session {
 public:
  /// Records the modules below these roots, and those that are made from now on. Throws hb::Error where the folder
  /// cannot be written, the reference of masks cannot be read, or another session is open. An empty folder: nothing is
  /// written, masks alone are replayed.
  explicit Session(const std::string& folder, const std::vector<std::shared_ptr<bridge::nn::Module>>& roots = {},
                   SessionOptions options = SessionOptions::from_environment());
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  /// Completes the files. Nothing is recorded afterwards.
  void close();
  /// Number of optimizer steps so far.
  int64_t step() const;
  /// Nothing is recorded any more: closed, at the limit of bytes, or an error that was printed.
  bool stopped() const;

 private:
  int exceptions_;
};

}  // namespace hb::trace
