// Expressions that make, choose and look at values.
#include <algorithm>
#include <utility>

#include <halfbridge/bridge/jit.h>
#include <halfbridge/error.h>
#include <halfbridge/tensor_type.h>

#include "dispatch/schema_types.h"
#include "script/nodes.h"

namespace hb::bridge::script {

IValue Attribute::of(const IValue& object) const {
  if (object.isObject()) {
    const ivalue::ObjectData& data = *object.toObject();
    const uint32_t known = place_.load(std::memory_order_relaxed);
    if (known < data.attributes.size() && data.attributes[known].name == name) return data.attributes[known].value;
    if (const auto* found = data.find(name)) {
      place_.store(static_cast<uint32_t>(found - data.attributes.data()), std::memory_order_relaxed);
      return found->value;
    }
    return jit::Object(object.toObject()).attr(name);
  }
  IValue result;
  HB_CHECK(property(object, name, result), "[TorchScript] a value of type '", object.type()->annotation_str(),
           "' has no attribute '", name, "'");
  return result;
}

IValue ListOf::eval(Frame& frame) const {
  std::vector<IValue> values;
  values.reserve(items.size());
  for (const NodePtr& item : items) values.push_back(item->eval(frame));
  return list_of_items(std::move(values));
}

IValue TupleOf::eval(Frame& frame) const {
  std::vector<IValue> values;
  values.reserve(items_.size());
  for (const NodePtr& item : items_) values.push_back(item->eval(frame));
  return IValue(ivalue::TupleData::create(std::move(values)));
}

namespace {

TypePtr type_of_value(const IValue& value) { return value.isTensor() ? TensorType::get() : value.type(); }

// Types of a dict that has none yet, from its first entry.
void set_types(ivalue::DictData& data) {
  if (data.entries.empty()) return;
  data.key_type = data.entries[0].first.type();
  data.value_type = type_of_value(data.entries[0].second);
  for (const auto& entry : data.entries) {
    if (*type_of_value(entry.second) != *data.value_type) data.value_type = AnyType::get();
  }
}

}  // namespace

IValue DictOf::eval(Frame& frame) const {
  Dict<IValue, IValue> made;
  for (size_t i = 0; i < items_.size(); i += 2) {
    IValue key = items_[i]->eval(frame);
    made.insert_or_assign(std::move(key), items_[i + 1]->eval(frame));
  }
  set_types(*made.data());
  return IValue(made.data());
}

// --- types

Annotated::Annotated(int line, const std::string& type, NodePtr value) : Node(line), value_(std::move(value)) {
  TypePtr wanted = make_type(type);
  if (wanted->kind() == TypeKind::OptionalType) wanted = wanted->containedType(0);
  if (wanted->kind() == TypeKind::ListType) {
    item_ = wanted->containedType(0);
  } else if (wanted->kind() == TypeKind::DictType) {
    key_ = wanted->containedType(0);
    item_ = wanted->containedType(1);
  }
}

IValue Annotated::eval(Frame& frame) const {
  IValue value = value_->eval(frame);
  if (value.isList() && item_ && !key_) value.toList().data()->element_type = item_;
  if (value.isGenericDict() && key_) {
    value.toGenericDict().data()->key_type = key_;
    value.toGenericDict().data()->value_type = item_;
  }
  return value;
}

namespace {

bool is_instance(const IValue& value, const std::string& text, const Type& type) {
  if (text == "list" || text == "List") return value.isList();
  if (text == "tuple" || text == "Tuple") return value.isTuple();
  if (text == "dict" || text == "Dict") return value.isGenericDict();
  switch (type.kind()) {
    case TypeKind::AnyType:
      return true;
    case TypeKind::ClassType:
      HB_CHECK(text.rfind("__torch__.", 0) == 0, "[TorchScript] isinstance() does not know the type '", text, "'");
      return value.isObject() && value.toObject()->class_name == text;
    case TypeKind::VarType:
    case TypeKind::UnionType:
      throw Error("[TorchScript] isinstance() does not know the type '" + text + "'");
    default:
      return value_fits(value, type);
  }
}

}  // namespace

IValue IsInstance::eval(Frame& frame) const {
  const IValue value = value_->eval(frame);
  return std::any_of(types_.begin(), types_.end(),
                     [&](const auto& type) { return is_instance(value, type.first, *type.second); });
}

IValue HasAttribute::eval(Frame& frame) const {
  const IValue value = value_->eval(frame);
  if (!value.isObject()) return false;
  return jit::Object(value.toObject()).hasattr(name_) || find_method(*value.toObject(), name_) != nullptr;
}

// --- choices

IValue Junction::eval(Frame& frame) const {
  IValue value;
  for (const NodePtr& part : parts_) {
    value = part->eval(frame);
    if (truth(value) != all_) return value;
  }
  return value;
}

IValue Choice::eval(Frame& frame) const {
  return truth(condition_->eval(frame)) ? yes_->eval(frame) : no_->eval(frame);
}

Comparisons::Comparisons(int line, Nodes values, const std::vector<std::string>& operators)
    : Node(line), values_(std::move(values)) {
  for (const std::string& symbol : operators) {
    const char* name = symbol == "<"        ? "lt"
                       : symbol == ">"      ? "gt"
                       : symbol == "<="     ? "le"
                       : symbol == ">="     ? "ge"
                       : symbol == "=="     ? "eq"
                       : symbol == "!="     ? "ne"
                       : symbol == "is"     ? "__is__"
                       : symbol == "is not" ? "__isnot__"
                                            : "__contains__";
    steps_.push_back({std::make_unique<OperatorCall>(std::string("aten::") + name, Names()), symbol.ends_with("in"),
                      symbol == "not in"});
  }
}

IValue Comparisons::eval(Frame& frame) const {
  IValue left = values_[0]->eval(frame), result;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    const bool last = i + 1 == steps_.size();
    IValue right = values_[i + 1]->eval(frame), next = last ? IValue() : right;
    if (step.contains) std::swap(left, right);
    result = call_of_two(*step.call, std::move(left), std::move(right));
    if (step.negated) result = !result.toBool();
    if (!last && !truth(result)) return result;
    left = std::move(next);
  }
  return result;
}

