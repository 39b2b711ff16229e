#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <halfbridge/distributed/backend.h>

namespace hb::distributed {

constexpr auto kProcessGroupDefaultTimeout = std::chrono::milliseconds(30 * 60 * 1000);

/// A set of processes, with a backend for each kind of devices. Its collectives are those of the backend of the
/// tensors' device; what Backend says of them holds here, too.
class HB_API ProcessGroup : public intrusive_ptr_target {
 public:
  struct HB_API MergeOptions : intrusive_ptr_target {
    explicit MergeOptions(std::chrono::milliseconds timeout = kProcessGroupDefaultTimeout,
                          std::optional<std::string> group_name = std::nullopt,
                          std::optional<std::string> group_desc = std::nullopt)
        : timeout(timeout), group_name(std::move(group_name)), group_desc(std::move(group_desc)) {}
    ~MergeOptions() override;
    std::chrono::milliseconds timeout;
    std::optional<std::string> group_name;
    std::optional<std::string> group_desc;
  };
  enum BackendType : uint8_t { UNDEFINED = 0, GLOO = 1, NCCL = 2, UCC = 3, MPI = 4, XCCL = 5, CUSTOM = 6 };
  /// "gloo" and so on.
  static std::string backendTypeToString(const BackendType& type);
  static BackendType strToBackendType(const std::string& backend);

  explicit ProcessGroup(int rank, int size);
  explicit ProcessGroup(intrusive_ptr<Store> store, int rank, int size);
  ~ProcessGroup() override;

  virtual int getRank() const { return rank_; }
  virtual int getSize() const { return size_; }
  int64_t getID() const { return reinterpret_cast<std::intptr_t>(this); }
  int64_t getBackendID(BackendType type) const { return getBackend(type)->getID(); }
  virtual const std::string getBackendName() const { return backendTypeToString(backendType_); }
  BackendType getBackendType() const { return backendType_; }
  bool backendSupportsSequenceNumbers(BackendType type);
  virtual void setTimeout(std::chrono::milliseconds timeout);
  int64_t incrementSplitCount() { return splitCounter_++; }
  virtual void startCoalescing(DeviceType deviceType);
  virtual intrusive_ptr<Work> endCoalescing(DeviceType deviceType);

  virtual intrusive_ptr<Work> broadcast(std::vector<Tensor>& tensors,
                                        const BroadcastOptions& opts = BroadcastOptions());
  virtual intrusive_ptr<Work> allreduce(std::vector<Tensor>& tensors,
                                        const AllreduceOptions& opts = AllreduceOptions());
  virtual intrusive_ptr<Work> allreduce_coalesced(std::vector<Tensor>& tensors,
                                                  const AllreduceCoalescedOptions& opts = AllreduceCoalescedOptions());
  virtual intrusive_ptr<Work> reduce(std::vector<Tensor>& tensors, const ReduceOptions& opts = ReduceOptions());
  virtual intrusive_ptr<Work> allgather(std::vector<std::vector<Tensor>>& outputTensors,
                                        std::vector<Tensor>& inputTensors,
                                        const AllgatherOptions& opts = AllgatherOptions());
  virtual intrusive_ptr<Work> _allgather_base(Tensor& outputBuffer, Tensor& inputBuffer,
                                              const AllgatherOptions& opts = AllgatherOptions());
  virtual intrusive_ptr<Work> allgather_coalesced(std::vector<std::vector<Tensor>>& outputTensorLists,
                                                  std::vector<Tensor>& inputTensors,
                                                  const AllgatherOptions& opts = AllgatherOptions());
  virtual intrusive_ptr<Work> allgather_into_tensor_coalesced(std::vector<Tensor>& outputs, std::vector<Tensor>& inputs,
                                                              const AllgatherOptions& opts = AllgatherOptions());
  virtual intrusive_ptr<Work> gather(std::vector<std::vector<Tensor>>& outputTensors, std::vector<Tensor>& inputTensors,
                                     const GatherOptions& opts = GatherOptions());
  virtual intrusive_ptr<Work> scatter(std::vector<Tensor>& outputTensors,
                                      std::vector<std::vector<Tensor>>& inputTensors,
                                      const ScatterOptions& opts = ScatterOptions());
  virtual intrusive_ptr<Work> reduce_scatter(std::vector<Tensor>& outputTensors,
                                             std::vector<std::vector<Tensor>>& inputTensors,
                                             const ReduceScatterOptions& opts = ReduceScatterOptions());
  virtual intrusive_ptr<Work> _reduce_scatter_base(Tensor& outputBuffer, Tensor& inputBuffer,
                                                   const ReduceScatterOptions& opts = ReduceScatterOptions());
  virtual intrusive_ptr<Work> reduce_scatter_tensor_coalesced(
      std::vector<Tensor>& outputs, std::vector<Tensor>& inputs,
      const ReduceScatterOptions& opts = ReduceScatterOptions());
  virtual intrusive_ptr<Work> alltoall_base(Tensor& outputBuffer, Tensor& inputBuffer,
                                            std::vector<int64_t>& outputSplitSizes,
                                            std::vector<int64_t>& inputSplitSizes,
                                            const AllToAllOptions& opts = AllToAllOptions());
  virtual intrusive_ptr<Work> alltoall(std::vector<Tensor>& outputTensors, std::vector<Tensor>& inputTensors,
                                       const AllToAllOptions& opts = AllToAllOptions());
  virtual void monitoredBarrier(const BarrierOptions& opts, bool wait_all_ranks = false);
  virtual void setSequenceNumberForGroup();
  virtual uint64_t getSequenceNumberForGroup();
  virtual intrusive_ptr<Work> send(std::vector<Tensor>& tensors, int dstRank, int tag);
  virtual intrusive_ptr<Work> recv(std::vector<Tensor>& tensors, int srcRank, int tag);
  virtual intrusive_ptr<Work> recvAnysource(std::vector<Tensor>& tensors, int tag);
  virtual intrusive_ptr<Work> barrier(const BarrierOptions& opts = BarrierOptions());

