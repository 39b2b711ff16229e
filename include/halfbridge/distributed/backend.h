#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <halfbridge/distributed/debug.h>
#include <halfbridge/distributed/types.h>
#include <halfbridge/distributed/work.h>
#include <halfbridge/options.h>

namespace hb::distributed {

constexpr auto kBackendDefaultTimeout = std::chrono::milliseconds(30 * 60 * 1000);

enum class ErrorType { SUCCESS = 0, TIMEOUT = 1, COMM_ERROR = 2, REMOTE_ERROR = 3 };

/// An engine as one rank of a group sees it. All ranks call the same collectives in the same order; each returns at
/// once with Work, unless its options say otherwise. A function that a backend does not have throws hb::Error. Tensors
/// may have any strides and no elements; those of one collective have one dtype, and the same sizes on all ranks where
/// not said otherwise. A collective that fails throws DistBackendError from Work::wait: the message names the
/// collective, its number, its tensors, and the ranks that are missing, died or called something else. The group is of
/// no use after a deadline or a death.
class HB_API Backend : public intrusive_ptr_target {
 public:
  struct HB_API Options : intrusive_ptr_target {
    explicit Options(std::string backend, std::chrono::milliseconds timeout = kBackendDefaultTimeout)
        : timeout(timeout), backend(std::move(backend)) {}
    Options(const Options& o)
        : timeout(o.timeout),
          backend(o.backend),
          group_name(o.group_name),
          group_desc(o.group_desc),
          global_ranks_in_group(o.global_ranks_in_group) {}
    ~Options() override;

    /// The deadline of each collective.
    std::chrono::milliseconds timeout;
    const std::string backend;
    std::string group_name;
    std::string group_desc;
    std::vector<uint64_t> global_ranks_in_group;
  };

  explicit Backend(int rank, int size);
  ~Backend() override = 0;

  int getRank() const { return rank_; }
  int getSize() const { return size_; }
  int64_t getID() const { return reinterpret_cast<std::intptr_t>(this); }
  virtual bool supportsSplitting() const { return false; }
  virtual bool supportsCoalescing() const { return false; }
  virtual bool supportsTimeEstimation() const { return false; }
  virtual bool supportsShrinking() const { return false; }
  virtual intrusive_ptr<Backend> shrink(const std::vector<int64_t>& ranks_to_exclude, int shrink_flags = 0,
                                        const intrusive_ptr<Options>& opts_override = nullptr);
  virtual void setTimeout(std::chrono::milliseconds timeout);
  virtual void startCoalescing();
  virtual intrusive_ptr<Work> endCoalescing();
  virtual const std::string getBackendName() const;
  virtual intrusive_ptr<Options> getBackendOptions();

  /// The root's `tensors[rootTensor]` into all ranks' tensors.
  virtual intrusive_ptr<Work> broadcast(std::vector<Tensor>& tensors,
                                        const BroadcastOptions& opts = BroadcastOptions());
  /// The reduction of all ranks' tensors into each.
  virtual intrusive_ptr<Work> allreduce(std::vector<Tensor>& tensors,
                                        const AllreduceOptions& opts = AllreduceOptions());
  /// The sum of sparse (COO) tensors: all ranks get the entries of all, coalesced.
  virtual intrusive_ptr<Work> allreduce_sparse(std::vector<Tensor>& tensors,
                                               const AllreduceOptions& opts = AllreduceOptions());
  /// allreduce of several tensors of one dtype in one exchange.
  virtual intrusive_ptr<Work> allreduce_coalesced(std::vector<Tensor>& tensors,
                                                  const AllreduceCoalescedOptions& opts = AllreduceCoalescedOptions());
  /// The reduction into the root's tensor; other ranks' keep their values.
  virtual intrusive_ptr<Work> reduce(std::vector<Tensor>& tensors, const ReduceOptions& opts = ReduceOptions());
  /// Rank i's input into each rank's `outputTensors[0][i]`.
  virtual intrusive_ptr<Work> allgather(std::vector<std::vector<Tensor>>& outputTensors,
                                        std::vector<Tensor>& inputTensors,
                                        const AllgatherOptions& opts = AllgatherOptions());
  /// Inputs (n) end to end into an output (size * n).
  virtual intrusive_ptr<Work> _allgather_base(Tensor& outputBuffer, Tensor& inputBuffer,
                                              const AllgatherOptions& opts = AllgatherOptions());
  /// Rank i's input j into `outputTensorLists[i][j]`.
  virtual intrusive_ptr<Work> allgather_coalesced(std::vector<std::vector<Tensor>>& outputTensorLists,
                                                  std::vector<Tensor>& inputTensors,
                                                  const AllgatherOptions& opts = AllgatherOptions());
  /// _allgather_base of several pairs.
  virtual intrusive_ptr<Work> allgather_into_tensor_coalesced(std::vector<Tensor>& outputs, std::vector<Tensor>& inputs,
                                                              const AllgatherOptions& opts = AllgatherOptions());
  /// Rank i's input into the root's `outputTensors[0][i]`; other ranks give no outputs.
  virtual intrusive_ptr<Work> gather(std::vector<std::vector<Tensor>>& outputTensors, std::vector<Tensor>& inputTensors,
                                     const GatherOptions& opts = GatherOptions());
  /// The root's `inputTensors[0][i]` into rank i's output; other ranks give no inputs.
  virtual intrusive_ptr<Work> scatter(std::vector<Tensor>& outputTensors,
                                      std::vector<std::vector<Tensor>>& inputTensors,
                                      const ScatterOptions& opts = ScatterOptions());
  /// The reduction of all ranks' `inputTensors[0][i]` into rank i's output.
  virtual intrusive_ptr<Work> reduce_scatter(std::vector<Tensor>& outputTensors,
                                             std::vector<std::vector<Tensor>>& inputTensors,
                                             const ReduceScatterOptions& opts = ReduceScatterOptions());
  /// The same for inputs (size * n) that lie end to end, outputs (n).
  virtual intrusive_ptr<Work> _reduce_scatter_base(Tensor& outputBuffer, Tensor& inputBuffer,
                                                   const ReduceScatterOptions& opts = ReduceScatterOptions());
  /// _reduce_scatter_base of several pairs.
  virtual intrusive_ptr<Work> reduce_scatter_tensor_coalesced(
      std::vector<Tensor>& outputs, std::vector<Tensor>& inputs,
      const ReduceScatterOptions& opts = ReduceScatterOptions());
  /// Part i of the input's rows to rank i, whose parts arrive end to end. Empty split sizes: equal parts.
  virtual intrusive_ptr<Work> alltoall_base(Tensor& outputBuffer, Tensor& inputBuffer,
                                            std::vector<int64_t>& outputSplitSizes,
                                            std::vector<int64_t>& inputSplitSizes,
                                            const AllToAllOptions& opts = AllToAllOptions());
  /// `inputTensors[i]` to rank i, whose tensor arrives in `outputTensors[i]`.
  virtual intrusive_ptr<Work> alltoall(std::vector<Tensor>& outputTensors, std::vector<Tensor>& inputTensors,
                                       const AllToAllOptions& opts = AllToAllOptions());

