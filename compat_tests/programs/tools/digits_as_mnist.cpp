// digits_as_mnist digits.csv[.gz] OUT: writes OUT/digits.csv and, from the same digits, files in MNIST's
// format and with its test set's count (10,000, which LibTorch's MNIST dataset insists on): each 8x8 digit
// enlarged to 24x24, put at one of five places in 28x28. So programs can be tested on MNIST's code path where
// MNIST is not at hand.
#include <zlib.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

static std::string read_all(const char* path) {
  gzFile file = gzopen(path, "rb");  // reads plain files too
  if (!file) throw std::runtime_error(std::string("could not open ") + path);
  std::string text;
  char part[1 << 16];
  int n;
  while ((n = gzread(file, part, sizeof part)) > 0) text.append(part, static_cast<size_t>(n));
  gzclose(file);
  if (n < 0) throw std::runtime_error(std::string("could not read ") + path);
  return text;
}

static void big_endian(std::ofstream& file, unsigned value) {
  for (int shift = 24; shift >= 0; shift -= 8) file.put(static_cast<char>(value >> shift & 255));
}

// Linear interpolation of an 8x8 digit to 24x24, grey levels 0 to 16 to 0 to 255.
static unsigned char sample(const std::vector<int>& digit, int y, int x) {
  const float fy = (static_cast<float>(y) + 0.5f) / 3 - 0.5f, fx = (static_cast<float>(x) + 0.5f) / 3 - 0.5f;
  auto at = [&](int r, int c) {
    r = r < 0 ? 0 : r > 7 ? 7 : r;
    c = c < 0 ? 0 : c > 7 ? 7 : c;
    return static_cast<float>(digit[static_cast<size_t>(r * 8 + c)]);
  };
  const int r = static_cast<int>(fy + 1) - 1, c = static_cast<int>(fx + 1) - 1;
  const float dy = fy - static_cast<float>(r), dx = fx - static_cast<float>(c);
  const float value =
      (at(r, c) * (1 - dx) + at(r, c + 1) * dx) * (1 - dy) + (at(r + 1, c) * (1 - dx) + at(r + 1, c + 1) * dx) * dy;
  return static_cast<unsigned char>(value * 255 / 16);
}

int main(int argc, char** argv) try {
  if (argc != 3) throw std::invalid_argument("digits_as_mnist digits.csv[.gz] OUT");
  const std::string text = read_all(argv[1]), out = argv[2];
  std::ofstream(out + "/digits.csv", std::ios::binary) << text;
  std::vector<std::vector<int>> digits;
  std::vector<int> labels;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream row(line);
    std::vector<int> cells;
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(std::stoi(cell));
    if (cells.size() != 65) throw std::runtime_error("expected 65 numbers a line, got " + std::to_string(cells.size()));
    labels.push_back(cells.back());
    digits.push_back(std::move(cells));
  }
  const int kCount = 10000, kSide = 28;
  std::ofstream images(out + "/t10k-images-idx3-ubyte", std::ios::binary);
  std::ofstream targets(out + "/t10k-labels-idx1-ubyte", std::ios::binary);
  for (unsigned value : {2051u, unsigned(kCount), unsigned(kSide), unsigned(kSide)}) big_endian(images, value);
  for (unsigned value : {2049u, unsigned(kCount)}) big_endian(targets, value);
  const int places[5][2] = {{2, 2}, {0, 2}, {4, 2}, {2, 0}, {2, 4}};
  for (int i = 0; i < kCount; ++i) {
    const auto which = static_cast<size_t>(i) % digits.size();
    const int* place = places[static_cast<size_t>(i) / digits.size() % 5];
    std::vector<unsigned char> image(kSide * kSide, 0);
    for (int y = 0; y < 24; ++y) {
      for (int x = 0; x < 24; ++x) {
        image[static_cast<size_t>((y + place[0]) * kSide + x + place[1])] = sample(digits[which], y, x);
      }
    }
    images.write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
    targets.put(static_cast<char>(labels[which]));
  }
  if (!images || !targets) throw std::runtime_error("could not write to " + out);
} catch (const std::exception& error) {
  std::fprintf(stderr, "digits_as_mnist: %s\n", error.what());
  return 1;
}
