#pragma once
// Where the time of a program goes: every function of the library that a thread calls, every step of its backward
// passes and ranges of the program's own, with start, duration and shapes.
//
//   hb::profiler::start({/*record_shapes=*/true});
//   train_one_step();
//   const hb::profiler::Profile profile = hb::profiler::stop();
//   std::cout << profile.table();
//   profile.save("step.json");  // for Perfetto or chrome://tracing

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <halfbridge/macros.h>

namespace hb::profiler {

enum class EventKind : uint8_t { function, gradient, range };

struct Event {
  std::string name;  // "conv2d", "ConvolutionBackward0", or what the program calls its range
  EventKind kind = EventKind::function;
  int64_t start_ns = 0;  // since start()
  int64_t duration_ns = 0;
  int64_t self_ns = 0;  // without the events inside it
  /// Of the tensors that went in, undefined ones as {}; only where shapes are recorded.
  std::vector<std::vector<int64_t>> shapes;
};

struct Options {
  bool record_shapes = false;
};

/// What one thread did between start() and stop(), in the order in which events began.
class HB_API Profile {
 public:
  explicit Profile(std::vector<Event> events, uint64_t thread = 0) : events_(std::move(events)), thread_(thread) {}

  const std::vector<Event>& events() const { return events_; }
  /// The number of the thread within the process, as traces show it.
  uint64_t thread() const { return thread_; }
  /// A line for each name with its calls, total and own time, those with most time of their own first.
  std::string table(size_t max_rows = 30) const;
  /// Chrome's trace events as JSON, times in microseconds.
  void write(std::ostream& out) const;
  /// write() to a file; throws an Error where it cannot be written.
  void save(const std::string& path) const;

 private:
  std::vector<Event> events_;
  uint64_t thread_;
};

/// Begins to record this thread. Throws if it is being recorded already, or while a trace of layers is written
/// (HALFBRIDGE_TRACE). Recording costs a few hundred nanoseconds for each event; nothing when it is off.
HB_API void start(const Options& options = {});
/// What start() began; throws where nothing is being recorded. Events that are still open end here.
HB_API Profile stop();
/// Whether this thread is being recorded.
HB_API bool active();

/// A range of the program's own, as long as it lives. Does nothing where the thread is not recorded.
class HB_API Range {
 public:
  explicit Range(std::string_view name);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  uint64_t recording_ = 0;  // 0: nothing to end
  size_t event_ = 0;
};

}  // namespace hb::profiler
