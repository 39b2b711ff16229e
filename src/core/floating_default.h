#pragma once

#include <halfbridge/dtype.h>

namespace hb {

/// The default dtype, for functions that compute floating numbers of integers; throws where the program made it
/// another kind.
ScalarType floating_default();

}  // namespace hb
