#include <cstring>

#include <halfbridge/generator.h>
#include <halfbridge/ops/factories.h>

namespace hb {

Tensor Generator::get_state() const {
  const std::vector<uint8_t> bytes = impl().state_bytes();
  Tensor state = empty({static_cast<int64_t>(bytes.size())}, TensorOptions(kByte).device(kCPU));
  std::memcpy(state.data_ptr(), bytes.data(), bytes.size());
  return state;
}

void Generator::set_state(const Tensor& state) {
  if (state.scalar_type() != kByte || !state.device().is_cpu() || !state.is_contiguous())
    throw TypeError("RNG state must be a torch.ByteTensor");
  impl().set_state_bytes(state.data_ptr<uint8_t>(), state.numel());
}

}  // namespace hb
