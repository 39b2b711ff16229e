// Runs a graph of cuDNN's operations, each by the CPU's functions, in float; results are rounded to what their
// descriptors say.
#include <halfbridge/engine.h>

#include "backend/conv.h"
#include "software_cuda/libraries/graph_objects.h"

namespace software_cuda {
namespace {

const hb::TensorOptions kHost{hb::kCPU};  // whatever the program's default device is

hb::ScalarType dtype_of(cudnnDataType_t type) {
  return type == CUDNN_DATA_HALF ? hb::kHalf : type == CUDNN_DATA_BFLOAT16 ? hb::kBFloat16 : hb::kFloat;
}

class Run {
 public:
  Run(const std::map<int64_t, void*>& memory, const std::map<int64_t, float>& numbers)
      : memory_(memory), numbers_(numbers) {}
  void operator()(const GraphObject& operation) {
    const std::string name = name_of(operation);
    if (name == "multiply")
      multiply(operation);
    else if (name == "convolve")
      convolve(operation);
    else if (name == "reshape")
      reshape(operation);
    else if (name == "sum" || name == "max")
      reduce(operation, name == "sum");
    else
      pointwise(operation, name);
  }

 private:
  hb::Tensor in_memory(const GraphTensor& t) const {
    return hb::from_blob(memory_.at(t.name), t.sizes, t.strides, kHost.dtype(dtype_of(t.type)));
  }
  /// In float, with the strides that are described.
  hb::Tensor read(const GraphObject& operation, int name) const {
    const GraphTensor t(*operation.part(name));
    if (t.is_number) return hb::full(t.sizes, numbers_.at(t.name), kHost);
    const auto found = values_.find(t.name);
    if (found != values_.end()) return found->second;
    return hb::empty_strided(t.sizes, t.strides, kHost).copy_(in_memory(t));
  }
  void write(const GraphObject& operation, int name, const hb::Tensor& value) {
    const GraphTensor t(*operation.part(name));
    hb::Tensor kept = hb::empty_strided(t.sizes, t.strides, kHost);
    kept.copy_(value.to(dtype_of(t.type)));
    if (!t.is_between) in_memory(t).copy_(kept);
    values_[t.name] = kept;
  }

  static hb::Tensor all_heads(const hb::Tensor& t, int64_t heads) {
    return t.size(1) == heads ? t : t.repeat_interleave(heads / t.size(1), 1);
  }
  void multiply(const GraphObject& o) {
    const hb::Tensor a = read(o, CUDNN_ATTR_OPERATION_MATMUL_ADESC), b = read(o, CUDNN_ATTR_OPERATION_MATMUL_BDESC);
    write(o, CUDNN_ATTR_OPERATION_MATMUL_CDESC, hb::matmul(a, all_heads(b, a.size(1))));
  }
  void convolve(const GraphObject& o) {
    const int first = first_of_convolution(o), of_w = first + 3, of_x = first + 4, of_y = first + 5;
    const GraphObject& how = *o.part(first + 2);
    const auto strides = how.all<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES),
               paddings = how.all<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS),
               dilations = how.all<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS);
    const hb::Tensor x = read(o, of_x), w = read(o, of_w), y = read(o, of_y);
    hb::ConvParams p;
    p.dims = 2, p.groups = x.size(1) / w.size(1);
    for (size_t d = 0; d < 2; ++d) p.stride[d] = strides[d], p.padding[d] = paddings[d], p.dilation[d] = dilations[d];
    if (o.kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR) {
      hb::conv_forward_kernel(hb::kCPU)(y, x, w.contiguous(), {}, p);
      write(o, of_y, y);
    } else if (o.kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR) {
      hb::conv_backward_data_kernel(hb::kCPU)(x, y, w.contiguous(), p);
      write(o, of_x, x);
    } else {
      const hb::Tensor dense = hb::empty(w.sizes(), kHost);
      hb::conv_backward_weight_kernel(hb::kCPU)(dense, {}, x, y, p);
      write(o, of_w, dense);
    }
  }
  /// The same memory, described in another way.
  void reshape(const GraphObject& o) {
    const GraphTensor to(*o.part(CUDNN_ATTR_OPERATION_RESHAPE_YDESC));
    write(o, CUDNN_ATTR_OPERATION_RESHAPE_YDESC,
          read(o, CUDNN_ATTR_OPERATION_RESHAPE_XDESC).as_strided(to.sizes, to.strides));
  }
  void reduce(const GraphObject& o, bool sum) {
    const hb::Tensor x = read(o, CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
    const GraphTensor to(*o.part(CUDNN_ATTR_OPERATION_REDUCTION_YDESC));
    hb::Tensor result;
    if (to.sizes[1] != x.size(1))
      result = x.reshape({x.size(0), to.sizes[1], -1, x.size(2), x.size(3)}).sum(2);
    else
      result = sum ? x.sum(-1, true) : x.amax(-1, true);
    write(o, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, result);
  }
  void pointwise(const GraphObject& o, const std::string& name) {
    const hb::Tensor x = read(o, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
    const auto y = [&] { return read(o, CUDNN_ATTR_OPERATION_POINTWISE_BDESC); };
    hb::Tensor result = x;  // "copy"
    if (name == "add") result = x + y();
    if (name == "sub") result = x - y();
    if (name == "mul") result = x * y();
    if (name == "div") result = x / y();
    if (name == "exp") result = x.exp();
    if (name == "log") result = x.log();
    if (name == "ge") result = x.ge(y()).to(hb::kFloat);
    if (name == "select") result = hb::where(read(o, CUDNN_ATTR_OPERATION_POINTWISE_TDESC).ne(0), x, y());
    if (name == "index") result = index(x, *o.part(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR));
    write(o, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, result);
  }
  static hb::Tensor index(const hb::Tensor& like, const GraphObject& how) {
    const auto axis = how.one<int64_t>(CUDNN_ATTR_POINTWISE_AXIS, 0);
    std::vector<int64_t> sizes(4, 1);
    sizes[static_cast<size_t>(axis)] = -1;
    return hb::arange(like.size(axis), kHost).to(hb::kFloat).view(sizes).expand(like.sizes());
  }

  const std::map<int64_t, void*>& memory_;
  const std::map<int64_t, float>& numbers_;
  std::map<int64_t, hb::Tensor> values_;
};

}  // namespace

void run_graph(const GraphObject& graph, const std::map<int64_t, void*>& memory,
               const std::map<int64_t, float>& numbers) {
  Run run(memory, numbers);
  for (const auto& operation : graph.parts.at(CUDNN_ATTR_OPERATIONGRAPH_OPS)) run(*operation);
}

}  // namespace software_cuda
