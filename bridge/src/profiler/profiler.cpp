#include <halfbridge/bridge/profiler.h>

#include <exception>
#include <ostream>

#include <halfbridge/error.h>

namespace hb::autodiff::profiler {

std::string KinetoEvent::name() const {
  switch (event_.kind) {
    case hb::profiler::EventKind::function:
      return "aten::" + event_.name;
    case hb::profiler::EventKind::gradient:
      return "autograd::engine::evaluate_function: " + event_.name;
    case hb::profiler::EventKind::range:
      break;
  }
  return event_.name;
}

uint8_t KinetoEvent::scope() const {
  using bridge::RecordScope;
  return static_cast<uint8_t>(event_.kind == hb::profiler::EventKind::function   ? RecordScope::FUNCTION
                              : event_.kind == hb::profiler::EventKind::gradient ? RecordScope::BACKWARD_FUNCTION
                                                                                 : RecordScope::USER_SCOPE);
}

ProfilerResult::ProfilerResult(hb::profiler::Profile profile) : profile_(std::move(profile)) {
  for (const hb::profiler::Event& e : profile_.events()) events_.emplace_back(e, profile_.thread());
}

void prepareProfiler(const ProfilerConfig& config, const std::set<ActivityType>& activities) {
  HB_CHECK(config.state == ProfilerState::KINETO || config.state == ProfilerState::CPU,
           "[enableProfiler] expected ProfilerState::KINETO or CPU: the other states need tools that are not part of "
           "this library");
  for (const ActivityType activity : activities)
    HB_CHECK(activity == ActivityType::CPU, "[enableProfiler] expected ActivityType::CPU: this build has no device");
}

void enableProfiler(const ProfilerConfig& config, const std::set<ActivityType>& activities,
                    const std::unordered_set<bridge::RecordScope>& scopes) {
  if (!scopes.empty()) HB_NOT_SUPPORTED("[enableProfiler] scopes are not supported: every event is recorded");
  enableProfiler(config, activities);
}
void enableProfiler(const ProfilerConfig& config, const std::set<ActivityType>& activities) {
  prepareProfiler(config, activities);
  hb::profiler::start({config.report_input_shapes});
}

std::unique_ptr<ProfilerResult> disableProfiler() { return std::make_unique<ProfilerResult>(hb::profiler::stop()); }

RecordProfile::RecordProfile(std::ostream& out) : out_(&out) { hb::profiler::start(); }
RecordProfile::RecordProfile(std::string path) : path_(std::move(path)) { hb::profiler::start(); }
RecordProfile::~RecordProfile() {
  try {
    const hb::profiler::Profile profile = hb::profiler::stop();
    out_ ? profile.write(*out_) : profile.save(path_);
  } catch (const std::exception& error) {
    detail::warn(detail::str("[RecordProfile] nothing is written: ", error.what()));
  }
}

}  // namespace hb::autodiff::profiler
