#include "cuda/cudnn_graph.h"

#include <utility>

#include "cuda/runtime.h"
#include "cuda/scratch.h"

namespace hb::cuda {
namespace {

void succeed(cudnnStatus_t status) {
  if (status != CUDNN_STATUS_SUCCESS) throw status;
}

GraphSizes dense(const GraphSizes& sizes) {
  GraphSizes strides;
  int64_t next = 1;
  for (size_t d = sizes.size(); d-- > 0; next *= sizes[d]) strides[d] = next;
  return strides;
}

}  // namespace

GraphDescriptor::GraphDescriptor(cudnnBackendDescriptorType_t kind) {
  succeed(HB_CUDA_SYMBOL(cudnn(), cudnnBackendCreateDescriptor)(kind, &descriptor_));
}
GraphDescriptor::~GraphDescriptor() {
  if (descriptor_) HB_CUDA_SYMBOL(cudnn(), cudnnBackendDestroyDescriptor)(descriptor_);
}
void GraphDescriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const void* values,
                          int64_t count) {
  succeed(HB_CUDA_SYMBOL(cudnn(), cudnnBackendSetAttribute)(descriptor_, name, type, count, values));
}
cudnnBackendDescriptor_t GraphDescriptor::finish() {
  succeed(HB_CUDA_SYMBOL(cudnn(), cudnnBackendFinalize)(descriptor_));
  return descriptor_;
}

GraphValue OperationGraph::tensor(int64_t name, cudnnDataType_t type, const GraphSizes& sizes,
                                  const GraphSizes& strides, bool is_between, bool is_number) {
  GraphDescriptor& made = add(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const auto rank = static_cast<int64_t>(sizes.size());
  made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, name);
  made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type);
  made.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, sizes.data(), rank);
  made.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, strides.data(), rank);
  made.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64_t{16});
  if (is_between) made.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, &is_between);
  if (is_number) made.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, &is_number);
  return {made.finish(), sizes};
}
GraphValue OperationGraph::memory(int64_t name, cudnnDataType_t type, const GraphSizes& sizes,
                                  const GraphSizes& strides) {
  return tensor(name, type, sizes, strides, false, false);
}
GraphValue OperationGraph::number(int64_t name) {
  return tensor(name, CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1}, false, true);
}
GraphValue OperationGraph::between(const GraphSizes& sizes, cudnnDataType_t type) {
  return between(sizes, dense(sizes), type);
}
GraphValue OperationGraph::between(const GraphSizes& sizes, const GraphSizes& strides, cudnnDataType_t type) {
  return tensor(++last_name_, type, sizes, strides, true, false);
}

