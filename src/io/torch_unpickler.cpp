#include "io/torch_unpickler.h"

#include <algorithm>
#include <utility>

#include <halfbridge/tensor_type.h>
#include <halfbridge/type_tree.h>

#include "io/torch_types.h"

namespace hb::io {
namespace {

using Kind = PickleNode::Kind;

// A nested module or dict takes up to three levels. Each level is a few frames of the stack.
constexpr int kMaxDepth = 600;
// Writers share what Python shares: names, small tuples. More copies than this of a shared part are an attack.
constexpr size_t kFreeItems = size_t{1} << 16, kItemsPerByte = 2;
constexpr size_t kFreeText = size_t{1} << 20, kTextPerByte = 64;

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

// Whether a value may stand in a list that build_intlist and its like make.
bool fits(const IValue& item, TypeKind element) {
  switch (element) {
    case TypeKind::IntType:
      return item.isInt();
    case TypeKind::FloatType:
      return item.isDouble();
    case TypeKind::BoolType:
      return item.isBool();
    case TypeKind::TensorType:
      return item.isTensor();
    default:
      return true;
  }
}

}  // namespace

TorchUnpickler::TorchUnpickler(const PickleGraph& graph, StorageReader read_storage, std::optional<Device> device,
                               ClassReader read_class)
    : graph_(graph), read_storage_(std::move(read_storage)), read_class_(std::move(read_class)), device_(device) {}

void TorchUnpickler::expect(const PickleNode& node, Kind kind, const char* what) const {
  if (node.kind != kind) fail(node, "expected ", kind_name(kind), " for ", what, ", got ", kind_name(node.kind));
}

const PickleNode& TorchUnpickler::argument(const PickleNode& call, size_t index, Kind kind, const char* what) const {
  const auto& arguments = call.arguments->items;
  if (index >= arguments.size()) {
    fail(call, call.callee->text, ": expected more than ", index, " arguments, got ", arguments.size());
  }
  expect(*arguments[index], kind, what);
  return *arguments[index];
}

void TorchUnpickler::charge_items(const PickleNode& node, size_t count) {
  items_ += count;
  if (items_ > kFreeItems + kItemsPerByte * graph_.size()) {
    fail(node, "its parts are shared so often that they do not fit into memory");
  }
}

void TorchUnpickler::charge_text(const PickleNode& node, size_t bytes) {
  text_ += bytes;
  if (text_ > kFreeText + kTextPerByte * graph_.size()) {
    fail(node, "its texts are shared so often that they do not fit into memory");
  }
}

IValue TorchUnpickler::convert(const PickleNode& node, bool again) {
  if (node.kind == Kind::None || node.kind == Kind::Bool || node.kind == Kind::Int || node.kind == Kind::Float) {
    return convert_new(node);  // no others share it
  }
  const bool shared = node.shared || again;
  if (shared) {
    const auto known = values_.find(&node);
    if (known != values_.end()) return known->second;
  }
  if (depth_ >= kMaxDepth) fail(node, "expected at most ", kMaxDepth, " levels of nesting, got more");
  if (shared && !in_progress_.insert(&node).second) fail(node, kind_name(node.kind), " contains itself");
  ++depth_;
  IValue value = convert_new(node);
  --depth_;
  if (shared) {  // remembering each of many small values would take as much memory as they do
    in_progress_.erase(&node);
    values_.emplace(&node, value);
  }
  return value;
}

IValue TorchUnpickler::convert_new(const PickleNode& node) {
  switch (node.kind) {
    case Kind::None:
      return IValue();
    case Kind::Bool:
      return IValue(node.integer != 0);
    case Kind::Int:
      return IValue(node.integer);
    case Kind::Float:
      return IValue(node.real);
    case Kind::String:
    case Kind::Bytes:
      return IValue(node.text);
    case Kind::List:
    case Kind::Set: {
      auto list = std::make_shared<ivalue::ListData>();
      list->element_type = AnyType::get();
      list->items = convert_items(node);
      return IValue(std::move(list));
    }
    case Kind::Tuple:
      return IValue(ivalue::TupleData::create(convert_items(node)));
    case Kind::Dict:
      return convert_dict(node);
    case Kind::Global:
      return convert_global(node);
    case Kind::Call:
      return convert_call(node);
    case Kind::Object:
      return convert_object(node);
    case Kind::Persistent:
      break;
  }
  fail(node, "expected a value, got ", kind_name(node.kind));
}

std::vector<IValue> TorchUnpickler::convert_items(const PickleNode& node, bool again) {
  std::vector<IValue> items;
  items.reserve(node.items.size());
  for (const PickleNode* item : node.items) items.push_back(convert(*item, again));
  return items;
}

// Tuples of tuples are refused: shared ones could take a time to hash that doubles with each level.
void TorchUnpickler::check_key(const PickleNode& node, const IValue& key) {
  const auto is_plain = [&](const IValue& item) {
    if (item.isString()) charge_text(node, item.toStringRef().size());
    return !item.isList() && !item.isGenericDict() && !item.isObject() && !item.isTuple();
  };
  if (is_plain(key)) return;
  if (key.isTuple()) {
    const auto& items = key.toTupleRef().elements();
    charge_items(node, items.size());
    if (std::all_of(items.begin(), items.end(), is_plain)) return;
  }
  fail(node, "expected a plain value or a tuple of them as key, got ", key.tagKind());
}

IValue TorchUnpickler::convert_dict(const PickleNode& node) {
  if (node.items.size() % 2 != 0) fail(node, "expected a value for each key");
  Dict<IValue, IValue> dict;
  for (size_t i = 0; i < node.items.size(); i += 2) {
    IValue key = convert(*node.items[i]);
    check_key(node, key);
    dict.insert_or_assign(std::move(key), convert(*node.items[i + 1]));
  }
  return dict;
}

// A dtype or a layout is its number, as in LibTorch.
IValue TorchUnpickler::convert_global(const PickleNode& node) {
  if (starts_with(node.text, "torch.")) {
    const std::string_view name = std::string_view(node.text).substr(6);
    if (const auto dtype = dtype_of_name(name)) return IValue(static_cast<int64_t>(*dtype));
    if (name == "strided") return IValue(int64_t{0});
  }
  fail(node, "class '", node.text, "' is not allowed here");
}

IValue TorchUnpickler::convert_object(const PickleNode& node) {
  const std::string& name = node.callee->text;
  if (!starts_with(name, "__torch__.")) fail(node, "class '", name, "' is not allowed");
  if (!node.items.empty()) fail(node, "class '", name, "': expected no elements");
  auto object = std::make_shared<ivalue::ObjectData>();
  object->class_name = name;
  charge_text(node, name.size());
  if (!node.state) fail(node, "class '", name, "': expected a state, got none");
  const auto custom_class = ivalue::find_custom_class(name);
  if (custom_class && custom_class->set_state) {
    object->registered_class = custom_class->type;
    IValue value(std::move(object));
    custom_class->set_state(value, convert(*node.state));
    return value;
  }
  if (node.state->kind != Kind::Dict) {  // a class with its own __setstate__
    object->set("__state__", convert(*node.state), ivalue::ObjectData::Role::Attribute);
    if (read_class_) object->declared = read_class_(name);
    return IValue(std::move(object));
  }
  charge_items(node, node.state->items.size());
  auto declared = read_class_ ? read_class_(name) : nullptr;
  ivalue::ObjectData state;
  ivalue::ObjectData& target = declared ? state : *object;
  const bool again = node.state->shared;
  for (size_t i = 0; i + 1 < node.state->items.size(); i += 2) {
    const PickleNode& key = *node.state->items[i];
    expect(key, Kind::String, "the name of an attribute");
    charge_text(key, key.text.size());
    target.set(key.text, convert(*node.state->items[i + 1], again), ivalue::ObjectData::Role::Attribute);
  }
  if (declared) set_declared(node, std::move(declared), state, *object);
  return IValue(std::move(object));
}

// The class says in which order attributes stand, and which of them are parameters and buffers.
void TorchUnpickler::set_declared(const PickleNode& node, std::shared_ptr<const ivalue::ClassData> declared,
                                  const ivalue::ObjectData& state, ivalue::ObjectData& object) const {
  for (const auto& field : declared->fields) {
    const auto* attribute = state.find(field.name);
    if (!attribute) fail(node, "class '", object.class_name, "': expected an attribute '", field.name, "', got none");
    object.set(field.name, attribute->value, field.role);
  }
  object.declared = std::move(declared);
}

IValue TorchUnpickler::convert_call(const PickleNode& call) {
  const std::string& name = call.callee->text;
  if (name == "torch._utils._rebuild_tensor_v2") return call_rebuild_tensor(call, 6);
  if (name == "torch._utils._rebuild_tensor_v3") return call_rebuild_tensor(call, 7);
  if (name == "torch._utils._rebuild_tensor") return call_rebuild_tensor(call, 4);
  if (name == "torch._utils._rebuild_parameter") return call_rebuild_parameter(call);
  if (name == "torch._utils._rebuild_parameter_with_state") return call_rebuild_parameter(call);
  if (name == "collections.OrderedDict") return call_ordered_dict(call);
  if (name == "torch.jit._pickle.restore_type_tag") return call_restore_type_tag(call);
  if (name == "torch.jit._pickle.build_intlist") return call_build_list(call, IntType::get());
  if (name == "torch.jit._pickle.build_doublelist") return call_build_list(call, FloatType::get());
  if (name == "torch.jit._pickle.build_boollist") return call_build_list(call, BoolType::get());
  if (name == "torch.jit._pickle.build_tensorlist") return call_build_list(call, TensorType::get());
  if (name == "torch.jit._pickle.build_tensor_from_id") return call_tensor_of_table(call);
  if (name == "torch.device") return call_device(call);
  if (name == "builtins.complex" || name == "__builtin__.complex") return call_complex(call);
  if (name == "torch.Size") {
    const PickleNode& sizes = argument(call, 0, Kind::Tuple, "sizes");
    charge_items(call, sizes.items.size());
    return IValue(ivalue::TupleData::create(convert_items(sizes, call.arguments->shared || sizes.shared)));
  }
  if (name == "_codecs.encode") return call_encode(call);
  if (name == "builtins.set" || name == "__builtin__.set") {
    return call.arguments->items.empty() ? IValue(List<IValue>()) : call_build_list(call, AnyType::get());
  }
  if (starts_with(name, "torch._utils._rebuild_q")) fail(call, "quantised tensors are not supported");
  if (starts_with(name, "torch._utils._rebuild_sparse")) fail(call, "sparse tensors are not supported in files");
  fail(call, "function '", name, "' is not allowed");
}

IValue TorchUnpickler::call_ordered_dict(const PickleNode& call) {
  Dict<IValue, IValue> dict = convert_dict(call).toGenericDict();
  if (call.arguments->items.empty()) return dict;
  const PickleNode& entries = argument(call, 0, Kind::List, "the entries");
  charge_items(call, entries.items.size());
  for (const PickleNode* pair : entries.items) {
    const bool again = call.arguments->shared || entries.shared || pair->shared;
    if ((pair->kind != Kind::List && pair->kind != Kind::Tuple) || pair->items.size() != 2) {
      fail(*pair, "expected a key and a value");
    }
    IValue key = convert(*pair->items[0], again);
    check_key(*pair, key);
    dict.insert_or_assign(std::move(key), convert(*pair->items[1], again));
  }
  return dict;
}

IValue TorchUnpickler::call_build_list(const PickleNode& call, TypePtr element_type) {
  auto list = std::make_shared<ivalue::ListData>();
  const PickleNode& elements = argument(call, 0, Kind::List, "the elements");
  charge_items(call, elements.items.size());
  list->items = convert_items(elements, call.arguments->shared || elements.shared);
  for (const IValue& item : list->items) {
    if (!fits(item, element_type->kind())) {
      fail(call, call.callee->text, ": expected elements of type ", element_type->annotation_str(), ", got ",
           item.tagKind());
    }
  }
  list->element_type = std::move(element_type);
  return IValue(std::move(list));
}

IValue TorchUnpickler::call_restore_type_tag(const PickleNode& call) {
  const std::string& tag = argument(call, 1, Kind::String, "the type").text;
  charge_text(call, tag.size());
  IValue value = convert(*call.arguments->items[0], call.arguments->shared);
  const TypePtr type = make_type(tag);
  if (value.isList() && type->kind() == TypeKind::ListType) {
    value.toList().data()->element_type = type->containedType(0);
  } else if (value.isGenericDict() && type->kind() == TypeKind::DictType) {
    value.toGenericDict().data()->key_type = type->containedType(0);
    value.toGenericDict().data()->value_type = type->containedType(1);
  }
  return value;
}

IValue TorchUnpickler::call_device(const PickleNode& call) {
  Device device(argument(call, 0, Kind::String, "the device").text);
  if (call.arguments->items.size() > 1) {
    const int64_t index = argument(call, 1, Kind::Int, "the device's number").integer;
    if (index < 0 || index > 127) fail(call, "expected a device number of 0 to 127, got ", index);
    device.set_index(static_cast<DeviceIndex>(index));
  }
  return IValue(device);
}

IValue TorchUnpickler::call_complex(const PickleNode& call) {
  const double re = argument(call, 0, Kind::Float, "the real part").real;
  return IValue(Complex<double>(re, argument(call, 1, Kind::Float, "the imaginary part").real));
}

// Protocol 2 has no bytes: they travel as a string of the same code points.
IValue TorchUnpickler::call_encode(const PickleNode& call) {
  const std::string& text = argument(call, 0, Kind::String, "the text").text;
  charge_text(call, text.size());
  if (argument(call, 1, Kind::String, "the encoding").text != "latin1") fail(call, "expected the encoding latin1");
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto first = static_cast<unsigned char>(text[i]);
    if (first < 0x80) {
      bytes += text[i];
    } else if ((first & 0xfc) == 0xc0 && i + 1 < text.size()) {
      bytes += static_cast<char>((first & 3) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f));
    } else {
      fail(call, "expected code points below 256");
    }
  }
  return IValue(std::move(bytes));
}

}  // namespace hb::io
