#include "software_cuda/libraries/symbols.h"

#include <map>
#include <string>

#include "cuda/library.h"

namespace software_cuda {
namespace {
std::map<std::string, void*>& all() {
  static auto* const made = new std::map<std::string, void*>;
  return *made;
}
}  // namespace

bool provide(const char* name, void* function) {
  all()[name] = function;
  return true;
}

}  // namespace software_cuda

namespace hb::cuda {
void* software_symbol(const char* name) {
  const auto found = software_cuda::all().find(name);
  return found == software_cuda::all().end() ? nullptr : found->second;
}
}  // namespace hb::cuda
