// Devices, errors, modes, and what tensors know of themselves.
#include <string>

#include <halfbridge/error.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "script/builtins.h"
#include "script/raised.h"

namespace hb::bridge::script {
namespace {

const Tensor* tensor(const Values& a) { return a.size() == 1 && a[0].isTensor() ? &a[0].toTensor() : nullptr; }

// --- properties; their names stand behind "prim::"

IValue shape(const Tensor& x) { return IValue(List<int64_t>(x.sizes().vec()).data()); }
IValue dtype(const Tensor& x) { return IValue(x.scalar_type()); }
IValue device(const Tensor& x) { return IValue(x.device()); }
IValue layout(const Tensor& x) { return IValue(x.layout()); }
IValue ndim(const Tensor& x) { return IValue(x.dim()); }
IValue requires_grad(const Tensor& x) { return IValue(x.requires_grad()); }
IValue is_leaf(const Tensor& x) { return IValue(x.is_leaf()); }
IValue grad(const Tensor& x) { return x.grad().defined() ? IValue(x.grad()) : IValue(); }
IValue data(const Tensor& x) { return IValue(x.tensor_data()); }
IValue is_cuda(const Tensor& x) { return IValue(x.device().is_cuda()); }
IValue is_cpu(const Tensor& x) { return IValue(x.device().is_cpu()); }
IValue is_sparse(const Tensor& x) { return IValue(x.is_sparse()); }
IValue is_sparse_csr(const Tensor& x) { return IValue(x.layout() == Layout::SparseCsr); }
IValue is_meta(const Tensor& x) { return IValue(x.is_meta()); }
IValue no(const Tensor&) { return IValue(false); }
IValue itemsize(const Tensor& x) { return IValue(x.element_size()); }
IValue nbytes(const Tensor& x) { return IValue(x.element_size() * x.numel()); }
IValue T(const Tensor& x) { return IValue(x.numpy_T()); }
IValue mT(const Tensor& x) { return IValue(x.transpose(-2, -1)); }
IValue H(const Tensor& x) { return IValue(x.is_complex() ? x.transpose(0, 1).conj() : x.transpose(0, 1)); }
IValue mH(const Tensor& x) { return IValue(x.is_complex() ? x.transpose(-2, -1).conj() : x.transpose(-2, -1)); }
IValue real_part(const Tensor& x) { return IValue(x.is_complex() ? hb::real(x) : x); }
IValue imag_part(const Tensor& x) { return IValue(hb::imag(x)); }

struct Property {
  const char* name;
  IValue (*of)(const Tensor& tensor);
};
constexpr Property kProperties[] = {{"shape", shape},
                                    {"dtype", dtype},
                                    {"device", device},
                                    {"layout", layout},
                                    {"ndim", ndim},
                                    {"requires_grad", requires_grad},
                                    {"is_leaf", is_leaf},
                                    {"grad", grad},
                                    {"data", data},
                                    {"is_cuda", is_cuda},
                                    {"is_cpu", is_cpu},
                                    {"is_sparse", is_sparse},
                                    {"is_sparse_csr", is_sparse_csr},
                                    {"is_quantized", no},
                                    {"is_nested", no},
                                    {"is_mkldnn", no},
                                    {"is_meta", is_meta},
                                    {"is_mps", no},
                                    {"is_xpu", no},
                                    {"is_vulkan", no},
                                    {"is_xla", no},
                                    {"is_ort", no},
                                    {"is_ipu", no},
                                    {"itemsize", itemsize},
                                    {"nbytes", nbytes},
                                    {"T", T},
                                    {"mT", mT},
                                    {"H", H},
                                    {"mH", mH},
                                    {"real", real_part},
                                    {"imag", imag_part}};

template <size_t at>
bool get_property(Values& a, IValue& out) {
  const Tensor* x = tensor(a);
  return x && (out = kProperties[at].of(*x), true);
}

// --- functions

bool make_device(Values& a, IValue& out) {
  if (a.empty() || a.size() > 2) return false;
  if (a[0].isDevice()) return out = a[0], true;
  if (!a[0].isString()) return property(a[0], "device", out);
  std::string text = a[0].toStringRef();
  if (a.size() == 2 && !a[1].isNone()) text += ":" + std::to_string(to_int(a[1]));
  return out = Device(text), true;
}

bool number_to_tensor(Values& a, IValue& out) {
  if (a.size() != 1) return false;
  if (a[0].isTensor()) return out = a[0], true;
  const Scalar number = a[0].toScalar();
  const TensorOptions options = a[0].isBool()     ? TensorOptions(kBool)
                                : a[0].isInt()    ? TensorOptions(kLong)
                                : a[0].isDouble() ? TensorOptions(kDouble)
                                                  : TensorOptions(kComplexDouble);
  return out = hb::scalar_tensor(number, options), true;
}

bool device_type(Values& a, IValue& out) { return a.size() == 1 && a[0].isDevice() && property(a[0], "type", out); }
bool device_index(Values& a, IValue& out) { return a.size() == 1 && a[0].isDevice() && property(a[0], "index", out); }

bool raise(Values& a, IValue&) {
  if (a.empty()) return false;
  std::optional<std::string> python_class;
  if (a.size() > 1 && a[1].isString()) python_class = a[1].toStringRef();
  throw Raised(std::move(python_class), to_text(a[0]));
}
bool warn(Values& a, IValue& out) {
  if (a.empty()) return false;
  hb::detail::warn(to_text(a[0]));
  return out = IValue(), true;
}
bool seed_all(Values& a, IValue& out) {
  if (a.size() != 1 || !is_whole(a[0])) return false;
  hb::manual_seed(static_cast<uint64_t>(whole(a[0])));
  return out = IValue(), true;
}
bool identity(Values& a, IValue& out) { return !a.empty() && (out = a[0], true); }
bool unwrap(Values& a, IValue& out) {
  if (a.size() != 1) return false;
  HB_CHECK(!a[0].isNone(), "[TorchScript] AssertionError: Unwrapping null optional");
  return identity(a, out);
}
bool yes(Values&, IValue& out) { return out = true, true; }
bool never(Values&, IValue& out) { return out = false, true; }
bool set_grad_enabled(Values& a, IValue& out) {
  if (a.size() != 1) return false;
  GradMode::set_enabled(truth(a[0]));
  return out = IValue(), true;
}
bool is_grad_enabled(Values& a, IValue& out) { return a.empty() && (out = GradMode::is_enabled(), true); }
bool requires_grad_(Values& a, IValue& out) {
  if (a.empty() || a.size() > 2 || !a[0].isTensor()) return false;
  a[0].toTensor().requires_grad_(a.size() == 1 || truth(a[1]));
  return out = a[0], true;
}
bool nothing(Values&, IValue& out) { return out = IValue(), true; }

constexpr Builtin kRows[] = {
    {"aten::manual_seed", seed_all},
    {"aten::device", make_device},
    {"prim::NumToTensor", number_to_tensor},
    {"prim::type", device_type},
    {"prim::index", device_index},
    {"prim::RaiseException", raise},
    {"aten::warn", warn},
    {"prim::unchecked_cast", identity},
    {"prim::unchecked_unwrap_optional", identity},
    {"aten::_unwrap_optional", unwrap},
    {"aten::wait", identity},
    {"prim::unchecked_tuple", identity},
    {"aten::is_scripting", yes},
    {"aten::_no_grad_embedding_renorm_", nothing},
    {"aten::is_tracing", never},
    {"aten::is_autocast_enabled", never},
    {"aten::is_autocast_cpu_enabled", never},
    {"aten::set_grad_enabled", set_grad_enabled},
    {"aten::is_grad_enabled", is_grad_enabled},
    {"aten::requires_grad_", requires_grad_},
};

template <size_t... at>
constexpr auto property_rows(std::index_sequence<at...>) {
  return std::array<Builtin, sizeof...(at)>{Builtin{kProperties[at].name, get_property<at>}...};
}
constexpr auto kPropertyRows = property_rows(std::make_index_sequence<std::size(kProperties)>());

}  // namespace

bool property(const IValue& value, const std::string& name, IValue& result) {
  if (value.isComplexDouble() && (name == "real" || name == "imag")) {
    const Complex<double> number = value.toComplexDouble();
    return result = name == "real" ? number.real() : number.imag(), true;
  }
  if (value.isDevice() && name == "type")
    return result = value.toDevice().str().substr(0, value.toDevice().str().find(':')), true;
  if (value.isDevice() && name == "index")
    return result = value.toDevice().has_index() ? IValue(int64_t{value.toDevice().index()}) : IValue(), true;
  if (!value.isTensor()) return false;
  for (const Property& known : kProperties) {
    if (name == known.name) return result = known.of(value.toTensor()), true;
  }
  return false;
}

/// Named without "prim::".
std::span<const Builtin> property_builtins() { return kPropertyRows; }
std::span<const Builtin> other_builtins() { return kRows; }

}  // namespace hb::bridge::script
