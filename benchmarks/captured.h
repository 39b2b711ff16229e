// A step that Halfbridge captures as a graph, and that LibTorch, which has nothing like it, runs as it is.
#pragma once

#include <torch/torch.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#if __has_include(<halfbridge/graph.h>)
#include <halfbridge/graph.h>
#endif

namespace bench {

enum class Mode { eager, graph };

/// Bytes that the temporary values of a graph may take, 0: as many as they need (--max-memory).
inline size_t graph_max_memory = 0;

/// Around an iteration: the most bytes of tensors that were in use within it; 0 with LibTorch, which does not say.
#if __has_include(<halfbridge/graph.h>)
inline void reset_tensor_peak() { hb::reset_peak_memory(); }
inline size_t tensor_peak() { return hb::peak_memory(); }
#else
inline void reset_tensor_peak() {}
inline size_t tensor_peak() { return 0; }
#endif

/// step(arguments...), again and again.
template <class Step, class... Arguments>
std::function<void()> iterate(Mode mode, Step step, Arguments... arguments) {
#if __has_include(<halfbridge/graph.h>)
  if (mode == Mode::graph) {
    hb::graph::CompileOptions options;
    options.max_memory = graph_max_memory;
    auto compiled = std::make_shared<hb::graph::Compiled<Step>>(hb::graph::compile(std::move(step), options));
    return [=] { (*compiled)(arguments...); };
  }
#endif
  (void)mode;
  return [=]() mutable { step(arguments...); };
}

}  // namespace bench
