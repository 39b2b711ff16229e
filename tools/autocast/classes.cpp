// Writes the tables of docs/mixed-precision.md from the classes that the functions of the engine declare.
//   autocast_classes FILE            writes them between the file's two markers
//   autocast_classes --check FILE    fails if they are not up to date
#include <halfbridge/autocast.h>

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

namespace {

using hb::autocast::OpClass;

constexpr const char* kBegin = "<!-- classes: written by autocast_classes, do not edit -->\n";
constexpr const char* kEnd = "<!-- end of classes -->\n";

const char* text(OpClass c) {
  switch (c) {
    case OpClass::half:
      return "half";
    case OpClass::fp32:
    case OpClass::fp32_dtype:
      return "float32";
    case OpClass::widest:
      return "widest";
    case OpClass::banned:
      return "throws";
    default:
      return "as it is";
  }
}

std::string tables() {
  std::map<std::string, std::pair<OpClass, OpClass>> listed;
  std::ostringstream as_it_is;
  int plain = 0;
  const auto is_plain = [](OpClass c) { return c == OpClass::as_is || c == OpClass::closed; };
  std::map<std::string, bool> seen;
  for (const auto& op : hb::autocast::ops()) {
    if (!is_plain(op.cpu) || !is_plain(op.cuda)) listed[op.name] = {op.cpu, op.cuda};
  }
  for (const auto& op : hb::autocast::ops())
    if (!listed.count(op.name) && !seen[op.name])
      seen[op.name] = true, as_it_is << (plain++ ? ", `" : "`") << op.name << '`';
  std::ostringstream out;
  out << "\n| function | CPU | CUDA |\n| --- | --- | --- |\n";
  for (const auto& [name, classes] : listed)
    out << "| `" << name << "` | " << text(classes.first) << " | " << text(classes.second) << " |\n";
  out << "\nFunctions that declare themselves \"as it is\" in both lists: " << as_it_is.str() << ".\n\n";
  return out.str();
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc == 3 && std::string(argv[1]) == "--check";
  if (argc != 2 && !check) {
    std::cerr << "usage: autocast_classes [--check] FILE\n";
    return 2;
  }
  const std::string file = argv[argc - 1];
  std::ostringstream read;
  read << std::ifstream(file).rdbuf();
  const std::string page = read.str();
  const size_t begin = page.find(kBegin), end = page.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos) {
    std::cerr << file << ": the markers of the generated part are missing\n";
    return 1;
  }
  const std::string wanted = page.substr(0, begin) + kBegin + tables() + page.substr(end);
  if (check && wanted != page) {
    std::cerr << file << " is not up to date: run autocast_classes " << file << '\n';
    return 1;
  }
  if (!check && !(std::ofstream(file) << wanted)) {
    std::cerr << "cannot write " << file << '\n';
    return 1;
  }
  return 0;
}
