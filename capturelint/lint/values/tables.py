"""What torch's attributes, methods and functions give back, as data."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Attributes of a tensor that cost no read of its values.
SHAPE_ATTRIBUTES = _words("shape")
HOST_ATTRIBUTES = _words(
    "dtype layout requires_grad is_leaf ndim itemsize nbytes is_cuda is_cpu is_sparse is_quantized "
    "is_meta is_nested is_mps is_xpu is_npu is_hpu grad_fn names _version output_nr name is_mkldnn"
)
TENSOR_ATTRIBUTES = _words("T mT H mH real imag data grad")

# Methods of a tensor that return Python values without reading the device.
SHAPE_METHODS = _words(
    "size dim numel nelement stride element_size storage_offset ndimension get_device data_ptr "
    "dense_dim sparse_dim __len__ const_data_ptr"
)
HOST_METHODS = _words(
    "is_contiguous is_floating_point is_complex is_signed is_pinned is_set_to is_inference "
    "is_shared has_names type_ untyped_storage storage _typed_storage register_hook "
    "register_post_accumulate_grad_hook backward retain_grad is_same_size record_stream"
)
# Methods whose value the host reads, so that the result is a Python value.
READ_METHODS = _words("item tolist numpy is_nonzero equal allclose __bool__ __int__ __float__")

BOOL_METHODS = _words(
    "any all eq ne lt le gt ge isnan isinf isfinite isposinf isneginf isreal logical_and logical_or "
    "logical_not logical_xor isclose isin bool greater greater_equal less less_equal not_equal "
    "signbit"
)
INT_METHODS = _words(
    "argmax argmin argsort long int short count_nonzero nonzero argwhere bincount searchsorted "
    "bucketize multinomial char randperm nonzero_static"
)
FLOAT_METHODS = _words(
    "float half double bfloat16 softmax log_softmax sigmoid tanh exp log sqrt rsqrt mean var std "
    "norm sin cos logsumexp sinc erf reciprocal true_divide"
)
# Reductions: rank 0 when called with neither a dimension nor a second tensor.
REDUCTIONS = _words(
    "sum mean max min any all prod amax amin argmax argmin norm std var median nanmean nansum "
    "logsumexp count_nonzero dist nanmedian quantile nanquantile aminmax"
)
# With a dimension these return a pair (values, indices).
PAIR_METHODS = _words("max min median mode kthvalue nanmedian cummax cummin")
ALWAYS_PAIRS = _words("topk sort mode kthvalue cummax cummin aminmax var_mean std_mean")
LIST_METHODS = _words(
    "split chunk unbind tensor_split split_with_sizes unsafe_split unsafe_chunk hsplit vsplit "
    "dsplit meshgrid broadcast_tensors"
)
SAME_RANK = _words(
    "clone detach contiguous abs neg relu clamp float half double bfloat16 long int short bool to "
    "cumsum flip roll masked_fill exp log sqrt softmax log_softmax sigmoid tanh where fill_ add sub "
    "mul div add_ sub_ mul_ div_ clamp_ clip clamp_min clamp_max zero_ copy_ type type_as isnan "
    "isinf isfinite eq ne lt le gt ge logical_not requires_grad_ cuda cpu round floor ceil sign "
    "masked_fill_ sort argsort bitwise_not square pow rsqrt remainder nan_to_num triu tril "
    "scatter scatter_ scatter_add scatter_add_ index_fill index_copy_ index_add index_add_ bernoulli_"
)
SAME_DTYPE = _words(
    "clone detach contiguous abs neg relu clamp cumsum flip roll masked_fill view reshape flatten "
    "unsqueeze squeeze transpose permute expand expand_as view_as reshape_as repeat "
    "repeat_interleave index_select gather take_along_dim t narrow select unbind split chunk "
    "masked_select movedim swapaxes swapdims sum max min cuda cpu pin_memory requires_grad_ clip "
    "clamp_min clamp_max fill_ copy_ add_ sub_ mul_ masked_fill_ triu tril diagonal unfold "
    "logical_not bitwise_not tensor_split sort topk values amax amin unflatten "
    "scatter scatter_ scatter_add scatter_add_ index_fill index_copy_ index_add index_add_ "
    "bitwise_and bitwise_or logical_and logical_or broadcast_to zero_"
)
# Methods that only tensors have: calling one proves the receiver a tensor.
PROVING_METHODS = _words(
    "unsqueeze squeeze permute masked_fill masked_fill_ masked_select scatter scatter_ scatter_add_ "
    "scatter_add gather index_select index_copy_ index_add_ index_fill_ softmax log_softmax expand "
    "expand_as view_as reshape_as contiguous detach type_as unbind new_zeros new_ones new_full "
    "new_empty new_tensor nonzero_static argwhere bmm addmm matmul baddbmm logsumexp "
    "repeat_interleave topk cumprod narrow movedim requires_grad_ bfloat16 is_floating_point numel "
    "element_size index_put_ take_along_dim unflatten pin_memory record_stream isnan isfinite isinf "
    "clamp clamp_ clamp_min clamp_max sigmoid logical_not logical_and logical_or masked_scatter "
    "masked_scatter_ unfold roll sqrt rsqrt exp log tanh relu amax amin nan_to_num "
    "addcmul addcdiv lerp lerp_ mul_ add_ sub_ div_ copy_ fill_ zero_ chunk data_ptr stride"
)

# Methods by which a receiver is only supposed to be a tensor: arrays have them too.
SUPPOSING_METHODS = _words("any all sum mean max min argmax argmin long cumsum")

# Functions of torch that make a tensor where `device=` says, on the CPU by default.
FACTORIES = _words(
    "zeros ones empty full arange linspace logspace eye rand randn randint randperm tensor "
    "as_tensor scalar_tensor empty_strided range tril_indices triu_indices normal_ hann_window "
    "hamming_window blackman_window bartlett_window kaiser_window from_file complex_ cartesian_prod_ "
    "empty_permuted fftfreq rfftfreq asarray"
)
LIKE_FACTORIES = _words(
    "zeros_like ones_like empty_like full_like rand_like randn_like randint_like"
)
NEW_FACTORIES = _words("new_zeros new_ones new_empty new_full new_tensor new new_empty_strided")
# Classes of tensors by dtype; called, they make one on the CPU.
LEGACY_TENSORS = {
    "FloatTensor": "float",
    "HalfTensor": "float",
    "DoubleTensor": "float",
    "BFloat16Tensor": "float",
    "LongTensor": "int",
    "IntTensor": "int",
    "ShortTensor": "int",
    "ByteTensor": "int",
    "BoolTensor": "bool",
}
# Functions of torch that give a Python value back.
HOST_FUNCTIONS = _words(
    "torch.is_tensor torch.is_floating_point torch.is_complex torch.numel torch.get_default_dtype "
    "torch.finfo torch.iinfo torch.result_type torch.promote_types torch.Size torch.can_cast "
    "torch.is_grad_enabled torch.is_autocast_enabled torch.get_autocast_dtype torch.Generator "
    "torch.get_autocast_gpu_dtype torch.is_inference_mode_enabled torch.broadcast_shapes "
    "torch.is_storage torch.initial_seed torch.seed torch.manual_seed torch.get_num_threads "
    "torch.equal torch.allclose torch.is_nonzero torch.no_grad torch.enable_grad torch.autocast "
    "torch.inference_mode torch.set_grad_enabled torch.compile torch.is_same_size torch.typename "
    "torch.get_default_device torch.get_device_module torch.load torch.save torch.get_rng_state "
    "torch.is_autocast_cache_enabled torch.get_float32_matmul_precision torch.iinfo torch.dtype "
    "torch.is_inference torch.is_signed torch.is_conj torch.is_neg"
)
HOST_PREFIXES = (
    "torch.cuda.",
    "torch.distributed.",
    "torch.backends.",
    "torch.jit.",
    "torch.compiler.",
    "torch._dynamo.",
    "torch.version.",
    "torch.accelerator.",
    "torch.utils.",
    "torch.profiler.",
    "torch.autograd.",
    "torch.onnx.",
    "torch.fx.",
    "torch.export.",
    "torch.amp.",
    "torch.overrides.",
    "torch.library.",
    "torch.xpu.",
    "torch.mps.",
    "torch.npu.",
    "torch.random.",
    "torch.multiprocessing.",
    "torch.serialization.",
    "torch.hub.",
)
# Modules of torch.nn that return a tuple.
TUPLE_MODULES = _words("LSTM GRU RNN MultiheadAttention LSTMCell AdaptiveLogSoftmaxWithLoss")
CONTAINERS = _words("ModuleList ModuleDict ParameterList ParameterDict Sequential")
# Calls with one answer while a CUDA graph is being captured.
# Questions whether a graph is being captured: true in a captured region, false around it.
CAPTURE_GUARDS = _words(
    "is_current_stream_capturing is_capturing torch.cuda.is_current_stream_capturing "
    "torch.cuda.graphs.is_current_stream_capturing"
)
# What else is known of the surroundings of a captured region.
GUARDS: dict[str, bool] = {
    "torch.cuda._is_compiled": True,
    "torch.cuda.is_available": True,
    "torch.jit.is_scripting": False,
    "torch.jit.is_tracing": False,
    "torch.onnx.is_in_onnx_export": False,
    "torch.compiler.is_exporting": False,
    "torch.fx._symbolic_trace.is_fx_tracing": False,
    "torch._C._get_tracing_state": False,
    "torch.xpu.is_available": False,
    "torch.backends.mps.is_available": False,
    "torch.mps.is_available": False,
    "typing.TYPE_CHECKING": False,
}
# Names of parameters and attributes that hold host data by convention, beside those of a preset.
HOST_NAME = r"(?:^|_)(?:cpu|host)$|^(?:cpu|host)_|_cpu_|(?:_np|_numpy)$"
# Names of parameters that only training gives.
LABEL_NAME = (
    r"(?:^|_)labels?$|^targets?$|^target_values$|^gt_boxes$|^(?:start|end)_positions$"
    r"|^sampled_negative_indices$|^return_loss$"
)
# Flags that ask for checks and traces, which nobody sets where graphs are used.
DEBUG_PARAMETER = r"^(?:debug|verbose|sanity|check|validate|verify|dump|return_loss)(?:_|$)|_(?:debug|check|verify)$"
DEBUG_FLAG = r"DEBUG|TRACE|VERIFY|VALIDATE|SANITY|_CHECK|CHECK_|LOGLEVEL|DUMP|PROFIL|VERBOSE"
CONFIG_NAMES = _words("config cfg args hparams conf hf_config model_config server_args opt options")
# Everything a tensor has that this pass knows of, for telling tensors from other arguments.
TENSOR_MEMBERS = (
    SHAPE_ATTRIBUTES
    | HOST_ATTRIBUTES
    | TENSOR_ATTRIBUTES
    | SHAPE_METHODS
    | HOST_METHODS
    | READ_METHODS
    | BOOL_METHODS
    | INT_METHODS
    | FLOAT_METHODS
    | REDUCTIONS
    | PAIR_METHODS
    | ALWAYS_PAIRS
    | LIST_METHODS
    | SAME_RANK
    | SAME_DTYPE
    | PROVING_METHODS
    | NEW_FACTORIES
    | {"device", "view", "reshape", "cpu", "detach_", "mm", "mv", "matmul", "repeat", "t", "unique"}
)


def is_config_name(name: str) -> bool:
    """Return whether names like this hold a configuration, whose fields are Python values."""
    return name in CONFIG_NAMES or name.endswith("_config")


# Optimizers of torch with the option `capturable`; the check is in `torch/optim/optimizer.py`.
CAPTURABLE_OPTIMIZERS = frozenset(
    "Adadelta Adam Adamax AdamW ASGD NAdam RAdam RMSprop Rprop".split()
)
