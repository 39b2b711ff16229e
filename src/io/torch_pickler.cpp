#include "io/torch_pickler.h"

#include <utility>

#include <halfbridge/ops/factories.h>

#include "io/io_error.h"
#include "io/torch_types.h"

namespace hb::io {
namespace {

constexpr int kMaxDepth = 200;  // what the readers accept, and an end for a list that contains itself

const char* specialised_list(const std::string& element_type) {
  if (element_type == "int") return "build_intlist";
  if (element_type == "float") return "build_doublelist";
  if (element_type == "bool") return "build_boollist";
  if (element_type == "Tensor") return "build_tensorlist";
  return nullptr;
}

bool is_utf8(const std::string& text) {
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i++]);
    const int rest = first < 0x80 ? 0 : first < 0xc2 ? -1 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : -1;
    if (rest < 0) return false;
    for (int k = 0; k < rest; ++k, ++i) {
      if (i >= text.size() || (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return false;
    }
  }
  return true;
}

}  // namespace

std::string TorchPickler::pickle(const IValue& value, const ClassNames& class_names) {
  class_names_ = &class_names;
  write(value);
  return out_.finish();
}

void TorchPickler::write(const IValue& value) {
  if (++depth_ > kMaxDepth) io_fail("save", "expected at most ", kMaxDepth, " levels of nesting, got more");
  if (value.isNone()) {
    out_.opcode(op::kNone);
  } else if (value.isTensor()) {
    write_tensor(value.toTensor());
  } else if (value.isDouble()) {
    out_.real(value.toDouble());
  } else if (value.isComplexDouble()) {
    write_complex(value.toComplexDouble());
  } else if (value.isInt()) {
    out_.integer(value.toInt());
  } else if (value.isBool()) {
    out_.boolean(value.toBool());
  } else if (value.isString()) {
    write_text(value.toStringRef());
  } else if (value.isDevice()) {
    write_device(value.toDevice());
  } else {
    write_container(value);
  }
  --depth_;
}

// A container that stands in several places is written once: it stays one, and nesting cannot multiply it.
void TorchPickler::write_container(const IValue& value) {
  const auto once = [this](const auto& container, auto&& write_new) {
    const auto known = containers_.find(&container);
    if (known != containers_.end()) return out_.recall(known->second);
    write_new(container);
    containers_.emplace(&container, out_.memoize());
  };
  if (value.isList()) {
    once(*value.toList().data(), [this](const ivalue::ListData& list) { write_list(list); });
  } else if (value.isGenericDict()) {
    once(*value.toGenericDict().data(), [this](const ivalue::DictData& dict) { write_dict(dict); });
  } else if (value.isTuple()) {
    once(value.toTupleRef(), [this](const ivalue::TupleData& tuple) { write_tuple(tuple.items); });
  } else {
    once(*value.toObject(), [this](const ivalue::ObjectData& object) { write_object(object); });
  }
}

// Python's strings are text: other bytes go as bytes, which protocol 2 spells as their code points.
void TorchPickler::write_text(const std::string& text) {
  if (flavour_ != Flavour::Python || is_utf8(text)) return out_.string(text);
  std::string points;
  for (unsigned char byte : text) {
    if (byte >= 0x80) points += static_cast<char>(0xc0 | byte >> 6);
    points += static_cast<char>(byte >= 0x80 ? 0x80 | (byte & 0x3f) : byte);
  }
  out_.global("_codecs", "encode");
  out_.string(points);
  out_.string("latin1");
  out_.opcode(op::kTuple2);
  out_.opcode(op::kReduce);
}

void TorchPickler::write_elements(const std::vector<IValue>& items) {
  out_.opcode(op::kEmptyList);
  out_.opcode(op::kMark);
  for (const IValue& item : items) write(item);
  out_.opcode(op::kAppends);
}

void TorchPickler::write_entries(const ivalue::DictData& dict) {
  out_.opcode(op::kMark);
  for (const auto& [key, value] : dict.entries) {
    write(key);
    write(value);
  }
  out_.opcode(op::kSetItems);
}

void TorchPickler::begin_type_tag() {
  if (flavour_ == Flavour::TorchScript) out_.global("torch.jit._pickle", "restore_type_tag");
}

void TorchPickler::end_type_tag(const std::string& type) {
  if (flavour_ != Flavour::TorchScript) return;
  out_.string(type);
  out_.opcode(op::kTuple2);
  out_.opcode(op::kReduce);
}

void TorchPickler::write_list(const ivalue::ListData& list) {
  const std::string element_type = list.element_type->annotation_str();
  const char* builder = flavour_ == Flavour::TorchScript ? specialised_list(element_type) : nullptr;
  if (!builder) {
    begin_type_tag();
    write_elements(list.items);
    end_type_tag("List[" + element_type + "]");
    return;
  }
  out_.global("torch.jit._pickle", builder);
  out_.opcode(op::kMark);
  write_elements(list.items);
  out_.opcode(op::kTuple);
  out_.opcode(op::kReduce);
}

void TorchPickler::write_dict(const ivalue::DictData& dict) {
  begin_type_tag();
  out_.opcode(op::kEmptyDict);
  write_entries(dict);
  end_type_tag("Dict[" + dict.key_type->annotation_str() + ", " + dict.value_type->annotation_str() + "]");
}

void TorchPickler::write_tuple(const std::vector<IValue>& items) {
  if (items.empty()) return out_.opcode(op::kEmptyTuple);
  if (items.size() > 3) out_.opcode(op::kMark);
  for (const IValue& item : items) write(item);
  constexpr op::Opcode kSmall[] = {op::kTuple1, op::kTuple2, op::kTuple3};
  out_.opcode(items.size() > 3 ? op::kTuple : kSmall[items.size() - 1]);
}

