// cuDNN's graphs: keeps what descriptors are given, has an engine for the graphs that it recognises, and runs them.
#include "software_cuda/cudnn_graph.h"

#include <halfbridge/engine.h>

#include "software_cuda/libraries/cudnn_objects.h"
#include "software_cuda/libraries/graph_objects.h"
#include "software_cuda/libraries/symbols.h"
#include "software_cuda/memory.h"
#include "software_cuda/queue.h"

namespace {

using software_cuda::GraphKind;
using software_cuda::GraphObject;
using software_cuda::GraphTensor;
using Shared = std::shared_ptr<GraphObject>;

Shared& object(cudnnBackendDescriptor_t descriptor) { return *static_cast<Shared*>(descriptor); }

size_t size_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN:
      return 1;
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_VOID_PTR:
      return 8;
    default:
      return 4;
  }
}

bool has_parts(const GraphObject& o, std::initializer_list<int> names) {
  for (const int name : names)
    if (!o.part(name)) return false;
  return true;
}
bool is_tensor(const GraphObject& o) {
  const GraphTensor t(o);
  bool good = t.name > 0 && t.sizes.size() == 4 && t.strides.size() == 4 &&
              !o.all<int>(CUDNN_ATTR_TENSOR_DATA_TYPE).empty() &&
              o.one<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 0) == 16;
  for (size_t d = 0; good && d < 4; ++d) good = t.sizes[d] > 0 && t.strides[d] > 0;
  return good;
}
bool is_product(const GraphObject& o) {
  if (!has_parts(o, {CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_ATTR_OPERATION_MATMUL_BDESC,
                     CUDNN_ATTR_OPERATION_MATMUL_CDESC, CUDNN_ATTR_OPERATION_MATMUL_DESC}))
    return false;
  const GraphTensor a(*o.part(CUDNN_ATTR_OPERATION_MATMUL_ADESC)), b(*o.part(CUDNN_ATTR_OPERATION_MATMUL_BDESC)),
      c(*o.part(CUDNN_ATTR_OPERATION_MATMUL_CDESC));
  return a.sizes[0] == b.sizes[0] && a.sizes[0] == c.sizes[0] && a.sizes[1] == c.sizes[1] &&
         a.sizes[1] % b.sizes[1] == 0 && a.sizes[2] == c.sizes[2] && a.sizes[3] == b.sizes[2] &&
         b.sizes[3] == c.sizes[3];
}
/// Channels lie together in all three tensors, whose sizes are those of a convolution.
bool is_convolution(const GraphObject& o) {
  const int first = software_cuda::first_of_convolution(o);
  if (!has_parts(o, {first + 2, first + 3, first + 4, first + 5})) return false;
  const GraphTensor w(*o.part(first + 3)), x(*o.part(first + 4)), y(*o.part(first + 5));
  for (const GraphTensor* t : {&w, &x, &y})
    if (t->strides[1] != 1 || t->strides[3] != t->sizes[1]) return false;
  return x.sizes[0] == y.sizes[0] && y.sizes[1] == w.sizes[0] && x.sizes[1] % w.sizes[1] == 0 &&
         o.one<float>(first, 0) == 1 && o.one<float>(first + 1, 1) == 0;
}
/// Whether what finishes a descriptor is there.
bool is_complete(const GraphObject& o) {
  if (software_cuda::first_of_convolution(o)) return is_convolution(o);
  switch (o.kind) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
      return is_tensor(o);
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      return is_product(o);
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
      return has_parts(o, {CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                           CUDNN_ATTR_OPERATION_POINTWISE_YDESC});
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
      return has_parts(o, {CUDNN_ATTR_OPERATION_REDUCTION_DESC, CUDNN_ATTR_OPERATION_REDUCTION_XDESC,
                           CUDNN_ATTR_OPERATION_REDUCTION_YDESC});
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
      return has_parts(o, {CUDNN_ATTR_OPERATION_RESHAPE_XDESC, CUDNN_ATTR_OPERATION_RESHAPE_YDESC});
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      return o.parts.count(CUDNN_ATTR_OPERATIONGRAPH_OPS) && o.one<void*>(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, nullptr);
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      return has_parts(o, {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH}) &&
             o.one<int>(CUDNN_ATTR_ENGINEHEUR_MODE, -1) == CUDNN_HEUR_MODE_A;
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      return has_parts(o, {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG}) &&
             o.one<void*>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, nullptr);
    default:
      return true;
  }
}

const GraphObject& graph_of(const GraphObject& plan) {
  return *plan.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)->part(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
}

