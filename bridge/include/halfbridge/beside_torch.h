// Halfbridge and LibTorch in one program: tensors in shared memory, weights of a torch::nn::Module in one of ours.
//
// The program includes LibTorch's headers, and this one, and links both libraries; it leaves Halfbridge's own
// <torch/torch.h> (bridge/names, include/halfbridge-torch) out of its include path. `hb::` then is Halfbridge and
// `torch::` LibTorch.
#pragma once

#include <ATen/DLConvertor.h>
#include <ATen/core/Tensor.h>

#include <halfbridge/bridge/nn/load_state.h>
#include <halfbridge/dlpack.h>

namespace hb {

/// LibTorch's tensor as one of ours in the same memory, which lives as long as either. No history and no gradient
/// travel; a tensor that is not strided or not on the CPU is an error.
inline Tensor from_torch(const at::Tensor& tensor) {
  HB_CHECK(tensor.defined(), "[from_torch] expected a defined tensor, got an undefined one");
  HB_CHECK(tensor.layout() == at::kStrided, "[from_torch] expected a strided tensor");
  HB_CHECK(tensor.device().is_cpu(), "[from_torch] expected a tensor on the CPU, got one on ", tensor.device().str());
  return from_dlpack(at::toDLPack(tensor.detach()));
}

/// Our tensor as one of LibTorch's in the same memory, which lives as long as either.
inline at::Tensor to_torch(const Tensor& tensor) { return at::fromDLPack(to_dlpack(tensor)); }

/// Parameters and buffers of a module of LibTorch by dotted name, in the same memory..
template <class TorchModule>
io::NamedTensors state_of_torch(const TorchModule& module) {
  io::NamedTensors state;
  for (const auto& item : module.named_parameters()) state.emplace_back(item.key(), from_torch(item.value()));
  for (const auto& item : module.named_buffers()) state.emplace_back(item.key(), from_torch(item.value()));
  return state;
}

/// Parameters and buffers of LibTorch's module into ours, by name; load_from_torch(*ours, *theirs). With options.copy =
/// false both modules share their memory. One error lists every name that does not fit.
template <class TorchModule>
bridge::nn::StateDictMismatch load_from_torch(bridge::nn::Module& module, const TorchModule& theirs,
                                              const bridge::nn::LoadStateOptions& options = {}) {
  return bridge::nn::load_state_dict(module, state_of_torch(theirs), options);
}

}  // namespace hb
