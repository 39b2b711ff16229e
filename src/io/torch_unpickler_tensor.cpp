// Tensors and storages in PyTorch's pickles.
#include <iterator>
#include <utility>

#include "core/device_backend.h"
#include "io/torch_types.h"
#include "io/torch_unpickler.h"

namespace hb::io {
namespace {

using Kind = PickleNode::Kind;

constexpr size_t kMaxDims = 64;

template <typename... Parts>
[[noreturn]] void fail_at(const PickleNode& node, const std::string& label, const Parts&... parts) {
  io_fail("pickle", "'", label, "', byte ", node.offset, ": ", parts...);
}

ScalarType storage_dtype(const PickleNode& type, const std::string& label) {
  const std::string& name = type.text;
  if (name == "torch.storage.UntypedStorage" || name == "torch.UntypedStorage") return kByte;
  const std::string prefix = "torch.";
  if (name.compare(0, prefix.size(), prefix) == 0) {
    if (const auto dtype = dtype_of_storage_class(std::string_view(name).substr(prefix.size()))) return *dtype;
  }
  fail_at(type, label, "expected the class of a storage with a supported dtype, got '", name, "'");
}

}  // namespace

StorageId storage_id(const PickleNode& persistent, const std::string& label) {
  const PickleNode& id = *persistent.arguments;
  if (id.kind == Kind::Tuple && !id.items.empty() && id.items[0]->kind == Kind::String &&
      id.items[0]->text == "module") {
    fail_at(id, label, "it holds a whole Python module, not its state_dict(): save that instead");
  }
  constexpr Kind kKinds[] = {Kind::String, Kind::Global, Kind::String, Kind::String, Kind::Int};
  bool fits = id.kind == Kind::Tuple && id.items.size() >= std::size(kKinds);
  for (size_t i = 0; fits && i < std::size(kKinds); ++i) fits = id.items[i]->kind == kKinds[i];
  if (!fits || id.items[0]->text != "storage") {
    fail_at(id, label, "expected the id of a storage: ('storage', class, key, device, elements)");
  }
  if (id.items[2]->text.size() > kMaxPickleName || id.items[3]->text.size() > kMaxPickleName) {
    fail_at(id, label, "expected names of storages and devices of at most ", kMaxPickleName, " bytes");
  }
  StorageId result{id.items[2]->text, id.items[3]->text, storage_dtype(*id.items[1], label), id.items[4]->integer, 0};
  if (result.numel < 0 ||
      __builtin_mul_overflow(static_cast<size_t>(result.numel), element_size(result.dtype), &result.nbytes)) {
    fail_at(id, label, "expected a storage size of at least 0 that fits into memory, got ", result.numel);
  }
  return result;
}

DimVector TorchUnpickler::dimensions(const PickleNode& node) {
  const PickleNode* tuple = &node;
  if (node.kind == Kind::Call && node.callee->text == "torch.Size") tuple = &argument(node, 0, Kind::Tuple, "sizes");
  if (tuple->kind != Kind::List) expect(*tuple, Kind::Tuple, "sizes or strides");
  if (tuple->items.size() > kMaxDims)
    fail(node, "expected at most ", kMaxDims, " dimensions, got ", tuple->items.size());
  charge_items(node, tuple->items.size());
  DimVector values;
  for (const PickleNode* item : tuple->items) {
    expect(*item, Kind::Int, "a size or stride");
    if (item->integer < 0) fail(*item, "expected a size or stride of at least 0, got ", item->integer);
    values.push_back(item->integer);
  }
  return values;
}

void TorchUnpickler::check_geometry(const PickleNode& call, int64_t offset, const DimVector& sizes,
                                    const DimVector& strides, int64_t numel) const {
  if (sizes.size() != strides.size()) {
    fail(call, "expected as many strides as sizes, got ", strides.size(), " and ", sizes.size());
  }
  bool overflow = offset < 0;
  int64_t count = 1;
  for (int64_t size : sizes) overflow |= __builtin_mul_overflow(count, size, &count);
  int64_t last = offset;
  for (size_t i = 0; i < sizes.size() && count != 0; ++i) {
    int64_t step = 0;
    overflow |= __builtin_mul_overflow(sizes[i] - 1, strides[i], &step);
    overflow |= __builtin_add_overflow(last, step, &last);
  }
  if (overflow || (count != 0 ? last >= numel : offset > numel)) {
    fail(call, "expected a tensor within its storage of ", numel, " elements, got sizes ", IntArrayRef(sizes),
         ", strides ", IntArrayRef(strides), ", offset ", offset);
  }
}

IValue TorchUnpickler::call_rebuild_tensor(const PickleNode& call, size_t arguments) {
  if (call.arguments->items.size() < arguments) {
    fail(call, call.callee->text, ": expected ", arguments, " arguments, got ", call.arguments->items.size());
  }
  const PickleNode& persistent = argument(call, 0, Kind::Persistent, "the storage");
  const LoadedStorage& source = storage(persistent);
  const int64_t offset = argument(call, 1, Kind::Int, "the offset").integer;
  DimVector sizes = dimensions(*call.arguments->items[2]);
  DimVector strides = dimensions(*call.arguments->items[3]);
  ScalarType dtype = source.dtype;
  if (arguments == 7) {  // an untyped storage and the dtype
    const IValue wanted = convert_global(argument(call, 6, Kind::Global, "the dtype"));
    dtype = static_cast<ScalarType>(wanted.toInt());
  }
  const Window place = window(persistent, source, dtype);
  check_geometry(call, offset, sizes, strides, place.numel);
  Tensor tensor(
      make_intrusive<TensorImpl>(source.memory, dtype, std::move(sizes), std::move(strides), place.offset + offset));
  if (arguments > 4 && argument(call, 4, Kind::Bool, "requires_grad").integer != 0) {
    if (!is_differentiable_type(dtype))
      fail(call, "expected a floating dtype for a tensor with a gradient, got ", dtype);
    tensor.requires_grad_(true);
  }
  return tensor;
}

IValue TorchUnpickler::call_rebuild_parameter(const PickleNode& call) {
  const IValue data = convert(argument(call, 0, Kind::Call, "the parameter's tensor"), call.arguments->shared);
  if (!data.isTensor()) fail(call, "expected a tensor, got ", data.tagKind());
  const bool requires_grad = argument(call, 1, Kind::Bool, "requires_grad").integer != 0;
  Tensor parameter = data.toTensor().detach();
  if (requires_grad && !is_differentiable_type(parameter.scalar_type())) {
    fail(call, "expected a floating dtype for a parameter, got ", parameter.scalar_type());
  }
  parameter.requires_grad_(requires_grad);
  return parameter;
}

IValue TorchUnpickler::call_tensor_of_table(const PickleNode& call) {
  const int64_t place = argument(call, 0, Kind::Int, "the tensor's place").integer;
  if (!table_) fail(call, "Found a tensor table reference but Unpickler has no tensor table");
  const auto size = static_cast<int64_t>(table_->size());
  if (place < 0 || place >= size) fail(call, "expected a place in the table of ", size, " tensors, got ", place);
  return (*table_)[static_cast<size_t>(place)];
}

const TorchUnpickler::LoadedStorage& TorchUnpickler::storage(const PickleNode& persistent) {
  const StorageId id = storage_id(persistent, graph_.label());
  auto found = storages_.find(id.key);
  if (found == storages_.end()) found = storages_.emplace(id.key, load_storage(id)).first;
  if (found->second.dtype != id.dtype || found->second.numel != id.numel) {
    fail(persistent, "storage '", id.key, "' is described in two ways");
  }
  return found->second;
}

// The elements of the storage that a tensor may use. The oldest files know parts of storages: (key, offset, elements).
TorchUnpickler::Window TorchUnpickler::window(const PickleNode& persistent, const LoadedStorage& source,
                                              ScalarType dtype) const {
  const auto& id = persistent.arguments->items;
  const auto numel = static_cast<int64_t>(source.memory->nbytes() / element_size(dtype));
  if (id.size() < 6 || id[5]->kind == Kind::None) return {0, numel};
  const PickleNode& view = *id[5];
  expect(view, Kind::Tuple, "a part of a storage");
  if (view.items.size() != 3) fail(view, "expected a part of a storage: (key, offset, elements)");
  expect(*view.items[1], Kind::Int, "the part's offset");
  expect(*view.items[2], Kind::Int, "the part's size");
  const int64_t offset = view.items[1]->integer, size = view.items[2]->integer;
  if (dtype != source.dtype || offset < 0 || size < 0 || offset > numel || size > numel - offset) {
    fail(view, "expected a part within the storage's ", numel, " elements, got ", size, " at ", offset);
  }
  return {offset, size};
}

TorchUnpickler::LoadedStorage TorchUnpickler::load_storage(const StorageId& id) {
  const Device device = indexed_device("load", device_ ? *device_ : Device(id.device));
  if (id.device == "meta") {
    HB_CHECK(device.is_meta(), "[load] expected a file with values for the device ", device, ", got tensors on meta");
    return {StorageImpl::allocate(id.nbytes, device), id.dtype, id.numel};
  }
  intrusive_ptr<StorageImpl> memory = read_storage_(id.key, id.nbytes);
  if (!device.is_cpu()) {
    auto there = StorageImpl::allocate(id.nbytes, device);
    copy_memory(there->data(), device, memory->data(), kCPU, id.nbytes);
    memory = std::move(there);
  }
  return {std::move(memory), id.dtype, id.numel};
}

}  // namespace hb::io
