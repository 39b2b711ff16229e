#include "cuda/memory_blocks.h"

namespace hb::cuda {

bool Pool::BySize::operator()(const Block* a, const Block* b) const {
  if (a->stream != b->stream) return std::less<>()(a->stream, b->stream);
  if (a->bytes != b->bytes) return a->bytes < b->bytes;
  return std::less<>()(a->memory, b->memory);
}

void Block::split(size_t size) {
  auto* rest = new Block(memory + size, bytes - size, stream, small, pool);
  rest->before = this, rest->after = after;
  if (rest->after) rest->after->before = rest;
  after = rest, bytes = size;
  pool->free_like(*rest).insert(rest);
}

Block* Pool::take(size_t size, cudaStream_t stream, bool small) {
  Block wanted(nullptr, size, stream, small, this);
  Free& kept = free_like(wanted);
  const auto found = kept.lower_bound(&wanted);
  if (found == kept.end() || (*found)->stream != stream) return nullptr;
  Block* const block = *found;
  kept.erase(found);
  return block;
}

void Pool::keep(Block* block) {
  Free& kept = free_like(*block);
  for (Block* other : {block->before, block->after}) {
    if (!other || other->used || other->waits || kept.erase(other) == 0) continue;
    Block *first = other == block->before ? other : block, *second = first == other ? block : other;
    first->bytes += second->bytes;
    first->after = second->after;
    if (first->after) first->after->before = first;
    delete second;
    block = first;
  }
  kept.insert(block);
}

void Pool::drop_segments(const std::function<void(const Block&)>& drop) {
  for (Free& kept : free_) {
    for (auto at = kept.begin(); at != kept.end();) {
      Block* const block = *at;
      if (block->before || block->after) {
        ++at;
        continue;
      }
      at = kept.erase(at);
      drop(*block);
      delete block;
    }
  }
}

}  // namespace hb::cuda
