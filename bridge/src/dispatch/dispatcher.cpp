#include <halfbridge/bridge/dispatch/dispatcher.h>

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <sstream>
#include <unordered_map>

#include "core/demangled.h"
#include "dispatch/aten/operators.h"
#include "dispatch/operator_entry.h"
#include "dispatch/overloads.h"

namespace hb::bridge {
namespace {

// Entries stay once they are made, so that a handle never dangles.
struct Operators {
  std::shared_mutex mutex;  // of the map, which calls by name read
  std::unordered_map<OperatorName, std::unique_ptr<OperatorEntry>> entries;
  std::unordered_map<std::string, std::string> libraries;  // guarded by registration_mutex
};
Operators& operators() {
  static auto* const all = new Operators;
  return *all;
}

OperatorEntry* find(const OperatorName& name) {
  Operators& all = operators();
  const std::shared_lock lock(all.mutex);
  const auto found = all.entries.find(name);
  return found == all.entries.end() ? nullptr : found->second.get();
}
bool is_aten(const OperatorName& name) { return name.name.rfind("aten::", 0) == 0; }
// Halfbridge's own functions are registered when they are asked for.
OperatorEntry* find_or_load(const OperatorName& name) {
  if (is_aten(name)) aten::load(name);
  return find(name);
}
OperatorEntry& find_or_add(const OperatorName& name) {
  if (OperatorEntry* entry = find(name)) return *entry;
  Operators& all = operators();
  const std::unique_lock lock(all.mutex);
  auto& entry = all.entries[name];
  if (!entry) entry = std::make_unique<OperatorEntry>(name);
  return *entry;
}

template <class F>
void for_each(F&& visit) {
  aten::load_all();
  const std::lock_guard registrations(registration_mutex());
  Operators& all = operators();
  const std::shared_lock lock(all.mutex);
  for (const auto& entry : all.entries) {
    if (entry.second->registered()) visit(*entry.second);
  }
}

void compute_all_tables() {
  Operators& all = operators();
  const std::shared_lock lock(all.mutex);
  for (const auto& entry : all.entries) entry.second->compute_table();
}

}  // namespace

inline namespace api {

OperatorKernel::~OperatorKernel() = default;

void BoxedKernel::fallthrough(OperatorKernel*, const OperatorHandle& op, DispatchKeySet, Stack*) {
  hb::detail::fail<Error>(op.operator_name(), ": a function that only falls through was called");
}
void BoxedKernel::named_not_supported(OperatorKernel*, const OperatorHandle& op, DispatchKeySet, Stack*) {
  hb::detail::fail<Error>(op.operator_name(), " is not yet supported with named tensors");
}
std::string CppSignature::name() const { return hb::detail::demangled(type_->name()); }

const OperatorName& OperatorHandle::operator_name() const { return entry_->name; }
bool OperatorHandle::hasSchema() const { return entry_->schema.has_value(); }
const FunctionSchema& OperatorHandle::schema() const {
  HB_CHECK(entry_->schema, "Tried to access the schema for ", entry_->name,
           " which doesn't have a schema registered yet");
  return *entry_->schema;
}
const std::vector<Tag>& OperatorHandle::getTags() const { return entry_->tags; }
bool OperatorHandle::hasTag(const Tag& tag) const {
  return std::find(entry_->tags.begin(), entry_->tags.end(), tag) != entry_->tags.end();
}
const std::string& OperatorHandle::debug() const { return entry_->debug; }

bool OperatorHandle::hasKernelForDispatchKey(DispatchKey key) const {
  const std::lock_guard lock(registration_mutex());
  return entry_->kernels.count(key) != 0;
}
bool OperatorHandle::hasKernelForAnyDispatchKey(DispatchKeySet keys) const {
  for (DispatchKey key : keys) {
    if (hasKernelForDispatchKey(key)) return true;
  }
  return false;
}
bool OperatorHandle::isKernelFallthroughKernel(DispatchKey key) const {
  const std::lock_guard lock(registration_mutex());
  const auto found = entry_->kernels.find(key);
  return found != entry_->kernels.end() && found->second.front().function.isFallthrough();
}
bool OperatorHandle::hasComputedKernelForDispatchKey(DispatchKey key) const {
  HB_CHECK(!isAliasDispatchKey(key), "Alias keys do not have runtime kernel registrations.");
  return entry_->table[static_cast<size_t>(key)].load() != nullptr;
}

std::string OperatorHandle::dumpState() const {
  const std::lock_guard lock(registration_mutex());
  std::ostringstream out;
  out << "name: " << entry_->name << "\nschema: ";
  if (entry_->schema) {
    out << *entry_->schema << "\ndebug: " << entry_->debug << "\n";
  } else {
    out << "(none)\n";
  }
  for (const auto& [key, kernels] : entry_->kernels) {
    for (const RegisteredKernel& kernel : kernels) out << key << ": " << kernel.debug << "\n";
  }
  return out.str();
}

std::string OperatorHandle::dumpComputedTable() const {
  const std::lock_guard lock(registration_mutex());
  std::ostringstream out;
  for (size_t key = 0; key < OperatorEntry::kKeys; ++key) {
    const RegisteredKernel* kernel = entry_->table[key].load();
    if (!kernel) continue;
    out << static_cast<DispatchKey>(key) << ": " << (kernel->function.isFallthrough() ? "fallthrough " : "")
        << kernel->debug << "\n";
  }
  return out.str();
}

void OperatorHandle::check_signature(const CppSignature& signature) const {
  const std::lock_guard lock(registration_mutex());
  const auto& known = entry_->signature;
  HB_CHECK(!known || known->signature == signature,
           "\nTried to access or call an operator with a wrong signature.\n  operator: ", entry_->described(), "\n    ",
           entry_->debug.empty() ? "unknown debug info" : entry_->debug,
           "\n  correct signature:  ", known->signature.name(), "\n    ", known->debug,
           "\n  accessed/called as: ", signature.name(),
           "\nThis likely happened in a call to OperatorHandle::typed<Return (Args...)>(). Please make sure that the "
           "function "
           "signature matches the signature in the operator registration call.");
}

const KernelFunction& OperatorHandle::reached(DispatchKeySet& keys, bool requires_grad) const {
  return entry_->reached(keys, requires_grad);
}

namespace {
boxing::ArgumentKeys keys_of(const OperatorHandle& op, const Stack& stack) {
  const size_t count = op.schema().arguments().size();
  HB_CHECK(stack.size() >= count, op.operator_name(), ": expected ", count, " arguments on the stack, got ",
           stack.size());
  boxing::ArgumentKeys found;
  for (size_t i = 0; i < count; ++i) found.add(jit::peek(stack, i, count));
  return found;
}
}  // namespace

void OperatorHandle::callBoxed(Stack* stack) const {
  const boxing::ArgumentKeys found = keys_of(*this, *stack);
  DispatchKeySet keys = found.of_call();
  reached(keys, found.requires_grad).callBoxed(*this, keys, stack);
}
void OperatorHandle::callBoxedForDispatchKey(DispatchKey key, Stack& stack) const {
  const boxing::ArgumentKeys found = keys_of(*this, stack);
  DispatchKeySet keys(key);
  reached(keys, found.requires_grad).callBoxed(*this, found.keys, &stack);
}
void OperatorHandle::redispatchBoxed(DispatchKeySet keys, Stack* stack) const {
  const boxing::ArgumentKeys found = keys_of(*this, *stack);
  reached(keys, found.requires_grad).callBoxed(*this, keys, stack);
}

Dispatcher& Dispatcher::singleton() {
  static auto* const dispatcher = new Dispatcher;
  return *dispatcher;
}

std::optional<OperatorHandle> Dispatcher::findSchema(const OperatorName& name) const {
  OperatorEntry* entry = find_or_load(name);
  if (!entry) return std::nullopt;
  const std::lock_guard lock(registration_mutex());
  if (!entry->schema) return std::nullopt;
  return OperatorHandle(entry);
}

OperatorHandle Dispatcher::findSchemaOrThrow(const char* name, const char* overload_name) const {
  const OperatorName wanted(name, overload_name);
  if (const auto found = findSchema(wanted)) return *found;
  HB_CHECK(!findOp(wanted), "Could not find schema for ", wanted,
           " but we found an implementation; did you forget to def() "
           "the operator?");
  hb::detail::fail<Error>(
      "Could not find schema for ", wanted, ".",
      is_aten(wanted) ? " Halfbridge registers its functions, without those of out tensors; it has none of this name."
                      : "");
}

std::optional<OperatorHandle> Dispatcher::findOp(const OperatorName& name) const {
  OperatorEntry* entry = find_or_load(name);
  if (!entry) return std::nullopt;
  const std::lock_guard lock(registration_mutex());
  if (!entry->registered()) return std::nullopt;
  return OperatorHandle(entry);
}

std::vector<OperatorName> Dispatcher::getAllOpNames() const { return getRegistrationsForDispatchKey(std::nullopt); }
std::vector<OperatorName> Dispatcher::getAllOpNamesForDispatchKey(DispatchKey key) const {
  return getRegistrationsForDispatchKey(key);
}
std::vector<OperatorName> Dispatcher::getRegistrationsForDispatchKey(std::optional<DispatchKey> key) const {
  std::vector<OperatorName> names;
  for_each([&](const OperatorEntry& entry) {
    if (!key || entry.kernels.count(*key)) names.push_back(entry.name);
  });
  return names;
}
std::vector<OperatorHandle> Dispatcher::findDanglingImpls() const {
  std::vector<OperatorHandle> found;
  for_each([&](OperatorEntry& entry) {
    if (!entry.schema) found.push_back(OperatorHandle(&entry));
  });
  return found;
}

bool Dispatcher::hasBackendFallbackForDispatchKey(DispatchKey key) const {
  const std::lock_guard lock(registration_mutex());
  return Fallbacks::all().has_of_program(key);
}

RegistrationHandleRAII Dispatcher::registerDef(FunctionSchema schema, std::string debug, std::vector<Tag> tags) {
  const std::lock_guard lock(registration_mutex());
  OperatorEntry& entry = find_or_add(schema.operator_name());
  entry.set_schema(std::move(schema), std::move(debug));
  entry.tags = std::move(tags);
  return RegistrationHandleRAII([&entry] {
    const std::lock_guard lock(registration_mutex());
    entry.remove_schema();
  });
}

RegistrationHandleRAII Dispatcher::registerImpl(OperatorName name, std::optional<DispatchKey> key,
                                                KernelFunction kernel, std::optional<CppSignature> signature,
                                                hb::detail::Owned<FunctionSchema> inferred_schema, std::string debug) {
  if (is_aten(name) && !aten::loading()) {
    aten::load(name);
    hb::detail::warn(hb::detail::str("A function was registered for ", name,
                                     ". Calls by way of the dispatcher reach it; ", "torch::", name.name.substr(6),
                                     " and what is made of it do not."));
  }
  const std::lock_guard lock(registration_mutex());
  OperatorEntry& entry = find_or_add(name);
  const DispatchKey place = key && *key != DispatchKey::Undefined ? *key : DispatchKey::CompositeImplicitAutograd;
  RegisteredKernel registered{std::move(kernel), std::nullopt, std::move(debug)};
  if (inferred_schema) registered.inferred = std::move(*inferred_schema);
  const auto at = entry.add_kernel(place, std::move(registered), signature);
  return RegistrationHandleRAII([&entry, place, at] {
    const std::lock_guard lock(registration_mutex());
    entry.remove_kernel(place, at);
  });
}

RegistrationHandleRAII Dispatcher::registerFallback(DispatchKey key, KernelFunction kernel, std::string debug) {
  const std::lock_guard lock(registration_mutex());
  Fallbacks::all().add(key, {std::move(kernel), std::nullopt, std::move(debug)});
  compute_all_tables();
  return RegistrationHandleRAII([key] {
    const std::lock_guard lock(registration_mutex());
    Fallbacks::all().remove(key);
    compute_all_tables();
  });
}

RegistrationHandleRAII Dispatcher::registerLibrary(std::string ns, std::string debug) {
  const std::lock_guard lock(registration_mutex());
  const auto [at, fresh] = operators().libraries.emplace(ns, debug);
  HB_CHECK(
      fresh, "Only a single TORCH_LIBRARY can be used to register the namespace ", ns,
      "; please put all of your definitions in a single TORCH_LIBRARY block.  If you were trying to specify "
      "implementations, consider using TORCH_LIBRARY_IMPL (which can be duplicated).  If you really intended to define "
      "operators for a single namespace in a distributed way, you can use TORCH_LIBRARY_FRAGMENT to explicitly "
      "indicate "
      "this.  Previous registration of TORCH_LIBRARY was ",
      at->second, "; latest registration was ", debug);
  return RegistrationHandleRAII([ns = std::move(ns)] {
    const std::lock_guard lock(registration_mutex());
    operators().libraries.erase(ns);
  });
}

}  // namespace api

std::vector<OperatorHandle> overloads_of(const std::string& name) {
  aten::load_overloads(name);
  std::vector<OperatorName> names;
  {
    const std::shared_lock lock(operators().mutex);
    for (const auto& [known, entry] : operators().entries) {
      if (known.name == name) names.push_back(known);
    }
  }
  std::sort(names.begin(), names.end());
  std::vector<OperatorHandle> found;
  for (const OperatorName& known : names) {
    if (const auto op = Dispatcher::singleton().findSchema(known)) found.push_back(*op);
  }
  return found;
}

}  // namespace hb::bridge
