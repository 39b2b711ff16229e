// What the standard output can show.
#pragma once

#include <halfbridge/diff/output.h>

namespace hb::cli {

/// Colours (unless NO_COLOR is set) and Unicode for a terminal in UTF-8, its width; `plain` turns both off. Anything
/// else gets 120 columns of ASCII. COLUMNS decides the width where it is set.
layer_diff::TextOptions terminal(bool plain);

}  // namespace hb::cli
