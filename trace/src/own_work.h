#pragma once

#include <halfbridge/grad_mode.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "autograd/watch.h"

namespace hb::trace {

/// What the tracer computes for itself: not recorded, not watched, not cast, not saved by a checkpoint.
class OwnWork {
 private:
  Unwatched unwatched_;
  NoGradGuard no_grad_;
  front::Excluded excluded_;
  SavedSource::Scope unsaved_{nullptr};
};

}  // namespace hb::trace
