#pragma once
// Declarations that need no definition. `modules` is inline: hb::bridge::nn::Linear is the name to write. It exists so
// that torch::nn can take in the modules without the nested namespaces, which would make `nn::functional` ambiguous
// below `using namespace torch`.

#include <memory>

#include <halfbridge/macros.h>

namespace hb {
class Tensor;
}
namespace hb::bridge::serialize {
class InputArchive;
class OutputArchive;
}  // namespace hb::bridge::serialize
namespace hb::bridge::nn {
inline namespace modules {
class Module;
class AnyModule;
class AnyValue;
template <typename Contained>
class ModuleHolder;
template <typename Derived>
class HB_API Cloneable;
}  // namespace modules
namespace functional {}
namespace init {}
namespace utils {
inline namespace functions {}
namespace rnn {}
}  // namespace utils
}  // namespace hb::bridge::nn
