#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <halfbridge/ivalue.h>
#include <halfbridge/stream.h>

namespace hb::ivalue {

/// A value that another thread delivers. Functions may be called from several threads.
class HB_API Future : public intrusive_ptr_target {
 public:
  /// An error that is a text alone.
  struct HB_API FutureError final : std::exception {
    FutureError() = default;
    explicit FutureError(std::string message) : error_msg(std::move(message)) {}
    ~FutureError() override;
    const char* what() const noexcept override { return error_msg.c_str(); }
    std::string error_msg;
  };

  /// The devices that the value may be on; without any of them it is the program's to wait for their work.
  explicit Future(TypePtr type, std::vector<Device> devices = {})
      : type_(std::move(type)), devices_(std::move(devices)) {}
  ~Future() override;
  /// Waits; does not throw the error that was delivered.
  void wait();
  /// Waits and throws it.
  void waitAndThrow();
  /// Throws for a future that is completed.
  void markCompleted(IValue value);
  void markCompleted() { markCompleted(IValue()); }
  void setError(std::exception_ptr error);
  /// Without effect on a future that is completed.
  void setErrorIfNeeded(std::exception_ptr error);
  bool completed() const;
  bool hasValue() const;
  bool hasError() const;
  /// The value. Throws the error that was delivered, or hb::Error while there is neither.
  IValue value() const;
  /// The same; the error is within the text of an hb::Error.
  const IValue& constValue() const;
  std::exception_ptr exception_ptr() const;
  /// The text of the error; throws where there is none.
  std::string tryRetrieveErrorMessage() const;
  /// Calls f with this future when it is completed, at once if it is already.
  void addCallback(std::function<void(Future&)> f, bool uses_future = true);
  /// A future of what f makes of this one.
  intrusive_ptr<Future> then(std::function<IValue(Future&)> f, TypePtr type);
  intrusive_ptr<Future> thenAsync(std::function<intrusive_ptr<Future>(Future&)> f, TypePtr type);
  intrusive_ptr<Future> createInstance(TypePtr type) const;
  const TypePtr& elementType() const { return type_; }
  const std::vector<Device>& devices() const { return devices_; }

 private:
  void complete(std::unique_lock<std::mutex>& lock);
  void fail(std::exception_ptr error, std::unique_lock<std::mutex>& lock);

  TypePtr type_;
  std::vector<Device> devices_;
  mutable std::mutex mutex_;
  std::condition_variable done_;
  bool completed_ = false;
  IValue value_;
  std::exception_ptr error_;
  std::vector<std::function<void(Future&)>> callbacks_;
};
HB_API std::ostream& operator<<(std::ostream& out, const Future& future);

template <>
struct Convert<intrusive_ptr<Future>> {
  static intrusive_ptr<Future> from(const IValue& value) { return value.toFuture(); }
};
template <>
struct Convert<Stream> {
  static Stream from(const IValue& value) { return value.toStream(); }
};

}  // namespace hb::ivalue

namespace hb {

/// Completed with the list when all of them are, or with the first error.
HB_API intrusive_ptr<ivalue::Future> collectAll(const List<intrusive_ptr<ivalue::Future>>& futures);
/// Completed with the value, or the error, of the first that is.
HB_API intrusive_ptr<ivalue::Future> collectAny(const List<intrusive_ptr<ivalue::Future>>& futures);

}  // namespace hb
