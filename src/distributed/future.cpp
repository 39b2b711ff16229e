#include <halfbridge/distributed/future.h>

#include <halfbridge/error.h>

namespace hb::ivalue {

Future::~Future() = default;

void Future::wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  done_.wait(lock, [&] { return completed_; });
}

void Future::waitAndThrow() {
  wait();
  if (error_) std::rethrow_exception(error_);
}

void Future::complete(std::unique_lock<std::mutex>& lock) {
  completed_ = true;
  const auto callbacks = std::move(callbacks_);
  callbacks_.clear();
  done_.notify_all();
  lock.unlock();
  for (const auto& f : callbacks) f(*this);
}

void Future::markCompleted(IValue value) {
  std::unique_lock<std::mutex> lock(mutex_);
  HB_CHECK(!completed_, "[Future] expected one completion, got a second");
  value_ = std::move(value);
  complete(lock);
}

void Future::setError(std::exception_ptr error) {
  std::unique_lock<std::mutex> lock(mutex_);
  HB_CHECK(!completed_, "[Future] expected one completion, got a second");
  error_ = std::move(error);
  complete(lock);
}

bool Future::completed() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return completed_;
}

bool Future::hasValue() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return completed_ && !error_;
}

bool Future::hasError() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return error_ != nullptr;
}

const IValue& Future::constValue() const {
  std::lock_guard<std::mutex> lock(mutex_);
  HB_CHECK(completed_, "[Future] expected a completed future, got one that is not");
  if (error_) std::rethrow_exception(error_);
  return value_;
}

IValue Future::value() const { return constValue(); }

std::exception_ptr Future::exception_ptr() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return error_;
}

void Future::addCallback(std::function<void(Future&)> f) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!completed_) {
      callbacks_.push_back(std::move(f));
      return;
    }
  }
  f(*this);
}

intrusive_ptr<Future> Future::then(std::function<IValue(Future&)> f, TypePtr type) {
  auto next = make_intrusive<Future>(std::move(type));
  addCallback([next, f = std::move(f)](Future& done) {
    try {
      next->markCompleted(f(done));
    } catch (...) {
      next->setError(std::current_exception());
    }
  });
  return next;
}

intrusive_ptr<Future> Future::thenAsync(std::function<intrusive_ptr<Future>(Future&)> f, TypePtr type) {
  auto next = make_intrusive<Future>(std::move(type));
  addCallback([next, f = std::move(f)](Future& done) {
    intrusive_ptr<Future> inner;
    try {
      inner = f(done);
    } catch (...) {
      next->setError(std::current_exception());
      return;
    }
    inner->addCallback([next](Future& completed) {
      if (completed.hasError())
        next->setError(completed.exception_ptr());
      else
        next->markCompleted(completed.value());
    });
  });
  return next;
}

}  // namespace hb::ivalue
