#pragma once
// A collective of NCCL on its way: a mark in the stream that it was queued in.

#include <atomic>

#include "core/cuda_api.h"
#include "distributed/work_queue.h"

namespace hb::distributed::nccl {

class StreamQueue;

/// An event of CUDA's.
class Mark {
 public:
  explicit Mark(DeviceIndex device) : device_(device), event_(api().make_event(kNoTiming, device)) {}
  ~Mark() { api().destroy_event(event_, device_); }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  void record(CudaStreamId stream) { api().record_event(event_, stream, device_); }
  /// What is queued in the stream from here on comes after it.
  void block(CudaStreamId stream) const { api().stream_waits_for(event_, stream, device_); }
  /// Once true, always true.
  bool passed() const {
    if (!passed_ && api().event_is_done(event_, device_)) passed_ = true;
    return passed_;
  }
  void wait() const { api().wait_for_event(event_, device_); }
  static CudaApi& api() { return cuda_api("ProcessGroupNCCL"); }

 private:
  static constexpr unsigned kNoTiming = 2;  // cudaEventDisableTiming
  DeviceIndex device_;
  void* event_;
  mutable std::atomic<bool> passed_{false};
};

/// wait() lets the current stream wait, not the host, unless it has a timeout, or TORCH_NCCL_BLOCKING_WAIT is 1, or it
/// is a barrier.
class StreamWork : public Work {
 public:
  /// `kept`: what holds the memory of the collective.
  StreamWork(std::shared_ptr<StreamQueue> queue, Call call, std::unique_ptr<Mark> end, std::vector<Tensor> outputs,
             std::shared_ptr<void> kept);
  bool isCompleted() override;
  bool isSuccess() const override;
  bool wait(std::chrono::milliseconds timeout) override;
  void synchronize() override;
  void blockCurrentStream() override { synchronize(); }
  void abort() override;
  std::vector<Tensor> result() override { return outputs_; }
  intrusive_ptr<ivalue::Future> getFuture() override;
  intrusive_ptr<ivalue::Future> getFutureResult() override;
  uint64_t getSequencenumber() const override { return call_.number; }
  int sourceRank() const override;

  const Call& call() const { return call_; }
  /// Called by the watchdog: the GPU has passed the end. Lets go of the memory.
  void complete(const Hook& hook);
  /// Called by the watchdog: it will not.
  void fail(std::exception_ptr error);
  bool passed() const { return end_->passed(); }

 private:
  void wait_on_host(std::chrono::milliseconds limit);
  void let_go();

  std::shared_ptr<StreamQueue> queue_;
  Call call_;
  std::unique_ptr<Mark> end_;
  std::vector<Tensor> outputs_;
  std::shared_ptr<void> kept_;
  std::chrono::steady_clock::time_point started_;
};

}  // namespace hb::distributed::nccl
