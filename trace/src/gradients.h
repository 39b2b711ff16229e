#pragma once
// Gradients of what calls were given and returned, read off the backward pass: the graph stays as it is.

#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <halfbridge/trace/record.h>

#include "autograd/watch.h"

namespace hb::trace {

/// A call as records speak of it: everything but kind, index, dtype and shape.
struct Call {
  Record about;
  std::string layer;    // the path by which it is chosen
  bool chosen = false;  // whether it is recorded at all
  int64_t session = 0;  // that saw it begin
};

/// Follows the nodes that are made while calls run.
///
/// The gradient of an input, as far as this call has a share in it, is the sum of what the nodes made within the call
/// pass on to it. The gradient of an output is what arrives where it was made; if nodes of the call itself use it too,
/// the sum of what later nodes pass on to it.
class Gradients final {
 public:
  using Sink = std::function<void(const Call& call, Kind kind, int64_t index, const Tensor& gradient)>;
  using LeafSink = std::function<void(const Tensor& leaf)>;
  /// `leaf_sink` is told of leaves that a gradient arrives at. Both are called under a lock.
  Gradients(Sink sink, LeafSink leaf_sink) : sink_(std::move(sink)), leaf_sink_(std::move(leaf_sink)) {}

  /// Between these two on one thread, nodes belong to the call and to those around it.
  void begin(const std::shared_ptr<const Call>& call, ArrayRef<const Tensor*> inputs);
  void end(const Call& call, ArrayRef<const Tensor*> outputs);
  /// The call ended with an exception.
  void abandon(const Call& call) { end(call, {}); }
  /// No call runs on this thread.
  void none_running() { running().clear(); }
  /// Writes what is known of gradients that wait for nodes that no backward pass came to.
  void flush();
  /// Forgets calls of steps before this one.
  void forget(int64_t step);

  // As GraphWatcher has them.
  void inputs(const Node& node, ArrayRef<const Tensor*> inputs);
  void arrived(const Node& node, const variable_list& grads);
  void evaluated(const Node& node, const variable_list& grads);

 private:
  /// A gradient that is being added up.
  struct Share {
    std::shared_ptr<const Call> call;
    Kind kind;
    int64_t index;
    DimVector sizes;
    ScalarType dtype;
    int waiting = 0;  // for so many nodes
    bool written = false;
    Tensor sum;
  };
  using SharePtr = std::shared_ptr<Share>;
  struct Output {
    std::shared_ptr<const Call> call;
    int64_t index;
    uint32_t nr;
  };
  /// Of a node of the graph, as long as it lives or until its address is another's.
  struct Seen {
    int64_t step = 0;
    std::vector<int> users;                            // by result: nodes that were seen to use it
    std::vector<Output> outputs;                       // results that a call returned
    std::vector<std::pair<uint32_t, SharePtr>> later;  // the same, where only later users count
    std::vector<SharePtr> open;                        // shares in the gradient of a result
    std::vector<std::pair<size_t, SharePtr>> passes;   // what it passes on counts here, by edge
  };
  struct Running {
    std::shared_ptr<const Call> call;
    struct Input {
      Edge edge;
      int64_t index;
      DimVector sizes;
      ScalarType dtype;
      SharePtr share;
    };
    std::vector<Input> inputs;
  };
  static std::vector<Running>& running();

  void add(Share& share, const Tensor& gradient);
  void write(Share& share);

  Sink sink_;
  LeafSink leaf_sink_;
  std::recursive_mutex mutex_;
  std::unordered_map<const Node*, Seen> seen_;
};

}  // namespace hb::trace