GraphDescriptor& OperationGraph::pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t type, const GraphValue& x,
                                           const GraphValue& result, int64_t axis) {
  GraphDescriptor& how = add(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  how.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, &mode);
  how.set(CUDNN_ATTR_POINTWISE_MATH_PREC, type);
  if (axis >= 0) how.set(CUDNN_ATTR_POINTWISE_AXIS, axis);
  const cudnnBackendDescriptor_t finished = how.finish();
  GraphDescriptor& operation = add(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, finished);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, result.descriptor);
  return operation;
}
GraphValue OperationGraph::unary(cudnnPointwiseMode_t mode, const GraphValue& x) {
  const GraphValue result = between(x.sizes);
  finish_operation(pointwise(mode, CUDNN_DATA_FLOAT, x, result));
  return result;
}
void OperationGraph::copy(const GraphValue& from, const GraphValue& to) {
  finish_operation(pointwise(CUDNN_POINTWISE_IDENTITY, CUDNN_DATA_FLOAT, from, to));
}
GraphValue OperationGraph::binary(cudnnPointwiseMode_t mode, const GraphValue& x, const GraphValue& y) {
  return binary(mode, x, y, between(x.sizes));
}
GraphValue OperationGraph::binary(cudnnPointwiseMode_t mode, const GraphValue& x, const GraphValue& y,
                                  const GraphValue& result) {
  GraphDescriptor& operation = pointwise(mode, CUDNN_DATA_FLOAT, x, result);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, y.descriptor);
  finish_operation(operation);
  return result;
}
GraphValue OperationGraph::index(const GraphValue& like, int64_t axis) {
  const GraphValue result = between(like.sizes, CUDNN_DATA_INT32);
  finish_operation(pointwise(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_INT32, like, result, axis));
  return result;
}
GraphValue OperationGraph::compare(cudnnPointwiseMode_t mode, const GraphValue& x, const GraphValue& y) {
  const GraphValue result = between(x.sizes, CUDNN_DATA_BOOLEAN);
  GraphDescriptor& operation = pointwise(mode, CUDNN_DATA_BOOLEAN, x, result);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, y.descriptor);
  finish_operation(operation);
  return result;
}
GraphValue OperationGraph::select(const GraphValue& condition, const GraphValue& x, const GraphValue& otherwise) {
  const GraphValue result = between(x.sizes);
  GraphDescriptor& operation = pointwise(CUDNN_POINTWISE_BINARY_SELECT, CUDNN_DATA_FLOAT, x, result);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, otherwise.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, condition.descriptor);
  finish_operation(operation);
  return result;
}
GraphValue OperationGraph::multiply(const GraphValue& a, const GraphValue& b, const GraphValue& result) {
  GraphDescriptor& how = add(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
  const cudnnBackendDescriptor_t finished = how.finish();
  GraphDescriptor& operation = add(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, finished);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, result.descriptor);
  finish_operation(operation);
  return result;
}
GraphValue OperationGraph::reduce(cudnnReduceTensorOp_t how, const GraphValue& x, const GraphValue& result) {
  GraphDescriptor& reduction = add(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  reduction.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, &how);
  reduction.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  const cudnnBackendDescriptor_t finished = reduction.finish();
  GraphDescriptor& operation = add(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, finished);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, result.descriptor);
  finish_operation(operation);
  return result;
}
void OperationGraph::convolve(ConvDirection direction, const ConvParams& p, const GraphValue& x, const GraphValue& w,
                              const GraphValue& y) {
  GraphDescriptor& how = add(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  const int64_t dims = 2;
  std::array<int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
  for (int d = 0; d < p.dims; ++d) {  // one dimension is the second of two
    const auto at = static_cast<size_t>(d + 2 - p.dims);
    stride[at] = p.stride[d], padding[at] = p.padding[d], dilation[at] = p.dilation[d];
  }
  how.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  how.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, &mode);
  how.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, dims);
  how.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, stride.data(), dims);
  how.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, padding.data(), dims);
  how.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, padding.data(), dims);
  how.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, dilation.data(), dims);
  const cudnnBackendDescriptor_t finished = how.finish();
  const auto finish = [&](cudnnBackendDescriptorType_t kind, int first) {
    // Of each kind: the factors of the result and of what was there, the convolution, and w, x and y in an order of its
    // own.
    const auto name = [&](int i) { return static_cast<cudnnBackendAttributeName_t>(first + i); };
    GraphDescriptor& operation = add(kind);
    const float one = 1, zero = 0;
    operation.set(name(0), CUDNN_TYPE_FLOAT, &one);
    operation.set(name(1), CUDNN_TYPE_FLOAT, &zero);
    operation.set(name(2), finished);
    operation.set(name(3), w.descriptor);
    operation.set(name(4), x.descriptor);
    operation.set(name(5), y.descriptor);
    finish_operation(operation);
  };
  if (direction == ConvDirection::forward)
    finish(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA);
  else if (direction == ConvDirection::data)
    finish(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA);
  else
    finish(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA);
}
GraphValue OperationGraph::reshape(const GraphValue& x, const GraphValue& result) {
  GraphDescriptor& operation = add(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, result.descriptor);
  finish_operation(operation);
  return result;
}