/// What a run is given; false where something is missing, or not aligned as was promised.
bool take_arguments(const GraphObject& graph, const GraphObject& pack, std::map<int64_t, void*>& memory,
                    std::map<int64_t, float>& numbers) {
  const auto names = pack.all<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto addresses = pack.all<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  if (names.size() != addresses.size()) return false;
  for (size_t i = 0; i < names.size(); ++i) memory[names[i]] = addresses[i];
  size_t wanted = 0;
  for (const auto& [name, t] : tensors_of(graph)) {
    if (t.is_between) continue;
    ++wanted;
    if (!memory.count(name) || !memory[name]) return false;
    if (t.is_number)
      numbers[name] = *static_cast<const float*>(memory[name]);
    else if (reinterpret_cast<uintptr_t>(memory[name]) % 16 != 0)
      return false;
  }
  return wanted == memory.size();
}

const char* title_of(GraphKind kind) {
  return kind == GraphKind::attention     ? "cudnnBackendExecute: attention"
         : kind == GraphKind::convolution ? "cudnnBackendExecute: convolution"
         : kind == GraphKind::gradients   ? "cudnnBackendExecute: attention's gradients"
                                          : "cudnnBackendExecute: attention's deterministic gradients";
}

}  // namespace

size_t cudnnGetVersion() { return 91400; }  // sums of atomics have to be cleared before 9.19
cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t kind, cudnnBackendDescriptor_t* made) {
  *made = new Shared(std::make_shared<GraphObject>(kind));
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  return destroy(static_cast<Shared*>(descriptor));
}
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  GraphObject& o = *object(descriptor);
  if (!is_complete(o)) return CUDNN_STATUS_BAD_PARAM;
  o.finished = true;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count, const void* values) {
  GraphObject& o = *object(descriptor);
  if (o.finished || count < 1 || !values) return CUDNN_STATUS_BAD_PARAM;
  if (type != CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    const auto* const bytes = static_cast<const char*>(values);
    o.values[name].assign(bytes, bytes + size_of(type) * static_cast<size_t>(count));
    return CUDNN_STATUS_SUCCESS;
  }
  auto& parts = o.parts[name];
  parts.clear();
  for (int64_t i = 0; i < count; ++i) {
    parts.push_back(object(static_cast<const cudnnBackendDescriptor_t*>(values)[i]));
    if (!parts.back()->finished) return CUDNN_STATUS_BAD_PARAM;
  }
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t, int64_t most, int64_t* count, void* values) {
  const GraphObject& o = *object(descriptor);
  if (!o.finished || most < 1) return CUDNN_STATUS_BAD_PARAM;
  *count = 1;
  if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) {
    *static_cast<int64_t*>(values) = static_cast<int64_t>(workspace_of(graph_of(o), recognise(graph_of(o))));
    return CUDNN_STATUS_SUCCESS;
  }
  if (name != CUDNN_ATTR_ENGINEHEUR_RESULTS) return CUDNN_STATUS_NOT_SUPPORTED;
  const auto& graph = o.parts.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  if (recognise(*graph.front()) == GraphKind::none) {
    *count = 0;
    return CUDNN_STATUS_SUCCESS;
  }
  GraphObject& engine = *object(*static_cast<cudnnBackendDescriptor_t*>(values));
  engine.parts[CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH] = graph, engine.finished = true;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack) {
  const Shared& kept = object(plan);
  const Shared& given = object(pack);
  if (!kept->finished || !given->finished) return CUDNN_STATUS_BAD_PARAM;
  const GraphObject& graph = graph_of(*kept);
  const GraphKind kind = recognise(graph);
  const size_t bytes = workspace_of(graph, kind);
  void* const workspace = given->one<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, nullptr);
  std::map<int64_t, void*> memory;
  std::map<int64_t, float> numbers;
  if (!workspace || !take_arguments(graph, *given, memory, numbers)) return CUDNN_STATUS_BAD_PARAM;
  software_cuda::enqueue_library_call(handle->stream, title_of(kind), [=] {
    software_cuda::fill_garbage(workspace, bytes);
    const hb::NoGradGuard no_grad;
    run_graph(graph_of(*kept), memory, numbers);
  });
  return CUDNN_STATUS_SUCCESS;
}

SOFTWARE_CUDA_SYMBOL(cudnnGetVersion);
SOFTWARE_CUDA_SYMBOL(cudnnBackendCreateDescriptor);
SOFTWARE_CUDA_SYMBOL(cudnnBackendDestroyDescriptor);
SOFTWARE_CUDA_SYMBOL(cudnnBackendFinalize);
SOFTWARE_CUDA_SYMBOL(cudnnBackendSetAttribute);
SOFTWARE_CUDA_SYMBOL(cudnnBackendGetAttribute);
SOFTWARE_CUDA_SYMBOL(cudnnBackendExecute);
