// Functions with LibTorch's schemas that the dispatcher does not have: tensors of values, and what tensors know.
#include <halfbridge/error.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "script/operators_own.h"

namespace hb::bridge::script {
namespace {

/// The dtype of no numbers: their list's type has it.
ScalarType dtype_of_empty(const IValue& data) {
  if (data.isList() && !data.toListRef().empty()) return dtype_of_empty(data.toListRef()[0]);
  const TypeKind kind = data.isList() ? data.toList().data()->element_type->kind() : TypeKind::AnyType;
  return kind == TypeKind::IntType    ? kLong
         : kind == TypeKind::BoolType ? kBool
                                      : typeMetaToScalarType(get_default_dtype());
}

void collect(const IValue& value, std::vector<int64_t>& sizes, size_t depth, std::vector<IValue>& numbers) {
  if (!value.isList() && !value.isTuple()) {
    HB_CHECK(depth == sizes.size(), "[TorchScript] tensor(): expected rows of one length");
    numbers.push_back(value);
    return;
  }
  const std::vector<IValue> items = items_of(value);
  const auto count = static_cast<int64_t>(items.size());
  HB_CHECK(depth < 64, "[TorchScript] tensor(): expected at most 64 dimensions");
  if (depth == sizes.size() && numbers.empty()) sizes.push_back(count);
  HB_CHECK(depth < sizes.size() && sizes[depth] == count, "[TorchScript] tensor(): expected rows of one length");
  for (const IValue& item : items) collect(item, sizes, depth + 1, numbers);
}

Tensor tensor_of(const IValue& data, std::optional<ScalarType> dtype, std::optional<Device> device) {
  std::vector<int64_t> sizes;
  std::vector<IValue> numbers;
  collect(data, sizes, 0, numbers);
  bool reals = false, wholes = false, complex = false;
  for (IValue& number : numbers) {
    if (number.isTensor()) number = IValue(number.toTensor().item());
    reals = reals || number.isDouble();
    wholes = wholes || number.isInt();
    complex = complex || number.isComplexDouble();
  }
  const ScalarType natural = numbers.empty() ? dtype_of_empty(data)
                             : complex       ? kComplexFloat
                             : reals         ? typeMetaToScalarType(get_default_dtype())
                             : wholes        ? kLong
                                             : kBool;
  NoGradGuard no_grad;
  const ScalarType widest = complex ? kComplexDouble : reals ? kDouble : kLong;
  const Tensor flat = hb::empty({static_cast<int64_t>(numbers.size())}, TensorOptions(widest).device(kCPU));
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (complex) {
      flat.data_ptr<Complex<double>>()[i] = numbers[i].toScalar().to<Complex<double>>();
    } else if (reals) {
      flat.data_ptr<double>()[i] = real(numbers[i]);
    } else {
      flat.data_ptr<int64_t>()[i] = whole(numbers[i]);
    }
  }
  return flat.to(dtype.value_or(natural)).reshape(sizes).to(device.value_or(TensorOptions().device()));
}

Tensor tensor(const IValue& data, std::optional<ScalarType> dtype, std::optional<Device> device, bool requires_grad) {
  if (data.isTensor()) {
    Tensor copy = data.toTensor().detach().clone();
    copy = copy.to(device.value_or(copy.device()), dtype.value_or(copy.scalar_type()));
    return copy.requires_grad_(requires_grad);
  }
  return tensor_of(data, dtype, device).requires_grad_(requires_grad);
}
Tensor as_tensor(const IValue& data, std::optional<ScalarType> dtype, std::optional<Device> device) {
  if (!data.isTensor()) return tensor_of(data, dtype, device);
  const Tensor& given = data.toTensor();
  return given.to(device.value_or(given.device()), dtype.value_or(given.scalar_type()));
}

// --- what tensors know of themselves

List<int64_t> sizes_of(const Tensor& self) { return List<int64_t>(self.sizes().vec()); }
List<int64_t> strides_of(const Tensor& self) { return List<int64_t>(self.strides().vec()); }
int64_t dim(const Tensor& self) { return self.dim(); }
int64_t numel(const Tensor& self) { return self.numel(); }
int64_t element_size(const Tensor& self) { return self.element_size(); }
int64_t get_device(const Tensor& self) { return self.get_device(); }
bool is_contiguous(const Tensor& self) { return self.is_contiguous(); }
bool is_contiguous_in(const Tensor& self, MemoryFormat format) { return self.is_contiguous(format); }
template <ScalarType dtype>
Tensor to_dtype(const Tensor& self) {
  return self.to(dtype);
}
Tensor to_cpu(const Tensor& self) { return self.to(kCPU); }
Tensor to_cuda(const Tensor& self) { return self.to(Device(kCUDA)); }
Tensor same(const Tensor& self) { return self; }
void backward(const Tensor& self, const std::optional<Tensor>& gradient, std::optional<bool> retain, bool create) {
  self.backward(gradient.value_or(Tensor()), retain, create);
}

IValue nested_list(const Tensor& self) {
  if (self.dim() == 0) return IValue(self.item());
  std::vector<IValue> rows;
  for (const Tensor& row : hb::unbind(self, 0)) rows.push_back(nested_list(row));
  return list_of_items(std::move(rows));
}
IValue tolist(const Tensor& self) { return nested_list(self.detach().to(kCPU)); }

Tensor to_device(const Tensor& self, std::optional<Device> device, std::optional<ScalarType> dtype, bool non_blocking,
                 bool copy) {
  return self.to(device.value_or(self.device()), dtype.value_or(self.scalar_type()), non_blocking, copy);
}
Tensor to_maybe_dtype(const Tensor& self, std::optional<ScalarType> dtype, bool non_blocking, bool copy) {
  return self.to(dtype.value_or(self.scalar_type()), non_blocking, copy);
}

constexpr OwnRow kRows[] = {
    {"aten::tensor(Any data, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor",
     on_stack<&tensor>},
    {"aten::as_tensor(Any data, *, ScalarType? dtype=None, Device? device=None) -> Tensor", on_stack<&as_tensor>},
    {"aten::size(Tensor self) -> int[]", on_stack<&sizes_of>},
    {"aten::stride(Tensor self) -> int[]", on_stack<&strides_of>},
    {"aten::dim(Tensor self) -> int", on_stack<&dim>},
    {"aten::ndimension(Tensor self) -> int", on_stack<&dim>},
    {"aten::numel(Tensor self) -> int", on_stack<&numel>},
    {"aten::nelement(Tensor self) -> int", on_stack<&numel>},
    {"aten::element_size(Tensor self) -> int", on_stack<&element_size>},
    {"aten::get_device(Tensor self) -> int", on_stack<&get_device>},
    {"aten::is_contiguous(Tensor self) -> bool", on_stack<&is_contiguous>},
    {"aten::is_contiguous.memory_format(Tensor self, MemoryFormat memory_format) -> bool", on_stack<&is_contiguous_in>},
    {"aten::float(Tensor self) -> Tensor", on_stack<&to_dtype<kFloat>>},
    {"aten::double(Tensor self) -> Tensor", on_stack<&to_dtype<kDouble>>},
    {"aten::half(Tensor self) -> Tensor", on_stack<&to_dtype<kHalf>>},
    {"aten::bfloat16(Tensor self) -> Tensor", on_stack<&to_dtype<kBFloat16>>},
    {"aten::long(Tensor self) -> Tensor", on_stack<&to_dtype<kLong>>},
    {"aten::int(Tensor self) -> Tensor", on_stack<&to_dtype<kInt>>},
    {"aten::short(Tensor self) -> Tensor", on_stack<&to_dtype<kShort>>},
    {"aten::bool(Tensor self) -> Tensor", on_stack<&to_dtype<kBool>>},
    {"aten::cpu(Tensor self) -> Tensor", on_stack<&to_cpu>},
    {"aten::cuda(Tensor self) -> Tensor", on_stack<&to_cuda>},
    {"aten::to.prim_Device(Tensor self, Device? device, ScalarType? dtype=None, bool non_blocking=False, "
     "bool copy=False) -> Tensor",
     on_stack<&to_device>},
    {"aten::to.prim_dtype(Tensor self, ScalarType? dtype=None, bool non_blocking=False, bool copy=False) -> Tensor",
     on_stack<&to_maybe_dtype>},
    {"aten::lift_fresh(Tensor self) -> Tensor", on_stack<&same>},
    {"aten::tolist(Tensor self) -> Any", on_stack<&tolist>},
    {"aten::backward(Tensor self, Tensor? gradient=None, bool? retain_graph=None, bool create_graph=False) -> NoneType",
     on_stack<&backward>},
};

}  // namespace

std::span<const OwnRow> own_tensors() { return kRows; }

}  // namespace hb::bridge::script
