#pragma once
// A compiled step whose arguments are on a GPU: it is recorded in CUDA graphs (halfbridge/graphed.h).

#include <list>
#include <memory>
#include <vector>

#include <halfbridge/graph.h>
#include <halfbridge/graphed.h>

#include "objects.h"

namespace hb::graph {

class GpuSteps {
 public:
  explicit GpuSteps(const CompileOptions& options) : options_(options) {}

  static bool takes(const std::vector<Tensor>& tensors) { return !tensors.empty() && on_gpu(tensors.front()); }
  std::vector<Tensor> call(const std::vector<Tensor>& tensors, const std::vector<double>& numbers,
                           const Captured::Eager& eager);
  /// Adds what became of the calls.
  void add_to(CompileCounts& counts) const;

 private:
  /// The graphs of a step with some numbers.
  struct Step {
    std::vector<double> numbers;
    cuda::RecordedStep recorded;
    std::unique_ptr<ObjectGuard> objects;  // as they were when its first graph was recorded
  };
  static bool on_gpu(const Tensor& t) { return t.defined() && t.is_cuda(); }
  Step& step_for(const std::vector<double>& numbers);
  void forget(Step& step);

  const CompileOptions& options_;
  std::list<Step> steps_;  // the one used last first
  CompileCounts gone_;     // of steps that are forgotten
  bool given_up_ = false;
};

}  // namespace hb::graph
