#pragma once
// What the software device remembers.

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "software_cuda/cuda_runtime.h"
#include "software_cuda/software_cuda.h"

namespace software_cuda {

struct Stream;

struct Work {
  std::function<bool()> run;
  std::function<bool()> ready;  // of a call that waits for other processes
  const char* name = nullptr;   // of a kernel
  std::vector<const void*> pointers;
  Stream* waits_for = nullptr;  // up to a number
  uint64_t waits_until = 0;
  uint64_t number = 0;  // place in the order of the program
};

/// What streams were asked for while they were captured, in the order in which it was asked.
struct Graph {
  std::vector<Work> works;
  std::vector<Stream*> streams;  // the first began it, the others joined
  bool good = true;
};

struct Stream {
  int device = 0;
  std::deque<Work> queue;
  Graph* capture = nullptr;
};

struct Event {
  Stream* stream = nullptr;
  uint64_t number = 0;
  bool timed = false;
  Graph* capture = nullptr;  // recorded in a captured stream
};

constexpr int kDevices = 2;

struct State {
  std::array<Stream, kDevices> default_stream;
  std::vector<Stream*> streams;
  uint64_t queued = 0, seed = 1;
  static inline thread_local int device = 0;
  bool twice = false;
  Counts counts{};
  std::string ran;
  std::mutex error_mutex;  // of its own: a thread that looks does not wait for the device
  cudaError_t error = cudaSuccess;
  std::string error_text;
  std::map<const char*, std::string> overtaken;  // by block
  Stream* running = nullptr;                     // whose work runs
  uint64_t running_number = 0;
  std::atomic<int> captures{0};  // that have begun
  State() {
    for (int i = 0; i < kDevices; ++i) default_stream[i].device = i, streams.push_back(&default_stream[i]);
  }
};
State& state();

/// A thread may lock it several times over, and let others have it for a moment.
class DeviceMutex {
 public:
  void lock();
  bool try_lock();
  void unlock();
  void pause();

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_;
  int depth_ = 0;
};
DeviceMutex& device_mutex();
void report(cudaError_t code, const std::string& text);
void enqueue_work(cudaStream_t stream, Work work);
Stream& stream_of(cudaStream_t stream);
/// What waits for a captured stream, or for all of the device while one is captured, fails, and so does the capture.
/// `stream` may be null for all.
cudaError_t refuse_in_capture(Stream* stream);

}  // namespace software_cuda
