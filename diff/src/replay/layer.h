// A layer of a trace, made again: what it computes is found by its type, its options are those that it printed, its
// parameters and buffers those that were recorded. It runs in any dtype on any inputs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <halfbridge/diff/trace.h>

#include "config.h"

namespace hb::layer_diff::replay {

using Tensors = std::vector<Tensor>;
using State = std::map<std::string, Tensor>;

/// The largest whole number that an option may be. Sizes made of a few such fit into 64 bits, indices into memory.
constexpr double kMaxWhole = 1 << 24;
/// Throws for what is not a number of that size; the name is for the error.
int64_t whole(const std::string& name, double number);

/// Options of a layer by name; those that its text did not give have their defaults.
class Arguments {
 public:
  const Value& at(const std::string& name) const;
  void set(const std::string& name, Value value) { values_[name] = std::move(value); }
  bool has(const std::string& name) const { return !at(name).is_none(); }
  double number(const std::string& name) const;
  int64_t integer(const std::string& name) const { return whole(name, number(name)); }
  bool flag(const std::string& name) const;
  std::string word(const std::string& name) const;
  std::optional<double> optional_number(const std::string& name) const;
  /// `count` integers; one is expanded to all, none gives an empty list.
  std::vector<int64_t> integers(const std::string& name, size_t count) const;
  /// As many as were given.
  std::vector<int64_t> integers(const std::string& name) const;
  std::vector<double> numbers(const std::string& name) const;

 private:
  std::map<std::string, Value> values_;
};

struct Layer;
/// What a forward function sees: the tensors are in the dtype to compute in.
struct Run {
  const Layer& layer;
  const Arguments& args;
  Tensors inputs;
  State state;
  Tensors masks;
  State updated = {};  // buffers that the call changes

  /// A parameter of the module, or a function's input `position`; undefined where there is neither.
  Tensor operand(const std::string& name, size_t position) const;
  const Tensor& input(size_t i) const;
  Tensor input_or_none(size_t i) const { return i < inputs.size() ? inputs[i] : Tensor(); }
  bool training() const;
};
using Forward = Tensors (*)(Run& run);

/// An option of a type: its default, and further values to try (modules.def).
struct Option {
  std::string name;
  Value standard;
  std::vector<Value> others;
  bool continuous = false;  // any positive number, to be solved for
};
struct Declaration {
  std::string type;
  std::vector<Option> options;
  Forward forward = nullptr;
};

struct Layer {
  const Declaration* declaration = nullptr;
  Arguments args;
  State state;
  bool training = false;
  Tensors masks;
  bool is_module = true;
};

/// Null for a type that is not in the table.
const Declaration* find_declaration(const std::string& type);
/// The options that `config` gives, over the defaults.
Arguments arguments_of(const Declaration& declaration, const std::string& config);

/// The layer of a call; nothing for a type that is not in the table.
std::optional<Layer> layer_of(const Trace& trace, const Call& call);

/// Everything floating is converted to `dtype` first. Throws hb::Error where the layer refuses its inputs or lacks a
/// dropout's mask.
Tensors forward(const Layer& layer, const Tensors& inputs, Dtype dtype, State* updated = nullptr);

struct Gradients {
  Tensors inputs;  // undefined where an input has none
  State state;
};
Gradients backward(const Layer& layer, const Tensors& inputs, const Tensors& grad_outputs, Dtype dtype);

}  // namespace hb::layer_diff::replay
