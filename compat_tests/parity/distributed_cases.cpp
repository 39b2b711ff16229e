// c10d as programs use it whose engine is their own: stores, groups, work. Engines of LibTorch's are in unit_tests:
// its wheel lacks their headers.
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <torch/csrc/distributed/c10d/Utils.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <torch/csrc/distributed/c10d/comm.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "parity/case.h"

using torch::Tensor;

namespace {

using Bytes = std::vector<uint8_t>;
using StorePtr = c10::intrusive_ptr<::c10d::Store>;

std::string text(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }
Bytes bytes(const std::string& text) { return {text.begin(), text.end()}; }

void use_store(parity::Case& c, const StorePtr& store) {
  store->set("a", "1");
  store->set("binary", Bytes{0, 255, 10, 0});
  c.text("a", store->get_to_str("a"));
  c.check(store->get("binary") == Bytes{0, 255, 10, 0}, "binary");
  c.value("add", store->add("n", 5));
  c.value("add_again", store->add("n", -7));
  c.text("n", store->get_to_str("n"));
  c.value("check", store->check({"a", "n"}));
  c.value("check_missing", store->check({"a", "missing"}));
  c.text("compare_other", store->compareSet("a", "2", "3"));
  c.text("compare_same", store->compareSet("a", "1", "3"));
  c.text("compare_new", store->compareSet("new", "", "first"));
  c.value("deleted", store->deleteKey("new"));
  c.value("extended", store->hasExtendedApi());
  if (store->hasExtendedApi()) {  // LibTorch's FileStore, which has it not, says true of what is already gone
    c.value("deleted_again", store->deleteKey("new"));
    store->append("log", bytes("x"));
    store->append("log", bytes("y"));
    store->multiSet({"m1", "m2"}, {bytes("one"), bytes("two")});
    std::string all = store->get_to_str("log");
    for (const Bytes& value : store->multiGet({"m2", "m1"})) all += " " + text(value);
    c.text("many", all);
  }
  store->wait({"a", "n"});
  c.throws("wait", [&] { store->wait({"missing"}, std::chrono::milliseconds(20)); });
  const auto before = store->getTimeout();
  store->setTimeout(std::chrono::milliseconds(20));
  c.throws("get", [&] { store->get("missing"); });
  store->setTimeout(before);
  // Another handle of the same keys brings one that is waited for.
  const StorePtr other = store->clone();
  std::thread setter([&] { other->set("late", "here"); });
  c.text("late", store->get_to_str("late"));
  setter.join();
}

std::string temporary(const std::string& name) {
  return "/tmp/c10d_" + name + "_" + std::to_string(static_cast<long>(::getpid()));
}

/// What a program's own backend gives: it is complete at once.
class Done : public ::c10d::Work {
 public:
  Done(::c10d::OpType type, std::vector<Tensor> tensors, std::exception_ptr error = nullptr)
      : Work(0, type), tensors_(std::move(tensors)) {
    finish(std::move(error));
  }
  std::vector<Tensor> result() override { return tensors_; }

 private:
  std::vector<Tensor> tensors_;
};

/// Pretends that all of `size` ranks have the tensors of this one.
class Alone : public ::c10d::Backend {
 public:
  Alone(int rank, int size) : Backend(rank, size) {}
  const std::string getBackendName() const override { return "alone"; }
  c10::intrusive_ptr<::c10d::Work> allreduce(std::vector<Tensor>& tensors,
                                             const ::c10d::AllreduceOptions& opts) override {
    if (opts.reduceOp == ::c10d::ReduceOp::SUM)
      for (auto& t : tensors) t.mul_(getSize());
    return c10::make_intrusive<Done>(::c10d::OpType::ALLREDUCE, tensors);
  }
  c10::intrusive_ptr<::c10d::Work> broadcast(std::vector<Tensor>& tensors,
                                             const ::c10d::BroadcastOptions& opts) override {
    root = opts.rootRank;
    return c10::make_intrusive<Done>(::c10d::OpType::BROADCAST, tensors);
  }
  c10::intrusive_ptr<::c10d::Work> allgather(std::vector<std::vector<Tensor>>& outputs, std::vector<Tensor>& inputs,
                                             const ::c10d::AllgatherOptions&) override {
    for (auto& out : outputs[0]) out.copy_(inputs[0]);
    return c10::make_intrusive<Done>(::c10d::OpType::ALLGATHER, outputs[0]);
  }
  c10::intrusive_ptr<::c10d::Work> barrier(const ::c10d::BarrierOptions&) override {
    return c10::make_intrusive<Done>(::c10d::OpType::BARRIER, std::vector<Tensor>{});
  }
  int64_t root = -1;
};

c10::intrusive_ptr<::c10d::ProcessGroup> group_with(const c10::intrusive_ptr<Alone>& backend, torch::Device device) {
  auto store = c10::make_intrusive<::c10d::HashStore>();
  auto group = c10::make_intrusive<::c10d::ProcessGroup>(store, backend->getRank(), backend->getSize());
  group->setBackend(device.type(), ::c10d::ProcessGroup::BackendType::CUSTOM, backend);
  group->setDefaultBackend(::c10d::ProcessGroup::BackendType::CUSTOM);
  return group;
}

}  // namespace

