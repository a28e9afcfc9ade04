"""How many warps a multiprocessor can hold of a kernel, from what the compiler says of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

REGISTERS = 65_536  # of 32 bits, of a multiprocessor of every architecture here
WARP = 32

# CUDA C++ Programming Guide, "Technical Specifications per Compute Capability":
# architecture -> resident warps, resident blocks, KiB of shared memory of a multiprocessor.
_LIMITS = {
    "sm_70": (64, 32, 96),
    "sm_75": (32, 16, 64),
    "sm_80": (64, 32, 164),
    "sm_86": (48, 16, 100),
    "sm_87": (48, 16, 164),
    "sm_89": (48, 24, 100),
    "sm_90": (64, 32, 228),
    "sm_100": (64, 32, 228),
    "sm_103": (64, 32, 228),
    "sm_120": (48, 24, 100),
}


@dataclass(frozen=True)
class Multiprocessor:
    """What one multiprocessor holds at most."""

    warps: int
    blocks: int
    shared_bytes: int
    shared_bytes_per_block: int
    registers: int = REGISTERS


def multiprocessor(arch: str) -> Multiprocessor | None:
    """The limits of an architecture such as sm_90; None for an unknown one."""
    limits = _LIMITS.get(arch.rstrip("af"))
    if limits is None:
        return None
    warps, blocks, shared_kib = limits
    return Multiprocessor(warps, blocks, shared_kib << 10, (shared_kib << 10) - _reserved(arch))


def _reserved(arch: str) -> int:
    """Bytes of shared memory that the system takes of each block."""
    return 0 if arch in ("sm_70", "sm_75") else 1024


def occupancy_limit(
    arch: str | None, registers: int | None, shared_bytes: int | None
) -> float | None:
    """Share of the resident warps that a kernel can reach with the best size of its blocks.

    An upper bound: block size, dynamic shared memory and `__launch_bounds__` can only lower it.
    None for an unknown architecture, or without the number of registers.
    """
    limits = _LIMITS.get((arch or "").rstrip("af"))
    if limits is None or not registers:
        return None
    most_warps, most_blocks, shared_kib = limits
    # Registers come in units of 256 per warp; warps are spread over four partitions.
    per_warp = -(-registers * WARP // 256) * 256
    by_registers = 4 * (REGISTERS // 4 // per_warp)
    blocks = most_blocks
    if shared_bytes:
        blocks = min(blocks, shared_kib * 1024 // (shared_bytes + _reserved(arch)))
    best = max(
        warps * min(blocks, most_warps // warps, by_registers // warps) for warps in range(1, 33)
    )
    return best / most_warps


def limit_of(resources: dict[str, Any]) -> float | None:
    """occupancy_limit() of one entry of a result's `build.resources`."""
    return occupancy_limit(
        resources.get("arch"), resources.get("registers"), resources.get("shared_bytes")
    )
