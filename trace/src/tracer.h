#pragma once
// Sees what a program computes and has it recorded.

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include <halfbridge/trace/session.h>

#include "core/function_watch.h"
#include "core/watch_call.h"
#include "core/watchers.h"
#include "gradients.h"
#include "masks.h"
#include "module_tree.h"
#include "nn/core/module_watch.h"
#include "ops/nn/mask_watch.h"
#include "optim/step_observer.h"
#include "parameters.h"
#include "recorder.h"

namespace hb::trace {

class Watched;

/// One for the life of the process: hooks on modules refer to it. It is at work while it is open.
class Tracer final : public bridge::nn::ModuleWatcher,
                     public FunctionWatcher,
                     public GraphWatcher,
                     public bridge::optim::StepObserver,
                     public MaskWatcher,
                     public capture::ReplayWatcher {
 public:
  static Tracer& instance();

  void open(const std::string& folder, const std::vector<std::shared_ptr<Module>>& roots,
            const SessionOptions& options);
  /// `exits`: the process ends; modules keep their hooks, for other threads may still call them.
  void close(const std::string& end, bool exits = false);
  int64_t step() const { return step_; }
  bool stopped();
  bool is_open() const { return open_; }

  void made(Module& module, bool copy) override;
  void gone(Module& module) override;
  void children_changed() override;

  std::shared_ptr<void> begin(WatchedCall& call) override;
  void end(WatchedCall& call, const std::shared_ptr<void>& begun, ArrayRef<const Tensor*> results) override;
  void abandon(WatchedCall& call, const std::shared_ptr<void>& begun) override;

  void inputs(const Node& node, ArrayRef<const Tensor*> inputs) override;
  void result(const Node&, const Tensor&) override {}
  void arrived(const Node& node, const variable_list& grads) override;
  void evaluated(const Node& node, const variable_list& grads) override;

  void step_begins(bridge::optim::Optimizer& optimizer, const std::vector<Tensor>* grads) noexcept override;
  void step_ended(bridge::optim::Optimizer& optimizer) noexcept override;
  void scale_updated(const Tensor& scale) noexcept override;

  void drawn(Tensor& mask, double kept) override;

  void step_begins(bool replayed) noexcept override;
  void recorded() noexcept override;
  uint64_t wish() const noexcept override;
  /// A replay came to what a recorded step's record was of, and to the end of an optimizer's step.
  void replayed(const Watched& watched, const void* data);
  void replayed_step(int64_t session) noexcept;

 private:
  /// A call that runs on this thread.
  struct Frame {
    std::shared_ptr<Call> call;
    const Module* module = nullptr;  // of a call of a module
    bool layer = false;              // functions inside are its own business
    bool watching = false;           // whether functions were seen when it began
    int64_t masks = 0;
  };
  struct Thread {
    std::vector<Frame> running;
    std::vector<Frame> entering;  // their pre-hook ran, their scope does not yet
    Frame left;                   // its scope ended, its forward hook did not run yet
    std::shared_ptr<Call> function;
    int64_t masks = 0;       // that the function drew
    int64_t first_call = 0;  // of the captured step
  };
  static Thread& thread();
  /// Every callback holds the session with others, open() and close() hold it alone: what one thread works with is not
  /// replaced by another. A thread may hold it several times.
  template <class Lock>
  class Holding {
   public:
    explicit Holding(Tracer& tracer) : lock_(tracer.session_mutex_, std::defer_lock) {
      if (held_++ == 0) lock_.lock();
    }
    ~Holding() { --held_; }
    Holding(const Holding&) = delete;
    Holding& operator=(const Holding&) = delete;

   private:
    Lock lock_;
  };
  using Callback = Holding<std::shared_lock<std::shared_mutex>>;
  using Change = Holding<std::unique_lock<std::shared_mutex>>;

  static inline thread_local constinit int held_ = 0;  // how many of these the thread has

  Tracer() = default;
  void hook(Module& module);
  void module_begins(Module& module, const variable_list& inputs);
  std::shared_ptr<void> module_enters(Module& module);
  void module_leaves();
  void module_ended(Module& module, const variable_list& outputs);
  std::shared_ptr<Call> new_call(const std::string& layer);
  void write(const Call& call, Kind kind, int64_t index, const Tensor& tensor);
  void write_all(const Call& call, Kind kind, ArrayRef<const Tensor*> tensors);
  bool takes_recorded(const WatchedCall& call);
  bool recording() const { return recording_.load(std::memory_order_relaxed); }
  void begin_step();
  void next_step();
  void watch(const Record& record, const Tensor& tensor, const Recorder::Remake& again);
  void watch_step();
  void guarded(const std::function<void()>& work) noexcept;

  std::shared_mutex session_mutex_;  // of these four pointers; taken before all other locks
  std::mutex mutex_;                 // of the tree, the parameters and the masks
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<MaskReplay> replay_;
  std::unique_ptr<Gradients> gradients_;
  std::unique_ptr<Parameters> parameters_;
  ModuleTree tree_;
  std::unordered_map<Module*, std::array<unsigned, 3>> hooks_;
  std::atomic<bool> open_{false}, recording_{false}, stepping_{false};
  std::atomic<int64_t> step_{0}, calls_{0}, session_{0}, replayed_{0};
  bool replays_ = false;  // captured steps are replayed, and what replays compute is recorded
};

/// HALFBRIDGE_TRACE_REPLAYS.
bool replays_wished();

}  // namespace hb::trace
