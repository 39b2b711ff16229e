#pragma once

namespace hb::cpu {

/// The widest instruction set that this CPU runs and HALFBRIDGE_ISA allows. 0: any x86-64; 3: AVX2, FMA, F16C; 4:
/// AVX-512. Read once.
int isa_level();
/// Whether this CPU multiplies tiles of bf16 and the system lets the process use them; HALFBRIDGE_ISA may forbid it.
bool has_bf16_tiles();
/// An AMD CPU of family 26. Read once.
bool is_zen5();

}  // namespace hb::cpu
