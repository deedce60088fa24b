"""A tensor with real host storage that says it is on `cuda:0`.

Views, aliases and pointers are therefore simply true. What it cannot do: `type(x) is torch.Tensor`
is false, and it cannot be pickled (`torch.save`).
"""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from capturelint.debug.dispatched.refusal import NOT_PERMITTED, UNPINNED, Refusal
from capturelint.debug.simulated.device import CUDA, HOST
from capturelint.debug.simulated.moves import moved
from capturelint.debug.simulated.ordinals import check_ordinal

if TYPE_CHECKING:
    from capturelint.debug.simulated.simulator import Simulator

# The attribute in C: that of `torch.Tensor` is exchanged in a session.
DATA: Any = torch._C.TensorBase.data
_Number = (int, float, bool, complex)


class DeviceTensor(torch.Tensor):
    """A tensor of one simulator.

    `elem`: a plain host tensor on the same storage, with the same sizes and strides; the kernels
    run on it. What C++ computes from sizes and strides it computes from this tensor itself.
    """

    elem: torch.Tensor
    simulator: Simulator

    @staticmethod
    def over(
        elem: torch.Tensor, simulator: Simulator, *, requires_grad: bool = False
    ) -> DeviceTensor:
        """Return a device tensor over the storage of a plain one."""
        tensor: DeviceTensor = torch.Tensor._make_subclass(
            DeviceTensor,
            elem,
            requires_grad,
            dispatch_device=True,
            device_for_backend_keys=CUDA,
        )
        tensor.elem = elem
        tensor.simulator = simulator
        return tensor

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]  # as torch documents

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]  # torch declares another signature than it calls
        cls,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Hand an operation to the simulator of its tensors where no dispatch mode is on.

        That is so in threads that C++ starts.
        """
        from capturelint.debug.simulated.dispatch import dispatch

        return dispatch(_simulator_in(args, kwargs or {}), func, types, args, kwargs or {})

    @property
    def device(self) -> torch.device:  # type: ignore[override]  # torch declares a variable
        return CUDA

    @property
    def is_cuda(self) -> bool:  # type: ignore[override]
        return True

    @property
    def is_cpu(self) -> bool:  # type: ignore[override]
        return False

    def get_device(self) -> int:
        return 0

    def to(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        """Return this tensor itself where nothing changes: C++ would copy `cuda` to `cuda:0`."""
        return moved(self, args, kwargs)

    def cuda(self, device: Any = None, *args: Any, **kwargs: Any) -> torch.Tensor:  # noqa: ARG002
        check_ordinal(self.simulator, device)
        return self

    def type(self, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Return the name of the tensor's type, or the tensor converted to a type."""
        if dtype is None:
            return self.elem.type().replace("torch.", "torch.cuda.")
        if isinstance(dtype, torch.dtype):
            return self.to(dtype, *args, **kwargs)
        name = dtype if isinstance(dtype, str) else f"{dtype.__module__}.{dtype.__name__}"
        target = CUDA if ".cuda." in name else HOST
        return self.to(target, getattr(torch, name.rpartition(".")[2]).dtype, *args, **kwargs)

    def numpy(self, *, force: bool = False) -> Any:
        if force:
            return self.detach().cpu().resolve_conj().resolve_neg().numpy()
        raise TypeError(
            "can't convert cuda:0 device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )

    def tolist(self) -> Any:
        if self.numel():  # a copy of nothing is none
            self.simulator.refuse(
                Refusal(UNPINNED, "host-copy", "Tensor.tolist", code="CL102", sticky=False)
            )
        return self.elem.tolist()

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        self.simulator.refuse(Refusal(NOT_PERMITTED, "host-read", "Tensor.__repr__", code="CL103"))
        return f"{repr(self.elem)[:-1]}, device='cuda:0')"

    def __format__(self, spec: str) -> str:
        if self.dim() == 0:
            return self.item().__format__(spec)
        return object.__format__(self, spec)

    def __contains__(self, element: object) -> bool:
        if isinstance(element, (torch.Tensor, *_Number)):
            return bool((element == self).any().item())  # type: ignore[union-attr]
        return super().__contains__(element)

    def __setitem__(self, index: Any, value: Any) -> None:
        # Where the device is CUDA, torch hands a number over as a host tensor: filled in for a
        # mask, copied from the host for other indices. Ours is not CUDA to C++.
        if isinstance(value, _Number):
            value = torch.tensor(value, dtype=self.dtype)
        torch.Tensor.__setitem__(self, index, value)

    def record_stream(self, stream: Any) -> None:
        """Do nothing: memory of the host needs no stream."""

    def is_pinned(self, device: Any = None) -> bool:  # noqa: ARG002
        return False

    def pin_memory(self, device: Any = None) -> NoReturn:  # noqa: ARG002
        raise RuntimeError(
            f"cannot pin 'torch.cuda.{self.dtype}' only dense CPU tensors can be pinned"
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = _copied(self, memo)
        return memo[id(self)]

    def __copy__(self) -> torch.Tensor:
        twin = DeviceTensor.over(self.elem, self.simulator, requires_grad=self.requires_grad)
        twin.__class__ = type(self)
        twin.__dict__.update(self.__dict__)
        return twin

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise self.simulator.cannot_tell("pickling a device tensor")

    def __dlpack__(self, **options: Any) -> NoReturn:
        raise self.simulator.cannot_tell("handing a device tensor to another library (DLPack)")

    @property
    def __cuda_array_interface__(self) -> NoReturn:
        raise self.simulator.cannot_tell("handing a device tensor to another library")


def _simulator_in(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Simulator:
    leaves = torch.utils._pytree.tree_leaves((args, kwargs))
    return next(leaf.simulator for leaf in leaves if isinstance(leaf, DeviceTensor))


def _copied(tensor: DeviceTensor, memo: dict[int, Any]) -> DeviceTensor:
    """Return a deep copy; copies of tensors that share storage share it too, through `memo`."""
    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment."
        )
    host = _copied_elem(tensor, memo)
    twin = DeviceTensor.over(host, tensor.simulator, requires_grad=tensor.requires_grad)
    twin.__class__ = type(tensor)
    memo[id(tensor)] = twin
    for name, value in tensor.__dict__.items():
        if name not in ("elem", "simulator"):
            twin.__dict__[name] = copy.deepcopy(value, memo)
    if tensor.grad is not None:
        twin.grad = copy.deepcopy(tensor.grad, memo)
    return twin


def _copied_elem(tensor: DeviceTensor, memo: dict[Any, Any]) -> torch.Tensor:
    elem = tensor.elem
    if elem.layout is not torch.strided:
        return tensor.detach().clone().elem  # type: ignore[attr-defined,no-any-return]
    with torch.no_grad():
        host = torch.empty(0, dtype=elem.dtype, device=HOST)
        storage = _copied_storage(tensor, memo)
        return host.set_(storage, elem.storage_offset(), elem.size(), elem.stride())


def _copied_storage(tensor: DeviceTensor, memo: dict[Any, Any]) -> torch.UntypedStorage:
    storage = tensor.elem.untyped_storage()
    copies = memo.setdefault("device storages", {})
    if storage._cdata not in copies:
        with torch.no_grad():
            whole = torch.empty(0, dtype=torch.uint8, device=HOST).set_(storage)
            # A clone on the device, so that a capture records it.
            clone = DeviceTensor.over(whole, tensor.simulator).clone()
        copies[storage._cdata] = clone.untyped_storage()
    return copies[storage._cdata]  # type: ignore[no-any-return]
