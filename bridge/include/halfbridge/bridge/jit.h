#pragma once
// TorchScript is not supported. The names that programs use to run a script are declared, so that what the compiler
// says about such a program is this one sentence.

#include <string>
#include <vector>

#include <halfbridge/ivalue.h>
#include <halfbridge/tensor.h>

#define HB_NO_TORCHSCRIPT                                                                                          \
  __attribute__((                                                                                                  \
      error("Halfbridge has no TorchScript: write the network as a torch::nn::Module and load its weights from a " \
            "state dict (docs/files.md)")))

namespace hb::bridge::jit {

using hb::IValue;
using Stack = std::vector<IValue>;

struct Method {
  HB_NO_TORCHSCRIPT IValue operator()(Stack inputs) const;
};

/// torch::jit::Module; every use of one is an error when the program is compiled.
class Module {
 public:
  Module() = default;
  HB_NO_TORCHSCRIPT explicit Module(const std::string& name);
  HB_NO_TORCHSCRIPT IValue forward(Stack inputs) const;
  HB_NO_TORCHSCRIPT IValue operator()(Stack inputs) const;
  HB_NO_TORCHSCRIPT void eval() const;
  HB_NO_TORCHSCRIPT void train(bool on = true) const;
  HB_NO_TORCHSCRIPT bool is_training() const;
  HB_NO_TORCHSCRIPT void to(Device device, bool non_blocking = false) const;
  HB_NO_TORCHSCRIPT void to(DeviceType device, bool non_blocking = false) const;
  HB_NO_TORCHSCRIPT void to(ScalarType dtype, bool non_blocking = false) const;
  HB_NO_TORCHSCRIPT void to(Device device, ScalarType dtype, bool non_blocking = false) const;
  HB_NO_TORCHSCRIPT void save(const std::string& file) const;
  HB_NO_TORCHSCRIPT IValue attr(const std::string& name) const;
  HB_NO_TORCHSCRIPT IValue attr(const std::string& name, IValue missing) const;
  HB_NO_TORCHSCRIPT bool hasattr(const std::string& name) const;
  HB_NO_TORCHSCRIPT Method get_method(const std::string& name) const;
  template <class... Args>
  HB_NO_TORCHSCRIPT IValue run_method(const std::string& name, Args&&... args) const;
  HB_NO_TORCHSCRIPT std::vector<Tensor> parameters(bool recurse = true) const;
  HB_NO_TORCHSCRIPT std::vector<Tensor> buffers(bool recurse = true) const;
  struct Named {
    std::string name;
    Tensor value;
  };
  HB_NO_TORCHSCRIPT std::vector<Named> named_parameters(bool recurse = true) const;
  HB_NO_TORCHSCRIPT std::vector<Named> named_buffers(bool recurse = true) const;
  HB_NO_TORCHSCRIPT Module clone() const;
};

template <class... Args>
HB_NO_TORCHSCRIPT Module load(Args&&... args);
template <class... Args>
HB_NO_TORCHSCRIPT Module freeze(Args&&... args);
template <class... Args>
HB_NO_TORCHSCRIPT Module optimize_for_inference(Args&&... args);

}  // namespace hb::bridge::jit
