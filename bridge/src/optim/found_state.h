#pragma once
// What a captured step found in an optimizer, beside the options: replays update these parameters and states.

#include <memory>
#include <vector>

#include <halfbridge/bridge/optim/optimizer.h>

namespace hb::bridge::optim {

class FoundState {
 public:
  explicit FoundState(const Optimizer& optimizer);
  /// Groups, parameters and states, each behind what it belongs to. `gradient`: what the step took for it.
  void add_group(const OptimizerParamGroup& group);
  void add_param(const Tensor& param, const Tensor& gradient);
  void add_state(OptimizerParamState& state, Tensor* const* tensors, int count);
  /// The name of what is another one; null where nothing is.
  const char* differs() const;

 private:
  struct Kept {
    Tensor* place;
    const TensorImpl* tensor;  // a graph holds it
  };
  struct Param {
    const TensorImpl* param;
    bool any_gradient;           // the step makes it or is given it
    const TensorImpl* gradient;  // else; null: none
    const OptimizerParamState* state = nullptr;
    std::vector<Kept> tensors;
  };
  struct Group {
    const OptimizerOptions* options;
    std::vector<Param> params;
  };
  bool same(const Param& was) const;

  const Optimizer& optimizer_;
  std::shared_ptr<const bool> there_;  // whether the optimizer is
  bool master_weights_;
  std::vector<Group> groups_;
};

/// An optimizer comes to its end.
void tell_end(const Optimizer& optimizer) noexcept;

}  // namespace hb::bridge::optim
