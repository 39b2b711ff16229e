#include <halfbridge/bridge/optim/device_number.h>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops/factories.h>

#include "core/recorder.h"

namespace hb::bridge::optim {

template <class T>
DeviceNumber<T>& DeviceNumber<T>::operator=(T value) {
  NoGradGuard no_grad;
  value_ = value;
  if (on_device_.defined() && on_device_.device().is_cpu())
    on_device_.fill_(value);  // for who holds a reference
  else
    on_device_.reset();
  return *this;
}

template <class T>
T DeviceNumber<T>::get() const {
  return on_device_.defined() ? on_device_.template item<T>() : value_;
}

template <class T>
const T& DeviceNumber<T>::host() const {
  value_ = get();  // an error within a recorded step: its replays change the number
  if (!on_device_.defined() || !on_device_.device().is_cpu()) return value_;
  return *static_cast<const T*>(on_device_.impl().visible_data());
}

template <class T>
T& DeviceNumber<T>::host() {
  value_ = get();
  return *data(kCPU);
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
