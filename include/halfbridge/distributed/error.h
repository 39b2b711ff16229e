#pragma once
// What goes wrong between processes.

#include <halfbridge/error.h>

namespace hb {

/// Base of the errors of training in several processes.
class HB_API DistError : public Error {
  using Error::Error;
};
/// A collective failed: a rank is missing, called something else, or died.
class HB_API DistBackendError : public DistError {
  using DistError::DistError;
};
/// A store failed or did not answer in time.
class HB_API DistStoreError : public DistError {
  using DistError::DistError;
};
/// A connection failed.
class HB_API DistNetworkError : public DistError {
  using DistError::DistError;
};
/// queuePop(key, false) found nothing.
class HB_API DistQueueEmptyError : public DistStoreError {
  using DistStoreError::DistStoreError;
};

namespace distributed {
class HB_API SocketError : public DistNetworkError {
  using DistNetworkError::DistNetworkError;
};
/// A deadline passed.
class HB_API TimeoutError : public DistNetworkError {
  using DistNetworkError::DistNetworkError;
};
}  // namespace distributed
}  // namespace hb
