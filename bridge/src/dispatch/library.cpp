#include <halfbridge/bridge/library.h>

namespace hb::bridge {
inline namespace api {

FunctionSchema schema(const std::string& text, AliasAnalysisKind kind, bool allow_typevars) {
  FunctionSchema parsed = jit::parseSchema(text, allow_typevars);
  parsed.setAliasAnalysis(kind);
  return parsed;
}

const char* Library::block() const {
  constexpr const char* kBlocks[] = {"TORCH_LIBRARY", "TORCH_LIBRARY_IMPL", "TORCH_LIBRARY_FRAGMENT"};
  return kBlocks[kind_];
}
std::string Library::where() const { return hb::detail::str("registered at ", file_, ":", line_); }
std::string Library::context() const {
  return hb::detail::str("(Error occurred while processing ", block(), " block at ", file_, ":", line_, ")");
}

Library::Library(Kind kind, std::string ns, std::optional<DispatchKey> key, const char* file, uint32_t line)
    : kind_(kind), key_(key), file_(file), line_(line) {
  if (ns != "_") ns_ = std::move(ns);
  if (key_ == DispatchKey::CatchAll) key_.reset();
  HB_CHECK(ns_ || kind_ == IMPL, block(),
           "(_, ...): the namespace _ stands for all operators, and only TORCH_LIBRARY_IMPL may "
           "register for them.  ",
           context());
  if (kind_ == DEF) registrations_.push_back(Dispatcher::singleton().registerLibrary(*ns_, where()));
}

Library& Library::def(FunctionSchema&& schema, const std::vector<Tag>& tags) & {
  define(std::move(schema), tags);
  return *this;
}
Library& Library::def(const std::string& text, const std::vector<Tag>& tags) & { return def(schema(text), tags); }

OperatorName Library::define(FunctionSchema&& schema, const std::vector<Tag>& tags) {
  HB_CHECK(kind_ != IMPL, "def(\"", schema.operator_name(), "\"): Cannot define an operator inside of a ", block(),
           " block.  All def()s should be placed in the (unique) TORCH_LIBRARY block for their namespace.  ",
           context());
  if (const auto ns = schema.getNamespace()) {
    HB_CHECK(
        *ns == *ns_, "Explicitly provided namespace (", *ns,
        ") in schema string does not match namespace of enclosing ", block(), " block (", *ns_,
        ").  Move this definition to the (unique) TORCH_LIBRARY block corresponding to this namespace (and consider "
        "deleting the namespace from your schema string.)  ",
        context());
  }
  schema.setNamespaceIfNotSet(ns_->c_str());
  OperatorName name = schema.operator_name();
  registrations_.push_back(Dispatcher::singleton().registerDef(std::move(schema), where(), tags));
  return name;
}

Library& Library::define_with(FunctionSchema&& schema, CppFunction&& function, const std::vector<Tag>& tags) {
  OperatorName name = define(std::move(schema), tags);
  const auto key = function.key_ ? function.key_ : key_;
  registrations_.push_back(Dispatcher::singleton().registerImpl(
      std::move(name), key, std::move(function.function_), function.signature_, std::move(function.schema_), where()));
  return *this;
}

Library& Library::define_with(OperatorName&& name, CppFunction&& function, const std::vector<Tag>& tags) {
  HB_CHECK(
      function.schema_, "def(\"", name,
      "\"): Full schema string was not specified, and we couldn't infer schema either.  Please explicitly provide a "
      "schema string.  ",
      context());
  FunctionSchema inferred = function.schema_->cloneWithName(name.name, name.overload_name);
  inferred.setAliasAnalysis(AliasAnalysisKind::CONSERVATIVE);
  return define_with(std::move(inferred), std::move(function), tags);
}

Library& Library::define_with(const std::string& text, CppFunction&& function, const std::vector<Tag>& tags) {
  auto parsed = jit::parseSchemaOrName(text, /*allow_typevars=*/false);
  if (auto* name = std::get_if<OperatorName>(&parsed)) return define_with(std::move(*name), std::move(function), tags);
  auto& schema = std::get<FunctionSchema>(parsed);
  schema.setAliasAnalysis(AliasAnalysisKind::FROM_SCHEMA);
  return define_with(std::move(schema), std::move(function), tags);
}

void Library::check_key(const std::string& what, const std::optional<DispatchKey>& key) const {
  HB_CHECK(!key || !key_ || *key == *key_, what, ": Explicitly provided dispatch key (", *key,
           ") is inconsistent with the dispatch key of the enclosing ", block(), " block (", *key_,
           ").  Please declare a separate TORCH_LIBRARY_IMPL block for this dispatch key and move your impl() there.  ",
           context());
}

Library& Library::implement(const std::string& text, CppFunction&& function) {
  const std::string what = "impl(\"" + text + "\", ...)";
  OperatorName name = jit::parseName(text);
  if (const auto ns = name.getNamespace()) {
    HB_CHECK(!ns_ || *ns == *ns_, what, ": Explicitly provided namespace (", *ns,
             ") in operator name does not match namespace of enclosing ", block(), " block (", ns_.value_or("_"),
             ").  Move this definition to the ", block(),
             " block corresponding to this namespace (and consider deleting the namespace from your schema string.)  ",
             context());
  } else if (ns_) {
    name.setNamespaceIfNotSet(ns_->c_str());
  }
  check_key(what, function.key_);
  const auto key = function.key_ ? function.key_ : key_;
  registrations_.push_back(Dispatcher::singleton().registerImpl(
      std::move(name), key, std::move(function.function_), function.signature_, std::move(function.schema_), where()));
  return *this;
}

Library& Library::add_fallback(CppFunction&& function) {
  HB_CHECK(kind_ == IMPL, "fallback(...): Cannot define an operator inside of a ", block(),
           " block.  Did you mean to call this function inside a TORCH_LIBRARY_IMPL block?  ", context());
  check_key("fallback(...)", function.key_);
  const auto key = function.key_ ? function.key_ : key_;
  HB_CHECK(key, "fallback(...): expected a block of one dispatch key, got a block of all.  ", context());
  HB_CHECK(!ns_, "fallback(...): Fallback functions which apply to only a single namespace (you specified ",
           ns_.value_or(""),
           ") are not supported.  If you intended to apply this fallback function globally, please define a separate "
           "block:\n\n    TORCH_LIBRARY_IMPL(_, ",
           *key, ", m) { m.fallback(...); }\n\n", context());
  for (DispatchKey each : getRuntimeDispatchKeySet(*key)) {
    KernelFunction copy = function.function_;
    registrations_.push_back(Dispatcher::singleton().registerFallback(each, std::move(copy), where()));
  }
  return *this;
}

const std::string& Library::namespace_of_class(const std::string& name) const {
  HB_CHECK(kind_ != IMPL, "class_(\"", name,
           "\"): Cannot define a class inside of a TORCH_LIBRARY_IMPL block.  All class_()s should be placed in the "
           "(unique) "
           "TORCH_LIBRARY block for their namespace.  ",
           context());
  return *ns_;
}

}  // namespace api
}  // namespace hb::bridge
