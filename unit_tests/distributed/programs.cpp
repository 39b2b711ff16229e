// Programs written for LibTorch's c10d, on two ranks: they learn what one process learns of the whole batch.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(("{ " + command + "; } 2>&1").c_str(), "r");
  std::array<char, 4096> buffer;
  while (const size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), n);
  pclose(pipe);
  return text;
}

struct Learned {
  double loss = 0, weights = 0;
};

Learned parse(const std::string& text) {
  Learned learned;
  const size_t at = text.find("loss ");
  EXPECT_NE(at, std::string::npos) << text;
  if (at != std::string::npos) {
    EXPECT_EQ(std::sscanf(text.c_str() + at, "loss %lf weights %lf", &learned.loss, &learned.weights), 2) << text;
  }
  return learned;
}

std::string ranks(int size, int port) {
  std::string command;
  for (int rank = size - 1; rank >= 0; --rank)
    command += std::string("timeout 60 ") + HALFBRIDGE_TRAIN_PROGRAM + " gloo 127.0.0.1 " + std::to_string(port) + " " +
               std::to_string(rank) + " " + std::to_string(size) + (rank ? " & " : "; wait");
  return command;
}

int some_port() { return 20000 + static_cast<int>(getpid() % 10000); }

void expect_alike(const Learned& got, const Learned& want) {
  EXPECT_NEAR(got.loss, want.loss, 1e-6 * want.loss);
  EXPECT_NEAR(got.weights, want.weights, 1e-6 * want.weights);
}

TEST(DistributedPrograms, GradientsSummedByHand) {
  const Learned one = parse(output_of(ranks(1, some_port())));
  EXPECT_GT(one.loss, 0.5);
  for (int size : {2, 4}) expect_alike(parse(output_of(ranks(size, some_port() + size))), one);
  const std::string tcp = output_of("export HALFBRIDGE_GLOO_TRANSPORT=tcp; " + ranks(2, some_port() + 10));
  if (tcp.find("libgloo-dev") == std::string::npos) expect_alike(parse(tcp), one);
  if (std::system("command -v mpirun.openmpi > /dev/null") != 0) return;
  const std::string mpi =
      output_of(std::string("timeout 60 mpirun.openmpi --oversubscribe --bind-to none ") +
                (geteuid() == 0 ? "--allow-run-as-root " : "") + "-n 2 " + HALFBRIDGE_TRAIN_PROGRAM + " mpi");
  if (mpi.find("libopenmpi-dev") == std::string::npos) expect_alike(parse(mpi), one);
}

/// A library without its engines beside it.
TEST(DistributedPrograms, AMissingEngineIsNamed) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("hb_bare_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::filesystem::create_symlink(HALFBRIDGE_LIBRARY, folder / "libhalfbridge.so.0");
  const std::string front = "export LD_LIBRARY_PATH=" + folder.string() + "; export HALFBRIDGE_GLOO_TRANSPORT=tcp; ";
  const std::string gloo = output_of(front + ranks(1, some_port() + 20));
  EXPECT_NE(gloo.find("expected Gloo, which is not installed"), std::string::npos) << gloo;
  EXPECT_NE(gloo.find("libgloo-dev"), std::string::npos) << gloo;
  const std::string mpi = output_of(front + HALFBRIDGE_TRAIN_PROGRAM + " mpi");
  EXPECT_NE(mpi.find("libopenmpi-dev"), std::string::npos) << mpi;
  std::filesystem::remove_all(folder);
}

}  // namespace