// What an object of a registered class says of itself.
IValue TorchPickler::state_of(const ivalue::ObjectData& object) {
  const auto custom_class = ivalue::find_custom_class(object.class_name);
  if (!custom_class || !custom_class->get_state) {
    io_fail("save", "Cannot serialize custom bound C++ class ", object.class_name,
            ". Please define serialization methods via def_pickle() for this class.");
  }
  return custom_class->get_state(IValue(std::make_shared<ivalue::ObjectData>(object)));
}

void TorchPickler::write_object(const ivalue::ObjectData& object) {
  const auto named = class_names_->find(&object);
  const std::string& name = named == class_names_->end() ? object.class_name : named->second;
  const auto dot = name.rfind('.');
  if (dot == std::string::npos) io_fail("save", "expected a class name with a module, got '", name, "'");
  out_.global(name.substr(0, dot), name.substr(dot + 1));
  out_.opcode(op::kEmptyTuple);
  out_.opcode(op::kNewObj);
  if (object.registered_class) {
    write(state_of(object));
    out_.opcode(op::kBuild);
    return;
  }
  out_.opcode(op::kEmptyDict);
  out_.opcode(op::kMark);
  for (const auto& attribute : object.attributes) {
    out_.string(attribute.name);
    write(attribute.value);
  }
  out_.opcode(op::kSetItems);
  out_.opcode(op::kBuild);
}

void TorchPickler::write_complex(const Complex<double>& value) {
  out_.global("builtins", "complex");
  out_.real(value.real());
  out_.real(value.imag());
  out_.opcode(op::kTuple2);
  out_.opcode(op::kReduce);
}

void TorchPickler::write_device(const Device& device) {
  out_.global("torch", "device");
  out_.string(device.str());
  out_.opcode(op::kTuple1);
  out_.opcode(op::kReduce);
}

void TorchPickler::write_dimensions(IntArrayRef values) {
  out_.opcode(op::kMark);
  for (int64_t value : values) out_.integer(value);
  out_.opcode(op::kTuple);
}

void TorchPickler::write_place_in_table(const Tensor& tensor) {
  out_.global("torch.jit._pickle", "build_tensor_from_id");
  out_.opcode(op::kMark);
  out_.integer(static_cast<int64_t>(table_->size()));
  out_.opcode(op::kTuple);
  out_.opcode(op::kReduce);
  table_->push_back(tensor);
}

void TorchPickler::write_tensor(const Tensor& tensor) {
  if (!table_ && !tensor.defined()) io_fail("save", "expected a defined tensor, got an undefined one");
  const auto known = tensors_.find(tensor.unsafeGetTensorImpl());
  if (known != tensors_.end()) return out_.recall(known->second);
  if (table_) {
    write_place_in_table(tensor);
    tensors_.emplace(tensor.unsafeGetTensorImpl(), out_.memoize());
    return;
  }
  out_.global("torch._utils", "_rebuild_tensor_v2");
  out_.opcode(op::kMark);
  write_storage(tensor);
  out_.integer(tensor.storage_offset());
  write_dimensions(tensor.sizes());
  write_dimensions(tensor.strides());
  out_.boolean(tensor.requires_grad());
  out_.global("collections", "OrderedDict");  // of hooks: none
  out_.opcode(op::kEmptyTuple);
  out_.opcode(op::kReduce);
  out_.opcode(op::kTuple);
  out_.opcode(op::kReduce);
  tensors_.emplace(tensor.unsafeGetTensorImpl(), out_.memoize());
  alive_.push_back(tensor);
}

void TorchPickler::write_storage(const Tensor& tensor) {
  if (tensor.layout() != kStrided)
    io_fail("save", "sparse tensors are not saved; save their indices, values() and sizes(), or to_dense()");
  const ScalarType dtype = tensor.scalar_type();
  const char* name = storage_class(dtype);
  if (!name) io_fail("save", "expected a tensor of a supported dtype, got ", dtype);
  // Two dtypes on one storage are written apart: a storage has one in the file.
  const auto& memory = tensor.unsafeGetTensorImpl()->storage();
  const void* address = tensor.is_meta() ? static_cast<const void*>(memory.get()) : tensor.storage().data();
  const std::string identity = detail::str(address, name);
  const auto known = storage_memo_.find(identity);
  if (tensor.numel() > 0 && known != storage_memo_.end()) return out_.recall(known->second);

  const std::string key = std::to_string(storages_.size());
  const size_t numel = tensor.storage().nbytes() / element_size(dtype);
  const DimVector sizes(1, static_cast<int64_t>(numel)), strides(1, 1);
  const Tensor flat(make_intrusive<TensorImpl>(memory, dtype, sizes, strides, 0));
  if (flat.is_meta())
    storages_.push_back(hb::empty(IntArrayRef(int64_t{0}), TensorOptions().dtype(dtype)));  // its record has no bytes
  else
    storages_.push_back(flat.is_cpu() ? flat : flat.cpu());
  out_.opcode(op::kMark);
  out_.string("storage");
  out_.global("torch", name);
  out_.string(key);
  out_.string(tensor.device().str());
  out_.integer(static_cast<int64_t>(numel));
  out_.opcode(op::kTuple);
  out_.opcode(op::kBinPersId);
  const uint32_t number = out_.memoize();
  if (tensor.numel() > 0) storage_memo_.emplace(identity, number);
}

}  // namespace hb::io
