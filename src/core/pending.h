#pragma once
// Work on a device that a function asked for and did not begin: the function that comes next may do it in one pass with
// its own. Whatever else happens to the device first has it done before (src/ops/nn/late_pass.h is what waits so).

#include <atomic>
#include <memory>

#include <halfbridge/tensor.h>

namespace hb::pending {

class HB_API Work {
 public:
  /// Of this thread, for the current stream of the result's device. It holds the memory of `result`, whose layout is
  /// deferred, so that nobody can have its address.
  explicit Work(const Tensor& result);
  virtual ~Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  /// Writes the result; on the thread that needs it, with the stream that was current then. What it reads, the work
  /// holds.
  virtual void run() = 0;

  const StorageImpl* result() const { return result_.get(); }
  const Device& device() const { return result_->device(); }

 private:
  friend struct Waiting;
  /// Nobody but the work can read the result.
  bool is_dead() const { return result_.use_count() == 1; }
  intrusive_ptr<StorageImpl> result_;
  int64_t stream_;
  const void* thread_;
};

/// How much waits, of all threads.
HB_API extern std::atomic<int> count;
inline bool any() { return HB_UNLIKELY(count.load(std::memory_order_acquire) > 0); }

HB_API void add(std::shared_ptr<Work> work);
/// What this thread asked for and would write the memory of `t`; null where there is none.
HB_API std::shared_ptr<Work> find(const Tensor& t);
/// Has what would write this memory done.
HB_API void run(const StorageImpl& result);
/// Has all done that somebody can see.
HB_API void run_all();
inline void finish() {
  if (any()) run_all();
}
/// The same before a kernel that may change what waiting work reads.
HB_API void before_kernel(const char* name);
/// How many handles to this memory are those of waiting work that would write it.
HB_API int handles(const StorageImpl& result);
/// Its result has been written by other means.
HB_API void forget(const Work& work);

}  // namespace hb::pending
