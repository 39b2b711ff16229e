#include <halfbridge/diff/text_table.h>

#include <algorithm>

namespace hb::layer_diff {
namespace {

bool begins_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// Byte at which code point `n` begins.
size_t byte_of(const std::string& text, int n) {
  size_t i = 0;
  for (; i < text.size(); ++i) {
    if (begins_code_point(text[i]) && n-- == 0) break;
  }
  return i;
}

constexpr int kGap = 2;

int total(const std::vector<int>& widths) {
  int sum = 0;
  for (int width : widths) sum += width + kGap;
  return sum - kGap;
}

std::vector<int> widths_of(const std::vector<Column>& columns, const std::vector<Row>& rows) {
  std::vector<int> widths;
  for (size_t c = 0; c < columns.size(); ++c) {
    int width = text_width(columns[c].title);
    for (const Row& row : rows) width = std::max(width, text_width(row.cells[c]));
    widths.push_back(width);
  }
  return widths;
}

void drop(size_t c, std::vector<Column>& columns, std::vector<Row>& rows, std::vector<int>& widths) {
  const auto at = static_cast<long>(c);
  columns.erase(columns.begin() + at);
  widths.erase(widths.begin() + at);
  for (Row& row : rows) row.cells.erase(row.cells.begin() + at);
}

// Shrinks what may shrink to a comfortable width, then leaves columns out, then shrinks to the narrowest.
void fit(std::vector<Column>& columns, std::vector<Row>& rows, std::vector<int>& widths, int room) {
  const auto shrink = [&](int times) {
    while (total(widths) > room) {
      size_t widest = columns.size();
      for (size_t c = 0; c < columns.size(); ++c) {
        const bool shrinks = columns[c].least > 0 && widths[c] > times * columns[c].least;
        if (shrinks && (widest == columns.size() || widths[c] > widths[widest])) widest = c;
      }
      if (widest == columns.size()) return;
      --widths[widest];
    }
  };
  const auto least_important = [&] {
    size_t least = columns.size();
    for (size_t c = 0; c < columns.size(); ++c) {
      if (columns[c].importance > 0 &&
          (least == columns.size() || columns[c].importance <= columns[least].importance)) {
        least = c;
      }
    }
    return least;
  };
  constexpr int kNeeded = 7;  // columns of this importance are worth narrow names
  shrink(2);
  while (total(widths) > room && least_important() < columns.size()) {
    if (columns[least_important()].importance >= kNeeded) shrink(1);
    if (total(widths) > room) drop(least_important(), columns, rows, widths);
  }
  shrink(1);
}

// A column that is empty in all rows says nothing.
void drop_empty(std::vector<Column>& columns, std::vector<Row>& rows) {
  for (size_t c = columns.size(); c-- > 0;) {
    const bool empty = std::all_of(rows.begin(), rows.end(), [c](const Row& row) { return row.cells[c].empty(); });
    std::vector<int> no_widths(columns.size());
    if (empty && columns[c].importance > 0) drop(c, columns, rows, no_widths);
  }
}

// Each group's name above its columns, a line under both; empty where no column has one.
std::string group_line(const std::vector<Column>& columns, const std::vector<int>& widths, bool unicode) {
  std::string text;
  int at = 0, end = 0;
  for (size_t c = 0; c < columns.size(); at += widths[c] + kGap, ++c) {
    const std::string& group = columns[c].group;
    if (group.empty() || (c > 0 && columns[c - 1].group == group)) continue;
    int width = -kGap;
    for (size_t i = c; i < columns.size() && columns[i].group == group; ++i) width += widths[i] + kGap;
    const int left = std::max(width - text_width(group) - 2, 0) / 2,
              right = std::max(width - text_width(group) - 2, 0) - left;
    text.append(static_cast<size_t>(std::max(at - end, 0)), ' ');
    for (int i = 0; i < left; ++i) text += unicode ? "─" : "-";
    text += (width > text_width(group) + 1 ? " " + group + " " : shortened(group, width, unicode));
    for (int i = 0; i < right; ++i) text += unicode ? "─" : "-";
    end = at + width;
  }
  return text;
}

std::string line(const std::vector<Column>& columns, const std::vector<std::string>& cells,
                 const std::vector<int>& widths, bool unicode) {
  std::string text;
  for (size_t c = 0; c < columns.size(); ++c) {
    const std::string cell = shortened(cells[c], widths[c], unicode);
    const std::string space(static_cast<size_t>(widths[c] - text_width(cell)), ' ');
    if (c > 0) text.append(kGap, ' ');
    text += columns[c].right ? space + cell : cell + space;
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

std::string paint(const std::string& text, Ink ink, const TextOptions& options) {
  if (!options.colour || ink == Ink::plain || text.empty()) return text;
  const char* code = "";
  switch (ink) {
    case Ink::pass:
      code = "32";
      break;
    case Ink::fail:
      code = "31";
      break;
    case Ink::strong_fail:
      code = "1;97;41";
      break;
    case Ink::faint:
      code = "2";
      break;
    case Ink::heading:
      code = "1";
      break;
    case Ink::plain:
      break;
  }
  return "\x1b[" + std::string(code) + "m" + text + "\x1b[0m";
}

int text_width(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), begins_code_point));
}

std::string shortened(const std::string& text, int width, bool unicode) {
  const int length = text_width(text);
  if (length <= width) return text;
  const std::string dots = unicode ? "…" : "..";
  // The end of a path says more than its beginning.
  const int kept = std::max(width - text_width(dots), 0), front = kept / 3;
  return text.substr(0, byte_of(text, front)) + dots + text.substr(byte_of(text, length - (kept - front)));
}

std::string table(std::vector<Column> columns, std::vector<Row> rows, const TextOptions& options) {
  drop_empty(columns, rows);
  std::vector<int> widths = widths_of(columns, rows);
  int marks = 0;
  for (const Row& row : rows) marks = std::max(marks, row.mark.empty() ? 0 : text_width(row.mark) + kGap);
  fit(columns, rows, widths, options.width - marks);
  std::vector<std::string> titles;
  for (const Column& column : columns) titles.push_back(column.title);
  std::string text = group_line(columns, widths, options.unicode);
  if (!text.empty()) text = paint(text, Ink::faint, options) + '\n';
  text += paint(line(columns, titles, widths, options.unicode), Ink::faint, options) + '\n';
  for (const Row& row : rows) {
    std::string cells = line(columns, row.cells, widths, options.unicode);
    if (!row.mark.empty()) {
      cells.append(static_cast<size_t>(total(widths) - text_width(cells) + kGap), ' ');
      cells += row.mark;
    }
    text += paint(cells, row.ink, options) + '\n';
  }
  return text;
}

std::string wrapped(const std::string& text, int indent, const TextOptions& options) {
  std::string result, current;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!current.empty() && text_width(current) + 1 + text_width(word) > options.width &&
        current.find_first_not_of(' ') != std::string::npos) {
      result += current + '\n';
      current = std::string(static_cast<size_t>(indent), ' ') + word;
    } else {
      current += (begin == 0 ? "" : " ") + word;
    }
    begin = end + 1;
  }
  return result + current + '\n';
}

}  // namespace hb::layer_diff
