#pragma once
// Graph mode: a step of a program is captured once, as a list of calls of kernels, and replayed from then on.
//
//   auto step = hb::graph::compile([&](torch::Tensor x, torch::Tensor y) {
//     optimizer.zero_grad();
//     auto loss = torch::cross_entropy_loss(net->forward(x), y);
//     loss.backward();
//     optimizer.step();
//     return loss;
//   });
//   for (auto& batch : *loader) step(batch.data, batch.target);
//
// docs/graph-mode.md says what is captured and what is not.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfbridge/tensor.h>

namespace hb::graph {

/// How a step is compiled. The passes change no bit of what is computed.
struct CompileOptions {
  /// A step that cannot be captured runs eagerly, each time, after one warning; otherwise it is an error.
  bool fall_back = false;
  /// Graphs that are kept, one for each combination of shapes, modes and the like; the one unused longest goes first.
  size_t max_graphs = 8;
  /// Temporary values share one block of memory.
  bool plan_memory = true;
  /// Values that nobody reads are not computed.
  bool drop_dead = true;
  /// Chains of element-wise functions run block by block, so that what is between them stays in the cache.
  bool fuse = true;
  /// What is computed twice is computed once.
  bool share_common = true;
  /// Large parameters are updated as soon as their gradients are there.
  bool update_early = true;
  /// An optimizer's rule computes the elements of a large gradient itself where that is the product of two vectors (a
  /// layer at batch 1), as it needs them.
  bool consume_gradients = true;
  /// Such a gradient is written when the program asks for it (`grad()`), if ever. Otherwise the rule does not compute
  /// it.
  bool late_gradients = true;
  /// Bytes that the temporary values may take: values of the forward part are made again in the backward part, the
  /// cheapest for their size first, until the rest fits or nothing cheap is left. 0: those that cost next to nothing.
  size_t max_memory = 0;
  /// Now and then a call runs eagerly and is compared with the graph: at first soon, then after as many replays as this
  /// at most. 0: never.
  int64_t compare_every = 256;

  struct Object {
    const void* begin;
    size_t bytes;
  };
  /// The program's objects whose own bytes the step depends on.
  std::vector<Object> objects;
  /// Names one: numbers, flags, modules of the program's own classes. A graph is replayed only while its bytes are what
  /// they were when it was recorded; what it points to is not looked at. It has to outlive the compiled step.
  template <class T>
  CompileOptions& reads(const T& object) {
    objects.push_back({std::addressof(object), sizeof(T)});
    return *this;
  }
  /// Variables of the program to which replays write numbers.
  std::vector<double*> variables;
  /// Names one: the step leaves in it what clip_grad_norm_() returned, as it is, and replays write the norm of their
  /// own gradients there. It has to outlive the compiled step.
  CompileOptions& writes(double& variable) {
    variables.push_back(&variable);
    return *this;
  }
};

/// What became of the calls of a compiled step.
struct CompileCounts {
  int64_t eager = 0;     // that ran as the program wrote it, recorded ones among them
  int64_t recorded = 0;  // from which a graph was made
  int64_t replayed = 0;
  int64_t compared = 0;  // eager ones that showed the graph still to be what the step does
  /// Why the last call that was not replayed was not.
  std::string reason;
};

/// What compile() is made of, apart from the types of the step.
class HB_API Captured {
 public:
  using Eager = std::function<std::vector<Tensor>()>;
  explicit Captured(CompileOptions options);
  Captured(Captured&&) noexcept;
  Captured& operator=(Captured&&) noexcept;
  ~Captured();