namespace {

bool is_as_wished(cudnnBackendDescriptor_t config, const EngineWishes& wishes) {
  if (!wishes.deterministic && !wishes.exact) return true;
  GraphDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t of_config = engine.get();
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
  int64_t count = 0;
  const auto get = HB_CUDA_SYMBOL(cudnn(), cudnnBackendGetAttribute);
  succeed(get(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &of_config));
  succeed(get(of_config, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT,
              &count, notes));
  for (int64_t i = 0; i < count; ++i)
    if ((wishes.deterministic && notes[i] == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) ||
        (wishes.exact && notes[i] == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS))
      return false;
  return true;
}

/// The first `most` engines that cuDNN's heuristics name for a graph.
std::vector<GraphDescriptor> engines_for(cudnnBackendDescriptor_t graph, int64_t most, GraphDescriptor& heuristics) {
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, &mode);
  std::vector<GraphDescriptor> engines;
  std::vector<cudnnBackendDescriptor_t> found;
  for (int64_t i = 0; i < most; ++i)
    engines.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR), found.push_back(engines.back().get());
  int64_t count = 0;
  succeed(HB_CUDA_SYMBOL(cudnn(), cudnnBackendGetAttribute)(heuristics.finish(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                            CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &count, found.data()));
  while (static_cast<int64_t>(engines.size()) > count) engines.pop_back();
  return engines;
}

}  // namespace

void GraphPlan::plan_by(GraphDescriptor engine, const EngineWishes& wishes) {
  if (!is_as_wished(engine.get(), wishes)) throw CUDNN_STATUS_NOT_SUPPORTED;
  cudnnHandle_t handle = cudnn_handle();
  GraphDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, &handle);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engine.get());
  const cudnnBackendDescriptor_t finished = plan.finish();
  int64_t count = 0, memory = 0;
  succeed(HB_CUDA_SYMBOL(cudnn(), cudnnBackendGetAttribute)(finished, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                                            CUDNN_TYPE_INT64, 1, &count, &memory));
  if (wishes.most_memory >= 0 && memory > wishes.most_memory) throw CUDNN_STATUS_NOT_SUPPORTED;
  plan_ = finished, workspace_ = memory;
  descriptors_.push_back(std::move(engine)), descriptors_.push_back(std::move(plan));
}

GraphPlan::GraphPlan(OperationGraph graph, const EngineWishes& wishes) : descriptors_(std::move(graph.descriptors_)) {
  cudnnHandle_t handle = cudnn_handle();
  const Unrecorded guard;
  GraphDescriptor operations(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR), heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  operations.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, &handle);
  operations.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, graph.operations_.data(),
                 static_cast<int64_t>(graph.operations_.size()));
  cudnnStatus_t status = CUDNN_STATUS_NOT_SUPPORTED;
  for (GraphDescriptor& engine : engines_for(operations.finish(), wishes.most, heuristics)) {
    try {
      plan_by(std::move(engine), wishes);
      break;
    } catch (cudnnStatus_t refused) {
      status = refused;
    }
  }
  if (!plan_) throw status;
  for (GraphDescriptor* kept : {&operations, &heuristics}) descriptors_.push_back(std::move(*kept));
}

cudnnStatus_t GraphPlan::run(const std::vector<GraphArgument>& arguments, void* workspace) const {
  std::vector<int64_t> names;
  std::vector<const void*> addresses;
  for (const GraphArgument& a : arguments) names.push_back(a.name), addresses.push_back(a.address);
  const auto count = static_cast<int64_t>(arguments.size());
  try {
    GraphDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, names.data(), count);
    pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, addresses.data(), count);
    pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, &workspace);
    return HB_CUDA_SYMBOL(cudnn(), cudnnBackendExecute)(cudnn_handle(), plan_, pack.finish());
  } catch (cudnnStatus_t status) {
    return status;
  }
}

void KnownGraph::refuse() {
  refused_ = true;
  cudaGetLastError();  // not for the next kernel's launch to find
}
void KnownGraph::make_plan(const std::function<OperationGraph()>& graph, const EngineWishes& wishes) {
  try {
    plan_ = std::make_unique<GraphPlan>(graph(), wishes);
  } catch (cudnnStatus_t) {
    refuse();
  }
}
bool KnownGraph::run(const std::vector<GraphArgument>& arguments) {
  const Scratch<char> workspace(plan_->workspace());
  const cudnnStatus_t status = plan_->run(arguments, workspace.get());
  if (status == CUDNN_STATUS_SUCCESS) return true;
  if (!is_refusal(status)) fail_cudnn(status, "cudnnBackendExecute");
  refuse();
  return false;
}

}  // namespace hb::cuda
