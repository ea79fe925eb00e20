"""Compile and launch the CUDA C kernels of this folder on torch tensors."""

import struct
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from importlib import resources
from importlib.util import find_spec
from typing import Any, Protocol

from evcrisp.tensors.devices import say_once
from evcrisp.tensors.lazy import Tensor, torch

#: Shared memory that every block may use, bytes; more must be asked for.
_PLAIN_SHARED_BYTES = 48 * 1024

#: Threads of a block with a thread per element, and the most blocks.
_THREADS, _MOST_BLOCKS = 256, 1 << 20

#: Headers of source files.
_HEADERS = {"search.cu": ("motions.cuh",), "placing.cu": ("motions.cuh",)}


_WITHOUT_CUPY = (
    "CuPy is not installed: torch operations take the place of the CUDA kernels, with the same results, "
    'and slower. pip install "evcrisp[cuda]" brings it for CUDA 13, cupy-cuda12x is for CUDA 12.'
)


class Kernels(Protocol):
    """Kernels of a source file, compiled for a device.

    Tensors are passed as pointers, whole numbers with 64 bits, floats as doubles, None as null.
    """

    shared_bytes: int  # largest shared memory of a block

    def launch(self, name: str, blocks: int, threads: int, shared_bytes: int, *args: Any) -> None:
        """Run a kernel."""
        ...

    def launch_each(self, name: str, n: int, *args: Any) -> None:
        """Run a kernel with a thread for each of n elements."""
        ...


#: Makes the kernels of a source file on a device with macros; None for torch operations.
Maker = Callable[[str, Any, dict[str, str]], Kernels | None]


def cuda_kernels(source: str, device: Any, macros: dict[str, str]) -> Kernels | None:
    """Return kernels of a GPU; None without one, or without CuPy."""
    if device.type != "cuda":
        return None
    if find_spec("cupy") is None:
        say_once(_WITHOUT_CUPY)
        return None
    index = torch.cuda.current_device() if device.index is None else device.index
    return _compiled(source, index, tuple(sorted(macros.items())))


_MAKER: ContextVar[Maker | None] = ContextVar("maker", default=cuda_kernels)


@contextmanager
def made_by(maker: Maker | None) -> Generator[None]:
    """Take kernels from a maker; None for torch operations in their place."""
    token = _MAKER.set(maker)
    try:
        yield
    finally:
        _MAKER.reset(token)


def kernels_of(source: str, device: Any, **macros: str) -> Kernels | None:
    """Return the kernels of a source file on a device, or None for torch operations."""
    maker = _MAKER.get()
    return None if maker is None else maker(source, device, macros)


def text_of(source: str) -> str:
    """Return the text of a source file, behind the headers that it uses."""
    folder = resources.files("evcrisp.tensors.cuda")
    names = "block.cuh", *_HEADERS.get(source, ()), source
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def packed(fields: Sequence[Any], device: Any) -> Tensor:
    """Return the bytes of a structure of pointers, whole numbers and doubles, 64 bits each."""
    data = b"".join(
        struct.pack("d", field) if isinstance(field, float) else struct.pack("q", number(field))
        for field in fields
    )
    return torch.frombuffer(bytearray(data), dtype=torch.uint8).to(device)


def number(value: Any) -> Any:
    """Return an argument of a kernel as a number: the address of a tensor, 0 for None."""
    if value is None:
        return 0
    if isinstance(value, torch.Tensor):
        assert value.is_contiguous()
        return value.data_ptr()
    return value


@lru_cache(maxsize=64)
def _compiled(source: str, index: int, macros: tuple[tuple[str, str], ...]) -> "_CudaKernels":
    return _CudaKernels(text_of(source), index, dict(macros))


class _CudaKernels:
    """Kernels on an NVIDIA GPU."""

    def __init__(self, text: str, index: int, macros: dict[str, str]) -> None:
        import cupy  # ty: ignore[import-not-found]

        self._cupy, self._device = cupy, cupy.cuda.Device(index)
        self.shared_bytes = self._device.attributes["MaxSharedMemoryPerBlockOptin"]
        # Products are rounded before they are added, as on the CPU.
        options = ("-std=c++17", "-fmad=false", *(f"-D{n}={value}" for n, value in macros.items()))
        with self._device:
            self._module = cupy.RawModule(code=text, options=options)

    def launch(self, name: str, blocks: int, threads: int, shared_bytes: int, *args: Any) -> None:
        """Run a kernel on the current stream of torch."""
        if not blocks:
            return
        kernel = self._module.get_function(name)
        if shared_bytes > _PLAIN_SHARED_BYTES:
            kernel.max_dynamic_shared_size_bytes = shared_bytes
        stream = torch.cuda.current_stream(self._device.id).cuda_stream
        with self._device, self._cupy.cuda.ExternalStream(stream):
            kernel((blocks,), (threads,), tuple(map(number, args)), shared_mem=shared_bytes)

    def launch_each(self, name: str, n: int, *args: Any) -> None:
        """Run a kernel with a thread for each of n elements."""
        self.launch(name, min(-(-n // _THREADS), _MOST_BLOCKS), _THREADS, 0, *args)