PARITY_CASE(distributed, stores) {
  c.scope("hash", [&] { use_store(c, c10::make_intrusive<::c10d::HashStore>()); });
  const std::string path = temporary("store");
  c.scope("file", [&] { use_store(c, c10::make_intrusive<::c10d::FileStore>(path, 1)); });
  std::remove(path.c_str());
  ::c10d::TCPStoreOptions options;
  options.port = 0;
  options.isServer = true;
  options.waitWorkers = false;
  auto server = c10::make_intrusive<::c10d::TCPStore>("localhost", options);
  c.scope("tcp", [&] { use_store(c, server); });
  c.check(server->getPort() > 0, "port");
  ::c10d::TCPStoreOptions client;
  client.port = server->getPort();
  auto second = c10::make_intrusive<::c10d::TCPStore>("localhost", client);
  c.text("second", second->get_to_str("a"));
  c.scope("prefix", [&] { use_store(c, c10::make_intrusive<::c10d::PrefixStore>("group", second)); });
  c.text("under_the_prefix", server->get_to_str("group/a"));
  auto nested =
      c10::make_intrusive<::c10d::PrefixStore>("outer", c10::make_intrusive<::c10d::PrefixStore>("inner", second));
  nested->set("k", "v");
  c.text("nested", server->get_to_str("inner/outer/k"));
  c.check(nested->getUnderlyingNonPrefixStore().get() == static_cast<::c10d::Store*>(second.get()), "underlying");
}

PARITY_CASE(distributed, a_backend_of_the_programs) {
  auto backend = c10::make_intrusive<Alone>(1, 3);
  std::vector<Tensor> tensors{c.randn({2, 3})};
  auto group = group_with(backend, tensors[0].device());
  c.value("rank", group->getRank());
  c.value("size", group->getSize());
  c.text("name", group->getBackend(tensors[0].device().type())->getBackendName());
  auto work = group->allreduce(tensors);
  c.value("wait", work->wait());
  c.value("complete", work->isCompleted() && work->isSuccess());
  c.out("sum", tensors[0]);
  c.out("result", work->result()[0]);
  ::c10d::AllreduceOptions most;
  most.reduceOp = ::c10d::ReduceOp::MAX;
  group->allreduce(tensors, most)->wait();
  c.out("max", tensors[0]);
  ::c10d::BroadcastOptions from;
  from.rootRank = 2;
  group->broadcast(tensors, from)->wait();
  c.value("root", backend->root);
  std::vector<Tensor> input{c.randn({2})};
  std::vector<std::vector<Tensor>> outputs{
      {torch::zeros_like(input[0]), torch::zeros_like(input[0]), torch::zeros_like(input[0])}};
  group->allgather(outputs, input)->wait();
  c.out("gathered", torch::stack(outputs[0]));
  c.throws("a collective that it lacks", [&] { group->reduce(input)->wait(); });
  c.throws("a device that it lacks", [&] { group->getBackend(c10::DeviceType::XLA); });
}

PARITY_CASE(distributed, groups_by_name) {
  auto backend = c10::make_intrusive<Alone>(0, 2);
  auto group = group_with(backend, torch::kCPU);
  ::c10d::register_process_group("all", group);
  c.check(::c10d::resolve_process_group("all").get() == group.get(), "found");
  c.throws("twice", [&] { ::c10d::register_process_group("all", group); });
  ::c10d::unregister_process_group("all");
  c.throws("gone", [&] { ::c10d::resolve_process_group("all"); });
  ::c10d::unregister_all_process_groups();
}

PARITY_CASE(distributed, work) {
  auto error = std::make_exception_ptr(std::runtime_error("it broke"));
  auto work = c10::make_intrusive<Done>(::c10d::OpType::SEND, std::vector<Tensor>{}, error);
  c.value("success", work->isSuccess());
  c.value("completed", work->isCompleted());
  c.value("has_exception", work->exception() != nullptr);
  c.throws("wait", [&] { work->wait(); });
  c.throws("source", [&] { work->sourceRank(); });
  c.value("type", static_cast<int64_t>(work->retrieveOpType()));
  auto future = c10::make_intrusive<c10::ivalue::Future>(c10::TensorType::get());
  auto of_future = ::c10d::Work::create_from_future(future);
  c.value("pending", of_future->isCompleted());
  future->markCompleted(c10::IValue(torch::ones({2})));
  c.value("waited", of_future->wait());
  c.out("value", future->value().toTensor());
}

