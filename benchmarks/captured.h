// A step that Halfbridge captures as a graph, and that LibTorch, which has nothing like it, runs as it is.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <utility>

#if __has_include(<halfbridge/graph.h>)
#include <halfbridge/graph.h>
#endif

namespace bench {

enum class Mode { eager, graph };

/// step(x, y), again and again.
template <class Step>
std::function<void()> iterate(Mode mode, Step step, torch::Tensor x, torch::Tensor y) {
#if __has_include(<halfbridge/graph.h>)
  if (mode == Mode::graph) {
    auto compiled = std::make_shared<hb::graph::Compiled<Step>>(hb::graph::compile(std::move(step)));
    return [=] { (*compiled)(x, y); };
  }
#endif
  (void)mode;
  return [=]() mutable { step(x, y); };
}

}  // namespace bench
