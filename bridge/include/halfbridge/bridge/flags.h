#pragma once
// <c10/util/Flags.h>: values that a program's command line sets, --name=value or --name value.

#include <cstdint>
#include <string>

#include <halfbridge/bridge/registry.h>
#include <halfbridge/macros.h>

namespace hb::bridge {

HB_API void SetUsageMessage(const std::string& str);
HB_API const char* UsageMessage();
/// Takes flags out of the arguments and leaves the others; --help prints what there is and ends the program. False,
/// with a line on standard error, for a flag that is unknown or has a wrong value.
HB_API bool ParseCommandLineFlags(int* pargc, char*** pargv);
HB_API bool CommandLineFlagsHasBeenParsed();

/// Sets one flag when it is made.
class HB_API C10FlagParser {
 public:
  virtual ~C10FlagParser();
  bool success() { return success_; }

 protected:
  template <typename T>
  bool Parse(const std::string& content, T* value);
  bool success_ = false;
};
template <>
HB_API bool C10FlagParser::Parse<std::string>(const std::string& content, std::string* value);
template <>
HB_API bool C10FlagParser::Parse<int>(const std::string& content, int* value);
template <>
HB_API bool C10FlagParser::Parse<int64_t>(const std::string& content, int64_t* value);
template <>
HB_API bool C10FlagParser::Parse<double>(const std::string& content, double* value);
template <>
HB_API bool C10FlagParser::Parse<bool>(const std::string& content, bool* value);

using RegistererC10FlagsRegistry = Registerer<std::string, std::unique_ptr<C10FlagParser>, const std::string&>;
HB_API Registry<std::string, std::unique_ptr<C10FlagParser>, const std::string&>* C10FlagsRegistry();

}  // namespace hb::bridge
