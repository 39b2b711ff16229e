#include "recorder.h"

#include <halfbridge/ops.h>
#include <halfbridge/version.h>

#include "backend/captured.h"
#include "own_work.h"
#include "plain_bytes.h"

namespace hb::trace {

namespace {
constexpr const char* kProducer = "halfbridge " HALFBRIDGE_VERSION;
// Memory that is kept beyond the last tensors: more lets more tensors be written once, and less be freed.
constexpr size_t kKeptBytes = size_t{32} << 20, kAlwaysKept = 2, kMostKept = 64;

std::unique_ptr<Writer> open(const std::string& folder, const Options& options) {
  if (folder.empty()) return nullptr;
  try {
    return std::make_unique<Writer>(folder, kProducer, options);
  } catch (const std::exception& e) {
    throw Error(e.what());
  }
}
}  // namespace

Dtype dtype_of(ScalarType dtype) {
  switch (dtype) {
    case kDouble:
      return Dtype::F64;
    case kFloat:
      return Dtype::F32;
    case kHalf:
      return Dtype::F16;
    case kBFloat16:
      return Dtype::BF16;
    case kLong:
      return Dtype::I64;
    case kInt:
      return Dtype::I32;
    case kShort:
      return Dtype::I16;
    case kChar:
      return Dtype::I8;
    case kByte:
      return Dtype::U8;
    case kBool:
      return Dtype::BOOL;
    default:
      hb::detail::fail<TypeError>("[trace] expected a dtype that tensors have, got ", dtype);
  }
}

Recorder::Recorder(const std::string& folder, const Options& options)
    : options_(options), writer_(open(folder, options)) {}

bool Recorder::Kept::holds(const Tensor& t) const {
  const TensorImpl& i = t.impl();
  if (i.physical_storage().get() != storage.get() || i.physical_offset() != offset || i.dtype() != dtype ||
      i.numel() != numel || i.version() != version)
    return false;
  // Versions of tensors that do not share a counter say nothing of each other.
  if (&i != impl && (!counter || const_cast<TensorImpl&>(i).shared_version().get() != counter)) return false;
  return (i.sizes() == sizes && i.physical_strides() == strides) || (contiguous && i.physically_contiguous());
}

Recorder::Kept* Recorder::find(const Tensor& t) {
  for (auto it = kept_.rbegin(); it != kept_.rend(); ++it)
    if (it->holds(t)) return &*it;
  return nullptr;
}

Recorder::Kept& Recorder::keep(const Tensor& t) {
  TensorImpl& i = t.impl();
  const VersionCounter* counter = i.shared_version().get();
  kept_.push_back({i.physical_storage(),
                   &i,
                   counter,
                   i.version(),
                   i.physical_offset(),
                   i.numel(),
                   i.sizes(),
                   i.physical_strides(),
                   i.dtype(),
                   i.physically_contiguous(),
                   {}});
  kept_bytes_ += kept_.back().storage->nbytes();
  while (kept_.size() > kAlwaysKept && (kept_bytes_ > kKeptBytes || kept_.size() > kMostKept)) {
    kept_bytes_ -= kept_.front().storage->nbytes();
    kept_.pop_front();
  }
  return kept_.back();
}

namespace {
/// What a trace can hold: sparse tensors as strided ones, complex numbers as a last dimension of 2, wide unsigned
/// integers as int64.
Tensor recordable(const Tensor& t) {
  if (t.layout() != kStrided) return recordable(t.detach().to_dense());
  if (t.is_complex()) return view_as_real(t.detach());
  return is_wide_unsigned_type(t.scalar_type()) ? t.to(kLong) : t;
}
}  // namespace

void Recorder::write(Record record, const Tensor& tensor, const Remake& again) {
  if (!tensor.defined()) return;
  const OwnWork own;
  const Tensor t = recordable(tensor);
  if (watch) watch(record, t, again);
  const capture::Inside inside;  // what follows is no part of a step that is recorded
  const std::lock_guard lock(mutex_);
  record.dtype = dtype_of(t.scalar_type());
  record.shape = t.sizes().vec();
  Kept* same = options_.stats ? nullptr : find(t);
  if (same && !same->name.empty()) {
    writer_->write_same(record, same->name);
    return;
  }
  const std::string name = with_plain_bytes(t, [&](const void* data) { return writer_->write(record, data); });
  (same ? *same : keep(t)).name = name;
}

void Recorder::remember(const Tensor& t) {
  if (!t.defined() || t.numel() == 0) return;
  const std::lock_guard lock(mutex_);
  Kept* same = find(t);
  (same ? *same : keep(t)).returned = true;
}

bool Recorder::remembers(const Tensor& t) {
  if (!t.defined()) return false;
  const std::lock_guard lock(mutex_);
  for (const Kept& k : kept_)
    if (k.returned && k.storage.get() == t.impl().physical_storage().get()) return true;
  return false;
}

void Recorder::forget() {
  const std::lock_guard lock(mutex_);
  kept_.clear();
  kept_bytes_ = 0;
}

void Recorder::close(const std::string& end) {
  forget();
  if (writer_) writer_->close(end);
}

}  // namespace hb::trace
