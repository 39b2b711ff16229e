#include "core/function_watch.h"

#include <halfbridge/error.h>

namespace hb {

thread_local constinit uint8_t front::active = 0;

namespace {
// "hb::pad" and "add_" as PyTorch names them.
std::string plain_name(std::string_view function) {
  const size_t colon = function.rfind(':');
  if (colon != std::string_view::npos) function.remove_prefix(colon + 1);
  if (!function.empty() && function.back() == '_') function.remove_suffix(1);
  return std::string(function);
}
}  // namespace

WatchedCall::WatchedCall(const char* function, const char* parameters)
    : name(plain_name(function)), watcher_(function_watcher.load()), parameters_(parameters) {
  watch_functions(false);
}

WatchedCall::~WatchedCall() {
  watch_functions(true);
  if (open_ && watcher_) watcher_->abandon(*this);
}

void WatchedCall::begin() {
  open_ = true;
  if (watcher_) watcher_->begin(*this);
}
void WatchedCall::end(ArrayRef<const Tensor*> results) {
  open_ = false;
  if (watcher_) watcher_->end(*this, results);
}

std::string_view WatchedCall::next() {
  const size_t comma = std::min(parameters_.find(','), parameters_.size());
  const std::string_view name = parameters_.substr(0, comma);
  parameters_.remove_prefix(std::min(parameters_.size(), comma + 2));
  return name;
}
void WatchedCall::print(std::string_view parameter, const Scalar& value) { print(parameter, detail::str(value)); }
void WatchedCall::print(std::string_view parameter, IntArrayRef value) { print(parameter, detail::str(value)); }
void WatchedCall::print(std::string_view parameter, std::string_view value) {
  if (!config.empty()) config += ", ";
  config.append(parameter).append("=").append(value);
}

}  // namespace hb
