// Values as single pickles, without an archive around them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include <halfbridge/ivalue.h>

namespace hb::io {

/// The pickle of a value, as torch::jit::pickle writes it. With a table, its tensors are appended to that and the
/// pickle holds their places there. Without, it says of what storages they are made and holds no values: nothing reads
/// it back.
HB_API std::vector<char> pickle(const IValue& value, std::vector<Tensor>* tensor_table = nullptr);

/// Reads such a pickle; bytes behind its end are left alone. Known classes only; nothing in it is run. Throws hb::Error
/// with the byte where something is malformed, where a place is not in the table, or for a tensor without a table.
HB_API IValue unpickle(std::string_view data, std::optional<TensorList> tensor_table = std::nullopt);

/// The same from a function that fills a buffer and gives the number of bytes that it wrote there, 0 at the end. It may
/// be called for more than the pickle has.
HB_API IValue unpickle(const std::function<size_t(char*, size_t)>& reader,
                       std::optional<TensorList> tensor_table = std::nullopt);

}  // namespace hb::io
