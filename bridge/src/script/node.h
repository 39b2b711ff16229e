#pragma once
// Compiled code: trees whose variables are places in a frame.

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <halfbridge/ivalue.h>

namespace hb::bridge::script {

class ScriptFunction;

/// The variables of one call.
struct Frame {
  explicit Frame(size_t places) : slots(places) {}
  std::vector<IValue> slots;
  IValue result;
  int line = 0;  // of the statement that runs
};

/// An expression.
class Node {
 public:
  explicit Node(int line) : line(line) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node() = default;
  virtual IValue eval(Frame& frame) const = 0;
  const int line;
};
using NodePtr = std::unique_ptr<Node>;
using Nodes = std::vector<NodePtr>;

class Constant final : public Node {
 public:
  Constant(int line, IValue value) : Node(line), value(std::move(value)) {}
  IValue eval(Frame&) const override { return value; }
  const IValue value;
};

enum class Flow { Next, Break, Continue, Return };

/// A statement.
class Action {
 public:
  explicit Action(int line) : line(line) {}
  Action(const Action&) = delete;
  Action& operator=(const Action&) = delete;
  virtual ~Action() = default;
  virtual Flow run(Frame& frame) const = 0;
  const int line;
};
using ActionPtr = std::unique_ptr<Action>;

struct Actions {
  std::vector<ActionPtr> all;
  Flow run(Frame& frame) const {
    for (const ActionPtr& action : all) {
      frame.line = action->line;
      if (const Flow flow = action->run(frame); flow != Flow::Next) return flow;
    }
    return Flow::Next;
  }
};

/// Where a value goes.
class Target {
 public:
  virtual ~Target() = default;
  virtual void set(Frame& frame, IValue value) const = 0;
};
using TargetPtr = std::unique_ptr<Target>;

}  // namespace hb::bridge::script
