#include "objects.h"

#include <cstring>
#include <typeindex>
#include <unordered_map>

#include <halfbridge/bridge/nn.h>

#include "nn/core/live_modules.h"

namespace hb::graph {

namespace {

namespace nn = bridge::nn;

struct Class {
  size_t size;
  const void* (*as)(const nn::Module&);  // null where it is of another class
};
using Classes = std::unordered_map<std::type_index, Class>;

template <class T>
void add(Classes& classes) {
  classes.emplace(typeid(T),
                  Class{sizeof(T), [](const nn::Module& m) -> const void* { return dynamic_cast<const T*>(&m); }});
}

const Classes& library_classes() {
  static const Classes* const all = [] {
    auto* c = new Classes;
#define HB_LAYER(module, ...) add<nn::module::ContainedType>(*c);
#define HB_CONTAINER(module) add<nn::module::ContainedType>(*c);
#include <halfbridge/bridge/nn/table/modules.def>
    return c;
  }();
  return *all;
}

/// What of a module can be looked at.
std::pair<const void*, size_t> extent(const nn::Module& m) {
  const Classes& all = library_classes();
  if (const auto at = all.find(typeid(m)); at != all.end()) return {at->second.as(m), at->second.size};
  for (const auto& [type, c] : all)  // what the program derived from one of them
    if (const void* const base = c.as(m)) return {base, c.size};
  return {&m, sizeof(nn::Module)};
}

}  // namespace

bool ObjectGuard::Bytes::same() const { return std::memcmp(begin, were.data(), were.size()) == 0; }

ObjectGuard::ObjectGuard(const std::vector<CompileOptions::Object>& named) {
  const auto take = [](const void* begin, size_t size) {
    const auto* const b = static_cast<const char*>(begin);
    return Bytes{b, std::string(b, size)};
  };
  for (const auto& o : named) named_.push_back(take(o.begin, o.bytes));
  const nn::LiveModules live;
  ended_ = live.ended();
  for (const auto& [module, id] : live.ids()) {
    const auto [begin, size] = extent(*module);
    of_modules_.push_back(take(begin, size));
    ids_.emplace_back(module, id);
  }
}

const char* ObjectGuard::differs() {
  for (const Bytes& b : named_)
    if (!b.same()) return "an object that the step reads";
  const nn::LiveModules live;
  if (live.ended() != ended_) {
    for (const auto& [module, id] : ids_) {
      const auto at = live.ids().find(module);
      if (at == live.ids().end() || at->second != id) return "a module is gone";
    }
    ended_ = live.ended();
  }
  for (const Bytes& b : of_modules_)
    if (!b.same()) return "options or members of a module";
  return nullptr;
}

}  // namespace hb::graph
