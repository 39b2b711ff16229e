#include <halfbridge/error.h>

#include <atomic>
#include <cstdio>

#include <halfbridge/intrusive_ptr.h>

#include "core/warnings.h"

namespace hb {

Error::Error(std::string msg) : msg_(std::move(msg)) {}
Error::Error(SourceLocation /*where*/, std::string msg) : Error(std::move(msg)) {}
Error::~Error() = default;

void Error::add_context(std::string more) {
  context_.push_back(std::move(more));
  what_ = msg_;
  if (context_.size() == 1) {
    what_ += " (" + context_[0] + ")";
  } else {
    for (const std::string& line : context_) what_ += "\n  " + line;
  }
}

intrusive_ptr_target::~intrusive_ptr_target() = default;

namespace detail {
void fail(const char* file, int line, const std::string& msg) {
  (void)file, (void)line;
  throw Error(msg);
}
void fail(const char* file, int line, const char* msg) { fail(file, line, std::string(msg)); }
void print_warning(const std::string& msg) { std::fprintf(stderr, "Warning: %s\n", msg.c_str()); }

namespace {
std::atomic<WarningSink> warning_sink{print_warning};
}
std::atomic<bool> warn_always{false};
void set_warning_sink(WarningSink sink) { warning_sink = sink; }
void warn(const std::string& msg) { warning_sink.load()(msg); }
}  // namespace detail
}  // namespace hb
