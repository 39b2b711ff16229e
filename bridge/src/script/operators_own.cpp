// Functions with LibTorch's schemas that the dispatcher does not have.
#include <map>
#include <tuple>

#include <halfbridge/bridge/dispatch/custom_class.h>
#include <halfbridge/bridge/nn/embedding.h>
#include <halfbridge/bridge/nn/rnn_functions.h>
#include <halfbridge/bridge/underscored.h>
#include <halfbridge/error.h>
#include <halfbridge/ops.h>

#include "script/operator_call.h"

namespace hb::bridge::script {
namespace {

template <auto f>
void on_stack(jit::Stack& stack) {
  bridge::detail::OnStack<decltype(f)>{f}(stack);
}

// --- tensors of values

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
  bool reals = numbers.empty(), wholes = false, complex = false;
  for (IValue& number : numbers) {
    if (number.isTensor()) number = IValue(number.toTensor().item());
    reals = reals || number.isDouble();
    wholes = wholes || number.isInt();
    complex = complex || number.isComplexDouble();
  }
  const ScalarType natural = complex  ? kComplexFloat
                             : reals  ? typeMetaToScalarType(get_default_dtype())
                             : wholes ? kLong
                                      : kBool;
  NoGradGuard no_grad;
  const Tensor flat = hb::empty({static_cast<int64_t>(numbers.size())}, complex ? kComplexDouble
                                                                        : reals ? kDouble
                                                                                : kLong);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (complex) {
      flat.data_ptr<Complex<double>>()[i] = numbers[i].toScalar().to<Complex<double>>();
    } else if (reals) {
      flat.data_ptr<double>()[i] = real(numbers[i]);
    } else {
      flat.data_ptr<int64_t>()[i] = whole(numbers[i]);
    }
  }
  return flat.to(dtype.value_or(natural)).reshape(sizes).to(device.value_or(kCPU));
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

// --- layers

// Unlike parts of chunk(), these may be changed in place each for itself.
std::vector<Tensor> copies(std::vector<Tensor> parts) {
  for (Tensor& part : parts) part = part.clone();
  return parts;
}
std::vector<Tensor> unsafe_chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  return copies(hb::chunk(self, chunks, dim));
}
std::vector<Tensor> unsafe_split(const Tensor& self, int64_t size, int64_t dim) {
  return copies(hb::split(self, size, dim));
}
std::vector<Tensor> unsafe_split_with_sizes(const Tensor& self, IntArrayRef sizes, int64_t dim) {
  return copies(hb::split_with_sizes(self, sizes, dim));
}
Tensor convolution_mode(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                        IntArrayRef stride, std::string_view padding, IntArrayRef dilation, int64_t groups) {
  return bridge::_convolution_mode(input, weight, bias, stride, padding, dilation, groups);
}

Tensor max_pool1d(const Tensor& x, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                  bool ceil_mode) {
  return hb::max_pool1d(x, kernel, stride, padding, dilation, ceil_mode);
}
Tensor max_pool2d(const Tensor& x, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                  bool ceil_mode) {
  return hb::max_pool2d(x, kernel, stride, padding, dilation, ceil_mode);
}
Tensor max_pool3d(const Tensor& x, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                  bool ceil_mode) {
  return hb::max_pool3d(x, kernel, stride, padding, dilation, ceil_mode);
}
TensorTuple2 max_pool1d_with_indices(const Tensor& x, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                                     IntArrayRef dilation, bool ceil_mode) {
  return hb::max_pool1d_with_indices(x, kernel, stride, padding, dilation, ceil_mode);
}
TensorTuple2 adaptive_max_pool1d(const Tensor& x, IntArrayRef size) { return hb::adaptive_max_pool1d(x, size); }

TensorTuple3 lstm(const Tensor& input, TensorList hx, TensorList params, bool biases, int64_t layers, double dropout,
                  bool train, bool bidirectional, bool batch_first) {
  return bridge::lstm(input, hx, params, biases, layers, dropout, train, bidirectional, batch_first);
}
TensorTuple3 lstm_packed(const Tensor& data, const Tensor& batch_sizes, TensorList hx, TensorList params, bool biases,
                         int64_t layers, double dropout, bool train, bool bidirectional) {
  return bridge::lstm(data, batch_sizes, hx, params, biases, layers, dropout, train, bidirectional);
}
#define HB_RECURRENT(name)                                                                                       \
  TensorTuple2 name(const Tensor& input, const Tensor& hx, TensorList params, bool biases, int64_t layers,       \
                    double dropout, bool train, bool bidirectional, bool batch_first) {                          \
    return bridge::name(input, hx, params, biases, layers, dropout, train, bidirectional, batch_first);          \
  }                                                                                                              \
  TensorTuple2 name##_packed(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params, \
                             bool biases, int64_t layers, double dropout, bool train, bool bidirectional) {      \
    return bridge::name(data, batch_sizes, hx, params, biases, layers, dropout, train, bidirectional);           \
  }
HB_RECURRENT(gru)
HB_RECURRENT(rnn_tanh)
HB_RECURRENT(rnn_relu)
#undef HB_RECURRENT