PARITY_CASE(distributed, names_and_operations) {
  using ::c10d::OpType;
  for (auto type : {OpType::BROADCAST, OpType::ALLREDUCE, OpType::_ALLGATHER_BASE, OpType::RECVANYSOURCE,
                    OpType::_REDUCE_SCATTER_BASE, OpType::COALESCED})
    c.text("op" + std::to_string(static_cast<int>(type)), ::c10d::opTypeToString(type));
  c.value("p2p", ::c10d::isP2POp(OpType::SEND) && !::c10d::isP2POp(OpType::BARRIER));
  using Group = ::c10d::ProcessGroup;
  for (auto type : {Group::UNDEFINED, Group::GLOO, Group::NCCL, Group::MPI, Group::CUSTOM})
    c.text("type" + std::to_string(static_cast<int>(type)), Group::backendTypeToString(type));
  for (const char* name : {"undefined", "gloo", "nccl", "mpi", "ucc", "own"})
    c.value(name, static_cast<int64_t>(Group::strToBackendType(name)));
  ::c10d::ReduceOp op(::c10d::ReduceOp::AVG);
  c.value("avg", op == ::c10d::ReduceOp::AVG && op != ::c10d::ReduceOp(::c10d::ReduceOp::SUM));
  c.throws("premul", [] { ::c10d::ReduceOp{::c10d::ReduceOp::PREMUL_SUM}; });
  auto scaled = ::c10d::makeNCCLPreMulSum(0.5);
  c.value("premul_sum", scaled == ::c10d::ReduceOp::PREMUL_SUM);
  c.value("default", static_cast<int64_t>(::c10d::AllreduceOptions().reduceOp.op_));
}

PARITY_CASE(distributed, helpers_of_backends) {
  std::vector<Tensor> list{c.randn({2, 3}), c.randn({2, 3})};
  c.out("flat", ::c10d::flattenDenseTensors(list));
  c.value("room", ::c10d::newLikeFlat(list).numel());
  std::vector<std::vector<Tensor>> lists{list};
  c.value("room_of_lists", ::c10d::newLikeFlat(lists, 0).size(0));
  const Tensor on_host = torch::ones({1}, torch::TensorOptions(torch::kCPU));
  c.value("devices", ::c10d::getDevices({on_host, on_host})[1]);
  c.value("sizes", ::c10d::getSizes(list)[1][1]);
  std::vector<int64_t> lengths(3), offsets(3);
  c.value("length",
          static_cast<int64_t>(::c10d::computeLengthsAndOffsets({1, 2, 3}, c.randn({6, 4}), &lengths, &offsets)));
  c.out("lengths", torch::tensor(lengths));
  c.out("offsets", torch::tensor(offsets));
  ::c10d::checkSplitSizes({1, 1}, list[0], 2);
  c.throws("splits", [&] { ::c10d::checkSplitSizes({1, 2}, list[0], 2); });
  c.throws("equal_splits", [&] { ::c10d::checkSplitSizes({}, list[0], 3); });
  ::c10d::assertSameSizeAndType(list);
  c.throws("types", [&] { ::c10d::assertSameSizeAndType({list[0], list[1].to(torch::kDouble)}); });
  c.throws("nothing", [&] { ::c10d::assertSameSizeAndType({}); });
  const auto fail = [](const std::string& what) { throw std::invalid_argument("mine: " + what); };
  ::c10d::assertNonEmpty(fail, list);
  ::c10d::assertDense(fail, list);
  if (list[0].device().is_cpu()) ::c10d::assertCPU(fail, list);
  ::c10d::assertTypeAndSizesMatch(fail, list);
  const auto said = [&](const char* name, const std::function<void()>& f) {
    try {
      f();
      c.text(name, "nothing");
    } catch (const std::invalid_argument& e) {
      c.text(name, e.what());
    }
  };
  said("empty", [&] { ::c10d::assertNonEmpty(fail, {}); });
  said("single", [&] { ::c10d::assertSingleElementInput(fail, list); });
  said("root", [&] { ::c10d::assertRootRank(fail, 3, 3); });
  said("no_root", [&] { ::c10d::assertRootRank(fail, 2, 3); });
  int start = 0, stride = 0;
  ::c10d::getGlobalRankStartAndStride({2, 4, 6}, start, stride);
  c.value("start", start);
  c.value("stride", stride);
  ::c10d::getGlobalRankStartAndStride({2, 4, 7}, start, stride);
  c.value("uneven", stride);
}
