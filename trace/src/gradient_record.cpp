// The file of HALFBRIDGE_AMP_REPORT:
//
//   halfbridge gradients 1
//   steps 40
//   end complete
//   Net<tab>fc1<tab>Linear<tab>parameter<tab>weight<tab>zeros<tab>not finite<tab>from
//   fp16<tab>largest<tab>power<tab>3,0,17
//
// The last two: the power of two of the first count, and the counts. Of names, %, control characters and what is beyond
// are written as %XX.
#include <halfbridge/trace/gradient_counts.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string_view>

#include "io/atomic_file.h"

namespace hb::trace {

namespace {

constexpr std::string_view kMagic = "halfbridge gradients 1";
constexpr size_t kFields = 11;
constexpr std::streamoff kMostBytes = std::streamoff{64} << 20;
constexpr size_t kMostName = 4096, kMostRows = 200'000;
constexpr uint64_t kMostCount = uint64_t{1} << 53;  // of all rows together: shares of it are exact in double

std::string escaped(const std::string& name) {
  std::string text;
  for (const char c : name.substr(0, kMostName)) {
    const auto byte = static_cast<unsigned char>(c);
    char code[4];
    if (byte < 0x20 || byte == 0x7f || byte == '%') {
      std::snprintf(code, sizeof code, "%%%02X", byte);
      text += code;
    } else {
      text += c;
    }
  }
  return text;
}

std::string line_of(const GradientRow& row) {
  const GradientCounts& c = row.counts;
  std::ostringstream out;
  for (const std::string& name : {row.root, row.path, row.type, row.kind, row.name}) out << escaped(name) << '\t';
  char largest[32];
  std::snprintf(largest, sizeof largest, "%.17g", c.largest);
  out << c.zeros << '\t' << c.not_finite << '\t' << c.from_half << '\t' << largest << '\t';
  size_t first = 0, last = GradientCounts::kBins;
  while (first < last && c.bins[first] == 0) ++first;
  while (last > first && c.bins[last - 1] == 0) --last;
  out << (first == last ? 0 : GradientCounts::kLowest + static_cast<int>(first)) << '\t';
  for (size_t i = first; i < last; ++i) out << (i > first ? "," : "") << c.bins[i];
  return out.str() + '\n';
}

// --- reading

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {
    std::ifstream in(file, std::ios::binary | std::ios::ate);
    HB_CHECK(in, "[gradients] cannot read '", file, "'");
    const std::streamoff size = in.tellg();
    HB_CHECK(size >= 0 && size <= kMostBytes, "[gradients] expected '", file, "' to have at most ", kMostBytes,
             " bytes, got ", size);
    text_.resize(static_cast<size_t>(size));
    in.seekg(0).read(text_.data(), size);
    HB_CHECK(in, "[gradients] cannot read '", file, "'");
    rest_ = text_;
  }

  GradientRecord run() {
    GradientRecord record;
    expect(next() == kMagic, "'" + std::string(kMagic) + "'");
    record.steps = static_cast<int64_t>(number(after("steps ")));
    const std::string_view end = after("end ");
    expect(end == "complete" || end == "unfinished", "'end complete' or 'end unfinished'");
    record.complete = end == "complete";
    while (!rest_.empty()) {
      expect(record.rows.size() < kMostRows, "at most 200,000 lines");
      record.rows.push_back(row(next()));
    }
    return record;
  }