  /// The step's results for these arguments. Throws hb::Error where the step cannot be captured, once it has run.
  std::vector<Tensor> call(const std::vector<Tensor>& tensors, const std::vector<double>& numbers, const Eager& eager);
  CompileCounts counts() const;
  /// The graph that was used last, a line for each call; empty where there is none.
  std::string print() const;
  /// The same as an HTML page with how long each call took in the next `replays` calls of the step, and where its
  /// temporary values lie in their block and for how long. The file is written when they are done.
  void save_page(const std::string& file, int replays = 10);
  /// Bytes of the block in which the temporary values of that graph lie.
  size_t arena_bytes() const;
  /// Forgets all graphs.
  void reset();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

namespace typed {
template <class T>
void take(const T& argument, std::vector<Tensor>& tensors, std::vector<double>& numbers) {
  if constexpr (std::is_convertible_v<const T&, const Tensor&>) {
    tensors.push_back(argument);
  } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
    numbers.push_back(static_cast<double>(argument.size()));
    for (const Tensor& t : argument) tensors.push_back(t);
  } else {
    static_assert(std::is_arithmetic_v<T>, "a compiled step takes tensors, lists of them, and numbers");
    numbers.push_back(static_cast<double>(argument));
  }
}

/// How the results of a step are a list of tensors, and again what the step returned.
template <class R>
struct Results {
  static_assert(std::is_convertible_v<R, Tensor>,
                "a compiled step returns a tensor, a list or a tuple of them, or void");
  static std::vector<Tensor> pack(R r) { return {std::move(r)}; }
  static R unpack(std::vector<Tensor>&& list) { return std::move(list[0]); }
};
template <>
struct Results<std::vector<Tensor>> {
  static std::vector<Tensor> pack(std::vector<Tensor> r) { return r; }
  static std::vector<Tensor> unpack(std::vector<Tensor>&& list) { return std::move(list); }
};
template <class... Ts>
struct Results<std::tuple<Ts...>> {
  static std::vector<Tensor> pack(std::tuple<Ts...> r) {
    return std::apply([](auto&... t) { return std::vector<Tensor>{t...}; }, r);
  }
  static std::tuple<Ts...> unpack(std::vector<Tensor>&& list) { return take(list, std::index_sequence_for<Ts...>()); }

 private:
  template <size_t... i>
  static std::tuple<Ts...> take(std::vector<Tensor>& list, std::index_sequence<i...>) {
    return {std::move(list[i])...};
  }
};
}  // namespace typed

/// A step that is called as the function was from which it is made.
template <class F>
class Compiled {
 public:
  Compiled(F step, CompileOptions options) : step_(std::move(step)), captured_(std::move(options)) {}

  /// The step runs eagerly twice, so that what is made at its first call exists, is recorded the third time and
  /// replayed from then on. Results of a replay have no history.
  template <class... Args>
  auto operator()(Args&&... args) {
    using R = std::decay_t<std::invoke_result_t<F&, Args&...>>;
    std::vector<Tensor> tensors;
    std::vector<double> numbers;
    tensors.reserve(sizeof...(Args));
    (typed::take<std::decay_t<Args>>(args, tensors, numbers), ...);
    if constexpr (std::is_void_v<R>) {
      captured_.call(tensors, numbers, [&] {
        step_(args...);
        return std::vector<Tensor>();
      });
    } else {
      using Results = typed::Results<R>;
      return Results::unpack(captured_.call(tensors, numbers, [&] { return Results::pack(step_(args...)); }));
    }
  }

  CompileCounts counts() const { return captured_.counts(); }
  std::string print() const { return captured_.print(); }
  size_t arena_bytes() const { return captured_.arena_bytes(); }
  void save_page(const std::string& file, int replays = 10) { captured_.save_page(file, replays); }
  void reset() { captured_.reset(); }

 private:
  F step_;
  Captured captured_;
};

/// `step` takes tensors (lists of them, numbers) and returns a tensor, a list or a tuple of them, or nothing. It may
/// hold whole training steps: backward passes, optimizers, a GradScaler. Numbers that it takes, and those that it
/// captures from the program, are constants of the graph; a call with another number records another graph. Learning
/// rates and other options of optimizers are read at each replay.
template <class F>
Compiled<std::decay_t<F>> compile(F&& step, CompileOptions options = {}) {
  return {std::forward<F>(step), std::move(options)};
}

}  // namespace hb::graph
