#pragma once
// Messages to standard error, as LOG(INFO) << … of <c10/util/Logging.h> writes them.

#include <sstream>

#include <halfbridge/macros.h>

namespace hb::bridge {

namespace log_severity {
// The names that stand in LOG(…).
inline constexpr int INFO = 0, WARNING = 1, ERROR = 2, FATAL = 3;
}  // namespace log_severity

/// One message, written when it is destroyed: if its severity is at least what TORCH_CPP_LOG_LEVEL says (INFO, WARNING,
/// ERROR, FATAL or a number; WARNING without it). Verbose messages, VLOG(n), have severity -n. A fatal one, and so a
/// CHECK that fails, ends the program by abort().
class HB_API LogMessage {
 public:
  LogMessage(const char* file, int line, int severity);
  ~LogMessage();
  LogMessage(const LogMessage&) = delete;
  LogMessage& operator=(const LogMessage&) = delete;
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
  int severity_;
};

/// What a TORCH_CHECK_EQ and its kin say when they fail: the message is written to standard error and thrown as
/// hb::Error when this is destroyed.
class HB_API FailedCheck {
 public:
  FailedCheck(const char* file, int line);
  ~FailedCheck() noexcept(false);
  FailedCheck(const FailedCheck&) = delete;
  FailedCheck& operator=(const FailedCheck&) = delete;
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

/// Makes a message an expression of type void, so that it can stand in a conditional expression.
struct LogVoid {
  void operator&(const std::ostream&) const {}
};

}  // namespace hb::bridge