using FourTensors = std::tuple<Tensor, Tensor, Tensor, Tensor>;
FourTensors embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale, int64_t mode,
                          bool sparse, const std::optional<Tensor>& weights, bool last,
                          std::optional<int64_t> padding) {
  return bridge::embedding_bag(weight, indices, offsets, scale, mode, sparse, weights, last, padding);
}
TensorTuple2 pack(const Tensor& input, const Tensor& lengths, bool batch_first) {
  return bridge::_pack_padded_sequence(input, lengths, batch_first);
}
TensorTuple2 pad_packed(const Tensor& data, const Tensor& batch_sizes, bool batch_first, const Scalar& value,
                        int64_t total) {
  return bridge::_pad_packed_sequence(data, batch_sizes, batch_first, value, total);
}
Tensor weight_norm(const Tensor& v, const Tensor& g, int64_t dim) { return bridge::_weight_norm(v, g, dim); }
Tensor shape_as_tensor(const Tensor& self) { return bridge::_shape_as_tensor(self); }
Tensor grid_sampler_2d(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, bool corners) {
  return hb::grid_sampler(input, grid, mode, padding, corners);
}

struct Row {
  const char* schema;
  void (*run)(jit::Stack& stack);
};
#define HB_POOL(nd, n)                                                                                             \
  {                                                                                                                \
    "aten::max_pool" nd "(Tensor self, int[" n "] kernel_size, int[" n "] stride=[], int[" n "] padding=0, int[" n \
    "] dilation=1, bool ceil_mode=False) -> "
#define HB_RNN_ROWS(name, hx, results)                                        \
  {"aten::" #name ".input(Tensor input, " hx                                  \
   ", Tensor[] params, bool has_biases, int num_layers, float dropout, bool " \
   "train, bool bidirectional, bool batch_first) -> " results,                \
   on_stack<&name>},                                                          \
  {                                                                           \
    "aten::" #name ".data(Tensor data, Tensor batch_sizes, " hx               \
    ", Tensor[] params, bool has_biases, int num_layers, "                    \
    "float dropout, bool train, bool bidirectional) -> " results,             \
        on_stack<&name##_packed>                                              \
  }

constexpr Row kRows[] =
    {{"aten::tensor(Any data, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor",
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
     {"aten::is_contiguous.memory_format(Tensor self, MemoryFormat memory_format) -> bool",
      on_stack<&is_contiguous_in>},
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
     {"aten::to.prim_Device(Tensor self, Device? device, ScalarType? dtype=None, bool non_blocking=False, bool "
      "copy=False) "
      "-> Tensor",
      on_stack<&to_device>},
     {"aten::to.prim_dtype(Tensor self, ScalarType? dtype=None, bool non_blocking=False, bool copy=False) -> Tensor",
      on_stack<&to_maybe_dtype>},
     {"aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", on_stack<&unsafe_chunk>},
     {"aten::unsafe_split.Tensor(Tensor self, int split_size, int dim=0) -> Tensor[]", on_stack<&unsafe_split>},
     {"aten::unsafe_split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",
      on_stack<&unsafe_split_with_sizes>},
     {"aten::_convolution_mode(Tensor input, Tensor weight, Tensor? bias, int[] stride, str padding, int[] dilation, "
      "int "
      "groups) -> Tensor",
      on_stack<&convolution_mode>},
     {"aten::lift_fresh(Tensor self) -> Tensor", on_stack<&same>},
     {"aten::tolist(Tensor self) -> Any", on_stack<&tolist>},
     {"aten::backward(Tensor self, Tensor? gradient=None, bool? retain_graph=None, bool create_graph=False) -> "
      "NoneType",
      on_stack<&backward>},
     HB_POOL("1d", "1") "Tensor",
     on_stack<&max_pool1d>},
              HB_POOL("2d", "2") "Tensor", on_stack<&max_pool2d>
}
, HB_POOL("3d", "3") "Tensor", on_stack<&max_pool3d>
}
, HB_POOL("1d_with_indices", "1") "(Tensor, Tensor)", on_stack<&max_pool1d_with_indices>
}
, {"aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)", on_stack<&adaptive_max_pool1d>},
    HB_RNN_ROWS(lstm, "Tensor[] hx", "(Tensor, Tensor, Tensor)"), HB_RNN_ROWS(gru, "Tensor hx", "(Tensor, Tensor)"),
    HB_RNN_ROWS(rnn_tanh, "Tensor hx", "(Tensor, Tensor)"), HB_RNN_ROWS(rnn_relu, "Tensor hx", "(Tensor, Tensor)"),
    {"aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, "
     "bool "
     "sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int? padding_idx=None) -> "
     "(Tensor, "
     "Tensor, Tensor, Tensor)",
     on_stack<&embedding_bag>},
    {"aten::_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor, Tensor)",
     on_stack<&pack>},
    {"aten::_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Scalar padding_value, int "
     "total_length) -> (Tensor, Tensor)",
     on_stack<&pad_packed>},
    {"aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", on_stack<&weight_norm>},
    {"aten::_shape_as_tensor(Tensor self) -> Tensor", on_stack<&shape_as_tensor>},
    {"aten::grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) "
     "-> "
     "Tensor",
     on_stack<&grid_sampler_2d>},
}
;

struct Own {
  FunctionSchema schema;
  void (*run)(jit::Stack& stack);
};

const std::multimap<std::string, Own>& table() {
  static const auto* const all = [] {
    auto* made = new std::multimap<std::string, Own>;
    for (const Row& row : kRows) {
      FunctionSchema schema = jit::parseSchema(row.schema);
      const std::string name = schema.name();
      made->emplace(name, Own{std::move(schema), row.run});
    }
    return made;
  }();
  return *all;
}

}  // namespace

std::vector<Candidate> own_candidates(const std::string& name) {
  std::vector<Candidate> found;
  const auto [begin, end] = table().equal_range(name);
  for (auto at = begin; at != end; ++at) found.push_back({&at->second.schema, std::nullopt, at->second.run});
  return found;
}

}  // namespace hb::bridge::script
