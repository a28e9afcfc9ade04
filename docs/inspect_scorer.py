"""A scorer for Inspect (inspect_ai): the answer of a model is a kernel, its verdict the score.

Each sample's metadata name the task, such as {"kernelbench_task": "level1/019_relu"}. Needs a built
preset (tools/quickstart) and KB_NATIVE, the folder of this project.
"""

import asyncio
import json
import os
import re

from inspect_ai.scorer import Score, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState

CODES = {0, 10, 11, 12, 13, 14, 15, 77, 78}  # of verdicts; any other means that nothing was judged


def kernel_of(answer: str) -> str:
    """The longest block between fences, to the end if its closing fence is missing.

    The whole answer if there is no fence. tools/refine reads answers in the same way.
    """
    blocks = re.split(r"^ {0,3}```.*\n?", answer, flags=re.MULTILINE)[1::2]
    return max(blocks, key=len) if blocks else answer


@scorer(metrics=[accuracy(), stderr()])
def kernelbench(preset: str = "cpu"):
    """1 for a kernel that passes, else 0. The explanation is the evidence."""

    async def score(state: TaskState, target: Target) -> Score:
        judge = os.path.join(os.environ["KB_NATIVE"], "tools/judge")
        pipes = {key: asyncio.subprocess.PIPE for key in ("stdin", "stdout", "stderr")}
        process = await asyncio.create_subprocess_exec(
            judge, "--headers", "kb", preset, state.metadata["kernelbench_task"], "-", **pipes
        )
        kernel = kernel_of(state.output.completion).encode(errors="replace")
        out, err = await process.communicate(kernel)
        if process.returncode not in CODES:
            raise RuntimeError(err.decode())
        result = json.loads(out)
        right = result["verdict"] == "pass"
        return Score(value=int(right), explanation=result["evidence"], metadata=result)

    return score
