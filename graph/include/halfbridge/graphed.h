#pragma once
// A training step on a GPU that is recorded once and launched as one (a CUDA graph).
//
//   auto step = hb::cuda::graphed([&](torch::Tensor x, torch::Tensor y) {
//     optimizer.zero_grad();
//     auto loss = torch::cross_entropy_loss(net->forward(x), y);
//     loss.backward();
//     optimizer.step();
//     return loss;
//   });
//   for (auto& batch : *loader) step(batch.data.to(torch::kCUDA), batch.target.to(torch::kCUDA));
//
// docs/cuda.md says what may change from call to call.

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <halfbridge/graph.h>
#include <halfbridge/tensor.h>

namespace hb::cuda {

/// What graphed() is made of, apart from the types of the step.
class HB_API RecordedStep {
 public:
  using Step = std::function<std::vector<Tensor>(const std::vector<Tensor>& arguments)>;
  RecordedStep();
  RecordedStep(RecordedStep&&) noexcept;
  RecordedStep& operator=(RecordedStep&&) noexcept;
  ~RecordedStep();
  /// Throws hb::Error where the step cannot be recorded.
  std::vector<Tensor> call(const std::vector<Tensor>& arguments, const Step& step);
  const graph::CompileCounts& counts() const;
  void reset();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A step that is called as the function was from which it is made.
template <class F>
class Graphed {
 public:
  explicit Graphed(F step) : step_(std::move(step)) {}
  /// The first two calls are eager, the third is recorded and launched, as is each one after. Results have no history.
  template <class... Tensors>
  auto operator()(const Tensors&... arguments) {
    using R = std::decay_t<std::invoke_result_t<F&, const Tensors&...>>;
    const auto run = [&](const std::vector<Tensor>& list) {
      return call(list, std::make_index_sequence<sizeof...(Tensors)>());
    };
    auto results = recorded_.call({Tensor(arguments)...}, run);
    if constexpr (!std::is_void_v<R>) return graph::typed::Results<R>::unpack(std::move(results));
  }
  const graph::CompileCounts& counts() const { return recorded_.counts(); }
  /// Gives the graphs and their memory back.
  void reset() { recorded_.reset(); }

 private:
  template <size_t... i>
  std::vector<Tensor> call(const std::vector<Tensor>& list, std::index_sequence<i...>) {
    using R = std::decay_t<decltype(step_(list[i]...))>;
    if constexpr (std::is_void_v<R>) {
      step_(list[i]...);
      return {};
    } else {
      return graph::typed::Results<R>::pack(step_(list[i]...));
    }
  }
  F step_;
  RecordedStep recorded_;
};

/// `step` takes tensors on one GPU and returns a tensor, a list or a tuple of them, or nothing. It may hold whole
/// training steps: backward passes, optimizers, a GradScaler, dropout, autocast. The tensors and the options of
/// optimizers are inputs of each call; numbers that the step computes or captures are constants.
template <class F>
Graphed<std::decay_t<F>> graphed(F&& step) {
  return Graphed<std::decay_t<F>>(std::forward<F>(step));
}

}  // namespace hb::cuda
