#pragma once
// The commonest classes as names alone, for headers of programs that only mention them. A program cannot declare them
// itself: `namespace at { class Tensor; }` is another class than ours.

namespace hb {
class Allocator;
class DataPtr;
class Device;
class Generator;
class IValue;
class Scalar;
class Storage;
class StorageImpl;
class Tensor;
class TensorImpl;
class TensorOptions;
namespace bridge {
inline namespace api {}
}  // namespace bridge
}  // namespace hb

namespace c10 {
using namespace hb;
using namespace hb::bridge::api;
}  // namespace c10
namespace at {
using namespace c10;
}
namespace torch {
using namespace at;
}
