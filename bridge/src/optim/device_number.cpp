#include <halfbridge/bridge/optim/device_number.h>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops/factories.h>

#include "core/recorder.h"

namespace hb::bridge::optim {

template <class T>
DeviceNumber<T>& DeviceNumber<T>::operator=(T value) {
  value_ = value;
  on_device_.reset();
  return *this;
}

template <class T>
T DeviceNumber<T>::get() const {
  return on_device_.defined() ? on_device_.template item<T>() : value_;
}

template <class T>
T* DeviceNumber<T>::data(const Device& device) {
  if (!on_device_.defined() || on_device_.device() != device) {
    NoGradGuard no_grad;
    const hb::capture::Inside unrecorded;  // a step goes on from the number that it finds
    on_device_ = full({}, get(), TensorOptions(std::is_same_v<T, double> ? kDouble : kLong).device(device));
  }
  hb::capture::uses(on_device_);
  return static_cast<T*>(on_device_.impl().visible_data());
}

template class DeviceNumber<int64_t>;
template class DeviceNumber<double>;

}  // namespace hb::bridge::optim
