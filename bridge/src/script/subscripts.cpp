#include "script/subscripts.h"

#include <halfbridge/error.h>
#include <halfbridge/ops.h>

#include "script/builtins.h"

namespace hb::bridge::script {
namespace {

TensorIndex tensor_index(const IValue& item) {
  if (item.isInt()) return item.toInt();
  if (item.isTensor()) return item.toTensor();
  if (item.isNone()) return std::nullopt;
  if (item.isBool()) return item.toBool();
  HB_CHECK(item.isList(),
           "[TorchScript] expected an index that is a number, a slice or a tensor, got a value of type '",
           item.type()->annotation_str(), "'");
  std::vector<int64_t> places;
  for (const IValue& place : item.toListRef()) places.push_back(to_int(place));
  return hb::tensor(places);
}

std::vector<TensorIndex> tensor_indices(const IValue& index) {
  std::vector<TensorIndex> indices;
  if (!index.isTuple()) return {tensor_index(index)};
  for (const IValue& item : index.toTupleRef().elements()) indices.push_back(tensor_index(item));
  return indices;
}

void put(Tensor target, const std::vector<TensorIndex>& indices, const IValue& item) {
  if (item.isTensor()) {
    target.index_put_(indices, item.toTensor());
  } else {
    target.index_put_(indices, item.toScalar());
  }
}

subscripts::Slice slice_of(const IValue& start, const IValue& stop, const IValue& step) {
  const auto bound = [](const IValue& v) { return v.isNone() ? std::nullopt : std::optional<int64_t>(to_int(v)); };
  return {bound(start), bound(stop), bound(step)};
}

}  // namespace

IValue subscript(const IValue& value, const IValue& index) {
  if (value.isList()) {
    const auto& items = value.toListRef();
    return items[place_of(to_int(index), items.size(), "list")];
  }
  if (value.isTensor()) return IValue(value.toTensor().index(tensor_indices(index)));
  if (value.isTuple()) {
    const auto& items = value.toTupleRef().elements();
    return items[place_of(to_int(index), items.size(), "tuple")];
  }
  if (value.isGenericDict()) {
    const auto& data = *value.toGenericDict().data();
    const size_t at = data.find(index);
    HB_CHECK_INDEX(at < data.entries.size(), "[TorchScript] KeyError: ", to_text(index));
    return data.entries[at].second;
  }
  HB_CHECK(value.isString(), "[TorchScript] a value of type '", value.type()->annotation_str(),
           "' is not subscriptable");
  const std::string& text = value.toStringRef();
  return IValue(std::string(1, text[place_of(to_int(index), text.size(), "string")]));
}

void set_subscript(const IValue& value, const IValue& index, IValue item) {
  if (value.isList()) {
    auto& items = value.toList().data()->items;
    items[place_of(to_int(index), items.size(), "list")] = std::move(item);
  } else if (value.isGenericDict()) {
    value.toGenericDict().data()->set(index, std::move(item));
  } else if (value.isTensor()) {
    put(value.toTensor(), tensor_indices(index), item);
  } else {
    throw Error("[TorchScript] a value of type '" + value.type()->annotation_str() +
                "' does not support item assignment");
  }
}

Subscript::Evaluated Subscript::evaluate(Frame& frame) const {
  Evaluated at;
  const auto add = [&](const NodePtr& node) { at.push_back(node ? node->eval(frame) : IValue()); };
  for (const IndexItem& item : items_) {
    if (item.kind == IndexItem::Kind::Ellipsis) continue;
    add(item.value);
    if (item.kind == IndexItem::Kind::Slice) add(item.stop), add(item.step);
  }
  return at;
}

// What a list or a dict is asked for.
IValue Subscript::key(const Evaluated& at) const {
  for (const IndexItem& item : items_)
    HB_CHECK(item.kind == IndexItem::Kind::Value, "[TorchScript] expected an index, got a slice");
  return single() ? at[0] : IValue(ivalue::TupleData::create(at));
}

std::vector<TensorIndex> Subscript::indices(const Evaluated& at) const {
  std::vector<TensorIndex> all;
  size_t next = 0;
  for (const IndexItem& item : items_) {
    if (item.kind == IndexItem::Kind::Ellipsis) {
      all.emplace_back(subscripts::Ellipsis);
    } else if (item.kind == IndexItem::Kind::Slice) {
      all.emplace_back(slice_of(at[next], at[next + 1], at[next + 2]));
      next += 3;
    } else if (single() && at[next].isTuple()) {
      return tensor_indices(at[next]);
    } else {
      all.push_back(tensor_index(at[next++]));
    }
  }
  return all;
}

IValue Subscript::get(const IValue& value, const Evaluated& at) const {
  if (value.isTensor()) return IValue(value.toTensor().index(indices(at)));
  if (items_.size() != 1 || items_[0].kind != IndexItem::Kind::Slice) return subscript(value, key(at));
  Values arguments{value, at[0], at[1], at[2]};
  IValue part;
  HB_CHECK(find_builtins("aten::slice")->run(arguments, part), "[TorchScript] a value of type '",
           value.type()->annotation_str(), "' has no slices");
  return part;
}

void Subscript::set(const IValue& value, const Evaluated& at, IValue item) const {
  if (!value.isTensor()) return set_subscript(value, key(at), std::move(item));
  put(value.toTensor(), indices(at), item);
}

bool Subscript::is_view(const Evaluated& at) {
  for (const IValue& value : at) {
    if (value.isTensor() || value.isList() || value.isBool() || value.isTuple()) return false;
  }
  return true;
}

IValue Subscript::eval(Frame& frame) const {
  const IValue value = value_->eval(frame);
  return get(value, evaluate(frame));
}

}  // namespace hb::bridge::script
