#include "core/pending.h"

#include <algorithm>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "core/cuda_api.h"
#include "core/new_memory.h"

namespace hb::pending {

std::atomic<int> count{0};

namespace {
const void* this_thread() {
  static thread_local char place;
  return &place;
}
thread_local constinit bool new_memory = false;
}  // namespace

NewMemory::NewMemory() : before_(std::exchange(new_memory, true)) {}
NewMemory::~NewMemory() { new_memory = before_; }

Work::Work(const Tensor& result) : result_(result.impl().physical_storage()), thread_(this_thread()) {
  CudaApi* const api = find_cuda_api();
  stream_ = api ? api->current_stream(device().index()) : 0;
}
Work::~Work() = default;

/// All that waits. A thread that needs some of it done waits for another thread that is doing it.
struct Waiting {
  std::recursive_mutex mutex;
  std::vector<std::shared_ptr<Work>> list;
  bool running = false;  // by the thread that holds the lock

  static Waiting& all() {
    static auto* const made = new Waiting;  // threads may end after main
    return *made;
  }

  static void run_one(Work& work) {
    CudaApi* const api = find_cuda_api();
    const DeviceIndex device = work.device().index();
    const int64_t now = api ? api->current_stream(device) : 0;
    if (now == work.stream_) return work.run();
    struct Back {
      CudaApi* api;
      int64_t stream;
      DeviceIndex device;
      ~Back() { api->set_current_stream(stream, device); }
    } back{api, now, device};
    api->set_current_stream(work.stream_, device);
    work.run();
  }

  void take(size_t at, bool run) {
    const std::shared_ptr<Work> work = std::move(list[at]);
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
    if (run && !work->is_dead()) {
      running = true;
      struct Done {
        bool& running;
        ~Done() { running = false, --count; }
      } done{running};
      run_one(*work);
    } else {
      --count;
    }
  }
  void drop_dead() {
    for (size_t i = list.size(); i-- > 0;)
      if (list[i]->is_dead()) take(i, false);
  }
  size_t place_of(const StorageImpl* result) const {
    const auto found = std::find_if(list.begin(), list.end(), [&](const auto& w) { return w->result() == result; });
    return static_cast<size_t>(found - list.begin());
  }
  static bool own(const Work& work) { return work.thread_ == this_thread(); }
};

void add(std::shared_ptr<Work> work) {
  Waiting& w = Waiting::all();
  const std::lock_guard lock(w.mutex);
  w.drop_dead();
  w.list.push_back(std::move(work));
  ++count;
}

std::shared_ptr<Work> find(const Tensor& t) {
  if (!t.impl().is_deferred()) return nullptr;
  Waiting& w = Waiting::all();
  const std::lock_guard lock(w.mutex);
  const size_t at = w.place_of(t.impl().physical_storage().get());
  return at < w.list.size() && Waiting::own(*w.list[at]) ? w.list[at] : nullptr;
}

void run(const StorageImpl& result) {
  Waiting& w = Waiting::all();
  const std::lock_guard lock(w.mutex);
  const size_t at = w.place_of(&result);
  if (at < w.list.size()) w.take(at, true);
}

void run_all() {
  Waiting& w = Waiting::all();
  const std::lock_guard lock(w.mutex);
  if (w.running) return;  // this thread, within the kernel of such work
  while (!w.list.empty()) w.take(0, true);
}

void before_kernel(const char* name) {
  if (new_memory) return;
  // These write to memory that is new and to running statistics alone.
  constexpr std::string_view kHarmless[] = {"convolution", "convolution_backward", "batch_norm", "batch_norm_backward"};
  if (std::find(std::begin(kHarmless), std::end(kHarmless), name) == std::end(kHarmless)) run_all();
}

int handles(const StorageImpl& result) {
  if (!any()) return 0;
  Waiting& w = Waiting::all();
  const std::lock_guard lock(w.mutex);
  return w.place_of(&result) < w.list.size() ? 1 : 0;
}

void forget(const Work& work) {
  Waiting& w = Waiting::all();
  const std::lock_guard lock(w.mutex);
  const size_t at = w.place_of(work.result());
  if (at < w.list.size() && w.list[at].get() == &work) w.take(at, false);
}

}  // namespace hb::pending
