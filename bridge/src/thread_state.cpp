#include <halfbridge/bridge/thread_state.h>

namespace hb::bridge {
inline namespace api {

ThreadLocalState::ThreadLocalState()
    : grad_(GradMode::is_enabled()),
      inference_(InferenceMode::is_enabled()),
      cache_(autocast::is_autocast_cache_enabled()),
      cpu_{autocast::is_autocast_enabled(kCPU), autocast::get_autocast_dtype(kCPU)},
      cuda_{autocast::is_autocast_enabled(kCUDA), autocast::get_autocast_dtype(kCUDA)},
      recorded_(get_record_function_tls_()) {}

void ThreadLocalState::setThreadLocalState(const ThreadLocalState& state) {
  GradMode::set_enabled(state.grad_);
  autocast::set_autocast_cache_enabled(state.cache_);
  for (const DeviceType type : {kCPU, kCUDA}) {
    const Autocast& wanted = type == kCPU ? state.cpu_ : state.cuda_;
    autocast::set_autocast_enabled(type, wanted.enabled);
    autocast::set_autocast_dtype(type, wanted.dtype);
  }
  set_record_function_tls_(state.recorded_);
}

}  // namespace api
}  // namespace hb::bridge
