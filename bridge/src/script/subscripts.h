#pragma once
// value[a, b:c, ...] and what assigns to it.

#include <vector>

#include <halfbridge/indexing.h>

#include "script/node.h"

namespace hb::bridge::script {

/// One item between the brackets.
struct IndexItem {
  enum class Kind { Value, Slice, Ellipsis } kind = Kind::Value;
  NodePtr value, stop, step;  // `value` is the start of a slice
};

class Subscript final : public Node {
 public:
  Subscript(int line, NodePtr value, std::vector<IndexItem> items, bool tuple)
      : Node(line), value_(std::move(value)), items_(std::move(items)), tuple_(tuple) {}
  IValue eval(Frame& frame) const override;
  IValue value(Frame& frame) const { return value_->eval(frame); }

  /// The items of one evaluation: start, stop and step of a slice.
  using Evaluated = std::vector<IValue>;
  Evaluated evaluate(Frame& frame) const;
  IValue get(const IValue& value, const Evaluated& at) const;
  void set(const IValue& value, const Evaluated& at, IValue item) const;
  /// Whether the part of a tensor is a view of it.
  static bool is_view(const Evaluated& at);

 private:
  bool single() const { return items_.size() == 1 && !tuple_; }
  IValue key(const Evaluated& at) const;
  std::vector<TensorIndex> indices(const Evaluated& at) const;

  NodePtr value_;
  std::vector<IndexItem> items_;
  bool tuple_;  // written with a comma
};

}  // namespace hb::bridge::script
