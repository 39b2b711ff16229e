#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include <halfbridge/ivalue.h>

namespace hb::ivalue {

/// A value that another thread delivers. Functions may be called from several threads.
class HB_API Future : public intrusive_ptr_target {
 public:
  explicit Future(TypePtr type) : type_(std::move(type)) {}
  ~Future() override;
  /// Waits; does not throw the error that was delivered.
  void wait();
  /// Waits and throws it.
  void waitAndThrow();
  void markCompleted(IValue value);
  void markCompleted() { markCompleted(IValue()); }
  void setError(std::exception_ptr error);
  bool completed() const;
  bool hasValue() const;
  bool hasError() const;
  /// The value. Throws the error that was delivered, or hb::Error while there is neither.
  IValue value() const;
  const IValue& constValue() const;
  std::exception_ptr exception_ptr() const;
  /// Calls f with this future when it is completed, at once if it is already.
  void addCallback(std::function<void(Future&)> f);
  /// A future of what f makes of this one.
  intrusive_ptr<Future> then(std::function<IValue(Future&)> f, TypePtr type);
  intrusive_ptr<Future> thenAsync(std::function<intrusive_ptr<Future>(Future&)> f, TypePtr type);
  const TypePtr& elementType() const { return type_; }

 private:
  void complete(std::unique_lock<std::mutex>& lock);

  TypePtr type_;
  mutable std::mutex mutex_;
  std::condition_variable done_;
  bool completed_ = false;
  IValue value_;
  std::exception_ptr error_;
  std::vector<std::function<void(Future&)>> callbacks_;
};

}  // namespace hb::ivalue
