// Collectives of tensors that hold all ranks' parts end to end, and of several tensors at a time.
#include <cstring>
#include <numeric>

#include <halfbridge/ops.h>

#include "distributed/enqueue.h"

namespace hb::distributed {

namespace {

unsigned char* at(void* p, size_t offset) { return static_cast<unsigned char*>(p) + offset; }

void check_whole(const char* name, const Tensor& whole, const Tensor& part, int size) {
  check_tensor(name, whole);
  check_tensor(name, part);
  HB_CHECK(whole.scalar_type() == part.scalar_type(), "[", name, "] expected tensors of one dtype, got ",
           whole.scalar_type(), " and ", part.scalar_type());
  HB_CHECK(whole.numel() == part.numel() * size, "[", name, "] expected a tensor of ", size, " times ", part.numel(),
           " elements, got ", whole.numel());
}

void check_pairs(const char* name, const std::vector<Tensor>& wholes, const std::vector<Tensor>& parts, int size) {
  HB_CHECK(!parts.empty() && wholes.size() == parts.size(), "[", name, "] expected as many outputs as inputs, got ",
           wholes.size(), " and ", parts.size());
  for (size_t i = 0; i < parts.size(); ++i) check_whole(name, wholes[i], parts[i], size);
}

/// The parts of all ranks in a tensor.
std::vector<void*> parts_of(const Staged& whole, int size) {
  std::vector<void*> parts;
  for (int r = 0; r < size; ++r) parts.push_back(at(whole.data(), whole.bytes() / size * r));
  return parts;
}

void gather_pairs(Engine& engine, const Call& call, const std::vector<Tensor>& outputs,
                  const std::vector<Tensor>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Staged in(inputs[i], true), out(outputs[i], false);
    Call part = call;
    part.bytes = in.bytes();
    engine.allgather(part, in.data(), parts_of(out, engine.size()).data(), in.bytes());
    out.store();
  }
}

void scatter_pairs(Engine& engine, const Call& call, const std::vector<Tensor>& outputs,
                   const std::vector<Tensor>& inputs, const ReduceOp& op) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Staged in(premultiplied(inputs[i], op), true), out(outputs[i], false);
    const auto parts = parts_of(in, engine.size());
    Call part = call;
    part.bytes = out.bytes();
    part.dtype = outputs[i].scalar_type();
    engine.reduce_scatter(part, const_cast<const void* const*>(parts.data()), out.data(), out.count());
    out.store();
  }
}

/// Where the parts of an all-to-all begin and end, in rows.
std::vector<int64_t> splits(const char* which, const Tensor& tensor, const std::vector<int64_t>& sizes, int ranks) {
  const int64_t rows = tensor.dim() ? tensor.size(0) : 0;
  if (sizes.empty()) {
    HB_CHECK(tensor.dim() && rows % ranks == 0, "[alltoall_base] expected rows that ", ranks, " ranks divide, got ",
             rows, " (", which, ")");
    return std::vector<int64_t>(ranks, rows / ranks);
  }
  HB_CHECK(sizes.size() == static_cast<size_t>(ranks),
           "[alltoall_base] Number of tensor splits not equal to group size: ", sizes.size(), " and ", ranks, " (",
           which, ")");
  for (int64_t n : sizes) HB_CHECK(n >= 0, "[alltoall_base] expected split sizes from 0, got ", n);
  const int64_t sum = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  HB_CHECK(sum == rows, "[alltoall_base] Split sizes doesn't match total dim 0 size: ", sum, " and ", rows, " (", which,
           ")");
  return sizes;
}

std::vector<Piece> pieces(const Staged& staged, const std::vector<int64_t>& rows) {
  std::vector<Piece> list;
  const int64_t all = std::accumulate(rows.begin(), rows.end(), int64_t{0});
  const size_t row = all ? staged.bytes() / all : 0;
  size_t from = 0;
  for (int64_t n : rows) list.push_back({at(staged.data(), from), n * row}), from += n * row;
  return list;
}

}  // namespace

intrusive_ptr<Work> EngineBackend::_allgather_base(Tensor& outputBuffer, Tensor& inputBuffer,
                                                   const AllgatherOptions& opts) {
  check_whole("_allgather_base", outputBuffer, inputBuffer, size_);
  return enqueue(*queue_, *options_, call_of(OpType::_ALLGATHER_BASE, {inputBuffer}), opts, {outputBuffer},
                 [out = outputBuffer, in = inputBuffer](Engine& engine, const Call& call) {
                   gather_pairs(engine, call, {out}, {in});
                 });
}

intrusive_ptr<Work> EngineBackend::allgather_into_tensor_coalesced(std::vector<Tensor>& outputs,
                                                                   std::vector<Tensor>& inputs,
                                                                   const AllgatherOptions& opts) {
  check_pairs("allgather_into_tensor_coalesced", outputs, inputs, size_);
  return enqueue(*queue_, *options_, call_of(OpType::COALESCED, inputs), opts, outputs,
                 [outputs, inputs](Engine& engine, const Call& call) { gather_pairs(engine, call, outputs, inputs); });
}

