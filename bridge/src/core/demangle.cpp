#include <halfbridge/bridge/utility.h>

#include "core/demangled.h"

namespace hb::bridge {

namespace {
void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}
}  // namespace

std::string demangle(const char* mangled) {
  std::string name = hb::detail::demangled(mangled);
  replace_all(name, "hb::bridge::nn::modules::", "torch::nn::");
  replace_all(name, "hb::bridge::api::", "torch::");
  replace_all(name, "hb::bridge::", "torch::");
  replace_all(name, "hb::autodiff::", "torch::autograd::");
  replace_all(name, "hb::subscripts::", "at::indexing::");
  replace_all(name, "hb::", "at::");
  return name;
}

}  // namespace hb::bridge
