// The table of functions and their classes; functions enter it when the library loads.
#include <algorithm>
#include <cstring>

#include "autocast/autocast.h"

namespace hb::autocast {
namespace {

std::vector<OpEntry>& table() {
  static auto* entries = new std::vector<OpEntry>;  // never destroyed: read until the process ends
  return *entries;
}
bool less(const OpEntry& a, const OpEntry& b) {
  const int order = std::strcmp(a.name, b.name);
  return order != 0 ? order < 0 : a.cpu != b.cpu ? a.cpu < b.cpu : a.cuda < b.cuda;
}

}  // namespace

bool register_op(const OpEntry& entry) {
  table().push_back(entry);
  return true;
}

std::vector<OpEntry> ops() {
  std::vector<OpEntry> out = table();
  std::sort(out.begin(), out.end(), less);
  const auto same = [](const OpEntry& a, const OpEntry& b) { return !less(a, b) && !less(b, a); };
  out.erase(std::unique(out.begin(), out.end(), same), out.end());
  return out;
}

OpClass op_class(std::string_view name, DeviceType type) {
  const bool cpu = get_op_list(type) == kCPU;
  for (const OpEntry& e : table()) {
    const OpClass c = cpu ? e.cpu : e.cuda;
    if (e.name == name && c != OpClass::as_is) return c;
  }
  return OpClass::as_is;
}

const char* to_string(OpClass c) {
  static constexpr const char* names[] = {"as_is", "closed", "half", "fp32", "fp32_dtype", "widest", "banned"};
  return names[static_cast<int>(c)];
}

}  // namespace hb::autocast