// --- sequences

std::array<int64_t, 3> range_bounds(const Nodes& parts, Frame& frame) {
  std::array<int64_t, 3> bounds{0, 0, 1};
  std::vector<int64_t> given;
  for (const NodePtr& part : parts) given.push_back(to_int(part->eval(frame)));
  if (given.size() == 1) {
    bounds[1] = given[0];
  } else {
    std::copy(given.begin(), given.end(), bounds.begin());
  }
  HB_CHECK_VALUE(bounds[2] != 0, "[TorchScript] ValueError: range() arg 3 must not be zero");
  return bounds;
}

namespace {

IValue tuple_of(std::vector<IValue> items) { return IValue(ivalue::TupleData::create(std::move(items))); }

}  // namespace

IValue Sequence::eval(Frame& frame) const {
  std::vector<IValue> made;
  if (kind == Kind::Range) {
    const auto [start, stop, step] = range_bounds(parts, frame);
    for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
      HB_CHECK(made.size() < kMostItems, "[TorchScript] expected a shorter range");
      made.emplace_back(i);
      if (__builtin_add_overflow(i, step, &i)) break;
    }
    IValue list = list_of_items(std::move(made));
    list.toList().data()->element_type = IntType::get();
    return list;
  }
  if (kind == Kind::Enumerate) {
    int64_t i = parts.size() == 2 ? to_int(parts[1]->eval(frame)) : 0;
    for (IValue& item : items_of(parts[0]->eval(frame))) made.push_back(tuple_of({IValue(i++), std::move(item)}));
    return list_of_items(std::move(made));
  }
  std::vector<std::vector<IValue>> columns;
  size_t count = kMostItems;
  for (const NodePtr& part : parts) {
    columns.push_back(items_of(part->eval(frame)));
    count = std::min(count, columns.back().size());
  }
  for (size_t i = 0; i < count && !columns.empty(); ++i) {
    std::vector<IValue> row;
    for (auto& column : columns) row.push_back(std::move(column[i]));
    made.push_back(tuple_of(std::move(row)));
  }
  return list_of_items(std::move(made));
}

IValue Comprehension::eval(Frame& frame) const {
  std::vector<IValue> made;
  Dict<IValue, IValue> dict;
  for (IValue& item : items_of(source_->eval(frame))) {
    target_->set(frame, std::move(item));
    if (condition_ && !truth(condition_->eval(frame))) continue;
    if (key_) {
      IValue key = key_->eval(frame);
      dict.insert_or_assign(std::move(key), item_->eval(frame));
    } else {
      made.push_back(item_->eval(frame));
    }
  }
  if (!key_) return list_of_items(std::move(made));
  set_types(*dict.data());
  return IValue(dict.data());
}

}  // namespace hb::bridge::script
