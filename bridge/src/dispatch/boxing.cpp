#include <halfbridge/bridge/dispatch/boxing.h>

#include <halfbridge/bridge/dispatch/dispatcher.h>

namespace hb::bridge::boxing {
namespace {
std::vector<Argument> numbered(const std::vector<std::string>& types) {
  std::vector<Argument> arguments;
  arguments.reserve(types.size());
  for (const std::string& type : types) arguments.emplace_back("_" + std::to_string(arguments.size()), make_type(type));
  return arguments;
}
}  // namespace

FunctionSchema schema_of_types(const std::vector<std::string>& arguments, const std::vector<std::string>& results) {
  return FunctionSchema("", "", numbered(arguments), numbered(results));
}

void ArgumentKeys::add(const Tensor& tensor) {
  keys = keys | tensor.key_set();
  requires_grad = requires_grad || (tensor.defined() && tensor.requires_grad());
}

void ArgumentKeys::add(const IValue& value) {
  if (value.isTensor()) {
    add(value.toTensor());
  } else if (value.isTensorList() || value.isOptionalTensorList()) {
    for (const IValue& item : value.toListRef()) add(item);
  }
}

DispatchKeySet ArgumentKeys::of_call() const {
  const LocalDispatchKeySet local = tls_local_dispatch_key_set();
  return (keys | local.included_) - local.excluded_;
}

}  // namespace hb::bridge::boxing
