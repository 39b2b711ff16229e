#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <halfbridge/distributed/error.h>
#include <halfbridge/future.h>
#include <halfbridge/tensor.h>

namespace hb::distributed {

constexpr auto kNoTimeout = std::chrono::milliseconds(0);
constexpr const char* const kSeqNumStoreKey = "SEQ_NUM_STORE_KEY";

enum class OpType : uint8_t {
  BROADCAST = 0,
  ALLREDUCE = 1,
  ALLREDUCE_COALESCED = 2,
  REDUCE = 3,
  ALLGATHER = 4,
  _ALLGATHER_BASE = 5,
  ALLGATHER_COALESCED = 6,
  GATHER = 7,
  SCATTER = 8,
  REDUCE_SCATTER = 9,
  ALLTOALL_BASE = 10,
  ALLTOALL = 11,
  SEND = 12,
  RECV = 13,
  RECVANYSOURCE = 14,
  BARRIER = 15,
  _REDUCE_SCATTER_BASE = 16,
  COALESCED = 17,
  _ALLREDUCE_SPARSE = 18,
  UNKNOWN = 100,
};
enum class WorkResult : uint8_t {
  SUCCESS = 0,
  TIMEOUT = 1,
  COMM_ERROR = 2,
  UNKNOWN = 100,
};

/// "ALLREDUCE" and so on.
HB_API std::string opTypeToString(OpType opType);
/// True for sends and receives.
HB_API bool isP2POp(OpType opType, bool batchP2P = false);

/// A collective, a send or a receive on its way. Its tensors must not be touched before it is complete.
class HB_API Work : public intrusive_ptr_target {
 public:
  explicit Work(int rank = -1, OpType opType = OpType::UNKNOWN, const char* profilingTitle = nullptr,
                const std::optional<std::vector<Tensor>>& inputTensors = std::nullopt);
  ~Work() override;
  /// Does not wait.
  virtual bool isCompleted();
  /// True if it is complete without an error.
  virtual bool isSuccess() const;
  virtual std::exception_ptr exception() const;
  /// The sender, of a receive. Throws for other work.
  virtual int sourceRank() const;
  /// The tensors that it wrote. Throws before it is complete.
  virtual std::vector<Tensor> result();
  virtual void synchronize();
  /// Waits until it is complete and throws its error. Where `timeout` (0: none) passes first it throws
  /// DistBackendError, which names the collective; the collective itself keeps its own deadline.
  virtual bool wait(std::chrono::milliseconds timeout = kNoTimeout);
  virtual void blockCurrentStream();
  virtual void abort();
  /// A future of result(), completed together with this work.
  virtual intrusive_ptr<ivalue::Future> getFuture();
  /// A future of an int, a WorkResult, which never holds an error.
  virtual intrusive_ptr<ivalue::Future> getFutureResult();
  virtual float getDuration() const;
  virtual uint64_t getSequencenumber() const;
  OpType retrieveOpType() const;
  /// Work that is complete when the future is.
  static intrusive_ptr<Work> create_from_future(const intrusive_ptr<ivalue::Future>& future);

 protected:
  /// Completes the work, with an error or without.
  void finish(std::exception_ptr exception = nullptr);
  void finishAndThrow(std::exception_ptr exception);

  mutable std::mutex mutex_;
  std::condition_variable cv_;
  bool completed_ = false;
  std::exception_ptr exception_;
  const int rank_;
  OpType opType_;
  std::function<void()> recordFunctionEndCallback_;
};

struct HB_API WorkInfo {
  using Time = std::chrono::time_point<std::chrono::steady_clock>;
  WorkInfo(const OpType& opType, uint64_t seq, const Time& timeStarted, const Time& timeFinished,
           const std::chrono::duration<float>& activeDuration)
      : opType(opType),
        seq(seq),
        timeStarted(timeStarted),
        timeFinished(timeFinished),
        activeDuration(activeDuration) {}

  OpType opType;
  uint64_t seq;
  Time timeStarted, timeFinished;
  std::chrono::duration<float> activeDuration;
};

}  // namespace hb::distributed