  /// Like barrier, but rank 0 learns which ranks did not come: the first, or all of them if `waitAllRanks`.
  virtual void monitoredBarrier(const BarrierOptions& opts, bool waitAllRanks = false);
  virtual void setSequenceNumberForGroup();
  /// How many collectives this rank has called.
  virtual uint64_t getSequenceNumberForGroup();
  /// A tensor to one rank, and from one. Messages between two ranks with one tag arrive in the order in which they were
  /// sent.
  virtual intrusive_ptr<Work> send(std::vector<Tensor>& tensors, int dstRank, int tag);
  virtual intrusive_ptr<Work> recv(std::vector<Tensor>& tensors, int srcRank, int tag);
  virtual intrusive_ptr<Work> recvAnysource(std::vector<Tensor>& tensors, int tag);
  virtual intrusive_ptr<Work> barrier(const BarrierOptions& opts = BarrierOptions());

  virtual void registerOnCompletionHook(std::function<void(std::shared_ptr<WorkInfo>)>&& hook);
  virtual void waitForPendingWorks();
  virtual void enableCollectivesTiming();
  /// A group of some of this group's ranks, which must be told by all of them; this rank is one of them.
  virtual intrusive_ptr<Backend> split(const intrusive_ptr<Store>& store, const std::vector<int>& ranks,
                                       const intrusive_ptr<Options>& opts);
  virtual intrusive_ptr<Backend> merge(const intrusive_ptr<Store>& store, const intrusive_ptr<Options>& opts,
                                       const int& rank, const int& size);
  bool hasHooks() const { return onCompletionHook_ != nullptr; }
  virtual void setGroupUid(const std::string& uid) { pg_uid_ = uid; }
  const std::string& getGroupUid() const { return pg_uid_; }
  void setGroupDesc(const std::string& desc) { pg_desc_ = desc; }
  const std::string& getGroupDesc() const { return pg_desc_; }
  std::optional<Device> getBoundDeviceId() const { return bound_device_id_; }
  virtual void eagerConnectSingleDevice(Device device) {}
  void setBoundDeviceId(std::optional<Device> device);
  virtual ErrorType getError();
  virtual bool supportsTensorAlloc(DeviceIndex deviceIdx) { return false; }
  virtual Tensor allocateTensor(long size, TensorOptions options = {});
  /// Ends what is pending with an error; the group is of no use afterwards.
  virtual void abort() {}
  /// Waits for what is pending and leaves the group.
  virtual void shutdown() {}

 protected:
  void init() {}

  const int rank_;
  const int size_;
  DebugLevel dist_debug_level_ = DebugLevel::Off;
  std::string pg_uid_;
  std::string pg_desc_;
  std::function<void(std::shared_ptr<WorkInfo>)> onCompletionHook_;
  std::optional<Device> bound_device_id_;
};

}  // namespace hb::distributed
