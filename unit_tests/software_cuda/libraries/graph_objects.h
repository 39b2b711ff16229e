#pragma once
// What descriptors of cuDNN's graphs are here, and the graphs that this cuDNN recognises.

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "software_cuda/cudnn_graph.h"

namespace software_cuda {

/// A descriptor: its attributes by name, as they were set. Other descriptors among them live as long as it does.
struct GraphObject {
  cudnnBackendDescriptorType_t kind;
  bool finished = false;
  std::map<int, std::vector<char>> values;
  std::map<int, std::vector<std::shared_ptr<const GraphObject>>> parts;

  explicit GraphObject(cudnnBackendDescriptorType_t k) : kind(k) {}
  template <class T>
  std::vector<T> all(int name) const {
    const auto found = values.find(name);
    std::vector<T> out(found == values.end() ? 0 : found->second.size() / sizeof(T));
    if (!out.empty()) std::memcpy(out.data(), found->second.data(), out.size() * sizeof(T));
    return out;
  }
  /// `otherwise`: where there is none, or several.
  template <class T>
  T one(int name, T otherwise) const {
    const auto found = values.find(name);
    if (found != values.end() && found->second.size() == sizeof(T))
      std::memcpy(&otherwise, found->second.data(), sizeof(T));
    return otherwise;
  }
  const GraphObject* part(int name) const {
    const auto found = parts.find(name);
    return found == parts.end() || found->second.size() != 1 ? nullptr : found->second.front().get();
  }
};

/// A tensor's descriptor.
struct GraphTensor {
  int64_t name = 0;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::vector<int64_t> sizes, strides;
  bool is_between = false, is_number = false;
  explicit GraphTensor(const GraphObject& t)
      : name(t.one<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, 0)),
        type(t.one(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT)),
        sizes(t.all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS)),
        strides(t.all<int64_t>(CUDNN_ATTR_TENSOR_STRIDES)),
        is_between(t.one(CUDNN_ATTR_TENSOR_IS_VIRTUAL, false)),
        is_number(t.one(CUDNN_ATTR_TENSOR_IS_BY_VALUE, false)) {}
};

enum class GraphKind { none, attention, gradients, deterministic_gradients, convolution };

/// Where the attributes of a convolution's operation begin; 0: it is none.
int first_of_convolution(const GraphObject& operation);

/// Which graph the operations are, in their order: attention of half types, or its gradients, or a convolution of half
/// types without groups; what else cuDNN has engines for, back ends have to compute in another way here.
GraphKind recognise(const GraphObject& graph);
/// Bytes that a run wants, and spoils.
size_t workspace_of(const GraphObject& graph, GraphKind kind);
/// An operation's name, for example "multiply" or "exp"; empty for others than these graphs have.
std::string name_of(const GraphObject& operation);
/// All tensors by name.
std::map<int64_t, GraphTensor> tensors_of(const GraphObject& graph);

/// Computes the operations one by one with the CPU's functions; `memory` has the addresses of what lies in memory.
void run_graph(const GraphObject& graph, const std::map<int64_t, void*>& memory,
               const std::map<int64_t, float>& numbers);

}  // namespace software_cuda
