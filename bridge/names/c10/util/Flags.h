#pragma once
#include <c10/util/Registry.h>
#include <halfbridge/bridge/flags.h>

namespace c10 {
using hb::bridge::C10FlagParser;
using hb::bridge::C10FlagsRegistry;
using hb::bridge::CommandLineFlagsHasBeenParsed;
using hb::bridge::ParseCommandLineFlags;
using hb::bridge::RegistererC10FlagsRegistry;
using hb::bridge::SetUsageMessage;
using hb::bridge::UsageMessage;
}  // namespace c10

// Outside of all namespaces.
#define C10_DEFINE_typed_var(type, name, default_value, help_str)                                  \
  C10_EXPORT type FLAGS_##name = default_value;                                                    \
  namespace c10 {                                                                                  \
  namespace {                                                                                      \
  class C10FlagParser_##name : public C10FlagParser {                                              \
   public:                                                                                         \
    explicit C10FlagParser_##name(const std::string& content) {                                    \
      success_ = C10FlagParser::Parse<type>(content, &FLAGS_##name);                               \
    }                                                                                              \
  };                                                                                               \
  RegistererC10FlagsRegistry g_C10FlagsRegistry_##name(                                            \
      #name, C10FlagsRegistry(), RegistererC10FlagsRegistry::DefaultCreator<C10FlagParser_##name>, \
      "(" #type ", default " #default_value ") " help_str);                                        \
  }                                                                                                \
  }
#define C10_DEFINE_int(name, default_value, help_str) C10_DEFINE_typed_var(int, name, default_value, help_str)
#define C10_DEFINE_int32(name, default_value, help_str) C10_DEFINE_int(name, default_value, help_str)
#define C10_DEFINE_int64(name, default_value, help_str) C10_DEFINE_typed_var(int64_t, name, default_value, help_str)
#define C10_DEFINE_double(name, default_value, help_str) C10_DEFINE_typed_var(double, name, default_value, help_str)
#define C10_DEFINE_bool(name, default_value, help_str) C10_DEFINE_typed_var(bool, name, default_value, help_str)
#define C10_DEFINE_string(name, default_value, help_str) \
  C10_DEFINE_typed_var(std::string, name, default_value, help_str)

#define C10_DECLARE_typed_var(type, name) C10_API extern type FLAGS_##name
#define C10_DECLARE_int(name) C10_DECLARE_typed_var(int, name)
#define C10_DECLARE_int32(name) C10_DECLARE_int(name)
#define C10_DECLARE_int64(name) C10_DECLARE_typed_var(int64_t, name)
#define C10_DECLARE_double(name) C10_DECLARE_typed_var(double, name)
#define C10_DECLARE_bool(name) C10_DECLARE_typed_var(bool, name)
#define C10_DECLARE_string(name) C10_DECLARE_typed_var(std::string, name)
#define TORCH_DECLARE_typed_var(type, name) C10_DECLARE_typed_var(type, name)
#define TORCH_DECLARE_int(name) C10_DECLARE_int(name)
#define TORCH_DECLARE_int32(name) C10_DECLARE_int32(name)
#define TORCH_DECLARE_int64(name) C10_DECLARE_int64(name)
#define TORCH_DECLARE_double(name) C10_DECLARE_double(name)
#define TORCH_DECLARE_bool(name) C10_DECLARE_bool(name)
#define TORCH_DECLARE_string(name) C10_DECLARE_string(name)
