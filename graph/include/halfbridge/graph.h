#pragma once
// Graph mode: captures a step of a program once, as a list of kernel calls, and replays it from then on.
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

/// Options of compile(). No pass changes a bit of what is computed.
struct CompileOptions {
  /// If the step cannot be captured, warn once and run it eagerly from then on; false: throw.
  bool fall_back = false;
  /// How many graphs are kept, one per combination of shapes, modes and so on; the least recently used goes first.
  size_t max_graphs = 8;
  /// Memory planning: temporary values share one block of memory.
  bool plan_memory = true;
  /// Dead code elimination: values that nobody reads are not computed.
  bool drop_dead = true;
  /// Element-wise fusion: chains of element-wise functions run block by block, so intermediate values stay in cache.
  bool fuse = true;
  /// Common subexpression elimination: what is computed twice from the same values is computed once.
  bool share_common = true;
  /// A large parameter is updated as soon as its gradient exists, not at the end of the step.
  bool update_early = true;
  /// If a large gradient is the outer product of two vectors (a layer at batch 1) or float32 made of a half one (under
  /// autocast), or is clipped, the optimizer's rule computes its elements itself as it needs them.
  bool consume_gradients = true;
  /// Such a gradient is written only when the program asks for it (`grad()`). false: consume_gradients applies only to
  /// gradients that the program cannot see.
  bool late_gradients = true;
  /// Limit in bytes for the temporary values: the backward pass recomputes values of the forward pass, the cheapest for
  /// their size first, until the rest fits. 0: it recomputes only values that cost next to nothing.
  size_t max_memory = 0;
  /// Now and then a call runs eagerly and is compared with the graph, with at most this many replays in between (fewer
  /// at first). 0: never.
  int64_t compare_every = 256;

  struct Object {
    const void* begin;
    size_t bytes;
  };
  /// The program's objects whose own bytes the step depends on.
  std::vector<Object> objects;
  /// Adds one: a number, a flag, a module of the program's own class. A graph is replayed only while the object's bytes
  /// equal those at the recording; what it points to is not compared. It must outlive the compiled step.
  template <class T>
  CompileOptions& reads(const T& object) {
    objects.push_back({std::addressof(object), sizeof(T)});
    return *this;
  }
  /// Variables of the program to which replays write numbers.
  std::vector<double*> variables;
  /// Adds one: the step must assign to it what clip_grad_norm_() returned, unchanged; replays then write the norm of
  /// their own gradients to it. It must outlive the compiled step.
  CompileOptions& writes(double& variable) {
    variables.push_back(&variable);
    return *this;
  }
};

/// How the calls of a compiled step ran.
struct CompileCounts {
  int64_t eager = 0;     // ran as the program wrote it, including recorded ones
  int64_t recorded = 0;  // a graph was made from it
  int64_t replayed = 0;
  int64_t compared = 0;  // ran eagerly and confirmed that the graph still matches the step
  /// Why the last eager call was not replayed.
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

  /// Returns the step's results for these arguments. Throws hb::Error, after the step ran, if it cannot be captured.
  std::vector<Tensor> call(const std::vector<Tensor>& tensors, const std::vector<double>& numbers, const Eager& eager);
  CompileCounts counts() const;
  /// The graph that was used last, one line per call; empty if there is none.
  std::string print() const;
  /// Writes the graph as an HTML page after the next `replays` calls: how long each kernel call took, and where
  /// temporary values lie in their block and for how long.
  void save_page(const std::string& file, int replays = 10);
  /// Size in bytes of the block that holds the temporary values of that graph.
  size_t arena_bytes() const;
  /// Forgets all graphs.
  void reset();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

namespace typed {
/// Whether an argument counts as a tensor, a list or one of the kinds of numbers, which tensors do not mix with alike.
template <class T>
constexpr int kind() {
  if constexpr (std::is_convertible_v<const T&, const Tensor&>)
    return 0;
  else if constexpr (std::is_same_v<T, bool>)
    return 1;
  else if constexpr (std::is_integral_v<T>)
    return std::is_signed_v<T> ? 2 : 3;
  else
    return std::is_floating_point_v<T> ? 4 : 5;
}

template <class T>
void take(const T& argument, std::vector<Tensor>& tensors, std::vector<double>& numbers) {
  if constexpr (kind<T>() > 0) numbers.push_back(kind<T>() + 8.0 * static_cast<double>(tensors.size()));
  if constexpr (std::is_convertible_v<const T&, const Tensor&>) {
    tensors.push_back(argument);
  } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
    numbers.push_back(static_cast<double>(argument.size()));
    for (const Tensor& t : argument) tensors.push_back(t);
  } else {
    static_assert(std::is_arithmetic_v<T>, "a compiled step takes tensors, lists of them, and numbers");
    numbers.push_back(static_cast<double>(argument));
    // A double holds 53 bits.
    if constexpr (std::is_integral_v<T> && sizeof(T) > 4) numbers.push_back(static_cast<double>(argument & 0xffffffff));
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

/// The captured step; call it like the function that it is made from.
template <class F>
class Compiled {
 public:
  Compiled(F step, CompileOptions options) : step_(std::move(step)), captured_(std::move(options)) {}

  /// Runs the step eagerly at first, so that state created at its first call exists, then records it, and replays it
  /// from then on. Results of a replay have no autograd history.
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
/// contain whole training steps: backward passes, optimizers, a GradScaler. Numbers that it takes or captures from the
/// program are constants of the graph; a call with another number as argument records another graph. Learning rates and
/// other options of optimizers are read at each replay.
template <class F>
Compiled<std::decay_t<F>> compile(F&& step, CompileOptions options = {}) {
  return {std::forward<F>(step), std::move(options)};
}

}  // namespace hb::graph
