#pragma once
// LibTorch's profiler over hb::profiler: torch::autograd::profiler. What it sees is the CPU's time of the thread that
// enabled it.

#include <iosfwd>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <halfbridge/bridge/record_function.h>
#include <halfbridge/device.h>
#include <halfbridge/profiler.h>

namespace hb {

namespace profiler::impl {

enum class ActivityType { CPU, XPU, CUDA, HPU, MTIA, PrivateUse1, NUM_KINETO_ACTIVITIES };
enum class ProfilerState {
  Disabled,
  CPU,
  CUDA,
  NVTX,
  ITT,
  PRIVATEUSE1,
  KINETO,
  KINETO_GPU_FALLBACK,
  KINETO_PRIVATEUSE1_FALLBACK,
  KINETO_ONDEMAND,
  NUM_PROFILER_STATES
};

/// Only the flag `report_input_shapes` has an effect.
struct ProfilerConfig {
  explicit ProfilerConfig(ProfilerState state_, bool report_input_shapes_ = false, bool profile_memory_ = false,
                          bool with_stack_ = false, bool with_flops_ = false, bool with_modules_ = false)
      : state(state_),
        report_input_shapes(report_input_shapes_),
        profile_memory(profile_memory_),
        with_stack(with_stack_),
        with_flops(with_flops_),
        with_modules(with_modules_) {}
  bool disabled() const { return state == ProfilerState::Disabled; }
  ProfilerState state;
  bool report_input_shapes, profile_memory, with_stack, with_flops, with_modules;
};

}  // namespace profiler::impl

namespace autodiff::profiler {

using hb::profiler::impl::ActivityType;
using hb::profiler::impl::ProfilerConfig;
using hb::profiler::impl::ProfilerState;

/// One event, named as LibTorch names it: "aten::conv2d", "autograd::engine::evaluate_function: MulBackward0".
class HB_API KinetoEvent {
 public:
  KinetoEvent(hb::profiler::Event event, uint64_t thread) : event_(std::move(event)), thread_(thread) {}
  std::string name() const;
  uint64_t startNs() const { return static_cast<uint64_t>(event_.start_ns); }
  uint64_t durationNs() const { return static_cast<uint64_t>(event_.duration_ns); }
  uint64_t endNs() const { return startNs() + durationNs(); }
  uint64_t startThreadId() const { return thread_; }
  uint64_t endThreadId() const { return thread_; }
  bool hasShapes() const { return !event_.shapes.empty(); }
  const std::vector<std::vector<int64_t>>& shapes() const { return event_.shapes; }
  uint8_t scope() const;
  DeviceType deviceType() const { return DeviceType::CPU; }
  int deviceIndex() const { return -1; }
  bool isAsync() const { return false; }

 private:
  hb::profiler::Event event_;
  uint64_t thread_;
};

/// What disableProfiler() returns.
class HB_API ProfilerResult {
 public:
  explicit ProfilerResult(hb::profiler::Profile profile);
  const std::vector<KinetoEvent>& events() const { return events_; }
  uint64_t trace_start_ns() const { return 0; }
  /// Chrome's trace events.
  void save(const std::string& path) const { profile_.save(path); }
  const hb::profiler::Profile& profile() const { return profile_; }

 private:
  hb::profiler::Profile profile_;
  std::vector<KinetoEvent> events_;
};

/// Nothing to prepare on a CPU; throws as enableProfiler does.
HB_API void prepareProfiler(const ProfilerConfig& config, const std::set<ActivityType>& activities);
/// Records the calling thread from now on. Throws for states and activities other than CPU's: KINETO or CPU with
/// ActivityType::CPU.
HB_API void enableProfiler(const ProfilerConfig& config, const std::set<ActivityType>& activities,
                           const std::unordered_set<bridge::RecordScope>& scopes);
HB_API void enableProfiler(const ProfilerConfig& config, const std::set<ActivityType>& activities);
HB_API std::unique_ptr<ProfilerResult> disableProfiler();
inline bool profilerEnabled() { return hb::profiler::active(); }

/// Records the calling thread while it lives, then writes Chrome's trace events.
class HB_API RecordProfile {
 public:
  explicit RecordProfile(std::ostream& out);
  /// An error on writing the file is a warning: destructors throw nothing.
  explicit RecordProfile(std::string path);
  RecordProfile(const RecordProfile&) = delete;
  RecordProfile& operator=(const RecordProfile&) = delete;
  ~RecordProfile();

 private:
  std::ostream* out_ = nullptr;
  std::string path_;
};

}  // namespace autodiff::profiler
}  // namespace hb
