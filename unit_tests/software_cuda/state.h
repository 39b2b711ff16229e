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

struct Stream {
  int device = 0;
  std::deque<Work> queue;
  uint64_t running = 0;
};

struct Event {
  Stream* stream = nullptr;
  uint64_t number = 0;
  bool timed = false;
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

}  // namespace software_cuda
