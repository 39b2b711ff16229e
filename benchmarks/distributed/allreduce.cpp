// Sums of two ranks, one thread each: a group of ProcessGroupGloo (over TCP, through shared memory, and of tensors that
// lie in it, as DistributedDataParallel's buckets do) beside Gloo's own allreduce over loopback, in turn in one run.
// Each rank writes its values before each sum, as a backward pass does. Prints medians and the ratios to Gloo.
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>

namespace {

constexpr int kRanks = 2;

double best(const std::vector<double>& times) { return *std::min_element(times.begin(), times.end()); }

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

c10::intrusive_ptr<c10d::ProcessGroupGloo> group_over(const char* transport, const std::string& path, int rank) {
  setenv("HALFBRIDGE_GLOO_TRANSPORT", transport, 1);
  const auto store = c10::make_intrusive<c10d::FileStore>(path + transport, kRanks);
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, kRanks);
}

struct Gloo {
  std::shared_ptr<gloo::rendezvous::Context> context;
  uint32_t tag = 0;

  Gloo(const std::string& path, int rank) : context(std::make_shared<gloo::rendezvous::Context>(rank, kRanks)) {
    std::filesystem::create_directories(path);
    gloo::rendezvous::FileStore store(path);
    auto device = gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr("127.0.0.1"));
    context->connectFullMesh(store, device);
  }
  void allreduce(torch::Tensor& tensor) {
    gloo::AllreduceOptions options(context);
    options.setOutput(tensor.data_ptr<float>(), tensor.numel());
    options.setReduceFunction(static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::sum<float>));
    options.setTag(tag++);
    gloo::allreduce(options);
  }
};

void run_rank(int rank, const std::string& path) {
  torch::set_num_threads(1);
  const auto memory = group_over("auto", path, rank), tcp = group_over("tcp", path, rank);
  Gloo gloo(path + "gloo", rank);
  if (rank == 0)
    std::printf("%10s %14s %14s %14s %14s   %s\n", "bytes", "Gloo", "ours, TCP", memory->transport().c_str(),
                "tensors in it", "Gloo / it: median (least), through it: median (least)");
  c10d::BarrierOptions together;
  together.asyncOp = false;
  for (const int64_t bytes : {64 << 10, 1 << 20, 32 << 20}) {
    std::vector<torch::Tensor> tensor{torch::zeros({bytes / 4})};
    std::vector<torch::Tensor> shared{memory->allocateTensor(bytes / 4, tensor[0].options())};
    c10d::AllreduceOptions options;
    options.asyncOp = false;
    const std::function<void()> ways[] = {
        [&] { gloo.allreduce(tensor[0]); }, [&] { tcp->allreduce(tensor, options)->wait(); },
        [&] { memory->allreduce(tensor, options)->wait(); }, [&] { memory->allreduce(shared, options)->wait(); }};
    std::vector<double> times[4];
    const int rounds = bytes > (4 << 20) ? 20 : 200;
    for (int i = 0; i < rounds + 5; ++i)
      for (int way = 0; way < 4; ++way) {
        (way == 3 ? shared : tensor)[0].fill_(rank + 1);
        memory->barrier(together);
        const auto begin = std::chrono::steady_clock::now();
        ways[way]();
        const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
        if (i >= 5) times[way].push_back(time.count());
      }
    if (rank == 0)
      std::printf("%10ld %11.1f us %11.1f us %11.1f us %11.1f us   %.1fx (%.1fx), %.1fx (%.1fx)\n", bytes,
                  median(times[0]), median(times[1]), median(times[2]), median(times[3]),
                  median(times[0]) / median(times[3]), best(times[0]) / best(times[3]),
                  median(times[0]) / median(times[2]), best(times[0]) / best(times[2]));
  }
  memory->barrier()->wait();
}

}  // namespace

int main() {
  const std::string path = std::filesystem::temp_directory_path() / ("hb_bench_" + std::to_string(getpid()) + "_");
  for (int rank = 1; rank < kRanks; ++rank)
    if (fork() == 0) {
      run_rank(rank, path);
      std::_Exit(0);
    }
  run_rank(0, path);
  int status = 0;
  while (wait(&status) > 0) {
  }
  std::filesystem::remove_all(path + "gloo");
  return 0;
}
