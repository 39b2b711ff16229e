#include <halfbridge/bridge/distributed/checkpoint.h>
#include <halfbridge/distributed/init.h>
#include <halfbridge/distributed/objects.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <halfbridge/ops.h>

namespace hb::distributed {

namespace fs = std::filesystem;
using bridge::serialize::InputArchive;
using bridge::serialize::OutputArchive;

namespace {

intrusive_ptr<ProcessGroup> or_default(intrusive_ptr<ProcessGroup> group) {
  return group ? std::move(group) : default_group();
}

// What one rank could not do, all throw.
void agree(ProcessGroup& group, const std::string& error) {
  const auto all = all_gather_bytes(group, error);
  for (size_t r = 0; r < all.size(); ++r) HB_CHECK(all[r].empty(), "[checkpoint] rank ", r, ": ", all[r]);
}

template <class F>
std::string error_of(const F& f) {
  try {
    f();
    return "";
  } catch (const std::exception& e) {
    return e.what()[0] ? e.what() : "unknown error";
  }
}

std::string name_of(int rank) { return "rank" + std::to_string(rank); }

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  HB_CHECK(file, "[checkpoint] cannot open ", path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

void save_checkpoint(const std::string& path, const SaveState& shared, const SaveState& own,
                     intrusive_ptr<ProcessGroup> given) {
  const auto group = or_default(std::move(given));
  std::string mine;
  agree(*group, error_of([&] {
    OutputArchive part;
    own(part);
    std::ostringstream stream;
    part.save_to(stream);
    mine = stream.str();
  }));
  const auto parts = gather_bytes(*group, mine);
  agree(*group, group->getRank() != 0 ? "" : error_of([&] {
    OutputArchive file, common;
    shared(common);
    file.write("shared", common);
    file.write("world_size", IValue(static_cast<int64_t>(group->getSize())));
    for (int r = 0; r < group->getSize(); ++r) {
      const std::string& bytes = parts[static_cast<size_t>(r)];
      const Tensor t = empty({static_cast<int64_t>(bytes.size())}, kByte);
      std::memcpy(t.data_ptr<uint8_t>(), bytes.data(), bytes.size());
      file.write(name_of(r), t, /*is_buffer=*/true);
    }
    file.save_to(path);
  }));
}

void load_checkpoint(const std::string& path, const LoadState& shared, const LoadState& own,
                     intrusive_ptr<ProcessGroup> given) {
  const auto group = or_default(std::move(given));
  const Tensor there = full({1}, fs::exists(path) ? 1 : 0, kInt);
  all_reduce(*group, there, ReduceOp::MIN);
  std::string bytes;
  std::string error;
  InputArchive file;
  if (there.item<int32_t>() == 0) {
    if (group->getRank() == 0) error = error_of([&] { bytes = contents(path); });
    agree(*group, error);
    bytes = broadcast_bytes(*group, bytes);
  }
  agree(*group, error_of([&] {
    if (bytes.empty())
      file.load_from(path);
    else
      file.load_from(bytes.data(), bytes.size());
    IValue size;
    file.read("world_size", size);
    HB_CHECK(size.toInt() == group->getSize(), "[load_checkpoint] expected a file of ", group->getSize(),
             " ranks, got one of ", size.toInt(), ": ", path);
    InputArchive common, part;
    file.read("shared", common);
    shared(common);
    Tensor mine;
    file.read(name_of(group->getRank()), mine, /*is_buffer=*/true);
    part.load_from(reinterpret_cast<const char*>(mine.data_ptr<uint8_t>()), static_cast<size_t>(mine.numel()));
    own(part);
  }));
}

std::string checkpoint_path(const std::string& directory, const std::string& prefix, int64_t step) {
  return (fs::path(directory) / (prefix + "-" + std::to_string(step) + ".ckpt")).string();
}

std::string newest_checkpoint(const std::string& directory, const std::string& prefix,
                              intrusive_ptr<ProcessGroup> given) {
  const auto group = or_default(std::move(given));
  int64_t newest = -1;
  agree(*group, error_of([&] {
    if (group->getRank() != 0 || !fs::is_directory(directory)) return;
    for (const auto& entry : fs::directory_iterator(directory)) {
      const std::string name = entry.path().filename().string(), ending = ".ckpt";
      if (name.size() <= prefix.size() + 1 + ending.size() || name.compare(0, prefix.size() + 1, prefix + "-") != 0 ||
          name.compare(name.size() - ending.size(), ending.size(), ending) != 0)
        continue;
      const char *begin = name.data() + prefix.size() + 1, *end = name.data() + name.size() - ending.size();
      int64_t step = 0;
      const auto [stop, error] = std::from_chars(begin, end, step);
      if (error == std::errc() && stop == end) newest = std::max(newest, step);
    }
  }));
  newest = std::stoll(broadcast_bytes(*group, std::to_string(newest)));
  return newest < 0 ? "" : checkpoint_path(directory, prefix, newest);
}

}  // namespace hb::distributed
