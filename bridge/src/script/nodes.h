#pragma once
// The kinds of compiled expressions and statements.

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "script/node.h"
#include "script/operator_call.h"
#include "script/subscripts.h"
#include "script/unit.h"

namespace hb::bridge::script {

/// Room for the arguments of a call, which keeps its memory for later calls of the thread.
struct Scratch {
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Values values;
};

/// A call with two arguments.
IValue call_of_two(const OperatorCall& call, IValue a, IValue b);

/// A variable.
class Local final : public Node {
 public:
  Local(int line, size_t place, std::string name) : Node(line), place(place), name(std::move(name)) {}
  IValue eval(Frame& frame) const override { return last_use ? std::move(frame.slots[place]) : frame.slots[place]; }
  const size_t place;
  const std::string name;
  bool last_use = false;  // nothing reads the variable afterwards
};

class Attribute final : public Node {
 public:
  Attribute(int line, NodePtr value, std::string name) : Node(line), value(std::move(value)), name(std::move(name)) {}
  IValue eval(Frame& frame) const override { return of(value->eval(frame)); }
  IValue of(const IValue& object) const;
  const NodePtr value;
  const std::string name;

 private:
  mutable std::atomic<uint32_t> place_{0};  // where the attribute was the last time
};

/// torch.NAME(...), x.NAME(...) of values that are no objects.
class Call final : public Node {
 public:
  Call(int line, std::string name, Names names, Nodes arguments)
      : Node(line), call(std::move(name), std::move(names)), arguments(std::move(arguments)) {}
  IValue eval(Frame& frame) const override {
    if (arguments.size() == 2) {
      IValue first = arguments[0]->eval(frame);
      return call_of_two(call, std::move(first), arguments[1]->eval(frame));
    }
    Scratch scratch;
    for (const NodePtr& argument : arguments) scratch.values.push_back(argument->eval(frame));
    return call.call(scratch.values);
  }
  const OperatorCall call;
  const Nodes arguments;
};

/// A function of the unit.
class FunctionCall final : public Node {
 public:
  FunctionCall(int line, const ScriptFunction& function, const Names& names, Nodes arguments);
  IValue eval(Frame& frame) const override;

 private:
  const ScriptFunction& function_;
  Binding binding_;
  Nodes arguments_;
};

/// value.name(...): a method of an object, or a function of the other kinds of values.
class MethodCall final : public Node {
 public:
  MethodCall(int line, NodePtr value, std::string name, Names names, Nodes arguments);
  ~MethodCall() override;
  IValue eval(Frame& frame) const override;

 private:
  struct Entry {
    uint64_t code;  // the id of the class's code
    const ScriptFunction* function;
    Binding binding;
    const Entry* next = nullptr;
  };
  const Entry* known_entry(const ivalue::ObjectData& object) const;
  std::shared_ptr<const Entry> new_entry(const ivalue::ObjectData& object) const;
  IValue call_object(const IValue& object, Frame& frame) const;
  IValue call_registered(const IValue& object, Frame& frame) const;

  NodePtr value_;
  std::string name_;
  Names names_;
  Nodes arguments_;
  OperatorCall call_;  // of values that are no objects
  mutable std::atomic<const Entry*> entries_{nullptr};
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const Entry>> owned_;
};

/// __torch__.Name(...) and __torch__.Name.__new__(...): a new object or a named tuple.
class NewObject final : public Node {
 public:
  NewObject(int line, Unit& unit, ScriptClass& of, bool initialise, Names names, Nodes arguments)
      : Node(line),
        unit_(unit),
        class_(of),
        initialise_(initialise),
        names_(std::move(names)),
        arguments_(std::move(arguments)) {}
  IValue eval(Frame& frame) const override;

 private:
  IValue named_tuple(Frame& frame) const;
  Unit& unit_;
  ScriptClass& class_;
  bool initialise_;
  Names names_;
  Nodes arguments_;
};

class ListOf final : public Node {
 public:
  ListOf(int line, Nodes items) : Node(line), items(std::move(items)) {}
  IValue eval(Frame& frame) const override;
  const Nodes items;
};
class TupleOf final : public Node {
 public:
  TupleOf(int line, Nodes items) : Node(line), items_(std::move(items)) {}
  IValue eval(Frame& frame) const override;

 private:
  Nodes items_;
};
class DictOf final : public Node {
 public:
  DictOf(int line, Nodes items) : Node(line), items_(std::move(items)) {}
  IValue eval(Frame& frame) const override;

 private:
  Nodes items_;  // key, value, key, value
};

/// annotate(T, value): gives a list or dict that was just made its type.
class Annotated final : public Node {
 public:
  Annotated(int line, const std::string& type, NodePtr value);
  IValue eval(Frame& frame) const override;

 private:
  TypePtr item_, key_;
  NodePtr value_;
};

/// isinstance(value, T).
class IsInstance final : public Node {
 public:
  IsInstance(int line, NodePtr value, const std::vector<std::string>& types) : Node(line), value_(std::move(value)) {
    for (const std::string& type : types) types_.emplace_back(type, make_type(type));
  }
  IValue eval(Frame& frame) const override;

 private:
  NodePtr value_;
  std::vector<std::pair<std::string, TypePtr>> types_;
};

class HasAttribute final : public Node {
 public:
  HasAttribute(int line, NodePtr value, std::string name)
      : Node(line), value_(std::move(value)), name_(std::move(name)) {}
  IValue eval(Frame& frame) const override;

 private:
  NodePtr value_;
  std::string name_;
};

/// a and b, a or b.
class Junction final : public Node {
 public:
  Junction(int line, bool all, Nodes parts) : Node(line), all_(all), parts_(std::move(parts)) {}
  IValue eval(Frame& frame) const override;

 private:
  bool all_;
  Nodes parts_;
};
class Choice final : public Node {
 public:
  Choice(int line, NodePtr condition, NodePtr yes, NodePtr no)
      : Node(line), condition_(std::move(condition)), yes_(std::move(yes)), no_(std::move(no)) {}
  IValue eval(Frame& frame) const override;

 private:
  NodePtr condition_, yes_, no_;
};
/// a < b < c: each value is computed once.
class Comparisons final : public Node {
 public:
  Comparisons(int line, Nodes values, const std::vector<std::string>& operators);
  IValue eval(Frame& frame) const override;

 private:
  struct Step {
    std::unique_ptr<OperatorCall> call;
    bool contains, negated;  // in, not in
  };
  Nodes values_;
  std::vector<Step> steps_;
};

/// range(...), enumerate(...), zip(...) as lists.
class Sequence final : public Node {
 public:
  enum class Kind { Range, Enumerate, Zip };
  Sequence(int line, Kind kind, Nodes parts) : Node(line), kind(kind), parts(std::move(parts)) {}
  IValue eval(Frame& frame) const override;
  const Kind kind;
  const Nodes parts;
};
/// start, stop, step of range(...).
std::array<int64_t, 3> range_bounds(const Nodes& parts, Frame& frame);

class Comprehension final : public Node {
 public:
  Comprehension(int line, NodePtr key, NodePtr item, TargetPtr target, NodePtr source, NodePtr condition)
      : Node(line),
        key_(std::move(key)),
        item_(std::move(item)),
        target_(std::move(target)),
        source_(std::move(source)),
        condition_(std::move(condition)) {}
  IValue eval(Frame& frame) const override;

 private:
  NodePtr key_, item_;  // `key_` of a dict
  TargetPtr target_;
  NodePtr source_, condition_;
};

}  // namespace hb::bridge::script
