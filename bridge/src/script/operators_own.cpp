#include "script/operators_own.h"

#include <map>

namespace hb::bridge::script {
namespace {

struct Own {
  FunctionSchema schema;
  void (*run)(jit::Stack& stack);
};

const std::multimap<std::string, Own>& table() {
  static const auto* const all = [] {
    auto* made = new std::multimap<std::string, Own>;
    for (const auto& rows : {own_tensors(), own_layers(), own_attention()}) {
      for (const OwnRow& row : rows) {
        FunctionSchema schema = jit::parseSchema(row.schema);
        const std::string name = schema.name();
        made->emplace(name, Own{std::move(schema), row.run});
      }
    }
    return made;
  }();
  return *all;
}

}  // namespace

std::vector<Candidate> own_candidates(const std::string& name) {
  std::vector<Candidate> found;
  const auto [begin, end] = table().equal_range(name);
  for (auto at = begin; at != end; ++at) found.push_back({&at->second.schema, std::nullopt, at->second.run});
  return found;
}

std::vector<std::string> own_names() {
  std::vector<std::string> names;
  for (const auto& entry : table()) names.push_back(entry.first);
  return names;
}

}  // namespace hb::bridge::script
