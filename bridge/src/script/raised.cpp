#include "script/raised.h"

#include <stdexcept>

#include <halfbridge/bridge/jit_exception.h>

namespace hb::bridge::jit {

JITException::JITException(const std::string& message, std::optional<std::string> python_class,
                           std::optional<std::string> original)
    : std::runtime_error(message), python_class_(std::move(python_class)), original_(std::move(original)) {}
JITException::~JITException() = default;

}  // namespace hb::bridge::jit

namespace hb::bridge::script {
namespace {

constexpr const char* kFailed = "The following operation failed in the TorchScript interpreter.\n";

std::string traceback(const Error& error, const std::string& what) {
  std::string text = std::string(kFailed) + "Traceback of TorchScript (most recent call last):\n";
  const auto& calls = error.context();
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) text += "  " + *call + "\n";
  return text + what + "\n";
}

}  // namespace

void rethrow_outside(std::exception_ptr error) {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const NotImplementedError&) {
    throw;
  } catch (const jit::JITException&) {
    throw;
  } catch (const Raised& raised) {
    throw jit::JITException(traceback(raised, raised.msg()), raised.python_class, raised.message);
  } catch (const Error& failed) {
    throw std::runtime_error(traceback(failed, "RuntimeError: " + failed.msg()));
  } catch (const std::exception& failed) {
    throw std::runtime_error(std::string(kFailed) + "RuntimeError: " + failed.what() + "\n");
  }
}

}  // namespace hb::bridge::script
