#pragma once
// <torch/csrc/jit/runtime/operator.h>: the operators that code can call, with their schemas, each callable on a stack.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfbridge/bridge/dispatch/dispatcher.h>
#include <halfbridge/bridge/symbol.h>

namespace hb::bridge::jit {

struct Node;  // there are no graphs

/// Takes its arguments from a stack and leaves its results there.
class Operation {
  template <class F, class Arg>
  static constexpr bool takes = std::is_constructible_v<std::function<void(Arg)>, F&&>;

 public:
  template <class F, std::enable_if_t<takes<F, Stack*> && !takes<F, Stack&>, int> = 0>
  Operation(F&& function)  // NOLINT: implicit as in LibTorch
      : function_([f = std::forward<F>(function)](Stack& stack) mutable { f(&stack); }) {}
  template <class F, std::enable_if_t<takes<F, Stack&> && !std::is_same_v<std::decay_t<F>, Operation>, int> = 0>
  Operation(F&& function) : function_(std::forward<F>(function)) {}  // NOLINT: implicit as in LibTorch
  Operation(std::nullptr_t) noexcept {}                              // NOLINT: implicit as in LibTorch

  explicit operator bool() const noexcept { return static_cast<bool>(function_); }
  void operator()(Stack& stack) { function_(stack); }
  template <class T>
  T* target() noexcept {
    return function_.template target<T>();
  }

 private:
  std::function<void(Stack&)> function_;
};

/// An operator of the dispatcher, or one that code alone can call.
class HB_API Operator {
 public:
  Operator(OperatorHandle handle, Operation operation);
  Operator(const std::string& schema, Operation operation, AliasAnalysisKind alias_analysis);
  Operator(std::string name, std::string overload_name, std::vector<Argument> arguments, std::vector<Argument> returns,
           Operation operation, AliasAnalysisKind alias_analysis);

  const FunctionSchema& schema() const;
  Operation getOperation(const Node* /*node*/ = nullptr) const { return operation_; }
  /// Throws for an operator that the dispatcher does not have.
  Operation getOperationForDispatchKey(DispatchKey key) const;
  ArrayRef<Tag> getTags() const;
  bool isC10Op() const { return handle_.has_value(); }
  bool hasOperation() const { return true; }
  AliasAnalysisKind aliasAnalysisKind() const { return schema().aliasAnalysis(); }

 private:
  std::optional<OperatorHandle> handle_;
  std::optional<FunctionSchema> schema_;
  Operation operation_;
};

/// All that have a schema now, in the order of their names.
HB_API std::vector<std::shared_ptr<Operator>> getAllOperators();
/// The overloads of a name. The list is the same one for each call and may grow when operators are registered.
HB_API const std::vector<std::shared_ptr<Operator>>& getAllOperatorsFor(Symbol name);
HB_API std::vector<std::shared_ptr<Operator>> getAllSortedOperatorsFor(Symbol name);
/// Null where there is none.
HB_API std::shared_ptr<Operator> findOperatorFor(const OperatorName& full_name);
/// The operator of this schema; throws where there is none.
HB_API std::shared_ptr<Operator> getOperatorForLiteral(const char* signature);
HB_API std::string canonicalSchemaString(const FunctionSchema& schema);

}  // namespace hb::bridge::jit
