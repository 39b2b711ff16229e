#include <halfbridge/bridge/utility.h>

#include "core/demangled.h"

namespace hb::bridge {

namespace {
void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// The holders of LibTorch's modules are classes there, "torch::nn::Linear".
void name_holders(std::string& text) {
  const std::string holder = "torch::nn::ModuleHolder<", module = "torch::nn::", end = "Impl>";
  for (size_t at = text.find(holder); at != std::string::npos; at = text.find(holder, at + 1)) {
    const size_t name = at + holder.size(), close = text.find_first_of("<>,", name);
    if (text.compare(name, module.size(), module) != 0 || close == std::string::npos || close < end.size() ||
        text.compare(close + 1 - end.size(), end.size(), end) != 0)
      continue;
    size_t after = close + 1;
    if (text.compare(after, 2, " >") == 0) ++after;  // stood between two brackets, of which one is gone
    text.replace(at, after - at, text.substr(name, close + 1 - end.size() - name));
  }
}

// Classes that are in c10 there; others are in at.
void name_c10(std::string& text) {
  const std::string from = "hb::";
  for (const std::string name : {"ArrayRef", "BFloat16", "Device", "DeviceType", "Half", "IValue", "Scalar",
                                 "ScalarType", "Storage", "Stream", "SymInt", "TensorOptions", "intrusive_ptr"}) {
    for (size_t at = text.find(from + name); at != std::string::npos; at = text.find(from + name, at + 1)) {
      const size_t end = at + from.size() + name.size();
      if (end == text.size() || text.find_first_of("<>,&*[ ", end) == end) text.replace(at, from.size(), "c10::");
    }
  }
}
}  // namespace

std::string demangle(const char* mangled) {
  std::string name = hb::detail::demangled(mangled);
  replace_all(name, "hb::bridge::nn::modules::", "torch::nn::");
  replace_all(name, "hb::bridge::api::", "torch::");
  replace_all(name, "hb::bridge::", "torch::");
  replace_all(name, "hb::autodiff::", "torch::autograd::");
  replace_all(name, "hb::subscripts::", "at::indexing::");
  name_c10(name);
  replace_all(name, "hb::", "at::");
  name_holders(name);
  return name;
}

}  // namespace hb::bridge
