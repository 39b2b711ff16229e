#include "sources.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>

namespace hb::cli::port {

namespace fs = std::filesystem;

namespace {

std::optional<Source::Kind> kind_of(const fs::path& path) {
  static constexpr std::array kCpp = {".cpp", ".cc",  ".cxx", ".c++", ".C",   ".h",   ".hh",
                                      ".hpp", ".hxx", ".h++", ".inl", ".ipp", ".tpp", ".txx"};
  const std::string extension = path.extension().string();
  if (std::find(kCpp.begin(), kCpp.end(), extension) != kCpp.end()) return Source::cpp;
  if (extension == ".cu" || extension == ".cuh") return Source::cuda;
  if (extension == ".cmake" || path.filename() == "CMakeLists.txt") return Source::cmake;
  return std::nullopt;
}

/// Folders that hold nothing that a person wrote.
bool is_generated(const fs::path& folder) {
  const std::string name = folder.filename().string();
  std::error_code error;
  return (name.size() > 1 && name[0] == '.') || name == "node_modules" || fs::exists(folder / "CMakeCache.txt", error);
}

class Reader {
 public:
  Reader(fs::path root, const Limits& limits) : root_(std::move(root)), limits_(limits) {}

  Tree run() {
    const fs::file_status status = fs::status(root_);
    if (!fs::exists(status)) throw std::runtime_error("[port] no such folder: " + root_.string());
    if (fs::is_regular_file(status)) {
      read(root_, root_.filename().string());
    } else {
      std::error_code error;
      const fs::directory_iterator begin(root_, error);
      if (error) throw std::runtime_error("[port] " + root_.string() + ": " + error.message());
      walk(begin, 0);
    }
    if (links_ > 0) note(std::to_string(links_) + " symbolic links were not followed");
    std::sort(tree_.sources.begin(), tree_.sources.end(),
              [](const Source& a, const Source& b) { return a.path < b.path; });
    for (Source& s : tree_.sources)
      if (s.kind != Source::cmake) s.tokens = lex(s.text);
    return std::move(tree_);
  }

 private:
  void note(std::string text) { tree_.notes.push_back(std::move(text)); }
  std::string below_root(const fs::path& path) const { return path.lexically_relative(root_).generic_string(); }

  void walk(fs::directory_iterator entry, int depth) {
    std::error_code error;
    for (; entry != fs::directory_iterator() && !full_; entry.increment(error)) {
      if (error) return note("a folder could not be read to its end: " + error.message());
      const fs::path& path = entry->path();
      const fs::file_status status = entry->symlink_status(error);
      if (fs::is_symlink(status)) {
        ++links_;
      } else if (fs::is_directory(status)) {
        if (is_generated(path)) continue;
        if (depth >= limits_.depth) {
          note(below_root(path) + ": nested too deep, left out");
          continue;
        }
        fs::directory_iterator inner(path, error);
        if (error)
          note(below_root(path) + ": " + error.message());
        else
          walk(std::move(inner), depth + 1);
      } else if (fs::is_regular_file(status)) {
        read(path, below_root(path));
      }
    }
  }

  void read(const fs::path& path, std::string name) {
    const std::optional<Source::Kind> kind = kind_of(path);
    if (!kind) return;
    std::error_code error;
    const uint64_t size = fs::file_size(path, error);
    if (error) return note(name + ": " + error.message());
    if (size > limits_.file_bytes)
      return note(name + ": " + std::to_string(size) + " bytes, too large to be source; left out");
    if (tree_.sources.size() >= limits_.files || total_ + size > limits_.total_bytes) {
      full_ = true;
      return note("the tree is too large: read until " + name);
    }
    std::string text(size, '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(text.data(), static_cast<std::streamsize>(size));
    if (file.bad() || (!file && file.gcount() == 0 && size > 0)) return note(name + ": cannot be read");
    text.resize(static_cast<size_t>(file.gcount()));
    if (text.find('\0') != text.npos) return note(name + ": binary, left out");
    total_ += text.size();
    tree_.sources.push_back({*kind, std::move(name), std::move(text), {}});
  }

  const fs::path root_;
  const Limits limits_;
  Tree tree_;
  uint64_t total_ = 0;
  size_t links_ = 0;
  bool full_ = false;
};

}  // namespace

Tree read_tree(const std::string& root, const Limits& limits) { return Reader(root, limits).run(); }

}  // namespace hb::cli::port
