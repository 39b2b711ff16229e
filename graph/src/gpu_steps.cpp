#include "gpu_steps.h"

#include <algorithm>
#include <string>
#include <utility>

#include <halfbridge/error.h>

#include "core/warnings.h"
#include "program.h"

namespace hb::graph {
namespace {

/// While it lives, the arguments that a step was called with have the memory in which a graph expects its inputs.
class StandIn {
 public:
  StandIn(const std::vector<Tensor>& arguments, const std::vector<Tensor>& inputs) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].is_same(inputs[i])) continue;
      before_.emplace_back(arguments[i], Tensor(arguments[i].impl().snapshot()));
      arguments[i].impl().share_data_of(inputs[i].impl());
    }
  }
  ~StandIn() {
    for (auto& [argument, own] : before_) argument.impl().share_data_of(own.impl());
  }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

 private:
  std::vector<std::pair<Tensor, Tensor>> before_;
};

void add(CompileCounts& sum, const CompileCounts& c) {
  sum.eager += c.eager, sum.recorded += c.recorded, sum.replayed += c.replayed, sum.compared += c.compared;
}

}  // namespace

void GpuSteps::forget(Step& step) {
  add(gone_, step.recorded.counts());
  step.recorded.reset();
  step.objects.reset();
}

GpuSteps::Step& GpuSteps::step_for(const std::vector<double>& numbers) {
  const auto found = std::find_if(steps_.begin(), steps_.end(), [&](const Step& s) { return s.numbers == numbers; });
  if (found != steps_.end()) {
    steps_.splice(steps_.begin(), steps_, found);
    if (found->objects && found->objects->differs()) forget(*found);
    return *found;
  }
  if (steps_.size() >= std::max<size_t>(options_.max_graphs, 1)) {
    forget(steps_.back());
    steps_.pop_back();
  }
  steps_.emplace_front();
  steps_.front().numbers = numbers;
  return steps_.front();
}

std::vector<Tensor> GpuSteps::call(const std::vector<Tensor>& tensors, const std::vector<double>& numbers,
                                   const Captured::Eager& eager) {
  const auto on_its_own = [&] {
    ++gone_.eager;
    return eager();
  };
  if (given_up_) return on_its_own();
  Step& step = step_for(numbers);
  const int64_t graphs = step.recorded.counts().recorded;
  try {
    auto results = step.recorded.call(tensors, [&](const std::vector<Tensor>& inputs) {
      const StandIn in_their_place(tensors, inputs);
      return eager();
    });
    if (graphs == 0 && step.recorded.counts().recorded > 0)
      step.objects = std::make_unique<ObjectGuard>(options_.objects);
    return results;
  } catch (const Error& e) {
    // An error of the step itself is its own; one of a recording leaves nothing done.
    if (!options_.fall_back || step.recorded.counts().eager < 2) throw;
    given_up_ = true;
    detail::warn(std::string("[compile] the step cannot be captured: ") + e.what() + "; it runs eagerly");
    return on_its_own();
  }
}

void GpuSteps::add_to(CompileCounts& counts) const {
  add(counts, gone_);
  for (const Step& s : steps_) add(counts, s.recorded.counts());
  if (!steps_.empty()) counts.reason = steps_.front().recorded.counts().reason;
}

}  // namespace hb::graph
