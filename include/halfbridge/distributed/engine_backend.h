#pragma once

#include <memory>

#include <halfbridge/distributed/backend.h>

namespace hb::distributed {

class Engine;
class WorkQueue;

/// What the backends have in common: tensors become plain memory for an engine, and a thread of the group runs the
/// collectives in the order of their calls.
class HB_API EngineBackend : public Backend {
 public:
  ~EngineBackend() override;
  bool supportsSplitting() const override { return true; }
  void setTimeout(std::chrono::milliseconds timeout) override { options_->timeout = timeout; }
  intrusive_ptr<Backend::Options> getBackendOptions() override { return options_; }

  intrusive_ptr<Work> broadcast(std::vector<Tensor>& tensors,
                                const BroadcastOptions& opts = BroadcastOptions()) override;
  intrusive_ptr<Work> allreduce(std::vector<Tensor>& tensors,
                                const AllreduceOptions& opts = AllreduceOptions()) override;
  intrusive_ptr<Work> allreduce_sparse(std::vector<Tensor>& tensors,
                                       const AllreduceOptions& opts = AllreduceOptions()) override;
  intrusive_ptr<Work> allreduce_coalesced(std::vector<Tensor>& tensors,
                                          const AllreduceCoalescedOptions& opts = AllreduceCoalescedOptions()) override;
  intrusive_ptr<Work> reduce(std::vector<Tensor>& tensors, const ReduceOptions& opts = ReduceOptions()) override;
  intrusive_ptr<Work> allgather(std::vector<std::vector<Tensor>>& outputTensors, std::vector<Tensor>& inputTensors,
                                const AllgatherOptions& opts = AllgatherOptions()) override;
  intrusive_ptr<Work> _allgather_base(Tensor& outputBuffer, Tensor& inputBuffer,
                                      const AllgatherOptions& opts = AllgatherOptions()) override;
  intrusive_ptr<Work> allgather_coalesced(std::vector<std::vector<Tensor>>& outputTensorLists,
                                          std::vector<Tensor>& inputTensors,
                                          const AllgatherOptions& opts = AllgatherOptions()) override;
  intrusive_ptr<Work> allgather_into_tensor_coalesced(std::vector<Tensor>& outputs, std::vector<Tensor>& inputs,
                                                      const AllgatherOptions& opts = AllgatherOptions()) override;
  intrusive_ptr<Work> gather(std::vector<std::vector<Tensor>>& outputTensors, std::vector<Tensor>& inputTensors,
                             const GatherOptions& opts = GatherOptions()) override;
  intrusive_ptr<Work> scatter(std::vector<Tensor>& outputTensors, std::vector<std::vector<Tensor>>& inputTensors,
                              const ScatterOptions& opts = ScatterOptions()) override;
  intrusive_ptr<Work> reduce_scatter(std::vector<Tensor>& outputTensors, std::vector<std::vector<Tensor>>& inputTensors,
                                     const ReduceScatterOptions& opts = ReduceScatterOptions()) override;
  intrusive_ptr<Work> _reduce_scatter_base(Tensor& outputBuffer, Tensor& inputBuffer,
                                           const ReduceScatterOptions& opts = ReduceScatterOptions()) override;
  intrusive_ptr<Work> reduce_scatter_tensor_coalesced(
      std::vector<Tensor>& outputs, std::vector<Tensor>& inputs,
      const ReduceScatterOptions& opts = ReduceScatterOptions()) override;
  intrusive_ptr<Work> alltoall_base(Tensor& outputBuffer, Tensor& inputBuffer, std::vector<int64_t>& outputSplitSizes,
                                    std::vector<int64_t>& inputSplitSizes,
                                    const AllToAllOptions& opts = AllToAllOptions()) override;
  intrusive_ptr<Work> alltoall(std::vector<Tensor>& outputTensors, std::vector<Tensor>& inputTensors,
                               const AllToAllOptions& opts = AllToAllOptions()) override;
  void monitoredBarrier(const BarrierOptions& opts = BarrierOptions(), bool waitAllRanks = false) override;
  void setSequenceNumberForGroup() override {}
  uint64_t getSequenceNumberForGroup() override;
  intrusive_ptr<Work> send(std::vector<Tensor>& tensors, int dstRank, int tag) override;
  intrusive_ptr<Work> recv(std::vector<Tensor>& tensors, int srcRank, int tag) override;
  intrusive_ptr<Work> recvAnysource(std::vector<Tensor>& tensors, int tag) override;
  intrusive_ptr<Work> barrier(const BarrierOptions& opts = BarrierOptions()) override;

  void registerOnCompletionHook(std::function<void(std::shared_ptr<WorkInfo>)>&& hook) override;
  void waitForPendingWorks() override;
  void enableCollectivesTiming() override {}
  ErrorType getError() override;
  void abort() override;
  void shutdown() override;
  /// "shared memory", "Gloo (TCP)", "MPI", "NCCL": what moves the bytes.
  std::string transport() const;
  const std::vector<uint64_t>& groupRanks() const { return options_->global_ranks_in_group; }

 protected:
  EngineBackend(int rank, int size, intrusive_ptr<Backend::Options> options);
  /// Starts with an engine, of which this object is the owner.
  void start(std::shared_ptr<Engine> engine, intrusive_ptr<Store> store);

  intrusive_ptr<Backend::Options> options_;
  intrusive_ptr<Store> store_;
  std::shared_ptr<WorkQueue> queue_;
};

}  // namespace hb::distributed
