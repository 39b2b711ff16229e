#include <halfbridge/weak_ivalue.h>

#include <halfbridge/future.h>

namespace hb {
namespace {

template <class T>
std::function<IValue()> weak(const std::shared_ptr<T>& object) {
  return [weak = std::weak_ptr<T>(object)] {
    const auto alive = weak.lock();
    return alive ? IValue(alive) : IValue();
  };
}

template <class T, class Make>
std::function<IValue()> weak_intrusive(const intrusive_ptr<T>& object, Make make) {
  return [weak = weak_intrusive_ptr<T>(object), make] {
    auto alive = weak.lock();
    return alive ? make(std::move(alive)) : IValue();
  };
}

}  // namespace

WeakIValue::WeakIValue(const IValue& value) {
  if (value.isTensor() && value.toTensor().defined()) {
    const auto impl = value.toTensor().getIntrusivePtr();
    address_ = impl.get();
    lock_ = weak_intrusive(impl, [](auto alive) { return IValue(Tensor(std::move(alive))); });
  } else if (value.isFuture()) {
    address_ = value.toFuture().get();
    lock_ = weak_intrusive(value.toFuture(), [](auto alive) { return IValue(std::move(alive)); });
  } else if (value.isString()) {
    address_ = value.toString().get();
    lock_ = weak(value.toString());
  } else if (value.isList()) {
    address_ = value.toList().data().get();
    lock_ = weak(value.toList().data());
  } else if (value.isGenericDict()) {
    address_ = value.toGenericDict().data().get();
    lock_ = weak(value.toGenericDict().data());
  } else if (value.isTuple()) {
    address_ = value.toTuple().get();
    lock_ = weak(value.toTuple());
  } else if (value.isObject()) {
    address_ = value.toObject().get();
    lock_ = weak(value.toObject());
  } else {
    lock_ = [value] { return value; };
  }
}

size_t WeakIValue::use_count() const noexcept {
  const IValue value = lock();
  if (!address_) return 1;
  return value.isNone() ? 0 : value.use_count() - 1;
}

}  // namespace hb
