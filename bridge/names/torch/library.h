#error "<torch/library.h> is not supported by Halfbridge: it has no operator registry"
