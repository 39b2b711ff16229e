#include "dispatch/operator_entry.h"

#include <mutex>
#include <sstream>

#include <halfbridge/grad_mode.h>

namespace hb::bridge {

std::mutex& registration_mutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

// Keys that do nothing unless somebody registers something for them.
Fallbacks::Fallbacks() {
  const auto pass = [this](DispatchKey key) {
    built_in_[key] = {KernelFunction::makeFallthrough(), std::nullopt, "built in"};
  };
  pass(DispatchKey::BackendSelect);
  pass(DispatchKey::ADInplaceOrView);
  for (DispatchKey key : autocast_dispatch_keyset) pass(key);
}

Fallbacks& Fallbacks::all() {
  static auto* const all = new Fallbacks;
  return *all;
}

const RegisteredKernel* Fallbacks::find(DispatchKey key) const {
  if (const auto found = program_.find(key); found != program_.end()) return &found->second;
  if (const auto found = built_in_.find(key); found != built_in_.end()) return &found->second;
  return isIncludedInAlias(key, DispatchKey::Autograd) ? &autograd_fallback() : nullptr;
}

void Fallbacks::add(DispatchKey key, RegisteredKernel kernel) {
  const auto [at, fresh] = program_.emplace(key, std::move(kernel));
  HB_CHECK(fresh, "Tried to register multiple backend fallbacks for the same dispatch key ", key,
           "; previous registration ", at->second.debug);
}

std::string OperatorEntry::described() const { return schema ? toString(*schema) : toString(name); }

void OperatorEntry::check_schema(const FunctionSchema& expected, const std::string& expected_debug,
                                 const RegisteredKernel& kernel) const {
  if (!kernel.inferred) return;
  const auto difference = findSchemaDifferences(expected, *kernel.inferred);
  HB_CHECK(!difference,
           "Inferred operator schema for a C++ kernel function doesn't match the expected function schema.\n",
           "  operator: ", name, "\n  expected schema: ", expected, "\n    ", expected_debug,
           "\n  inferred schema: ", *kernel.inferred, "\n    ", kernel.debug, "\n  reason: ", *difference);
}

void OperatorEntry::set_schema(FunctionSchema to, std::string where) {
  HB_CHECK(
      !schema, "Tried to register an operator (", to,
      ") with the same name and overload name multiple times. Each overload's schema should only be registered with a "
      "single call to def(). Duplicate registration: ",
      where, ". Original registration: ", debug);
  for (const auto& entry : kernels) {
    for (const RegisteredKernel& kernel : entry.second) check_schema(to, where, kernel);
  }
  schema = std::move(to);
  debug = std::move(where);
}
void OperatorEntry::remove_schema() {
  schema.reset();
  debug.clear();
}

void OperatorEntry::check_same_signature(DispatchKey key, const std::string& where, const CppSignature& other) const {
  HB_CHECK(!signature || signature->signature == other,
           "\nMismatch in kernel C++ signatures\n  operator: ", described(), "\n    ",
           debug.empty() ? "no debug info" : debug, "\n  kernel 1: ", signature->signature.name(),
           "\n    dispatch key: ", signature->key, "\n    ", signature->debug, "\n  kernel 2: ", other.name(),
           "\n    dispatch key: ", key, "\n    ", where, "\n");
}

OperatorEntry::Kernels::iterator OperatorEntry::add_kernel(DispatchKey key, RegisteredKernel kernel,
                                                           const std::optional<CppSignature>& types) {
  if (types) check_same_signature(key, kernel.debug, *types);
  if (schema) check_schema(*schema, debug, kernel);
  if (types && !signature) signature = SignatureOfKernel{*types, key, kernel.debug};
  Kernels& list = kernels[key];
  if (!list.empty()) {
    hb::detail::warn(
        hb::detail::str("Overriding a previously registered kernel for the same operator and the same dispatch "
                        "key\n  operator: ",
                        described(), "\n  dispatch key: ", key, "\n  previous kernel: ", list.front().debug,
                        "\n       new kernel: ", kernel.debug));
  }
  list.push_front(std::move(kernel));
  compute_table();
  return list.begin();
}

void OperatorEntry::remove_kernel(DispatchKey key, Kernels::iterator kernel) {
  // The table must not lead to a function that is gone.
  Kernels gone;
  Kernels& list = kernels.at(key);
  gone.splice(gone.begin(), list, kernel);
  if (list.empty()) kernels.erase(key);
  if (kernels.empty()) signature.reset();
  compute_table();
}

const RegisteredKernel* OperatorEntry::registered_for(DispatchKey key) const {
  const auto found = kernels.find(key);
  return found == kernels.end() ? nullptr : &found->second.front();
}

// The function of the key itself, else of an alias, else of all operators.
const RegisteredKernel* OperatorEntry::computed(DispatchKey key) const {
  if (key != DispatchKey::Undefined) {
    if (const auto* own = registered_for(key)) return own;
  }
  const auto of_alias = [&](DispatchKey alias) -> const RegisteredKernel* {
    if (key != DispatchKey::Undefined && !isIncludedInAlias(key, alias)) return nullptr;
    return registered_for(alias);
  };
  if (const auto* found = of_alias(DispatchKey::CompositeExplicitAutogradNonFunctional)) return found;
  if (const auto* found = of_alias(DispatchKey::CompositeExplicitAutograd)) return found;
  // A back end's own function is not for autograd to pass by.
  bool own_backend = registered_for(DispatchKey::CompositeExplicitAutograd) != nullptr;
  for (DispatchKey backend : getBackendKeySetFromAutograd(key)) {
    own_backend = own_backend || registered_for(backend) != nullptr;
  }
  if (const auto* found = of_alias(DispatchKey::CompositeImplicitAutograd); found && !own_backend) return found;
  if (key == DispatchKey::Undefined) return nullptr;
  if (const auto* found = of_alias(DispatchKey::Autograd)) return found;
  return Fallbacks::all().find(key);
}

void OperatorEntry::compute_table() {
  for (size_t key = 0; key < kKeys; ++key) {
    table[key].store(computed(static_cast<DispatchKey>(key)), std::memory_order_release);
  }
}

const KernelFunction& OperatorEntry::reached(DispatchKeySet& keys, bool requires_grad) const {
  for (;;) {
    const DispatchKey key = keys.highestPriorityTypeId();
    const RegisteredKernel* kernel = table[static_cast<size_t>(key)].load(std::memory_order_acquire);
    if (HB_UNLIKELY(kernel == nullptr)) report_missing(key);
    const bool passes =
        kernel == &autograd_fallback() ? !requires_grad || !GradMode::is_enabled() : kernel->function.isFallthrough();
    if (!passes) return kernel->function;
    if (HB_UNLIKELY(key == DispatchKey::Undefined)) report_missing(key);
    keys = keys.remove(key);
  }
}

void OperatorEntry::report_missing(DispatchKey key) const {
  std::ostringstream available;
  const char* before = "";
  for (size_t at = 1; at < kKeys; ++at) {
    const RegisteredKernel* kernel = table[at].load();
    if (!kernel || kernel->function.isFallthrough() || kernel == &autograd_fallback()) continue;
    available << before << static_cast<DispatchKey>(at);
    before = ", ";
  }
  if (key == DispatchKey::Undefined) {
    HB_NOT_SUPPORTED(
        "There were no tensor arguments to this function (e.g., you passed an empty list of Tensors), but no fallback "
        "function is registered for schema ",
        name,
        ".  This usually means that this function requires a non-empty list of Tensors, or that you (the operator "
        "writer) "
        "forgot to register a fallback function.  Available functions are [",
        available.str(), "].");
  }
  HB_NOT_SUPPORTED("Could not run '", name, "' with arguments from the '", key,
                   "' backend. This could be because the operator doesn't exist for this backend. '", name,
                   "' is only available for these backends: [", available.str(), "].");
}

}  // namespace hb::bridge
