#pragma once
// Finds out where an overflow began.

#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include <halfbridge/bridge/amp/overflow.h>
#include <halfbridge/bridge/nn/module.h>
#include <halfbridge/bridge/optim/optimizer.h>

#include "autograd/watch.h"

namespace hb::amp {

/// Looks at every recorded value and every gradient while it is attached, and knows by scopes around the modules'
/// forward in which layer an operation runs. One at a time.
class OverflowTracer final : public GraphWatcher {
 public:
  /// Attaches one; it is detached, and the model's hooks are removed, with the last copy of what this returns. Throws
  /// if another one is at work.
  static std::shared_ptr<OverflowTracer> start(bridge::nn::Module& model);

  void inputs(const Node& node, ArrayRef<const Tensor*> inputs) override;
  void result(const Node& node, const Tensor& result) override;
  void arrived(const Node& node, const variable_list& grads) override;
  void evaluated(const Node& node, const variable_list& grads) override;

  /// The forward pass ends here: if the loss is not finite, follows it back to where that began.
  void loss_was_scaled(const Tensor& scaled);
  /// The gradients that the optimizer is about to get, still scaled.
  void look_at(const bridge::optim::Optimizer& optimizer, const std::vector<Tensor>& grads);
  /// What is known of this step; `step` and `scale` are the caller's to fill.
  Overflow story() const { return found_; }
  void next_step();

 private:
  explicit OverflowTracer(bridge::nn::Module& model);
  void stop();

  struct Seen {
    std::string layer;
    bool bad_inputs = false, bad_result = false;
  };
  struct Watched {
    bridge::nn::Module* module;
    std::weak_ptr<bridge::nn::Module> alive;
    bool counted;  // whether `alive` says anything: a model on the stack has no owner
    unsigned scope;
  };
  /// The layers that each thread runs, outermost first: it is told of what all threads do.
  struct Running {
    std::mutex mutex;
    std::map<std::thread::id, std::vector<std::string>> layers;
    std::shared_ptr<void> enter(std::shared_ptr<Running> self, const std::string& layer);  // ends with what it returns
    std::string innermost();
  };
  const std::string& layer_of(const Node& node) const;
  void blame(bool forward, std::string operation, const std::string& layer);

  std::vector<Watched> watched_;
  std::map<const TensorImpl*, std::string> names_;  // of the parameters
  std::shared_ptr<Running> running_;
  std::unordered_map<const Node*, Seen> seen_;
  bool blamed_ = false;
  Overflow found_;
  mutable std::recursive_mutex mutex_;
};

}  // namespace hb::amp
