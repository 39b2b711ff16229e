#include <halfbridge/error.h>

#include <atomic>
#include <cstdio>
#include <sstream>

#include <halfbridge/intrusive_ptr.h>

#include "core/warnings.h"

namespace hb {

Error::Error(std::string msg) : msg_(std::move(msg)) {}
Error::Error(SourceLocation /*where*/, std::string msg) : Error(std::move(msg)) {}
Error::~Error() = default;

const Backtrace& Error::backtrace() const {
  struct None final : LazyValue<std::string> {
    const std::string& get() const override { return text; }
    const std::string text = "(no backtrace: the library keeps no calls)";
  };
  static const Backtrace none = std::make_shared<None>();
  return none;
}

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
void print_text(std::ostream& out, const void* text) { out << static_cast<const char*>(text); }
std::string joined(const Printed* parts, size_t count) {
  std::ostringstream out;
  for (size_t i = 0; i < count; ++i) parts[i].print(out, parts[i].value);
  return out.str();
}
template <class E>
void throw_joined(const Printed* parts, size_t count) {
  throw E(joined(parts, count));
}
template void throw_joined<Error>(const Printed*, size_t);
template void throw_joined<IndexError>(const Printed*, size_t);
template void throw_joined<ValueError>(const Printed*, size_t);
template void throw_joined<TypeError>(const Printed*, size_t);
template void throw_joined<LinAlgError>(const Printed*, size_t);
template void throw_joined<NotImplementedError>(const Printed*, size_t);

void print_warning(const std::string& msg) { std::fprintf(stderr, "Warning: %s\n", msg.c_str()); }

namespace {
std::atomic<WarningSink> warning_sink{print_warning};
}
std::atomic<bool> warn_always{false};
void set_warning_sink(WarningSink sink) { warning_sink = sink; }
void warn(const std::string& msg) { warning_sink.load()(msg); }
}  // namespace detail
}  // namespace hb
