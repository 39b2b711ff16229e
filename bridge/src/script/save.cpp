// Archives of modules as they are now, with the code that they were read with and what the program added.
#include <algorithm>

#include "io/io_error.h"
#include "io/torch_archive.h"
#include "script/archive.h"
#include "script/class_writer.h"

namespace hb::bridge::script {
namespace {

constexpr const char* kWhere = "jit.Module.save";
constexpr long kOldestVersion = 3;

// Functions that mean something else in archives of older versions, and the first version with today's meaning.
constexpr std::pair<const char*, long> kChanged[] = {{"div", 4},      {"div_", 4},     {"full", 5},
                                                     {"linspace", 8}, {"logspace", 9}, {"gelu", 10}};

bool divides(const std::string& text) {
  for (size_t at = text.find('/'); at != std::string::npos; at = text.find('/', at + 1)) {
    if (text.compare(at, 2, "//") != 0) return true;
    ++at;
  }
  return false;
}

// The version of the format under which added code means what it means today.
long version_for(const std::string& added, const Unit* archive) {
  const long old = archive ? archive->version() : kOldestVersion;
  long wanted = old;
  for (const auto& [name, since] : kChanged) {
    if (has_word(added, name)) wanted = std::max(wanted, since);
  }
  if (divides(added)) wanted = std::max(wanted, 4L);
  if (wanted == old || !archive) return wanted;
  for (const auto& [label, text] : archive->files()) {
    for (const auto& [name, since] : kChanged) {
      if (since <= old || since > wanted || !has_word(text, name)) continue;
      io::io_fail(kWhere, "the archive is of version ", old, ", in which ", name,
                  "() means something else than in the methods that define() added");
    }
  }
  return wanted;
}

}  // namespace

void write_archive(const std::shared_ptr<ivalue::ObjectData>& module,
                   const std::unordered_map<std::string, std::string>& extra, io::ZipWriter& zip) {
  const ClassWriter classes(module);
  const Unit* archived = classes.archive().get();
  io::ScriptArchive archive{IValue(module),
                            IValue(ivalue::TupleData::create(archived ? archived->constants() : std::vector<IValue>())),
                            classes.files(), version_for(classes.added(), archived), classes.names()};
  for (const auto& [name, content] : extra) archive.files.emplace_back("extra/" + name, content);
  io::write_script_archive(archive, zip);
}

}  // namespace hb::bridge::script
