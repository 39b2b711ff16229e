// `exchange write DIR` writes files, `exchange read DIR` reads what either library wrote there.
#include <iostream>
#include <string>

#include "interop/check.h"
#include "interop/exchange.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: " << argv[0] << " write|read DIR\n";
    return 2;
  }
  const std::string folder = std::string(argv[2]) + "/";
  using interop::section;
  if (std::string(argv[1]) == "write") {
    section("write tensors", [&] { interop::write_tensors(folder); });
    section("write values", [&] { interop::write_values(folder); });
    section("write modules", [&] { interop::write_modules(folder); });
    section("write script modules", [&] { interop::write_script_modules(folder); });
    section("write optimizers", [&] { interop::write_optimizers(folder); });
  } else {
    section("read tensors", [&] { interop::read_tensors(folder); });
    section("read values", [&] { interop::read_values(folder); });
    section("read modules", [&] { interop::read_modules(folder); });
    section("read script modules", [&] { interop::read_script_modules(folder); });
    section("read optimizers", [&] { interop::read_optimizers(folder); });
  }
  if (interop::failures() == 0) std::cout << "ok" << std::endl;
  return interop::failures() == 0 ? 0 : 1;
}
