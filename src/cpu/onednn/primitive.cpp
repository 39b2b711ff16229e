#include "cpu/onednn/primitive.h"

#include <sys/mman.h>

#include <list>
#include <memory>
#include <unordered_map>

#include "backend/kernel.h"
#include "core/allocator.h"
#include "core/thread_object.h"
#include "cpu/amx/amx.h"

namespace hb::cpu {

namespace {
// oneDNN writes its descriptions and code where its own allocator says, also where that found nothing, and the process
// would end: memory that is about to run out is an error before.
void expect_memory() {
  constexpr size_t kMost = size_t{8} << 20;  // more than what a primitive of each thread takes
  void* room = mmap(nullptr, kMost, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) detail::fail_out_of_memory(kMost);
  munmap(room, kMost);
}
}  // namespace

// The engine outlives everything that static destructors may still run.
const dnnl::engine& onednn_engine() {
  static const auto* engine = [] {
    // Before oneDNN looks at the CPU.
    if (isa_level() < 4) {
      dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2_vnni);
    } else if (!has_bf16_tiles()) {
      dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16);
    }
    return new dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return *engine;
}

dnnl::stream& onednn_stream() {
  struct Stream {
    dnnl::stream stream{onednn_engine()};
  };
  return detail::thread_object<Stream>().stream;
}

dnnl::memory::data_type onednn_type(ScalarType t) {
  return t == kBFloat16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

void Prepared::bind(int arg, const dnnl::memory::desc& desc) {
  args.push_back(arg);
  memories.emplace_back(desc, onednn_engine(), nullptr);
}

void Prepared::finish(const dnnl::memory::desc& scratchpad) {
  scratch_bytes = scratchpad.get_size();
  if (scratch_bytes) bind(DNNL_ARG_SCRATCHPAD, scratchpad);
  for (size_t i = 0; i < args.size(); ++i) exec.push_back({args[i], memories[i].get()});
}

void Prepared::run(const char* what, std::initializer_list<const void*> addresses) {
  size_t i = 0;
  for (const void* p : addresses) dnnl_memory_set_data_handle(memories[i++].get(), const_cast<void*>(p));
  if (scratch_bytes) {
    dnnl_memory_set_data_handle(memories[i++].get(), scratch_buffer(Scratch::primitive, scratch_bytes));
  }
  if (!has_run) expect_memory();
  const auto status =
      dnnl_primitive_execute(primitive.get(), onednn_stream().get(), static_cast<int>(exec.size()), exec.data());
  HB_CHECK(status == dnnl_success, "[", what, "] oneDNN failed with status ", static_cast<int>(status));
  has_run = true;
}

namespace {
// Per thread, so that a hit takes no lock and the memory objects have one user. oneDNN keeps compiled code itself,
// across threads.
class Cache {
 public:
  Prepared& get(const PrimitiveKey& key, Prepared (*make)(const void*), const void* context) {
    if (auto it = index_.find(key); it != index_.end()) {
      if (it->second != order_.begin()) order_.splice(order_.begin(), order_, it->second);
      return it->second->second;
    }
    expect_memory();
    order_.emplace_front(key, make(context));
    index_.emplace(key, order_.begin());
    if (order_.size() > kCapacity) {
      index_.erase(order_.back().first);
      order_.pop_back();
    }
    return order_.front().second;
  }

 private:
  static constexpr size_t kCapacity = 512;
  std::list<std::pair<PrimitiveKey, Prepared>> order_;  // most recent first
  std::unordered_map<PrimitiveKey, std::list<std::pair<PrimitiveKey, Prepared>>::iterator, PrimitiveKeyHash> index_;
};
}  // namespace

Prepared& prepared(const PrimitiveKey& key, Prepared (*make)(const void*), const void* context) {
  return detail::thread_object<Cache>().get(key, make, context);
}

}  // namespace hb::cpu