intrusive_ptr<Work> EngineBackend::allgather_coalesced(std::vector<std::vector<Tensor>>& outputTensorLists,
                                                       std::vector<Tensor>& inputTensors,
                                                       const AllgatherOptions& opts) {
  HB_CHECK(outputTensorLists.size() == static_cast<size_t>(size_) && !inputTensors.empty(),
           "[allgather_coalesced] expected inputs and a list of outputs for each of ", size_, " ranks, got ",
           inputTensors.size(), " and ", outputTensorLists.size());
  std::vector<Tensor> all;
  for (const auto& list : outputTensorLists) {
    HB_CHECK(list.size() == inputTensors.size(), "[allgather_coalesced] expected ", inputTensors.size(),
             " outputs for each rank, got ", list.size());
    for (size_t i = 0; i < list.size(); ++i) check_list("allgather_coalesced", {list[i]}, 1, inputTensors[i]);
    all.insert(all.end(), list.begin(), list.end());
  }
  return enqueue(*queue_, *options_, call_of(OpType::ALLGATHER_COALESCED, inputTensors), opts, all,
                 [lists = outputTensorLists, inputs = inputTensors](Engine& engine, const Call& call) {
                   for (size_t i = 0; i < inputs.size(); ++i) {
                     const Staged in(inputs[i], true);
                     std::vector<Staged> out;
                     std::vector<void*> data;
                     for (const auto& list : lists) out.emplace_back(list[i], false), data.push_back(out.back().data());
                     Call part = call;
                     part.bytes = in.bytes();
                     engine.allgather(part, in.data(), data.data(), in.bytes());
                     for (const Staged& item : out) item.store();
                   }
                 });
}

intrusive_ptr<Work> EngineBackend::_reduce_scatter_base(Tensor& outputBuffer, Tensor& inputBuffer,
                                                        const ReduceScatterOptions& opts) {
  check_whole("_reduce_scatter_base", inputBuffer, outputBuffer, size_);
  Call call = call_of(OpType::_REDUCE_SCATTER_BASE, {outputBuffer});
  call.reduction = reduction_of("_reduce_scatter_base", opts.reduceOp, outputBuffer.scalar_type());
  return enqueue(*queue_, *options_, call, opts, {outputBuffer},
                 [out = outputBuffer, in = inputBuffer, op = opts.reduceOp](Engine& engine, const Call& call) {
                   scatter_pairs(engine, call, {out}, {in}, op);
                 });
}

intrusive_ptr<Work> EngineBackend::reduce_scatter_tensor_coalesced(std::vector<Tensor>& outputs,
                                                                   std::vector<Tensor>& inputs,
                                                                   const ReduceScatterOptions& opts) {
  check_pairs("reduce_scatter_tensor_coalesced", inputs, outputs, size_);
  Call call = call_of(OpType::COALESCED, outputs);
  for (const Tensor& out : outputs)
    call.reduction = reduction_of("reduce_scatter_tensor_coalesced", opts.reduceOp, out.scalar_type());
  return enqueue(*queue_, *options_, call, opts, outputs,
                 [outputs, inputs, op = opts.reduceOp](Engine& engine, const Call& call) {
                   scatter_pairs(engine, call, outputs, inputs, op);
                 });
}

intrusive_ptr<Work> EngineBackend::allreduce_coalesced(std::vector<Tensor>& tensors,
                                                       const AllreduceCoalescedOptions& opts) {
  HB_CHECK(!tensors.empty(), "[allreduce_coalesced] expected tensors, got an empty list");
  for (const Tensor& tensor : tensors) {
    check_tensor("allreduce_coalesced", tensor);
    HB_CHECK(tensor.scalar_type() == tensors[0].scalar_type(),
             "[allreduce_coalesced] expected tensors of one dtype, got ", tensors[0].scalar_type(), " and ",
             tensor.scalar_type());
  }
  Call call = call_of(OpType::ALLREDUCE_COALESCED, tensors);
  call.reduction = reduction_of("allreduce_coalesced", opts.reduceOp, tensors[0].scalar_type());
  return enqueue(*queue_, *options_, call, opts, tensors,
                 [tensors, op = opts.reduceOp](Engine& engine, const Call& call) {
                   std::vector<Tensor> flat;
                   for (const Tensor& tensor : tensors)
                     flat.push_back(premultiplied(tensor.detach(), op).reshape({-1}));
                   const Staged joined(cat(flat), true);
                   engine.allreduce(call, joined.data(), joined.count());
                   int64_t from = 0;
                   for (const Tensor& tensor : tensors) {
                     tensor.detach().copy_(joined.memory().narrow(0, from, tensor.numel()).reshape(tensor.sizes()));
                     from += tensor.numel();
                   }
                 });
}

intrusive_ptr<Work> EngineBackend::alltoall_base(Tensor& outputBuffer, Tensor& inputBuffer,
                                                 std::vector<int64_t>& outputSplitSizes,
                                                 std::vector<int64_t>& inputSplitSizes, const AllToAllOptions& opts) {
  check_tensor("alltoall_base", outputBuffer);
  check_tensor("alltoall_base", inputBuffer);
  HB_CHECK(outputBuffer.scalar_type() == inputBuffer.scalar_type(),
           "[alltoall_base] expected tensors of one dtype, got ", inputBuffer.scalar_type(), " and ",
           outputBuffer.scalar_type());
  const auto in_rows = splits("input", inputBuffer, inputSplitSizes, size_);
  const auto out_rows = splits("output", outputBuffer, outputSplitSizes, size_);
  Call call = call_of(OpType::ALLTOALL_BASE, {inputBuffer});
  call.bytes = 0;  // sizes may differ
  return enqueue(*queue_, *options_, call, opts, {outputBuffer},
                 [output = outputBuffer, input = inputBuffer, in_rows, out_rows](Engine& engine, const Call& call) {
                   const Staged in(input, true), out(output, false);
                   engine.alltoall(call, pieces(in, in_rows).data(), pieces(out, out_rows).data());
                   out.store();
                 });
}

}  // namespace hb::distributed
