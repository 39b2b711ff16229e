#include <halfbridge/bridge/logging.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <string>

#include <halfbridge/error.h>

namespace hb::bridge {

namespace {
int least_severity() {
  static const int level = [] {
    const char* text = std::getenv("TORCH_CPP_LOG_LEVEL");
    const std::string value = text ? text : "";
    const std::string names[] = {"INFO", "WARNING", "ERROR", "FATAL"};
    const auto found = std::find(std::begin(names), std::end(names), value);
    if (found != std::end(names)) return static_cast<int>(found - std::begin(names));
    char* end = nullptr;
    const long number = std::strtol(value.c_str(), &end, 10);
    const bool is_number = !value.empty() && *end == '\0';
    if (!value.empty() && !is_number)
      std::cerr << "[TORCH_CPP_LOG_LEVEL] expected INFO, WARNING, ERROR, FATAL or a number, got '" << value
                << "': WARNING is used\n";
    return is_number ? static_cast<int>(std::clamp(number, -100L, 3L)) : log_severity::WARNING;
  }();
  return level;
}

/// Letter of the severity, time and place, as glog writes them.
std::ostream& begin_message(std::ostream& out, const char* file, int line, int severity) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  const std::string path = file;
  return out << '[' << "VIWEF"[std::clamp(severity, -1, 3) + 1] << std::put_time(&local, "%m%d %H:%M:%S ")
             << path.substr(path.find_last_of('/') + 1) << ':' << line << "] ";
}
}  // namespace

LogMessage::LogMessage(const char* file, int line, int severity) : severity_(severity) {
  begin_message(stream_, file, line, severity);
}

LogMessage::~LogMessage() {
  if (severity_ >= least_severity()) std::cerr << stream_.str() << std::endl;
  if (severity_ == log_severity::FATAL) std::abort();
}

FailedCheck::FailedCheck(const char* file, int line) { begin_message(stream_, file, line, log_severity::FATAL); }

FailedCheck::~FailedCheck() noexcept(false) {
  stream_ << '\n';
  std::cerr << stream_.str();
  throw Error(stream_.str());
}

}  // namespace hb::bridge
