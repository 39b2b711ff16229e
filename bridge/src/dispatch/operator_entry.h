#pragma once
// One operator: its schema, what was registered for which key, and the table that calls read.

#include <array>
#include <atomic>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <halfbridge/bridge/dispatch/dispatcher.h>

namespace hb::bridge {

struct RegisteredKernel {
  KernelFunction function;
  std::optional<FunctionSchema> inferred;
  std::string debug;
};

/// Functions that apply to all operators which have none of their own for a key. Guarded by registration_mutex().
class Fallbacks {
 public:
  static Fallbacks& all();
  const RegisteredKernel* find(DispatchKey key) const;
  /// Throws where the key has one.
  void add(DispatchKey key, RegisteredKernel kernel);
  void remove(DispatchKey key) { program_.erase(key); }
  bool has_of_program(DispatchKey key) const { return program_.count(key) != 0; }

 private:
  Fallbacks();
  std::map<DispatchKey, RegisteredKernel> program_, built_in_;
};

/// Code that registers holds it; calls do not take it.
std::mutex& registration_mutex();

/// The function of operators that take tensors that need gradients and have no function for autograd: their results
/// warn in the backward pass.
const RegisteredKernel& autograd_fallback();

struct OperatorEntry {
  explicit OperatorEntry(OperatorName name) : name(std::move(name)) { compute_table(); }
  OperatorEntry(const OperatorEntry&) = delete;
  OperatorEntry& operator=(const OperatorEntry&) = delete;

  using Kernels = std::list<RegisteredKernel>;
  void set_schema(FunctionSchema schema, std::string debug);
  void remove_schema();
  Kernels::iterator add_kernel(DispatchKey key, RegisteredKernel kernel, const std::optional<CppSignature>& signature);
  void remove_kernel(DispatchKey key, Kernels::iterator kernel);
  void compute_table();
  bool registered() const { return schema.has_value() || !kernels.empty(); }
  /// "ns::op(Tensor x) -> Tensor", or the name where there is no schema.
  std::string described() const;

  const KernelFunction& reached(DispatchKeySet& keys, bool requires_grad) const;

  const OperatorName name;
  std::optional<FunctionSchema> schema;
  std::string debug;
  std::vector<Tag> tags;
  std::map<DispatchKey, Kernels> kernels;  // the latest first

  static constexpr size_t kKeys = static_cast<size_t>(DispatchKey::EndOfRuntimeBackendKeys) + 1;
  std::array<std::atomic<const RegisteredKernel*>, kKeys> table{};

  struct SignatureOfKernel {
    CppSignature signature;
    DispatchKey key;
    std::string debug;
  };
  std::optional<SignatureOfKernel> signature;

 private:
  const RegisteredKernel* computed(DispatchKey key) const;
  const RegisteredKernel* registered_for(DispatchKey key) const;
  void check_schema(const FunctionSchema& expected, const std::string& expected_debug,
                    const RegisteredKernel& kernel) const;
  void check_same_signature(DispatchKey key, const std::string& debug, const CppSignature& signature) const;
  [[noreturn]] void report_missing(DispatchKey key) const;
};

}  // namespace hb::bridge
