#error "<torch/custom_class.h> is not supported by Halfbridge: it has no operator registry"
