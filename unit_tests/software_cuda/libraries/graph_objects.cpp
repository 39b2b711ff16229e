#include "software_cuda/libraries/graph_objects.h"

#include <algorithm>

namespace software_cuda {
namespace {

std::string name_of_pointwise(cudnnPointwiseMode_t mode) {
  static const std::map<int, const char*> names{
      {CUDNN_POINTWISE_ADD, "add"},         {CUDNN_POINTWISE_MUL, "mul"},
      {CUDNN_POINTWISE_DIV, "div"},         {CUDNN_POINTWISE_SUB, "sub"},
      {CUDNN_POINTWISE_EXP, "exp"},         {CUDNN_POINTWISE_LOG, "log"},
      {CUDNN_POINTWISE_IDENTITY, "copy"},   {CUDNN_POINTWISE_CMP_GE, "ge"},
      {CUDNN_POINTWISE_GEN_INDEX, "index"}, {CUDNN_POINTWISE_BINARY_SELECT, "select"}};
  const auto found = names.find(mode);
  return found == names.end() ? "" : found->second;
}

bool is_half(cudnnDataType_t type) { return type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16; }

/// Tensors in memory are of one half type, with rows of a multiple of 8 columns, or float, and dense.
bool tensors_fit(const GraphObject& graph) {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  for (const auto& [name, t] : tensors_of(graph)) {
    if (t.is_between || t.is_number) continue;
    if (!is_half(t.type)) {
      const auto& s = t.sizes;
      if (t.strides != std::vector<int64_t>{s[1] * s[2] * s[3], s[2] * s[3], s[3], 1}) return false;
      continue;
    }
    if (is_half(type) && t.type != type) return false;
    type = t.type;
    const size_t columns = t.strides[3] == 1 ? 3 : 2;  // matrices may be described as transposed
    const int64_t width = t.sizes[columns];
    // cuDNN has narrower heads, too; this one refuses what back ends have to compute then.
    if (t.strides[columns] != 1 || width % 8 != 0 || width < 16 || width > 128) return false;
    for (size_t d = 0; d < 4; ++d)
      if (d != columns && t.sizes[d] > 1 && t.strides[d] % 8 != 0) return false;
  }
  return is_half(type);
}

GraphKind has_engine(const GraphObject& convolution) {
  const int first = first_of_convolution(convolution);
  const GraphTensor w(*convolution.part(first + 3)), x(*convolution.part(first + 4));
  return is_half(x.type) && w.sizes[1] == x.sizes[1] ? GraphKind::convolution : GraphKind::none;
}

}  // namespace

int first_of_convolution(const GraphObject& operation) {
  switch (operation.kind) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
      return CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
      return CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
      return CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA;
    default:
      return 0;
  }
}

std::string name_of(const GraphObject& operation) {
  if (first_of_convolution(operation)) return "convolve";
  switch (operation.kind) {
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      return "multiply";
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
      return "reshape";
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR: {
      const GraphObject* const how = operation.part(CUDNN_ATTR_OPERATION_REDUCTION_DESC);
      const auto reduction = how ? how->one(CUDNN_ATTR_REDUCTION_OPERATOR, cudnnReduceTensorOp_t(-1)) : -1;
      return reduction == CUDNN_REDUCE_TENSOR_ADD ? "sum" : reduction == CUDNN_REDUCE_TENSOR_MAX ? "max" : "";
    }
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: {
      const GraphObject* const how = operation.part(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
      return how ? name_of_pointwise(how->one(CUDNN_ATTR_POINTWISE_MODE, cudnnPointwiseMode_t(-1))) : "";
    }
    default:
      return "";
  }
}

std::map<int64_t, GraphTensor> tensors_of(const GraphObject& graph) {
  std::map<int64_t, GraphTensor> out;
  const auto add = [&](const GraphObject& t) {
    if (t.kind == CUDNN_BACKEND_TENSOR_DESCRIPTOR) {
      const GraphTensor made(t);
      out.emplace(made.name, made);
    }
  };
  for (const auto& operation : graph.parts.at(CUDNN_ATTR_OPERATIONGRAPH_OPS))
    for (const auto& [name, parts] : operation->parts) add(*parts.front());
  return out;
}

GraphKind recognise(const GraphObject& graph) {
  std::string all;
  for (const auto& operation : graph.parts.at(CUDNN_ATTR_OPERATIONGRAPH_OPS)) all += name_of(*operation) + " ";
  if (all == "convolve ") return has_engine(*graph.parts.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).front());
  // What may be missing: a causal mask, and sums over the heads that share keys.
  const std::string mask = "index index ge select ";
  if (const size_t at = all.find(mask); at != std::string::npos) all.erase(at, mask.size());
  const std::string shared = "reshape multiply sum ";
  for (size_t at; (at = all.find(shared)) != std::string::npos;) all.erase(at + shared.size() - 4, 4);
  if (!tensors_fit(graph)) return GraphKind::none;
  if (all == "multiply mul max sub exp sum log add div multiply ") return GraphKind::attention;
  const std::string gradients =
      "mul sum mul multiply mul sub exp reshape multiply multiply sub mul mul reshape multiply reshape multiply ";
  return all == gradients             ? GraphKind::deterministic_gradients
         : all == gradients + "copy " ? GraphKind::gradients
                                      : GraphKind::none;
}

size_t workspace_of(const GraphObject& graph, GraphKind kind) {
  int64_t scores = 0;
  for (const auto& [name, t] : tensors_of(graph)) {
    int64_t size = 1;
    for (const int64_t s : t.sizes) size *= s;
    if (t.is_between) scores = std::max(scores, size);
  }
  return 256 + (kind == GraphKind::deterministic_gradients ? static_cast<size_t>(2 * scores) : 0);
}

}  // namespace software_cuda
