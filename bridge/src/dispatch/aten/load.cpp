#include <atomic>
#include <mutex>
#include <unordered_map>

#include "dispatch/aten/operators.h"

namespace hb::bridge::aten {

std::span<const Row> rows_1();
std::span<const Row> rows_2();
std::span<const Row> rows_3();
std::span<const Row> rows_4();

namespace {

struct Entry {
  const Row* row;
  std::atomic<bool> loaded{false};
};

struct Table {
  std::unordered_map<OperatorName, Entry> entries;
  std::recursive_mutex mutex;                         // registering an operator looks it up
  std::vector<RegistrationHandleRAII> registrations;  // kept for good

  Table() {
    for (const auto part : {rows_1(), rows_2(), rows_3(), rows_4()})
      for (const Row& row : part)
        if (row.describe) entries[OperatorName(row.name, row.overload)].row = &row;
  }
};
Table& table() {
  static auto* const all = new Table;  // never destroyed: threads may ask while the process ends
  return *all;
}

thread_local bool now_loading = false;

// "dim[1]=[0]" and the type "int[]?": "int[1]? dim=[0]".
std::string with_type(std::string name, std::string type) {
  const size_t open = name.substr(0, name.find('=')).find('[');
  if (open != std::string::npos) {
    const size_t length = name.find(']') - open - 1;
    type.insert(type.find('[') + 1, name, open + 1, length);
    name.erase(open, length + 2);
  }
  return type + " " + name;
}

// "self, *, alpha=1" and the types of two arguments: "Tensor self, *, Scalar alpha=1".
std::string with_types(const std::string& names, const std::vector<std::string>& types) {
  std::string text;
  size_t at = 0, depth = 0, type = 0;
  for (size_t i = 0; i <= names.size(); ++i) {
    if (i < names.size()) {
      depth += names[i] == '[' ? 1 : 0;
      depth -= names[i] == ']' ? 1 : 0;
      if (names[i] != ',' || depth) continue;
    }
    const std::string name = names.substr(at, i - at);
    if (!name.empty()) text += (text.empty() ? "" : ", ") + (name == "*" ? name : with_type(name, types.at(type++)));
    at = i + 2;
  }
  return text;
}

FunctionSchema schema_of(const Row& row, const Parts& parts) {
  std::string results;
  for (const std::string& type : parts.results) results += (results.empty() ? "" : ", ") + type;
  if (parts.results.size() != 1) results = "(" + results + ")";
  std::string name = row.name;
  if (*row.overload) name += std::string(".") + row.overload;
  return jit::parseSchema(name + "(" + with_types(row.arguments, parts.arguments) + ") -> " + results);
}

void load_entry(Table& all, Entry& entry) {
  if (entry.loaded) return;
  const std::lock_guard lock(all.mutex);
  if (now_loading || entry.loaded) return;
  Parts parts;
  entry.row->describe(parts);
  FunctionSchema schema = schema_of(*entry.row, parts);
  const OperatorName name(entry.row->name, entry.row->overload);
  now_loading = true;
  Dispatcher& dispatcher = Dispatcher::singleton();
  all.registrations.push_back(dispatcher.registerDef(std::move(schema), "Halfbridge"));
  all.registrations.push_back(
      dispatcher.registerImpl(name, std::nullopt, std::move(parts.function), parts.signature, nullptr, "Halfbridge"));
  now_loading = false;
  entry.loaded = true;
}

}  // namespace

bool loading() { return now_loading; }

void load(const OperatorName& name) {
  Table& all = table();
  if (const auto found = all.entries.find(name); found != all.entries.end()) load_entry(all, found->second);
}

void load_overloads(const std::string& name) {
  for (auto& [known, entry] : table().entries) {
    if (known.name == name) load_entry(table(), entry);
  }
}

void load_all() {
  Table& all = table();
  for (auto& [name, entry] : all.entries) load_entry(all, entry);
}

}  // namespace hb::bridge::aten
