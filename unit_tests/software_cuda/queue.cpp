#include "software_cuda/queue.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "software_cuda/memory.h"
#include "software_cuda/state.h"

namespace software_cuda {

void DeviceMutex::lock() {
  if (owner_ == std::this_thread::get_id()) return void(++depth_);
  mutex_.lock();
  owner_ = std::this_thread::get_id(), depth_ = 1;
}
bool DeviceMutex::try_lock() {
  if (owner_ == std::this_thread::get_id()) return ++depth_ > 0;
  if (!mutex_.try_lock()) return false;
  owner_ = std::this_thread::get_id(), depth_ = 1;
  return true;
}
void DeviceMutex::unlock() {
  if (--depth_ > 0) return;
  owner_ = std::thread::id();
  mutex_.unlock();
}
void DeviceMutex::pause() {
  const int depth = depth_;
  owner_ = std::thread::id();
  mutex_.unlock();
  std::this_thread::sleep_for(std::chrono::microseconds(50));
  mutex_.lock();
  owner_ = std::this_thread::get_id(), depth_ = depth;
}

DeviceMutex& device_mutex() {
  static auto* made = new DeviceMutex;
  return *made;
}

State& state() {
  static auto* made = new State;
  return *made;
}

namespace {

constexpr size_t kQueued = 4096;  // as many the device keeps: then it begins by itself

uint64_t draw() {
  State& s = state();
  s.seed = s.seed * 6364136223846793005ull + 1442695040888963407ull;
  return s.seed >> 17;
}

void run_front(Stream& stream) {
  Work work = std::move(stream.queue.front());
  stream.queue.pop_front();
  state().running = &stream, state().running_number = work.number;
  if (work.run && !work.run()) report(cudaErrorLaunchFailure, failure());
}

bool reached(const Stream& stream, uint64_t number) {
  return stream.queue.empty() || stream.queue.front().number > number;
}

/// Runs the front of a stream, or what that waits for; false where it would have to wait for another process.
bool step(Stream& stream) {
  Work& front = stream.queue.front();
  if (front.waits_for && !reached(*front.waits_for, front.waits_until)) return step(*front.waits_for);
  if (front.ready && !front.ready()) return false;
  run_front(stream);
  return true;
}

bool poll_until(Stream& stream, uint64_t number) {
  while (!reached(stream, number))
    if (!step(stream)) return false;
  return true;
}

/// While one stream waits for another process, the others go on, and other threads may queue work.
void let_others_go_on() {
  bool any = false;
  for (Stream* stream : std::vector<Stream*>(state().streams))
    while (!stream->queue.empty() && step(*stream)) any = true;
  if (!any) device_mutex().pause();
}

void drain_until(Stream& stream, uint64_t number) {
  while (!poll_until(stream, number)) let_others_go_on();
}

/// A kernel of another stream that was queued before, has not run and was given the same memory: no event puts the two
/// in order.
void note_overtaken(const Stream& self, uint64_t number, const char* name, const std::vector<const void*>& pointers) {
  State& s = state();
  for (Stream* other : s.streams) {
    if (other == &self) continue;
    for (const Work& work : other->queue) {
      if (!work.name || work.number > number) continue;
      for (const void* pointer : work.pointers) {
        const char* start = block_at(pointer).start;
        const bool shared =
            std::any_of(pointers.begin(), pointers.end(), [&](const void* p) { return block_at(p).start == start; });
        if (!start || !shared) continue;
        for (const void* p : pointers)
          s.overtaken[block_at(p).start] = std::string("kernel ") + name + " ran before kernel " + work.name +
                                           ", which was queued before it in another stream: no event orders them";
      }
    }
  }
}

bool finish_kernel(const char* name, const std::vector<const void*>& pointers) {
  for (const void* pointer : pointers) {
    if (end_is_intact(pointer)) continue;
    const BlockAt block = block_at(pointer);
    fill_garbage(block.start + block.bytes, 1);
    report(cudaErrorIllegalAddress, "kernel " + std::string(name) + " wrote after the end of a block of " +
                                        std::to_string(block.bytes) + " bytes");
    return true;  // it is reported already
  }
  for (const void* pointer : pointers) note_kernel(pointer, name);
  return true;
}

struct Snapshot {
  char* start;
  std::vector<char> bytes;
};
std::vector<Snapshot> snapshot(const std::vector<const void*>& pointers) {
  std::set<char*> seen;
  std::vector<Snapshot> all;
  for (const void* pointer : pointers) {
    const BlockAt b = block_at(pointer);
    if (b.start && seen.insert(b.start).second) all.push_back({b.start, std::vector<char>(b.start, b.start + b.bytes)});
  }
  return all;
}

bool run_twice(const Geometry& launch, void (*body)(void*), void* lane, const std::vector<const void*>& pointers) {
  const std::vector<Snapshot> before = snapshot(pointers);
  adds_in_any_order = false;
  if (!run_blocks(launch, body, lane, draw())) return false;
  const std::vector<Snapshot> first = snapshot(pointers);
  for (const Snapshot& b : before) std::memcpy(b.start, b.bytes.data(), b.bytes.size());
  if (!run_blocks(launch, body, lane, draw())) return false;
  if (adds_in_any_order) return true;
  for (const Snapshot& b : first)
    if (std::memcmp(b.start, b.bytes.data(), b.bytes.size()) != 0)
      report(cudaErrorLaunchFailure,
             "kernel " + std::string(launch.name) + ": what it writes depends on the order of its threads");
  return true;
}

}  // namespace

Stream& stream_of(cudaStream_t stream) {
  State& s = state();
  return stream ? *reinterpret_cast<Stream*>(stream) : s.default_stream[s.device];
}

void report(cudaError_t code, const std::string& text) {
  State& s = state();
  const std::lock_guard lock(s.error_mutex);
  if (s.error != cudaSuccess) return;  // the first counts
  s.error = code;
  s.error_text = text;
}

void enqueue_work(cudaStream_t to, Work work) {
  const std::lock_guard lock(device_mutex());
  Stream& stream = stream_of(to);
  if (stream.capture) return stream.capture->works.push_back(std::move(work));
  work.number = ++state().queued;
  stream.queue.push_back(std::move(work));
  if (stream.queue.size() <= kQueued) return;
  const OpenMemory open;
  while (stream.queue.size() > kQueued / 2)
    if (!step(stream)) let_others_go_on();
}

void enqueue(cudaStream_t stream, std::function<bool()> run) {
  Work work;
  work.run = std::move(run);
  enqueue_work(stream, std::move(work));
}

void enqueue_library_call(cudaStream_t stream, const char* name, std::function<void()> run,
                          std::function<bool()> ready) {
  if (!stream_of(stream).capture) ++state().counts.library_calls;
  Work work;
  work.run = [name, run = std::move(run)] {
    const OpenMemory open(Opened::all);
    run();
    state().ran += std::string(name) + "\n";
    return true;
  };
  if (ready)
    work.ready = [ready = std::move(ready)] {
      const OpenMemory open(Opened::all);
      return ready();
    };
  enqueue_work(stream, std::move(work));
}

const char* lasting(const std::string& text) {
  const std::lock_guard lock(device_mutex());
  static auto* all = new std::set<std::string>;
  return all->insert(text).first->c_str();
}

static thread_local size_t allowed_shared = 48 << 10;
void allow_shared(size_t bytes) { allowed_shared = std::min<size_t>(bytes, 227 << 10); }

void check_launch(const Geometry& g) {
  char text[200] = "";
  const size_t most_shared = std::exchange(allowed_shared, 48 << 10);
  const auto threads = uint64_t{g.block.x} * g.block.y * g.block.z;
  if (threads == 0 || threads > 1024 || g.block.z > 64)
    std::snprintf(text, sizeof text, "%u x %u x %u threads a block", g.block.x, g.block.y, g.block.z);
  else if (g.grid.x == 0 || g.grid.x > 0x7fffffffu || g.grid.y == 0 || g.grid.y > 65535 || g.grid.z == 0 ||
           g.grid.z > 65535)
    std::snprintf(text, sizeof text, "a grid of %u x %u x %u blocks", g.grid.x, g.grid.y, g.grid.z);
  else if (g.shared > most_shared)
    std::snprintf(text, sizeof text, "%zu bytes of shared memory", g.shared);
  if (*text)
    report(cudaErrorInvalidConfiguration, std::string("kernel ") + g.name + ": " + text + " cannot be launched");
}

void find_pointers(const void* argument, size_t bytes, std::vector<const void*>& found) {
  for (size_t at = 0; at + sizeof(void*) <= bytes; at += sizeof(void*)) {
    const void* value;
    std::memcpy(&value, static_cast<const char*>(argument) + at, sizeof value);
    if (is_device(value)) found.push_back(value);
  }
}

void enqueue_kernel(const Geometry& launch, cudaStream_t to, std::vector<const void*> pointers,
                    std::function<void()> lane) {
  const std::lock_guard lock(device_mutex());
  State& s = state();
  if (!stream_of(to).capture) ++s.counts.launches;
  const cudaError_t before = s.error;
  check_launch(launch);
  if (s.error != before) return;
  Work work;
  work.name = launch.name, work.pointers = pointers;
  work.run = [launch, pointers = std::move(pointers), lane = std::move(lane)]() mutable {
    State& s = state();
    s.ran += launch.name;
    s.ran += '\n';
    note_overtaken(*s.running, s.running_number, launch.name, pointers);
    const OpenMemory open;
    const auto body = [](void* f) { (*static_cast<std::function<void()>*>(f))(); };
    const bool good = s.twice ? run_twice(launch, body, &lane, pointers) : run_blocks(launch, body, &lane, draw());
    return good && finish_kernel(launch.name, pointers);
  };
  enqueue_work(to, std::move(work));
}

void drain(cudaStream_t stream) {
  const std::lock_guard lock(device_mutex());
  Stream& s = stream_of(stream);
  const OpenMemory open;  // once for all that is queued
  drain_until(s, ~uint64_t{0});
}

void drain_until(const Event& event) {
  const std::lock_guard lock(device_mutex());
  const OpenMemory open;
  drain_until(*event.stream, event.number);
}

bool happened(const Event& e) {
  return !e.stream || e.stream->queue.empty() || e.stream->queue.front().number > e.number;
}

bool poll(const Event& event) {
  const std::unique_lock lock(device_mutex(), std::try_to_lock);
  if (!lock) return false;
  if (happened(event)) return true;
  const OpenMemory open;
  poll_until(*event.stream, event.number);
  return false;
}

void drain_all() {
  const std::lock_guard lock(device_mutex());
  const OpenMemory open;
  State& s = state();
  while (true) {
    std::vector<Stream*> busy;
    for (Stream* stream : s.streams)
      if (!stream->queue.empty()) busy.push_back(stream);
    if (busy.empty()) return;
    if (!step(*busy[draw() % busy.size()])) let_others_go_on();
  }
}

}  // namespace software_cuda
