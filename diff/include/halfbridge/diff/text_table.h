// Tables of text as wide as a terminal.
#pragma once

#include <string>
#include <vector>

#include <halfbridge/diff/output.h>

namespace hb::layer_diff {

enum class Ink { plain, pass, fail, strong_fail, faint, heading };
/// The text in a colour, where there are colours.
std::string paint(const std::string& text, Ink ink, const TextOptions& options);

struct Column {
  std::string title;
  bool right = false;
  int importance = 0;      // columns of the least are left out first where the table is too wide; 0 stays
  int least = 0;           // places to which it may shrink; 0: it does not
  std::string group = {};  // printed above columns that share it
};

struct Row {
  std::vector<std::string> cells;
  Ink ink = Ink::plain;
  std::string mark;  // behind the row
};

/// One line per row; a cell that is too long for a column that shrinks is cut in its middle.
std::string table(std::vector<Column> columns, std::vector<Row> rows, const TextOptions& options);

/// Places that a text takes in a terminal, one per code point.
int text_width(const std::string& text);
/// At most `width` places, the middle left out.
std::string shortened(const std::string& text, int width, bool unicode);
/// Lines of at most options.width, the second and later ones behind `indent` spaces.
std::string wrapped(const std::string& text, int indent, const TextOptions& options);

}  // namespace hb::layer_diff
