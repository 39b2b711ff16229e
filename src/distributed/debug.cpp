#include <halfbridge/distributed/debug.h>

#include <atomic>
#include <cctype>
#include <cstdlib>
#include <string>

#include <halfbridge/error.h>

namespace hb::distributed {

namespace {

DebugLevel from_environment() {
  const char* name = "HALFBRIDGE_DISTRIBUTED_DEBUG";
  const char* value = std::getenv(name);
  if (!value) value = std::getenv(name = "TORCH_DISTRIBUTED_DEBUG");
  std::string text = value ? value : "OFF";
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (text == "OFF" || text.empty()) return DebugLevel::Off;
  if (text == "INFO") return DebugLevel::Info;
  HB_CHECK(text == "DETAIL", "[setDebugLevelFromEnvironment] expected OFF, INFO or DETAIL in ", name, ", got '", value,
           "'");
  return DebugLevel::Detail;
}

std::atomic<DebugLevel>& level() {
  static std::atomic<DebugLevel> level{from_environment()};
  return level;
}

}  // namespace

void setDebugLevel(DebugLevel value) { level() = value; }
void setDebugLevelFromEnvironment() { level() = from_environment(); }
DebugLevel debug_level() { return level(); }

}  // namespace hb::distributed
