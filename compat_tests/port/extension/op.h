#pragma once
// Names alone, as headers do that shall not pull in LibTorch's.
namespace at {
class Tensor;
}
namespace c10 {
class Device;
struct OwnThing;
}  // namespace c10

void fill(at::Tensor& out, const c10::Device& device);
