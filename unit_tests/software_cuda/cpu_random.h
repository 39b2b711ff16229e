#pragma once
// Random numbers of CUDA by the CPU's generator, so that what is computed with them can be compared with the CPU's
// results.

namespace software_cuda {

/// From now on; the CUDA back end has been opened.
void draw_on_cpu();

}  // namespace software_cuda
