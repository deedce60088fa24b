"""Arguments that must be Python numbers: a device tensor there is read on the host."""

from __future__ import annotations

from capturelint.operations.operation import Operation, refusing, safe

_SIZE = "a device tensor as size or bound"

ARGUMENTS: tuple[Operation, ...] = (
    # CL104: indices, bounds and sizes.
    *refusing("CL104", "Tensor.__getitem__", "a 0-d integer device tensor, or a slice bound"),
    *refusing("CL104", "Tensor.__setitem__", "a 0-d integer device tensor, or a slice bound"),
    *refusing(
        "CL104",
        "torch.nn.ModuleList.__getitem__ builtins.list.__getitem__ builtins.tuple.__getitem__",
        "a 0-d integer device tensor",
    ),
    *refusing("CL104", "builtins.range", _SIZE),
    *refusing(
        "CL104",
        "torch.arange torch.range torch.linspace torch.logspace torch.eye torch.zeros torch.ones "
        "torch.empty torch.full torch.rand torch.randn torch.randint torch.randperm",
        _SIZE,
    ),
    *refusing(
        "CL104",
        "torch.narrow torch.split torch.chunk torch.tile torch.topk torch.tril torch.triu "
        "torch.roll torch.select torch.reshape torch.kthvalue",
        _SIZE,
    ),
    *refusing(
        "CL104",
        "Tensor.expand Tensor.repeat Tensor.split Tensor.chunk Tensor.narrow Tensor.roll "
        "Tensor.tile Tensor.new_zeros Tensor.new_full Tensor.select Tensor.topk Tensor.kthvalue "
        "Tensor.tril Tensor.triu Tensor.view Tensor.reshape Tensor.unflatten Tensor.new_ones "
        "Tensor.new_empty",
        _SIZE,
    ),
    *refusing("CL104", "torch.nn.functional.pad torch.nn.functional.interpolate", _SIZE),
    *refusing("CL104", "torch.nn.functional.one_hot", "a device tensor as the number of classes"),
    *safe("Tensor.__getitem__", "a device tensor of at least one dimension, integers, slices"),
    *safe("Tensor.index_select torch.index_select torch.gather Tensor.gather torch.take"),
    # CL106: scalar arguments.
    *refusing(
        "CL106",
        "Tensor.masked_fill Tensor.masked_fill_ torch.masked_fill",
        "a 0-d device tensor as value",
    ),
    *refusing("CL106", "Tensor.__setitem__", "a boolean mask and a 0-d device tensor as value"),
    *refusing("CL106", "torch.full torch.full_like Tensor.new_full", "a device tensor as value"),
    *refusing(
        "CL106",
        "torch.add torch.sub Tensor.add Tensor.add_ Tensor.sub Tensor.sub_",
        "a device tensor as alpha",
    ),
    *refusing(
        "CL106",
        "torch.addcmul torch.addcdiv Tensor.addcmul Tensor.addcmul_ Tensor.addcdiv Tensor.addcdiv_",
        "a device tensor as value",
    ),
    *refusing("CL106", "torch.addmm torch.baddbmm", "a device tensor as alpha or beta"),
    *refusing("CL106", "torch.nn.functional.softplus", "a device tensor as beta or threshold"),
    *refusing("CL106", "torch.nn.functional.leaky_relu", "a device tensor as slope"),
    *refusing("CL106", "torch.nn.functional.elu", "a device tensor as alpha"),
    *refusing(
        "CL106",
        "torch.nn.functional.threshold torch.nn.functional.hardtanh",
        "a device tensor as bound",
    ),
    *refusing("CL106", "torch.nn.functional.dropout", "a device tensor as p"),
    *refusing("CL106", "torch.nan_to_num", "a device tensor as replacement"),
    *refusing(
        "CL106",
        "torch.clamp torch.clip Tensor.clamp Tensor.clamp_ Tensor.clip Tensor.clip_",
        "one bound a number, the other a device tensor",
    ),
    *refusing(
        "CL106",
        "Tensor.index_fill_ Tensor.index_fill torch.index_fill",
        "a 0-d device tensor as value",
    ),
    *refusing("CL106", "torch.normal", "a device tensor as std"),
    *refusing("CL106", "Tensor.normal_ Tensor.uniform_", "a device tensor as parameter"),
    *refusing(
        "CL106",
        "torch.distributions.Normal torch.distributions.Bernoulli torch.distributions.Beta "
        "torch.distributions.Binomial torch.distributions.Categorical torch.distributions.Cauchy "
        "torch.distributions.Chi2 torch.distributions.Dirichlet torch.distributions.Exponential "
        "torch.distributions.Gamma torch.distributions.Geometric torch.distributions.Gumbel "
        "torch.distributions.HalfNormal torch.distributions.Laplace "
        "torch.distributions.LogNormal torch.distributions.Multinomial "
        "torch.distributions.MultivariateNormal torch.distributions.OneHotCategorical "
        "torch.distributions.Poisson torch.distributions.StudentT torch.distributions.Uniform "
        "torch.distributions.VonMises",
        "device tensors, without validate_args=False",
    ),
    *safe("Tensor.masked_fill Tensor.masked_fill_", "a number or a 0-d tensor on the host"),
    *safe("Tensor.__setitem__", "a boolean mask and a number"),
    *safe("Tensor.__setitem__", "integers and slices alone, and a device tensor as value"),
    *safe("Tensor.fill_ torch.fill Tensor.copy_", "a 0-d device tensor"),
    *safe("Tensor.clamp torch.clamp", "one bound alone, two numbers, or two device tensors"),
    *safe("torch.where", "three arguments: device tensors and numbers"),
    *safe("torch.distributions.Normal torch.distributions.Categorical", "validate_args=False"),
    *safe("torch.normal", "a number as std"),
    *safe(
        "torch.lerp Tensor.pow Tensor.div torch.bernoulli", "a device tensor as weight or operand"
    ),
)
