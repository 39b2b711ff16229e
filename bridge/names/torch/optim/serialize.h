#pragma once
// What the optimizers of programs call in their serialize(), save() and load(), as LibTorch's own optimizers do.
#include <torch/optim.h>

#define _TORCH_OPTIM_SERIALIZE(name) torch::optim::serialize(archive, #name, self.name)

#define _TORCH_OPTIM_SERIALIZE_WITH_TEMPLATE_ARG(OptimizerName) \
  torch::optim::serialize<OptimizerName##ParamState, OptimizerName##Options>(archive, self)

// An undefined tensor is left out.
#define _TORCH_OPTIM_SERIALIZE_TORCH_ARG(name)                                           \
  {                                                                                      \
    torch::IValue ivalue(name());                                                        \
    if (!ivalue.isTensor() || ivalue.toTensor().defined()) archive.write(#name, ivalue); \
  }

#define _TORCH_OPTIM_SERIALIZE_TORCH_ARG_DEQUE(name) \
  archive.write(#name, torch::IValue(torch::optim::deque_to_list(name())))

// Tensors alone may be missing.
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(T, name)                                                       \
  {                                                                                                       \
    torch::IValue ivalue;                                                                                 \
    if (archive.try_read(#name, ivalue)) {                                                                \
      name(ivalue.to<T>());                                                                               \
    } else {                                                                                              \
      constexpr bool is_tensor_type = std::is_base_of_v<torch::Tensor, T>;                                \
      TORCH_CHECK(is_tensor_type, "[load] expected an option or a state named " #name " in the archive"); \
    }                                                                                                     \
  }

#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_OPTIONAL(T, name)           \
  {                                                                    \
    torch::IValue ivalue;                                              \
    if (archive.try_read(#name, ivalue)) name(ivalue.toOptional<T>()); \
  }

#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_DEQUE(T, name)                     \
  {                                                                           \
    torch::IValue ivalue;                                                     \
    archive.read(#name, ivalue);                                              \
    name(torch::optim::list_to_deque(ivalue.to<c10::List<T::value_type>>())); \
  }
