#include <halfbridge/bridge/dispatch/register_operators.h>

namespace hb::bridge {
inline namespace api {

using Options = RegisterOperators::Options;

Options&& Options::schema(const std::string& schema_or_name) && {
  HB_CHECK(!schema_, "Tried to register operator ", schema_or_name,
           " but specified schema multiple times. You can only specify "
           "the schema once per operator registration.");
  schema_ = schema_or_name;
  return std::move(*this);
}
Options&& Options::aliasAnalysis(AliasAnalysisKind kind) && {
  HB_CHECK(!alias_analysis_, "You can only call aliasAnalysis() once per operator registration.");
  alias_analysis_ = kind;
  return std::move(*this);
}
Options&& Options::add(std::optional<DispatchKey> key, CppFunction&& function) && {
  function.key_ = key;
  functions_.push_back(std::move(function));
  return std::move(*this);
}

RegisterOperators&& RegisterOperators::op(Options&& options) && {
  add(std::move(options));
  return std::move(*this);
}
RegisterOperators& RegisterOperators::op(Options&& options) & {
  add(std::move(options));
  return *this;
}

namespace {

const FunctionSchema& inferred(const std::vector<const FunctionSchema*>& candidates, const OperatorName& name) {
  for (const FunctionSchema* candidate : candidates) {
    if (candidate) return *candidate;
  }
  hb::detail::fail<Error>("Cannot infer operator schema for this kind of kernel in registration of operator ", name,
                          ". Please explicitly specify the operator schema or specify at least one kernel for "
                          "which we can infer the schema.");
}

}  // namespace

void RegisterOperators::add(Options&& options) {
  HB_CHECK(options.schema_,
           "In operator registration: Tried to register an operator without specifying a schema or operator name.");
  auto parsed = jit::parseSchemaOrName(*options.schema_);
  std::vector<const FunctionSchema*> candidates;
  for (const CppFunction& function : options.functions_) candidates.push_back(function.schema_.get());
  FunctionSchema schema = [&] {
    if (auto* whole = std::get_if<FunctionSchema>(&parsed)) return std::move(*whole);
    const OperatorName& name = std::get<OperatorName>(parsed);
    return inferred(candidates, name).cloneWithName(name.name, name.overload_name);
  }();
  if (options.alias_analysis_) schema.setAliasAnalysis(*options.alias_analysis_);
  const OperatorName name = schema.operator_name();
  constexpr const char* kWhere = "registered by RegisterOperators";
  std::vector<RegistrationHandleRAII> made;  // all of them or none
  made.push_back(Dispatcher::singleton().registerDef(std::move(schema), kWhere));
  for (CppFunction& function : options.functions_) {
    made.push_back(Dispatcher::singleton().registerImpl(name, function.key_, std::move(function.function_),
                                                        function.signature_, std::move(function.schema_), kWhere));
  }
  for (auto& handle : made) registrations_.push_back(std::move(handle));
}

}  // namespace api
}  // namespace hb::bridge
