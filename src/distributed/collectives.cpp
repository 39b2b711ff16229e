// Collectives of one tensor, or one a rank.
#include "distributed/enqueue.h"

namespace hb::distributed {

namespace {

/// Memory of a list of tensors, one a rank.
struct StagedList {
  std::vector<Staged> items;
  std::vector<void*> data;

  StagedList(const std::vector<Tensor>& tensors, bool read) {
    items.reserve(tensors.size());
    for (const Tensor& tensor : tensors) items.emplace_back(tensor, read);
    for (const Staged& item : items) data.push_back(item.data());
  }
  const void* const* inputs() const { return const_cast<const void* const*>(data.data()); }
  void store() const {
    for (const Staged& item : items) item.store();
  }
};

}  // namespace

intrusive_ptr<Work> EngineBackend::broadcast(std::vector<Tensor>& tensors, const BroadcastOptions& opts) {
  const Tensor tensor = only_tensor("broadcast", tensors);
  check_root("broadcast", opts.rootRank, size_);
  HB_CHECK(opts.rootTensor == 0, "[broadcast] expected root tensor 0 of one tensor, got ", opts.rootTensor);
  Call call = call_of(OpType::BROADCAST, tensors);
  call.root = static_cast<int>(opts.rootRank);
  return enqueue(*queue_, *options_, call, opts, tensors, [tensor](Engine& engine, const Call& call) {
    const Staged staged(tensor, engine.rank() == call.root);
    engine.broadcast(call, staged.data(), staged.bytes());
    if (engine.rank() != call.root) staged.store();
  });
}

intrusive_ptr<Work> EngineBackend::allreduce(std::vector<Tensor>& tensors, const AllreduceOptions& opts) {
  if (tensors.size() == 1 && tensors[0].is_sparse()) return allreduce_sparse(tensors, opts);
  const Tensor tensor = only_tensor("allreduce", tensors);
  Call call = call_of(OpType::ALLREDUCE, tensors);
  call.reduction = reduction_of("allreduce", opts.reduceOp, tensor.scalar_type());
  return enqueue(*queue_, *options_, call, opts, tensors,
                 [tensor, op = opts.reduceOp](Engine& engine, const Call& call) {
                   if (op == ReduceOp::PREMUL_SUM) tensor.detach().copy_(premultiplied(tensor, op));
                   const Staged staged(tensor, true);
                   engine.allreduce(call, staged.data(), staged.count());
                   staged.store();
                 });
}

intrusive_ptr<Work> EngineBackend::reduce(std::vector<Tensor>& tensors, const ReduceOptions& opts) {
  const Tensor tensor = only_tensor("reduce", tensors);
  check_root("reduce", opts.rootRank, size_);
  Call call = call_of(OpType::REDUCE, tensors);
  call.reduction = reduction_of("reduce", opts.reduceOp, tensor.scalar_type());
  call.root = static_cast<int>(opts.rootRank);
  return enqueue(*queue_, *options_, call, opts, tensors,
                 [tensor, op = opts.reduceOp](Engine& engine, const Call& call) {
                   const Staged staged(premultiplied(tensor, op), true);
                   engine.reduce(call, staged.data(), staged.count());
                   if (engine.rank() != call.root) return;
                   staged.store();
                   if (op == ReduceOp::PREMUL_SUM) tensor.detach().copy_(staged.memory());
                 });
}

intrusive_ptr<Work> EngineBackend::allgather(std::vector<std::vector<Tensor>>& outputTensors,
                                             std::vector<Tensor>& inputTensors, const AllgatherOptions& opts) {
  const Tensor input = only_tensor("allgather", inputTensors);
  HB_CHECK(outputTensors.size() == 1, "[allgather] expected one list of outputs, got ", outputTensors.size());
  check_list("allgather", outputTensors[0], size_, input);
  return enqueue(*queue_, *options_, call_of(OpType::ALLGATHER, inputTensors), opts, outputTensors[0],
                 [input, outputs = outputTensors[0]](Engine& engine, const Call& call) {
                   const Staged in(input, true);
                   const StagedList out(outputs, false);
                   engine.allgather(call, in.data(), out.data.data(), in.bytes());
                   out.store();
                 });
}

intrusive_ptr<Work> EngineBackend::gather(std::vector<std::vector<Tensor>>& outputTensors,
                                          std::vector<Tensor>& inputTensors, const GatherOptions& opts) {
  const Tensor input = only_tensor("gather", inputTensors);
  check_root("gather", opts.rootRank, size_);
  std::vector<Tensor> outputs;
  if (opts.rootRank == rank_) {
    HB_CHECK(outputTensors.size() == 1, "[gather] expected one list of outputs on the root, got ",
             outputTensors.size());
    check_list("gather", outputs = outputTensors[0], size_, input);
  } else {
    HB_CHECK(outputTensors.empty(), "[gather] expected no outputs on rank ", rank_, ", which is not the root ",
             opts.rootRank);
  }
  Call call = call_of(OpType::GATHER, inputTensors);
  call.root = static_cast<int>(opts.rootRank);
  return enqueue(*queue_, *options_, call, opts, outputs, [input, outputs](Engine& engine, const Call& call) {
    const Staged in(input, true);
    const StagedList out(outputs, false);
    engine.gather(call, in.data(), out.data.data(), in.bytes());
    out.store();
  });
}

intrusive_ptr<Work> EngineBackend::scatter(std::vector<Tensor>& outputTensors,
                                           std::vector<std::vector<Tensor>>& inputTensors, const ScatterOptions& opts) {
  const Tensor output = only_tensor("scatter", outputTensors);
  check_root("scatter", opts.rootRank, size_);
  std::vector<Tensor> inputs;
  if (opts.rootRank == rank_) {
    HB_CHECK(inputTensors.size() == 1, "[scatter] expected one list of inputs on the root, got ", inputTensors.size());
    check_list("scatter", inputs = inputTensors[0], size_, output);
  } else {
    HB_CHECK(inputTensors.empty(), "[scatter] expected no inputs on rank ", rank_, ", which is not the root ",
             opts.rootRank);
  }
  Call call = call_of(OpType::SCATTER, outputTensors);
  call.root = static_cast<int>(opts.rootRank);
  return enqueue(*queue_, *options_, call, opts, outputTensors, [output, inputs](Engine& engine, const Call& call) {
    const Staged out(output, false);
    const StagedList in(inputs, true);
    engine.scatter(call, in.inputs(), out.data(), out.bytes());
    out.store();
  });
}

intrusive_ptr<Work> EngineBackend::reduce_scatter(std::vector<Tensor>& outputTensors,
                                                  std::vector<std::vector<Tensor>>& inputTensors,
                                                  const ReduceScatterOptions& opts) {
  const Tensor output = only_tensor("reduce_scatter", outputTensors);
  HB_CHECK(inputTensors.size() == 1, "[reduce_scatter] expected one list of inputs, got ", inputTensors.size());
  check_list("reduce_scatter", inputTensors[0], size_, output);
  Call call = call_of(OpType::REDUCE_SCATTER, outputTensors);
  call.reduction = reduction_of("reduce_scatter", opts.reduceOp, output.scalar_type());
  return enqueue(*queue_, *options_, call, opts, outputTensors,
                 [output, inputs = inputTensors[0], op = opts.reduceOp](Engine& engine, const Call& call) {
                   std::vector<Tensor> values;
                   for (const Tensor& input : inputs) values.push_back(premultiplied(input, op));
                   const StagedList in(values, true);
                   const Staged out(output, false);
                   engine.reduce_scatter(call, in.inputs(), out.data(), out.count());
                   out.store();
                 });
}

intrusive_ptr<Work> EngineBackend::alltoall(std::vector<Tensor>& outputTensors, std::vector<Tensor>& inputTensors,
                                            const AllToAllOptions& opts) {
  for (const auto* list : {&outputTensors, &inputTensors}) {
    HB_CHECK(list->size() == static_cast<size_t>(size_), "[alltoall] expected a tensor for each of ", size_,
             " ranks, got ", list->size());
    for (const Tensor& tensor : *list) {
      check_tensor("alltoall", tensor);
      HB_CHECK(tensor.scalar_type() == inputTensors[0].scalar_type(), "[alltoall] expected tensors of one dtype, got ",
               inputTensors[0].scalar_type(), " and ", tensor.scalar_type());
    }
  }
  Call call = call_of(OpType::ALLTOALL, inputTensors);
  call.bytes = 0;  // sizes may differ
  return enqueue(*queue_, *options_, call, opts, outputTensors,
                 [outputs = outputTensors, inputs = inputTensors](Engine& engine, const Call& call) {
                   const StagedList in(inputs, true), out(outputs, false);
                   std::vector<Piece> sends, receives;
                   for (const Staged& item : in.items) sends.push_back({item.data(), item.bytes()});
                   for (const Staged& item : out.items) receives.push_back({item.data(), item.bytes()});
                   engine.alltoall(call, sends.data(), receives.data());
                   out.store();
                 });
}

intrusive_ptr<Work> EngineBackend::barrier(const BarrierOptions& opts) {
  return enqueue(*queue_, *options_, call_of(OpType::BARRIER, {}), opts, {},
                 [](Engine& engine, const Call& call) { engine.barrier(call); });
}

}  // namespace hb::distributed
