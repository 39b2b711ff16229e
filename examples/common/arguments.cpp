// The command line of the mixed-precision examples.
#include <charconv>
#include <cstdlib>
#include <stdexcept>

#include "example.h"

namespace example {
namespace {

constexpr char kUsage[] = R"(Options:
  --data DIR   MNIST's IDX files, plain or gzipped: the 60,000 images for training and the 10,000 for testing; where
               only the latter are there, five sixths of them are trained on. Without it the 1,797 digits that come
               with Halfbridge, enlarged to 28x28
  --epochs N   passes over the data (3)
  --steps N    so many steps of each epoch, and 100 images for testing
  --device D   where it computes: cpu, cuda, cuda:1 (cpu)
  --help       this text
)";

constexpr char kStemUsage[] = R"(Options of a ResNet:
  --stem imagenet|cifar   for images of 224x224, or 32x32; the digits are enlarged to it (imagenet)
  --width N               channels of its first stage (64)
)";

int64_t positive(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1)
    throw std::invalid_argument("expected a number of at least 1, got '" + text + "'");
  return number;
}

bool is_cifar(const std::string& stem) {
  if (stem != "cifar" && stem != "imagenet")
    throw std::invalid_argument("expected imagenet or cifar, got '" + stem + "'");
  return stem == "cifar";
}

void set(Arguments& args, const std::string& key, const std::string& value, bool has_stem) {
  if (key == "--data") {
    args.data = value;
  } else if (key == "--epochs") {
    args.epochs = positive(value);
  } else if (key == "--steps") {
    args.steps = positive(value);
  } else if (key == "--device") {
    args.device = torch::Device(value);
  } else if (has_stem && key == "--stem") {
    args.cifar = is_cifar(value);
  } else if (has_stem && key == "--width") {
    args.width = positive(value);
  } else {
    throw std::invalid_argument("unknown option; --help lists them");
  }
}

}  // namespace

Arguments parse(int argc, char** argv, bool has_stem) {
  Arguments args;
  for (int i = 1; i < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--help" || key == "-h") {
      std::printf("usage: %s [options]\n%s%s", argv[0], kUsage, has_stem ? kStemUsage : "");
      std::exit(0);
    }
    try {
      if (i + 1 == argc) throw std::invalid_argument("a value is missing, or the option is unknown; --help lists them");
      set(args, key, argv[i + 1], has_stem);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", key.c_str(), error.what());
      std::exit(2);
    }
  }
  torch::manual_seed(1);
  return args;
}

}  // namespace example
