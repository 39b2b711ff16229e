#include <halfbridge/bridge/event.h>

#include <halfbridge/error.h>

namespace hb::bridge {
inline namespace api {

namespace {
unsigned cuda_flags(EventFlag flag) {
  return flag == EventFlag::BACKEND_DEFAULT ? cudaEventDefault : cudaEventDisableTiming;
}
void check_value(bool good, const char* text) {
  if (!good) throw ValueError({__func__, __FILE__, __LINE__}, text);
}
}  // namespace

Event::Event(DeviceType type, EventFlag flag) : type_(type), flag_(flag), event_(cuda_flags(flag)) {
  HB_CHECK(flag != EventFlag::INVALID, "[Event] CUDA event received unknown flag");
}

void Event::record(const Stream& stream) {
  HB_CHECK(stream.device_type() == type_, "[Event] Event device type ", DeviceTypeName(type_),
           " does not match recording stream's device type ", DeviceTypeName(stream.device_type()), ".");
  HB_CHECK(type_ == kCUDA, "[Event] ", DeviceTypeName(type_), " backend doesn't support events.");
  event_.record(cuda::CUDAStream(stream));
  recorded_ = true;
}

void Event::block(const Stream& stream) const {
  if (!recorded_) return;
  HB_CHECK(stream.device_type() == type_, "[Event] Event device type ", DeviceTypeName(type_),
           " does not match blocking stream's device type ", DeviceTypeName(stream.device_type()), ".");
  event_.block(cuda::CUDAStream(stream));
}

double Event::elapsedTime(const Event& other) const {
  HB_CHECK(other.type_ == type_, "[Event] Event device type ", DeviceTypeName(type_),
           " does not match other's device type ", DeviceTypeName(other.type_), ".");
  check_value(flag_ == EventFlag::BACKEND_DEFAULT && other.flag_ == EventFlag::BACKEND_DEFAULT,
              "[Event] Both events must be created with argument 'enable_timing=True'.");
  check_value(recorded_ && other.recorded_, "[Event] Both events must be recorded before calculating elapsed time.");
  HB_CHECK(query() && other.query(), "[Event] Both events must be completed before calculating elapsed time.");
  return event_.elapsed_time(other.event_);
}

}  // namespace api
}  // namespace hb::bridge
