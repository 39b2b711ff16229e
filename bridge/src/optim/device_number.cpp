#include <halfbridge/bridge/optim/device_number.h>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops/factories.h>

#include "core/recorder.h"

namespace hb::bridge::optim {

template <class T>
DeviceNumber<T>::DeviceNumber(Tensor number) : value_(0) {
  (number.is_cpu() ? on_host_ : on_device_) = std::move(number);
}

template <class T>
DeviceNumber<T>& DeviceNumber<T>::operator=(T value) {
  NoGradGuard no_grad;
  value_ = value;
  if (on_host_.defined()) on_host_.fill_(value);  // for who holds a reference
  on_device_.reset();
  return *this;
}

template <class T>
T DeviceNumber<T>::get() const {
  const Tensor& held = on_device_.defined() ? on_device_ : on_host_;
  return held.defined() ? held.template item<T>() : value_;
}

template <class T>
Tensor DeviceNumber<T>::holder(const Device& device) const {
  NoGradGuard no_grad;
  const hb::capture::Inside unrecorded;  // a step goes on from the number that it finds
  return full({}, get(), TensorOptions(std::is_same_v<T, double> ? kDouble : kLong).device(device));
}

template <class T>
const T& DeviceNumber<T>::host() const {
  value_ = get();  // an error within a recorded step: its replays change the number
  if (on_device_.defined() || !on_host_.defined()) return value_;
  return *static_cast<const T*>(on_host_.impl().visible_data());
}

template <class T>
T& DeviceNumber<T>::host() {
  if (const T now = get(); on_device_.defined()) *this = now;  // get(): an error within a recorded step
  return *data(kCPU);
}

template <class T>
T* DeviceNumber<T>::data(const Device& device) {
  if (device.is_cpu()) {
    if (on_device_.defined()) *this = get();
    if (!on_host_.defined()) on_host_ = holder(device);
  } else if (!on_device_.defined() || on_device_.device() != device) {
    on_device_ = holder(device);
  }
  const Tensor& held = device.is_cpu() ? on_host_ : on_device_;
  hb::capture::uses(held);
  return static_cast<T*>(held.impl().visible_data());
}

template class DeviceNumber<int64_t>;
template class DeviceNumber<double>;

}  // namespace hb::bridge::optim
