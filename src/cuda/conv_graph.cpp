#include "cuda/conv_graph.h"

#include <map>

#include "core/cuda_settings.h"

namespace hb::cuda {
namespace {

constexpr size_t kMostPlans = 1024;                // they stay for good: kernels may be part of a recorded graph
constexpr int64_t kMostMemory = int64_t{1} << 30;  // of workspace
constexpr int64_t kEngines = 8;                    // that are tried
enum Name : int64_t { kX = 1, kW, kY };

/// Images, or weights, whose channels lie together; one spatial dimension is the second of two.
GraphValue channels_last(OperationGraph& graph, Name name, const Tensor& t) {
  const GraphSizes sizes{t.size(0), t.size(1), t.dim() == 4 ? t.size(2) : 1, t.size(t.dim() - 1)};
  const GraphSizes strides{sizes[1] * sizes[2] * sizes[3], 1, sizes[1] * sizes[3], sizes[1]};
  return graph.memory(name, cudnn_type(t.scalar_type()), sizes, strides);
}

bool fits(const ConvTask& task) {
  bool fits = task.p.dims <= 2 && task.x.scalar_type() != kDouble && !cuda_settings().cudnn_benchmark;
  for (const Tensor* t : {&task.x, &task.w, &task.y})
    fits = fits && t->numel() > 0 && reinterpret_cast<uintptr_t>(t->impl().raw_data()) % 16 == 0;
  return fits;
}

OperationGraph graph_of(const ConvTask& task) {
  OperationGraph graph;
  const GraphValue x = channels_last(graph, kX, task.x), w = channels_last(graph, kW, task.w);
  graph.convolve(task.direction, task.p, x, w, channels_last(graph, kY, task.y));
  return graph;
}
EngineWishes wishes_for(const ConvTask& task) {
  EngineWishes wishes;
  wishes.deterministic = cuda_settings().deterministic();
  wishes.exact = task.x.scalar_type() == kFloat && !cuda_settings().cudnn_tf32;
  wishes.most = kEngines, wishes.most_memory = kMostMemory;
  return wishes;
}

}  // namespace

bool convolve_by_graph(const ConvTask& task) {
  if (!fits(task)) return false;
  thread_local auto* const all = new std::map<ConvKey, KnownGraph>;  // cuDNN may end before the thread
  ConvKey key = key_of(task);
  if (all->size() >= kMostPlans && !all->count(key)) return false;
  KnownGraph& known = (*all)[std::move(key)];
  if (!known.has_plan() && !known.is_refused()) known.make_plan([&] { return graph_of(task); }, wishes_for(task));
  if (known.is_refused()) return false;
  return known.run({{kX, task.x.impl().raw_data()}, {kW, task.w.impl().raw_data()}, {kY, task.y.impl().raw_data()}});
}

}  // namespace hb::cuda
