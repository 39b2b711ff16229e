#include <halfbridge/future.h>

#include <atomic>
#include <ostream>

#include <halfbridge/error.h>
#include <halfbridge/type_tree.h>

namespace hb::ivalue {

namespace {

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    return e.what_without_backtrace();
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "Unknown Exception Type";
  }
}

}  // namespace

Future::FutureError::~FutureError() = default;
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
  HB_CHECK(!completed_,
           "Attempting to mark a completed Future as complete again. Note that a Future can only be marked completed "
           "once.");
  value_ = std::move(value);
  complete(lock);
}

void Future::fail(std::exception_ptr error, std::unique_lock<std::mutex>& lock) {
  HB_CHECK(!error_, "Error already set on this Future: ", text_of(error_), ", trying to set error: ", text_of(error));
  HB_CHECK(!completed_, "Future is already marked completed");
  error_ = std::move(error);
  complete(lock);
}
void Future::setError(std::exception_ptr error) {
  std::unique_lock<std::mutex> lock(mutex_);
  fail(std::move(error), lock);
}
void Future::setErrorIfNeeded(std::exception_ptr error) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!completed_) fail(std::move(error), lock);
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
  HB_CHECK(!error_,
           "value() accessor should only be used when future is not completed with an error, but future had the "
           "following error: ",
           text_of(error_));
  return value_;
}

IValue Future::value() const {
  std::lock_guard<std::mutex> lock(mutex_);
  HB_CHECK(completed_, "[Future] expected a completed future, got one that is not");
  if (error_) std::rethrow_exception(error_);
  return value_;
}

std::exception_ptr Future::exception_ptr() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return error_;
}

std::string Future::tryRetrieveErrorMessage() const {
  const std::exception_ptr error = exception_ptr();
  HB_CHECK(error, "No error present on the future.");
  return text_of(error);
}

void Future::addCallback(std::function<void(Future&)> f, bool /*uses_future*/) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!completed_) {
      callbacks_.push_back(std::move(f));
      return;
    }
  }
  f(*this);
}

intrusive_ptr<Future> Future::createInstance(TypePtr type) const {
  return make_intrusive<Future>(std::move(type), devices_);
}

intrusive_ptr<Future> Future::then(std::function<IValue(Future&)> f, TypePtr type) {
  auto next = createInstance(std::move(type));
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
  auto next = createInstance(std::move(type));
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

std::ostream& operator<<(std::ostream& out, const Future& future) {
  return out << "Future[" << future.elementType()->str() << "]";
}

}  // namespace hb::ivalue

namespace hb {

using Futures = List<intrusive_ptr<ivalue::Future>>;

intrusive_ptr<ivalue::Future> collectAll(const Futures& futures) {
  auto all = make_intrusive<ivalue::Future>(ListType::create(futures.elementType()));
  if (futures.empty()) {
    all->markCompleted(IValue(futures));
    return all;
  }
  const auto left = std::make_shared<std::atomic<size_t>>(futures.size());
  for (size_t i = 0; i < futures.size(); ++i) {
    futures.get(i)->addCallback([all, futures, left](ivalue::Future& done) {
      if (done.hasError()) {
        all->setErrorIfNeeded(done.exception_ptr());
      } else if (--*left == 0) {
        all->markCompleted(IValue(futures));
      }
    });
  }
  return all;
}

intrusive_ptr<ivalue::Future> collectAny(const Futures& futures) {
  HB_CHECK(!futures.empty(), "collectAny: expected at least one future");
  for (size_t i = 0; i < futures.size(); ++i) {
    if (futures.get(i)->completed()) return futures.get(i);
  }
  auto any = make_intrusive<ivalue::Future>(futures.get(0)->elementType());
  const auto taken = std::make_shared<std::atomic<bool>>(false);
  for (size_t i = 0; i < futures.size(); ++i) {
    futures.get(i)->addCallback([any, taken](ivalue::Future& done) {
      if (taken->exchange(true)) return;
      if (done.hasError()) {
        any->setError(done.exception_ptr());
      } else {
        any->markCompleted(done.value());
      }
    });
  }
  return any;
}

}  // namespace hb
