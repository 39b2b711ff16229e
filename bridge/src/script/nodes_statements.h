#pragma once
// The kinds of statements, and what they assign to.

#include "script/nodes.h"

namespace hb::bridge::script {

// --- targets

class LocalTarget final : public Target {
 public:
  explicit LocalTarget(size_t place) : place_(place) {}
  void set(Frame& frame, IValue value) const override { frame.slots[place_] = std::move(value); }

 private:
  size_t place_;
};
class AttributeTarget final : public Target {
 public:
  explicit AttributeTarget(std::unique_ptr<Attribute> attribute) : attribute_(std::move(attribute)) {}
  void set(Frame& frame, IValue value) const override;

 private:
  std::unique_ptr<Attribute> attribute_;
};
class SubscriptTarget final : public Target {
 public:
  explicit SubscriptTarget(std::unique_ptr<Subscript> subscript) : subscript_(std::move(subscript)) {}
  void set(Frame& frame, IValue value) const override;

 private:
  std::unique_ptr<Subscript> subscript_;
};
/// a, *b, c = value.
class TupleTarget final : public Target {
 public:
  TupleTarget(std::vector<TargetPtr> targets, std::optional<size_t> starred)
      : targets_(std::move(targets)), starred_(starred) {}
  void set(Frame& frame, IValue value) const override;

 private:
  std::vector<TargetPtr> targets_;
  std::optional<size_t> starred_;
};

// --- statements

class Evaluate final : public Action {
 public:
  explicit Evaluate(int line, NodePtr value) : Action(line), value_(std::move(value)) {}
  Flow run(Frame& frame) const override { return value_->eval(frame), Flow::Next; }

 private:
  NodePtr value_;
};
class Assign final : public Action {
 public:
  Assign(int line, std::vector<TargetPtr> targets, NodePtr value)
      : Action(line), targets_(std::move(targets)), value_(std::move(value)) {}
  Flow run(Frame& frame) const override;

 private:
  std::vector<TargetPtr> targets_;
  NodePtr value_;
};
/// target += value: in place where the value can be changed.
class Augment final : public Action {
 public:
  Augment(int line, NodePtr read, TargetPtr target, NodePtr value, const std::string& name);
  Augment(int line, std::unique_ptr<Subscript> subscript, NodePtr value, const std::string& name);
  Flow run(Frame& frame) const override;

 private:
  IValue combined(IValue old, IValue value) const;
  Flow run_subscript(Frame& frame) const;
  NodePtr read_;
  TargetPtr target_;
  std::unique_ptr<Subscript> subscript_;
  NodePtr value_;
  OperatorCall in_place_, plain_;
  bool has_in_place_;
};
class If final : public Action {
 public:
  If(int line, NodePtr condition, Actions body, Actions otherwise)
      : Action(line), condition_(std::move(condition)), body_(std::move(body)), otherwise_(std::move(otherwise)) {}
  Flow run(Frame& frame) const override;

 private:
  NodePtr condition_;
  Actions body_, otherwise_;
};
class While final : public Action {
 public:
  While(int line, NodePtr condition, Actions body)
      : Action(line), condition_(std::move(condition)), body_(std::move(body)) {}
  Flow run(Frame& frame) const override;

 private:
  NodePtr condition_;
  Actions body_;
};
class For final : public Action {
 public:
  For(int line, TargetPtr target, NodePtr source, Actions body)
      : Action(line), target_(std::move(target)), source_(std::move(source)), body_(std::move(body)) {}
  Flow run(Frame& frame) const override;

 private:
  Flow run_range(Frame& frame, const Nodes& bounds) const;
  Flow run_list(Frame& frame, const IValue& list) const;
  TargetPtr target_;
  NodePtr source_;
  Actions body_;
};
class With final : public Action {
 public:
  With(int line, NodePtr context, TargetPtr target, Actions body)
      : Action(line), context_(std::move(context)), target_(std::move(target)), body_(std::move(body)) {}
  Flow run(Frame& frame) const override;

 private:
  NodePtr context_;
  TargetPtr target_;
  Actions body_;
};
class Return final : public Action {
 public:
  Return(int line, NodePtr value) : Action(line), value_(std::move(value)) {}
  Flow run(Frame& frame) const override {
    if (value_) frame.result = value_->eval(frame);
    return Flow::Return;
  }

 private:
  NodePtr value_;
};
class Raise final : public Action {
 public:
  Raise(int line, std::string kind, NodePtr message)
      : Action(line), kind_(std::move(kind)), message_(std::move(message)) {}
  Flow run(Frame& frame) const override;

 private:
  std::string kind_;
  NodePtr message_;
};
class Assert final : public Action {
 public:
  Assert(int line, NodePtr condition, NodePtr message)
      : Action(line), condition_(std::move(condition)), message_(std::move(message)) {}
  Flow run(Frame& frame) const override;

 private:
  NodePtr condition_, message_;
};
class Delete final : public Action {
 public:
  Delete(int line, std::unique_ptr<Subscript> item, std::optional<size_t> place)
      : Action(line), item_(std::move(item)), place_(place) {}
  Flow run(Frame& frame) const override;

 private:
  std::unique_ptr<Subscript> item_;
  std::optional<size_t> place_;
};
class Jump final : public Action {
 public:
  Jump(int line, Flow flow) : Action(line), flow_(flow) {}
  Flow run(Frame&) const override { return flow_; }

 private:
  Flow flow_;
};

}  // namespace hb::bridge::script
