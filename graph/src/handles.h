#pragma once
// Graphs hold what their steps use of the program's: all of them together by one handle to each tensor and storage. So
// a count tells whether anybody else still holds it.

#include <memory>

#include <halfbridge/tensor.h>

namespace hb::graph {

using TensorHandle = std::shared_ptr<const Tensor>;
using StorageHandle = std::shared_ptr<const intrusive_ptr<StorageImpl>>;

TensorHandle handle_of(const Tensor& t);
StorageHandle handle_of(const intrusive_ptr<StorageImpl>& storage);

/// Whether graphs hold it: 1 or 0.
int64_t handles_of(const StorageImpl& storage);

inline bool held_elsewhere(const TensorHandle& h) { return h->use_count() > 1; }
inline bool held_elsewhere(const StorageHandle& h) { return h->use_count() > 1; }

}  // namespace hb::graph
