#include "live_modules.h"

namespace hb::bridge::nn {

namespace {
struct Live {
  std::mutex mutex;
  LiveModules::Ids ids;
  uint64_t last_id = 0, ended = 0;
};
Live& live() {
  static Live* l = new Live;  // never destroyed: modules may be static objects of the program
  return *l;
}
}  // namespace

LiveModules::LiveModules() : lock_(live().mutex) {}
const LiveModules::Ids& LiveModules::ids() const { return live().ids; }
uint64_t LiveModules::ended() const { return live().ended; }

void LiveModules::begins(const Module& module) {
  const std::lock_guard lock(live().mutex);
  live().ids[&module] = ++live().last_id;
}
void LiveModules::ends(const Module& module) noexcept {
  const std::lock_guard lock(live().mutex);
  live().ids.erase(&module);
  ++live().ended;
}

}  // namespace hb::bridge::nn
