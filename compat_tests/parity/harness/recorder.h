// What all cases of one run have recorded, and the list of cases. Internal to the harness.
#pragma once
#include <string>
#include <vector>

#include "../case.h"
#include "../safetensors_writer.h"

namespace parity {

struct RegisteredCase {
  std::string family, name;
  void (*body)(Case&);
  std::string full_name() const { return family + "." + name; }
};

std::vector<RegisteredCase>& registered_cases();
SafetensorsWriter& recorder();

const char* safetensors_dtype(Dtype dtype);

// Cases compute in f64 what they would in another float dtype, on the same numbers: the reference for both builds'
// errors.
bool& exact_mode();

// Where the cases' inputs are; the CPU unless the program was asked for another (--device). What a case records comes
// back to the CPU.
torch::Device& input_device();

}  // namespace parity