 private:
  void expect(bool ok, std::string_view what) const {
    HB_CHECK(ok, "[gradients] '", file_, "', line ", line_, ": expected ", what);
  }
  std::string_view next() {
    ++line_;
    const size_t end = rest_.find('\n');
    expect(end != rest_.npos, "a whole line");
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return line;
  }
  std::string_view after(std::string_view front) {
    const std::string_view line = next();
    expect(line.substr(0, front.size()) == front, "'" + std::string(front) + "…'");
    return line.substr(front.size());
  }
  template <class T>
  T parse(std::string_view text, const char* what) const {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    expect(error == std::errc() && end == text.data() + text.size(), what);
    return value;
  }
  uint64_t number(std::string_view text) const {
    const auto value = parse<uint64_t>(text, "a number");
    expect(value <= kMostCount, "a number up to 2^53");
    return value;
  }
  std::string name(std::string_view text) const {
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '%') {
        result += text[i];
        continue;
      }
      unsigned byte = 0;
      expect(i + 2 < text.size(), "two digits after %");
      const auto [end, error] = std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
      expect(error == std::errc() && end == text.data() + i + 3, "two digits after %");
      result += static_cast<char>(byte);
      i += 2;
    }
    expect(result.size() <= kMostName, "names of at most 4,096 bytes");
    return result;
  }
  GradientRow row(std::string_view line) {
    std::array<std::string_view, kFields> fields;
    for (size_t i = 0; i < kFields; ++i) {
      const size_t tab = line.find('\t');
      expect((tab == line.npos) == (i + 1 == kFields), "11 fields");
      fields[i] = line.substr(0, tab);
      line.remove_prefix(tab == line.npos ? line.size() : tab + 1);
    }
    GradientRow row{name(fields[0]), name(fields[1]), name(fields[2]), name(fields[3]), name(fields[4]), {}};
    expect(row.kind == "parameter" || row.kind == "output", "'parameter' or 'output'");
    GradientCounts& c = row.counts;
    c.zeros = number(fields[5]), c.not_finite = number(fields[6]), c.from_half = number(fields[7]);
    c.largest = parse<double>(fields[8], "a number");
    counts(parse<int>(fields[9], "a power of two"), fields[10], c);
    for (const uint64_t n : {c.zeros, c.not_finite, c.finite()}) {
      total_ += n;  // each below 2^53, and checked each time
      expect(total_ <= kMostCount, "at most 2^53 elements");
    }
    check_largest(c);
    return row;
  }
  void counts(int power, std::string_view text, GradientCounts& c) const {
    uint64_t sum = 0;
    for (size_t i = 0; !text.empty(); ++i) {
      const int64_t at = int64_t{power} - GradientCounts::kLowest + static_cast<int64_t>(i);
      expect(at >= 0 && at < static_cast<int64_t>(GradientCounts::kBins), "powers of two from -150 to 127");
      const size_t comma = text.find(',');
      c.bins[static_cast<size_t>(at)] = number(text.substr(0, comma));
      sum += c.bins[static_cast<size_t>(at)];
      expect(sum <= kMostCount, "at most 2^53 elements");
      text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
    }
  }
  /// The largest element must lie in the highest bin that is not empty.
  void check_largest(const GradientCounts& c) const {
    size_t top = GradientCounts::kBins;
    while (top > 0 && c.bins[top - 1] == 0) --top;
    const int power = GradientCounts::kLowest + static_cast<int>(top) - 1;
    bool ok = std::isfinite(c.largest) && (top == 0 ? c.largest == 0 : c.largest > 0);
    if (ok && top > 0)
      ok = (power == GradientCounts::kLowest || c.largest >= std::ldexp(1.0, power)) &&
           (power == GradientCounts::kHighest || c.largest < std::ldexp(1.0, power + 1));
    expect(ok, "the largest element where the highest count is");
  }

  const std::string file_;
  std::string text_;
  std::string_view rest_;
  size_t line_ = 0;
  uint64_t total_ = 0;
};

}  // namespace

void GradientRecord::save(const std::string& file) const {
  io::AtomicFile out(file);
  std::string head(kMagic);
  head += "\nsteps " + std::to_string(steps) + "\nend " + (complete ? "complete" : "unfinished") + '\n';
  out.write(head.data(), head.size());
  for (const GradientRow& row : rows) {
    const std::string line = line_of(row);
    out.write(line.data(), line.size());
  }
  out.commit();
}

GradientRecord GradientRecord::load(const std::string& file) { return Reader(file).run(); }

}  // namespace hb::trace
