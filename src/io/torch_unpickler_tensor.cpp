// Tensors and storages in PyTorch's pickles.
#include <utility>

#include "io/torch_types.h"
#include "io/torch_unpickler.h"

namespace hb::io {
namespace {

using Kind = PickleNode::Kind;

constexpr size_t kMaxDims = 64;

}  // namespace

DimVector TorchUnpickler::dimensions(const PickleNode& node) const {
  const PickleNode* tuple = &node;
  if (node.kind == Kind::Call && node.callee->text == "torch.Size") tuple = &argument(node, 0, Kind::Tuple, "sizes");
  if (tuple->kind != Kind::List) expect(*tuple, Kind::Tuple, "sizes or strides");
  if (tuple->items.size() > kMaxDims)
    fail(node, "expected at most ", kMaxDims, " dimensions, got ", tuple->items.size());
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
  const LoadedStorage& source = storage(argument(call, 0, Kind::Persistent, "the storage"));
  const int64_t offset = argument(call, 1, Kind::Int, "the offset").integer;
  DimVector sizes = dimensions(*call.arguments->items[2]);
  DimVector strides = dimensions(*call.arguments->items[3]);
  ScalarType dtype = source.dtype;
  if (arguments == 7) {  // an untyped storage and the dtype
    const IValue wanted = convert_global(argument(call, 6, Kind::Global, "the dtype"));
    dtype = static_cast<ScalarType>(wanted.toInt());
  }
  const int64_t numel = static_cast<int64_t>(source.memory->nbytes() / element_size(dtype));
  check_geometry(call, offset, sizes, strides, numel);
  Tensor tensor(make_intrusive<TensorImpl>(source.memory, dtype, std::move(sizes), std::move(strides), offset));
  if (source.device != tensor.device()) tensor = tensor.to(source.device);
  if (arguments > 4 && argument(call, 4, Kind::Bool, "requires_grad").integer != 0) {
    if (!is_floating_type(dtype)) fail(call, "expected a floating dtype for a tensor with a gradient, got ", dtype);
    tensor.requires_grad_(true);
  }
  return tensor;
}

IValue TorchUnpickler::call_rebuild_parameter(const PickleNode& call) {
  const IValue data = convert(argument(call, 0, Kind::Call, "the parameter's tensor"));
  if (!data.isTensor()) fail(call, "expected a tensor, got ", data.tagKind());
  const bool requires_grad = argument(call, 1, Kind::Bool, "requires_grad").integer != 0;
  Tensor parameter = data.toTensor().detach();
  if (requires_grad && !is_floating_type(parameter.scalar_type())) {
    fail(call, "expected a floating dtype for a parameter, got ", parameter.scalar_type());
  }
  parameter.requires_grad_(requires_grad);
  return parameter;
}

const TorchUnpickler::LoadedStorage& TorchUnpickler::storage(const PickleNode& persistent) {
  const PickleNode& id = *persistent.arguments;
  expect(id, Kind::Tuple, "a persistent id");
  if (id.items.size() < 5 || id.items[0]->kind != Kind::String || id.items[0]->text != "storage") {
    fail(id, "expected the id of a storage: ('storage', class, key, device, elements)");
  }
  expect(*id.items[1], Kind::Global, "the storage's class");
  expect(*id.items[2], Kind::String, "the storage's key");
  expect(*id.items[3], Kind::String, "the storage's device");
  expect(*id.items[4], Kind::Int, "the storage's size");
  const std::string& key = id.items[2]->text;
  auto found = storages_.find(key);
  if (found == storages_.end()) found = storages_.emplace(key, load_storage(id)).first;
  if (found->second.dtype != storage_dtype(*id.items[1]) || found->second.numel != id.items[4]->integer) {
    fail(id, "storage '", key, "' is described in two ways");
  }
  return found->second;
}

ScalarType TorchUnpickler::storage_dtype(const PickleNode& type) const {
  const std::string& name = type.text;
  if (name == "torch.storage.UntypedStorage" || name == "torch.UntypedStorage") return kByte;
  const std::string prefix = "torch.";
  if (name.compare(0, prefix.size(), prefix) == 0) {
    if (const auto dtype = dtype_of_storage_class(std::string_view(name).substr(prefix.size()))) return *dtype;
  }
  fail(type, "expected the class of a storage with a supported dtype, got '", name, "'");
}

TorchUnpickler::LoadedStorage TorchUnpickler::load_storage(const PickleNode& id) {
  const ScalarType dtype = storage_dtype(*id.items[1]);
  const int64_t numel = id.items[4]->integer;
  size_t nbytes = 0;
  if (numel < 0 || __builtin_mul_overflow(static_cast<size_t>(numel), element_size(dtype), &nbytes)) {
    fail(id, "expected a storage size of at least 0 that fits into memory, got ", numel);
  }
  const Device device = device_ ? *device_ : Device(id.items[3]->text);
  LoadedStorage loaded{read_storage_(id.items[2]->text, nbytes), dtype, numel, device};
  return loaded;
}

}  // namespace hb::io
