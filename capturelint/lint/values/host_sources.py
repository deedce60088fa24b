"""Functions outside the project that give the host another value in each call."""

from __future__ import annotations

from capturelint.kind import Kind, Mark, Value

# Objects that draw random numbers; the name of what they are, by what makes them.
MAKERS = {
    "random.Random": "random.Random",
    "random.SystemRandom": "random.Random",
    "numpy.random.default_rng": "numpy.random.Generator",
    "numpy.random.RandomState": "numpy.random.RandomState",
    "numpy.random.Generator": "numpy.random.Generator",
}
_STEADY = frozenset("seed setstate getstate set_state get_state shuffle SeedSequence".split())
_CLOCKS = frozenset(
    "time.time time.time_ns time.perf_counter time.perf_counter_ns time.monotonic "
    "time.monotonic_ns time.process_time time.process_time_ns time.thread_time time.localtime "
    "time.gmtime time.strftime time.ctime datetime.datetime.now datetime.datetime.utcnow "
    "datetime.datetime.today datetime.date.today os.times os.getloadavg psutil.virtual_memory "
    "psutil.cpu_percent torch.cuda.memory_allocated torch.cuda.memory_reserved "
    "torch.cuda.mem_get_info torch.cuda.memory_stats torch.cuda.utilization".split()
)
_DRAWS = frozenset("os.urandom uuid.uuid1 uuid.uuid4".split())
_TENSOR_DRAWS = frozenset(
    "torch.rand torch.randn torch.randint torch.randperm torch.rand_like torch.randn_like "
    "torch.randint_like torch.bernoulli torch.multinomial torch.normal torch.poisson".split()
)
# Methods that fill a tensor with random numbers, or draw by what is in it.
_FILLS = frozenset(
    "bernoulli bernoulli_ uniform_ normal_ random_ exponential_ geometric_ cauchy_ log_normal_ "
    "multinomial".split()
)


def mark_of_function(name: str, given: Value) -> Mark | None:
    """Return what makes the result of an outside function, by its dotted name, change; or None."""
    if name in _CLOCKS:
        return Mark.CLOCK
    if name in _TENSOR_DRAWS:
        return Mark.RANDOM if given.kind is Kind.HOST_TENSOR else None
    module, _, last = name.rpartition(".")
    if name in _DRAWS or module == "secrets":
        return Mark.RANDOM
    is_random = module == "random" or module.startswith(("numpy.random", "random.Random"))
    return Mark.RANDOM if is_random and name not in MAKERS and last not in _STEADY else None


def mark_of_method(receiver: Value, name: str) -> Mark | None:
    """Return RANDOM where a method draws on the host, which it does of a host tensor."""
    is_draw = receiver.kind is Kind.HOST_TENSOR and name in _FILLS
    return Mark.RANDOM if is_draw else None
