#include <algorithm>

#include <halfbridge/error.h>

#include "script/nodes_statements.h"
#include "script/raised.h"

namespace hb::bridge::script {

// --- targets

void AttributeTarget::set(Frame& frame, IValue value) const {
  const IValue owner = attribute_->value->eval(frame);
  HB_CHECK(owner.isObject(), "[TorchScript] the attribute '", attribute_->name, "' of a value of type '",
           owner.type()->annotation_str(), "' cannot be set");
  owner.toObject()->setAttr(attribute_->name, std::move(value));
}

void SubscriptTarget::set(Frame& frame, IValue value) const {
  const IValue owner = subscript_->value(frame);
  subscript_->set(owner, subscript_->evaluate(frame), std::move(value));
}

void TupleTarget::set(Frame& frame, IValue value) const {
  std::vector<IValue> items = items_of(value);
  if (!starred_) {
    HB_CHECK(items.size() == targets_.size(), "[TorchScript] expected ", targets_.size(), " values to unpack, got ",
             items.size());
    for (size_t i = 0; i < items.size(); ++i) targets_[i]->set(frame, std::move(items[i]));
    return;
  }
  HB_CHECK(items.size() + 1 >= targets_.size(), "[TorchScript] expected at least ", targets_.size() - 1,
           " values to unpack, got ", items.size());
  const size_t behind = targets_.size() - *starred_ - 1, middle = items.size() - behind - *starred_;
  for (size_t i = 0; i < *starred_; ++i) targets_[i]->set(frame, items[i]);
  const auto from = items.begin() + static_cast<std::ptrdiff_t>(*starred_);
  const std::vector<IValue> some(from, from + static_cast<std::ptrdiff_t>(middle));
  targets_[*starred_]->set(frame, list_of_items(some));
  for (size_t i = 0; i < behind; ++i) targets_[*starred_ + 1 + i]->set(frame, items[*starred_ + middle + i]);
}

// --- statements

Flow Assign::run(Frame& frame) const {
  IValue value = value_->eval(frame);
  for (size_t i = 0; i + 1 < targets_.size(); ++i) targets_[i]->set(frame, value);
  targets_.back()->set(frame, std::move(value));
  return Flow::Next;
}

Augment::Augment(int line, NodePtr read, TargetPtr target, NodePtr value, const std::string& name)
    : Action(line),
      read_(std::move(read)),
      target_(std::move(target)),
      value_(std::move(value)),
      in_place_(name == "aten::floordiv" ? "aten::floor_divide_" : name + "_", Names()),
      plain_(name, Names()),
      has_in_place_(in_place_.known()) {}
Augment::Augment(int line, std::unique_ptr<Subscript> subscript, NodePtr value, const std::string& name)
    : Augment(line, nullptr, nullptr, std::move(value), name) {
  subscript_ = std::move(subscript);
}

IValue Augment::combined(IValue old, IValue value) const {
  const bool changed = (old.isTensor() || old.isList()) && has_in_place_;
  return call_of_two(changed ? in_place_ : plain_, std::move(old), std::move(value));
}

Flow Augment::run_subscript(Frame& frame) const {
  const IValue owner = subscript_->value(frame);
  const auto at = subscript_->evaluate(frame);
  const bool view = owner.isTensor() && Subscript::is_view(at) && has_in_place_;
  IValue made = combined(subscript_->get(owner, at), value_->eval(frame));
  if (!view) subscript_->set(owner, at, std::move(made));
  return Flow::Next;
}

Flow Augment::run(Frame& frame) const {
  if (subscript_) return run_subscript(frame);
  IValue old = read_->eval(frame);
  target_->set(frame, combined(std::move(old), value_->eval(frame)));
  return Flow::Next;
}

Flow If::run(Frame& frame) const { return truth(condition_->eval(frame)) ? body_.run(frame) : otherwise_.run(frame); }

Flow While::run(Frame& frame) const {
  while (truth(condition_->eval(frame))) {
    const Flow flow = body_.run(frame);
    if (flow == Flow::Return) return flow;
    if (flow == Flow::Break) break;
  }
  return Flow::Next;
}

Flow For::run_range(Frame& frame, const Nodes& bounds) const {
  const auto [start, stop, step] = range_bounds(bounds, frame);
  for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
    target_->set(frame, IValue(i));
    const Flow flow = body_.run(frame);
    if (flow == Flow::Return) return flow;
    if (flow == Flow::Break || __builtin_add_overflow(i, step, &i)) break;
  }
  return Flow::Next;
}

/// As many turns as the list has items at first; each takes what stands in it then.
Flow For::run_list(Frame& frame, const IValue& list) const {
  const size_t turns = list.toListRef().size();
  for (size_t i = 0; i < turns; ++i) {
    target_->set(frame, subscript(list, static_cast<int64_t>(i)));
    const Flow flow = body_.run(frame);
    if (flow == Flow::Return) return flow;
    if (flow == Flow::Break) break;
  }
  return Flow::Next;
}

Flow For::run(Frame& frame) const {
  const auto* range = dynamic_cast<const Sequence*>(source_.get());
  if (range && range->kind == Sequence::Kind::Range) return run_range(frame, range->parts);
  const IValue source = source_->eval(frame);
  if (source.isList()) return run_list(frame, source);
  for (IValue& item : items_of(source)) {
    target_->set(frame, std::move(item));
    const Flow flow = body_.run(frame);
    if (flow == Flow::Return) return flow;
    if (flow == Flow::Break) break;
  }
  return Flow::Next;
}

Flow With::run(Frame& frame) const {
  const IValue context = context_->eval(frame);
  HB_CHECK(context.isObject(), "[TorchScript] with expected an object, got a value of type '",
           context.type()->annotation_str(), "'");
  const auto method = [&](const char* name) {
    const ScriptFunction* found = find_method(*context.toObject(), name);
    HB_CHECK(found, "[TorchScript] ", context.toObject()->class_name, " has no method '", name, "'");
    return found;
  };
  const ScriptFunction* leave = method("__exit__");
  const auto exit = [&] {
    Frame inner = leave->frame();
    if (!inner.slots.empty()) inner.slots[0] = context;
    leave->run(std::move(inner));
  };
  IValue entered = method("__enter__")->run({context});
  if (target_) target_->set(frame, std::move(entered));
  Flow flow = Flow::Next;
  try {
    flow = body_.run(frame);
  } catch (...) {
    exit();
    throw;
  }
  exit();
  return flow;
}

Flow Raise::run(Frame& frame) const { throw Raised(kind_, message_ ? to_text(message_->eval(frame)) : ""); }

Flow Assert::run(Frame& frame) const {
  if (truth(condition_->eval(frame))) return Flow::Next;
  throw Raised(std::nullopt, "AssertionError: " + (message_ ? to_text(message_->eval(frame)) : std::string()));
}

Flow Delete::run(Frame& frame) const {
  if (place_) {
    frame.slots[*place_] = IValue();
    return Flow::Next;
  }
  const IValue owner = item_->value(frame);
  const auto at = item_->evaluate(frame);
  HB_CHECK(at.size() == 1, "[TorchScript] del expected one index");
  Values arguments{owner, at[0]};
  IValue nothing;
  HB_CHECK(find_builtins("aten::Delete")->run(arguments, nothing), "[TorchScript] a value of type '",
           owner.type()->annotation_str(), "' does not support item deletion");
  return Flow::Next;
}

}  // namespace hb::bridge::script
