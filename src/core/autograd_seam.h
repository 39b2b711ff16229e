#pragma once
// What a tensor's record asks of autograd, which stands above it and fills this in when the library loads.

#include <halfbridge/tensor_impl.h>

namespace hb {
class Tensor;
}

namespace hb::detail {

struct AutogradSeam {
  void (*set_requires_grad)(const Tensor& t);
  void (*destroy)(AutogradMeta* meta);
};
inline constinit AutogradSeam autograd_seam{};

}  // namespace hb::detail
