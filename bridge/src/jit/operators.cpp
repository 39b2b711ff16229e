// The operators that code can call, for programs that look through them.
#include <map>
#include <mutex>
#include <set>

#include <halfbridge/bridge/dispatch/jit_operator.h>
#include <halfbridge/error.h>

#include "dispatch/overloads.h"
#include "script/operators_own.h"

namespace hb::bridge::jit {
namespace {

using List = std::vector<std::shared_ptr<Operator>>;

// Programs keep pointers to operators and their schemas: what was given once stays.
struct Table {
  std::recursive_mutex mutex;
  std::map<const void*, std::shared_ptr<Operator>> operators;  // by where their schemas or names lie
  std::map<std::string, List> by_name;
};
Table& table() {
  static auto* const all = new Table;
  return *all;
}

std::shared_ptr<Operator> operator_of(const script::Candidate& candidate) {
  const void* key = candidate.op ? static_cast<const void*>(&candidate.op->operator_name()) : candidate.schema;
  std::shared_ptr<Operator>& known = table().operators[key];
  if (known) return known;
  if (candidate.op) {
    const OperatorHandle op = *candidate.op;
    known = std::make_shared<Operator>(op, [op](Stack& stack) { op.callBoxed(stack); });
  } else {
    known = std::make_shared<Operator>(candidate.schema->name(), candidate.schema->overload_name(),
                                       candidate.schema->arguments(), candidate.schema->returns(), candidate.run,
                                       AliasAnalysisKind::FROM_SCHEMA);
  }
  return known;
}

// The dispatcher's come first; one of the others has a name and overload of its own.
const List& overloads(const std::string& name) {
  List found;
  std::set<std::string> names;
  for (const OperatorHandle& op : overloads_of(name)) {
    names.insert(op.operator_name().overload_name);
    found.push_back(operator_of({&op.schema(), op}));
  }
  for (const script::Candidate& own : script::own_candidates(name)) {
    if (names.insert(own.schema->overload_name()).second) found.push_back(operator_of(own));
  }
  List& kept = table().by_name[name];
  if (kept != found) kept = std::move(found);
  return kept;
}

}  // namespace

Operator::Operator(OperatorHandle handle, Operation operation) : handle_(handle), operation_(std::move(operation)) {}
Operator::Operator(const std::string& schema, Operation operation, AliasAnalysisKind alias_analysis)
    : schema_(parseSchema(schema)), operation_(std::move(operation)) {
  schema_->setAliasAnalysis(alias_analysis);
}
Operator::Operator(std::string name, std::string overload_name, std::vector<Argument> arguments,
                   std::vector<Argument> returns, Operation operation, AliasAnalysisKind alias_analysis)
    : schema_(FunctionSchema(std::move(name), std::move(overload_name), std::move(arguments), std::move(returns))),
      operation_(std::move(operation)) {
  schema_->setAliasAnalysis(alias_analysis);
}

const FunctionSchema& Operator::schema() const { return handle_ ? handle_->schema() : *schema_; }

Operation Operator::getOperationForDispatchKey(DispatchKey key) const {
  HB_CHECK(handle_, "calling a JIT operator for dispatch key is not supported");
  return [op = *handle_, key](Stack& stack) { op.callBoxedForDispatchKey(key, stack); };
}

ArrayRef<Tag> Operator::getTags() const {
  static const Tag own[] = {Tag::pt2_compliant_tag};
  return handle_ ? ArrayRef<Tag>(handle_->getTags()) : ArrayRef<Tag>(own);
}

std::vector<std::shared_ptr<Operator>> getAllOperators() {
  const std::lock_guard lock(table().mutex);
  std::set<std::string> names;
  for (const OperatorName& name : Dispatcher::singleton().getAllOpNames()) names.insert(name.name);
  for (const std::string& name : script::own_names()) names.insert(name);
  List all;
  for (const std::string& name : names) {
    const List& found = overloads(name);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

const std::vector<std::shared_ptr<Operator>>& getAllOperatorsFor(Symbol name) {
  const std::lock_guard lock(table().mutex);
  return overloads(name.toQualString());
}
std::vector<std::shared_ptr<Operator>> getAllSortedOperatorsFor(Symbol name) { return getAllOperatorsFor(name); }

std::shared_ptr<Operator> findOperatorFor(const OperatorName& full_name) {
  const std::lock_guard lock(table().mutex);
  for (const auto& op : overloads(full_name.name)) {
    if (op->schema().overload_name() == full_name.overload_name) return op;
  }
  return nullptr;
}

std::shared_ptr<Operator> getOperatorForLiteral(const char* signature) {
  const FunctionSchema wanted = parseSchema(signature);
  const auto found = findOperatorFor(wanted.operator_name());
  HB_CHECK(found && found->schema() == wanted, "operator not found: ", signature);
  return found;
}

std::string canonicalSchemaString(const FunctionSchema& schema) { return toString(schema); }

}  // namespace hb::bridge::jit
