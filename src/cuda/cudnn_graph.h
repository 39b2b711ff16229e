#pragma once
// Graphs of cuDNN's operations. cuDNN computes a graph that it recognises, such as attention, by one kernel, whatever
// the tensors between the operations are: those are in no memory.

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "backend/conv.h"
#include "cuda/cudnn.h"

namespace hb::cuda {

/// A descriptor of cuDNN's graphs. Whatever cuDNN refuses is thrown as the status.
class GraphDescriptor {
 public:
  explicit GraphDescriptor(cudnnBackendDescriptorType_t kind);
  ~GraphDescriptor();
  GraphDescriptor(GraphDescriptor&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = nullptr; }
  GraphDescriptor(const GraphDescriptor&) = delete;
  GraphDescriptor& operator=(const GraphDescriptor&) = delete;

  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const void* values, int64_t count = 1);
  /// Another descriptor, which has to be finished.
  void set(cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t value) {
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, &value);
  }
  void set(cudnnBackendAttributeName_t name, cudnnDataType_t value) { set(name, CUDNN_TYPE_DATA_TYPE, &value); }
  void set(cudnnBackendAttributeName_t name, int64_t value) { set(name, CUDNN_TYPE_INT64, &value); }
  /// Its attributes are complete, and are checked.
  cudnnBackendDescriptor_t finish();
  cudnnBackendDescriptor_t get() const { return descriptor_; }

 private:
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

using GraphSizes = std::array<int64_t, 4>;

/// A tensor of a graph.
struct GraphValue {
  cudnnBackendDescriptor_t descriptor;
  GraphSizes sizes;
};

enum class ConvDirection { forward, data, weight };

/// What a tensor of a graph is when it runs: an address on the device, or that of a number on the host.
struct GraphArgument {
  int64_t name;
  const void* address;
};

/// Operations, in their order.
class OperationGraph {
 public:
  /// Memory of the device that begins at a multiple of 16 bytes; `name`, from 1 on, is its name among the arguments.
  GraphValue memory(int64_t name, cudnnDataType_t type, const GraphSizes& sizes, const GraphSizes& strides);
  /// A number in float.
  GraphValue number(int64_t name);
  /// What only other operations see.
  GraphValue between(const GraphSizes& sizes, cudnnDataType_t type = CUDNN_DATA_FLOAT);
  GraphValue between(const GraphSizes& sizes, const GraphSizes& strides, cudnnDataType_t type);

  GraphValue unary(cudnnPointwiseMode_t mode, const GraphValue& x);
  GraphValue binary(cudnnPointwiseMode_t mode, const GraphValue& x, const GraphValue& y);
  GraphValue binary(cudnnPointwiseMode_t mode, const GraphValue& x, const GraphValue& y, const GraphValue& result);
  /// The number of each element along `axis`.
  GraphValue index(const GraphValue& like, int64_t axis);
  GraphValue compare(cudnnPointwiseMode_t mode, const GraphValue& x, const GraphValue& y);
  GraphValue select(const GraphValue& condition, const GraphValue& x, const GraphValue& otherwise);
  void copy(const GraphValue& from, const GraphValue& to);
  GraphValue multiply(const GraphValue& a, const GraphValue& b, const GraphValue& result);
  GraphValue reduce(cudnnReduceTensorOp_t how, const GraphValue& x, const GraphValue& result);
  /// A convolution of images, channels standing second in `x`, `w` and `y` whatever their strides: y of x and w, or one
  /// of the gradients, which is written to x or w.
  void convolve(ConvDirection direction, const ConvParams& p, const GraphValue& x, const GraphValue& w,
                const GraphValue& y);
  /// `x` as `result` describes it.
  GraphValue reshape(const GraphValue& x, const GraphValue& result);

 private:
  friend class GraphPlan;
  GraphDescriptor& add(cudnnBackendDescriptorType_t kind) { return descriptors_.emplace_back(kind); }
  GraphValue tensor(int64_t name, cudnnDataType_t type, const GraphSizes& sizes, const GraphSizes& strides,
                    bool is_between, bool is_number);
  GraphDescriptor& pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t type, const GraphValue& x,
                             const GraphValue& result, int64_t axis = -1);
  void finish_operation(GraphDescriptor& operation) { operations_.push_back(operation.finish()); }
  std::vector<GraphDescriptor> descriptors_;
  std::vector<cudnnBackendDescriptor_t> operations_;
  int64_t last_name_ = 1000;
};

/// What an engine has to be to be taken.
struct EngineWishes {
  bool deterministic = false;
  bool exact = false;        // does not round what it reads, as to TF32
  int64_t most = 1;          // engines that are tried, from the first that cuDNN's heuristics name on
  int64_t most_memory = -1;  // bytes of workspace, if not negative
};

/// How cuDNN computes a graph.
class GraphPlan {
 public:
  /// By the first engine of cuDNN's heuristics that is as wished and takes the graph; throws a status where there is
  /// none. cuDNN may compile a kernel, which takes about a second.
  explicit GraphPlan(OperationGraph graph, const EngineWishes& wishes = {});
  /// Bytes of memory that a run wants.
  int64_t workspace() const { return workspace_; }
  cudnnStatus_t run(const std::vector<GraphArgument>& arguments, void* workspace) const;

 private:
  void plan_by(GraphDescriptor engine, const EngineWishes& wishes);
  std::vector<GraphDescriptor> descriptors_;  // of all that the plan is made from
  cudnnBackendDescriptor_t plan_ = nullptr;
  int64_t workspace_ = 0;
};

/// cuDNN has no such thing, in general (3000 and more) or of these parameters (2000 and more).
inline bool is_refusal(cudnnStatus_t status) {
  const int kind = static_cast<int>(status) / 1000;
  return kind == CUDNN_STATUS_BAD_PARAM / 1000 || kind == CUDNN_STATUS_NOT_SUPPORTED / 1000;
}

/// What is known of a graph: nothing yet, a plan, or that cuDNN refuses it.
class KnownGraph {
 public:
  bool is_refused() const { return refused_; }
  bool has_plan() const { return plan_ != nullptr; }
  void make_plan(const std::function<OperationGraph()>& graph, const EngineWishes& wishes = {});
  /// Of a graph with a plan. False where cuDNN refuses after all, which it does before it queues anything.
  bool run(const std::vector<GraphArgument>& arguments);

 private:
  void refuse();
  bool refused_ = false;
  std::unique_ptr<GraphPlan> plan_;
};

}  // namespace hb::cuda
