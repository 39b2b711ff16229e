#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <utility>

#include "autograd/names.h"
#include "core/function_front.h"

namespace hb {

/// Whether an operation on these inputs must be recorded.
template <class... Ts>
bool needs_grad(const Ts&... inputs) {
  return GradMode::is_enabled() && ((inputs.defined() && inputs.requires_grad()) || ...);
}
bool needs_grad_list(TensorList inputs);

/// Where tensors that are saved on a thread go while this is current there (checkpoint), in place of being kept.
class SavedSource : public intrusive_ptr_target {
 public:
  /// Takes note of a tensor and gives its number for the other two, or nothing: then it is kept as it is.
  virtual std::optional<uint32_t> add(const Tensor& t) = 0;
  virtual Tensor get(uint32_t number) = 0;
  /// The tensor is not needed any more.
  virtual void drop(uint32_t number) = 0;

  /// The current one of this thread, or nullptr.
  static SavedSource* current();
  /// Makes one current until the end of the scope; nullptr: tensors are saved as they are.
  class Scope {
   public:
    explicit Scope(SavedSource* source);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    SavedSource* previous_;
  };
};

/// A tensor kept for the backward pass; notices in-place changes made since.
class SavedTensor {
 public:
  SavedTensor() = default;
  /// An input of the operation (may be undefined).
  static SavedTensor input(const Tensor& t);
  /// A result of the operation; must be made before record() gives the result its history.
  static SavedTensor output(const Tensor& t, uint32_t output_nr = 0);
  /// Throws when the tensor was changed in place, or when the graph was already freed.
  Tensor unpack(Node& node) const;
  /// The same for an input that no node holds.
  Tensor unpack_input() const { return value(nullptr); }
  /// Threads whose passes meet here may release and unpack at a time: who comes later is told that nothing is left.
  void release();
  bool defined() const { return defined_ && !released_; }

 private:
  bool hand_over(const Tensor& t);
  Tensor value(const Node* node) const;

  Tensor tensor_;
  intrusive_ptr<SavedSource> source_;
  uint32_t version_ = 0, output_nr_ = 0;  // version_: the number in source_ where that holds the tensor
  bool is_output_ = false, released_ = false, defined_ = false;
  mutable bool busy_ = false;  // a thread takes or releases what is held
};

/// What a gradient formula is given.
class Backward {
 public:
  Backward(Node& node, variable_list& grads) : node_(node), grads_(grads) {}
  /// Gradient of result i; undefined only where record() was told undefined gradients are welcome.
  const Tensor& grad(size_t i = 0) const { return grads_[i]; }
  /// Whether this pass asks for the gradient of input i.
  bool needs(size_t i) const;
  Tensor saved(const SavedTensor& s) const { return s.unpack(node_); }
  Node& node() const { return node_; }

 private:
  Node& node_;
  variable_list& grads_;
};

namespace detail {
template <class F, size_t Saved>
class RecordedNode final : public Node {
 public:
  RecordedNode(const char* name, std::array<SavedTensor, Saved> saved, F f)
      : name_(name), saved_(std::move(saved)), f_(std::move(f)) {}
  std::string name() const override { return name_; }
  variable_list apply(variable_list&& grads) override {
    front::Excluded excluded;  // gradients keep the dtypes of the forward pass
    Backward context(*this, grads);
    std::array<Tensor, Saved> saved;
    for (size_t i = 0; i < Saved; ++i) saved[i] = saved_[i].unpack(*this);
    return f_(context, saved);
  }
  void release_variables() override {
    for (auto& s : saved_) s.release();
  }

 private:
  const char* name_;
  std::array<SavedTensor, Saved> saved_;
  F f_;
};
void attach(const std::shared_ptr<Node>& node, Tensor& result);
void attach_all(const std::shared_ptr<Node>& node, ArrayRef<Tensor*> results);
void collect_edges(Node& node, ArrayRef<const Tensor*> inputs);
}  // namespace detail

/// Gives `result` its history. `inputs` in the order in which `f` returns their gradients; a gradient may be left
/// undefined where !b.needs(i); the engine sums it over broadcast dimensions and casts it to the input's dtype.
///   if (needs_grad(a, b))
///     record("MulBackward0", out, {&a, &b}, {SavedTensor::input(a), SavedTensor::input(b)},
///            [](Backward& b, auto& s) -> variable_list { return {b.grad() * s[1], b.grad() * s[0]}; });
template <size_t Saved, class F>
void record(const char* name, Tensor& result, std::initializer_list<const Tensor*> inputs, SavedTensor (&&saved)[Saved],
            F f) {
  std::array<SavedTensor, Saved> kept;
  for (size_t i = 0; i < Saved; ++i) kept[i] = std::move(saved[i]);
  auto node = std::make_shared<detail::RecordedNode<F, Saved>>(name, std::move(kept), std::move(f));
  detail::collect_edges(*node, ArrayRef<const Tensor*>(inputs));
  detail::attach(node, result);
}
/// Nothing saved: f(b).
template <class F>
void record(const char* name, Tensor& result, std::initializer_list<const Tensor*> inputs, F f) {
  auto g = [f = std::move(f)](Backward& b, std::array<Tensor, 0>&) -> variable_list { return f(b); };
  auto node = std::make_shared<detail::RecordedNode<decltype(g), 0>>(name, std::array<SavedTensor, 0>{}, std::move(g));
  detail::collect_edges(*node, ArrayRef<const Tensor*>(inputs));
  detail::attach(node, result);
}
/// Several results, any number of inputs, any number of saved tensors (f(b, vector of saved)). Gradients of results
/// that were not used arrive as zeros.
using BackwardFn = std::function<variable_list(Backward&, const variable_list& saved)>;
void record_many(const char* name, ArrayRef<Tensor*> results, ArrayRef<const Tensor*> inputs,
                 std::vector<SavedTensor> saved, BackwardFn f);

namespace detail {
Tensor make_view_tensor(const Tensor& base, ScalarType dtype, DimVector sizes, DimVector strides, int64_t offset);
}
/// For views: shares memory with `base`'s storage, joins its version counter and remembers the base. `f` maps the
/// gradient of the view to that of `base`. Elements may be of another dtype; sizes, strides and offset count those.
template <class F>
Tensor make_view_as(const char* name, const Tensor& base, ScalarType dtype, DimVector sizes, DimVector strides,
                    int64_t offset, F f) {
  Tensor view = detail::make_view_tensor(base, dtype, std::move(sizes), std::move(strides), offset);
  if (needs_grad(base))
    record(name, view, {&base}, [f = std::move(f)](Backward& b) -> variable_list { return {f(b.grad())}; });
  return view;
}
template <class F>
Tensor make_view(const char* name, const Tensor& base, DimVector sizes, DimVector strides, int64_t offset, F f) {
  return make_view_as(name, base, base.impl().dtype(), std::move(sizes), std::move(strides), offset, std::move(f));
}

}  // namespace hb