  bool hasBackends() { return !deviceTypeToBackendType_.empty(); }
  /// Tensors on `deviceType` go to `backend`; without one, to the backend of this type that was set before.
  void setBackend(DeviceType deviceType, BackendType backendType, const std::optional<intrusive_ptr<Backend>>& backend);
  intrusive_ptr<Backend> getDefaultBackend() const;
  void setDefaultBackend(const BackendType& backendType) { backendType_ = backendType; }
  void setDefaultBackend(const std::string& backend) { backendType_ = strToBackendType(backend); }
  /// Throw where there is none.
  intrusive_ptr<Backend> getBackend(DeviceType deviceType);
  intrusive_ptr<Backend> getBackend(BackendType backendType) const;
  std::vector<Device> getDeviceTypes() const;
  void registerOnCompletionHook(std::function<void(std::shared_ptr<WorkInfo>)>&& hook);
  void waitForPendingWorks() { getDefaultBackend()->waitForPendingWorks(); }
  virtual void shutdown();
  virtual void abort();
  bool hasHooks() const;
  virtual const std::string& getGroupName() const;
  virtual void setGroupName(const std::string& name);
  virtual const std::string& getGroupDesc() const;
  virtual void setGroupDesc(const std::string& desc);
  void enableCollectivesTiming() { getDefaultBackend()->enableCollectivesTiming(); }
  std::optional<Device> getBoundDeviceId() const { return bound_device_id_; }
  intrusive_ptr<Store> getStore() const { return store_; }
  void setBoundDeviceId(std::optional<Device> device);
  /// A group of some of this group's ranks; all of them call it with the same ranks, and this rank is one of them.
  virtual intrusive_ptr<ProcessGroup> splitGroup(
      const std::vector<int>& ranks, const std::optional<std::chrono::milliseconds>& timeout = std::nullopt,
      const std::optional<intrusive_ptr<Backend::Options>>& opts = std::nullopt,
      const std::optional<std::string>& name = std::nullopt,
      const std::optional<std::string>& groupDesc = std::nullopt);
  /// A group of this process and others that meet in `store`.
  virtual intrusive_ptr<ProcessGroup> mergeRemoteGroup(const intrusive_ptr<Store>& store, const MergeOptions& opts,
                                                       const int& size);

 protected:
  void init() {}
  intrusive_ptr<Backend> backend_of(const Tensor& tensor);

  intrusive_ptr<Store> store_;
  const int rank_;
  const int size_;
  BackendType backendType_ = UNDEFINED;
  std::string pg_desc_;
  int64_t splitCounter_ = 0;
  DebugLevel dist_debug_level_ = DebugLevel::Off;
  std::map<DeviceType, BackendType> deviceTypeToBackendType_;
  std::map<DeviceType, intrusive_ptr<Backend>> deviceTypeToBackend_;
  std::map<BackendType, intrusive_ptr<Backend>> backendTypeToBackend_;
  std::optional<Device> bound_device_id_;
};

/// The thread's current group; null at first.
HB_API intrusive_ptr<ProcessGroup>& currentProcessGroup();
HB_API void setProcessGroup(intrusive_ptr<ProcessGroup> group);

/// A group with one backend by name: "gloo", "mpi" or "nccl", which is the group's default. `store` is where the ranks
/// meet (MPI needs none). Throws hb::Error where the engine is not installed, naming its package.
HB_API intrusive_ptr<ProcessGroup> new_process_group(const std::string& backend, const intrusive_ptr<Store>& store,
                                                     int rank, int size,
                                                     std::chrono::milliseconds timeout = kProcessGroupDefaultTimeout);

}  // namespace hb::distributed
