"""Programs that are compared."""

from benchmarks.speed.workers import Program
from vebnn.core.devices import available_cores

VEBNN = "vebnn"
LOADER = "PyTorch, DataLoader"
TENSORS = "PyTorch, tensors"
UQ_BOX = "lightning-uq-box"
POSTERIORS = "posteriors"
PRODUCTS = ("products, OpenBLAS", "products, XLA")
CORES = available_cores()


def of_steps(cores: int) -> list[Program]:
    """Return all programs that make gradient steps."""
    ours = Program(VEBNN, "ours:steps" if cores == 1 else "ours:fleet_on_all_cores", cores)
    others = {
        LOADER: "torch_way:with_loader",
        TENSORS: "torch_way:with_tensors",
        UQ_BOX: "libraries:lightning_uq_box",
        POSTERIORS: "libraries:posteriors",
        PRODUCTS[0]: "floor:openblas",
        PRODUCTS[1]: "floor:xla",
    }
    return [ours, *(Program(name, jobs, cores) for name, jobs in others.items())]
