#pragma once

namespace hb::cuda {
/// Gives programs' names (c10::cuda, at::cuda) what they stand on.
void provide_api();
}  // namespace hb::cuda
