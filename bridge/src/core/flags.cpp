// Flags of the command line.
#include <halfbridge/bridge/flags.h>

#include <cstdlib>
#include <iostream>
#include <optional>

namespace hb::bridge {
namespace {

bool parsed = false;
std::string& usage() {
  static auto* const text = new std::string("(Usage message not set.)");
  return *text;
}

[[noreturn]] void print_help() {
  std::cout << UsageMessage() << "\nArguments: \n";
  for (const auto& [name, help] : C10FlagsRegistry()->HelpMessage())
    std::cout << "    " << name << ": " << help << "\n";
  std::cout << std::flush;
  std::exit(0);
}

// Sets the flag of argument i; gives the place of the last argument that it used, nothing after an error.
std::optional<int> set_flag(int i, int count, char** arguments) {
  const std::string argument = arguments[i];
  const size_t equals = argument.find('=');
  std::string value;
  if (equals != std::string::npos) {
    value = argument.substr(equals + 1);
  } else if (++i < count) {
    value = arguments[i];
  } else {
    std::cerr << "C10 flag: reached the last commandline argument, but I am expecting a value for " << argument << "\n";
    return std::nullopt;
  }
  const auto parser =
      C10FlagsRegistry()->Create(argument.substr(2, equals == std::string::npos ? equals : equals - 2), value);
  if (!parser || !parser->success()) {
    std::cerr << (parser ? "C10 flag: illegal argument: " : "C10 flag: unrecognized commandline argument: ") << argument
              << "\n";
    return std::nullopt;
  }
  return i;
}

}  // namespace

C10FlagParser::~C10FlagParser() = default;

Registry<std::string, std::unique_ptr<C10FlagParser>, const std::string&>* C10FlagsRegistry() {
  static auto* const registry = new Registry<std::string, std::unique_ptr<C10FlagParser>, const std::string&>;
  return registry;
}

void SetUsageMessage(const std::string& str) { usage() = str; }
const char* UsageMessage() { return usage().c_str(); }
bool CommandLineFlagsHasBeenParsed() { return parsed; }

bool ParseCommandLineFlags(int* pargc, char*** pargv) {
  if (*pargc == 0) return true;
  char** const arguments = *pargv;
  int kept = 1;
  bool success = true;
  for (int i = 1; i < *pargc && success; ++i) {
    const std::string argument = arguments[i];
    if (argument.find("--help") != std::string::npos) print_help();
    if (argument.compare(0, 2, "--") != 0) {
      arguments[kept++] = arguments[i];
      continue;
    }
    const std::optional<int> last = set_flag(i, *pargc, arguments);
    success = last.has_value();
    i = last.value_or(i);
  }
  *pargc = kept;
  parsed = true;
  return success;
}

template <>
bool C10FlagParser::Parse<std::string>(const std::string& content, std::string* value) {
  *value = content;
  return true;
}
// What does not begin with a number is 0, as in LibTorch.
template <>
bool C10FlagParser::Parse<int>(const std::string& content, int* value) {
  *value = static_cast<int>(std::strtol(content.c_str(), nullptr, 10));
  return true;
}
template <>
bool C10FlagParser::Parse<int64_t>(const std::string& content, int64_t* value) {
  *value = std::strtoll(content.c_str(), nullptr, 10);
  return true;
}
template <>
bool C10FlagParser::Parse<double>(const std::string& content, double* value) {
  *value = std::strtod(content.c_str(), nullptr);
  return true;
}
template <>
bool C10FlagParser::Parse<bool>(const std::string& content, bool* value) {
  for (const char* no : {"false", "False", "FALSE", "0"}) {
    if (content == no) return *value = false, true;
  }
  for (const char* yes : {"true", "True", "TRUE", "1"}) {
    if (content == yes) return *value = true;
  }
  std::cerr
      << "C10 flag error: Cannot convert argument to bool: " << content
      << "\nNote that a bool flag needs its value, as in --arg=True: the next argument is taken for it otherwise.\n";
  return false;
}

}  // namespace hb::bridge
