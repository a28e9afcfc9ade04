"""The complete text that a generator of kernels needs for a task, in several styles."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kb_report import feedback, hardware, load, merge, tree
from kb_report.load import BadFile
from kb_report.model import (
    JUDGED,
    NO_PAGE,
    STATE_WORDS,
    ReportError,
    Suite,
    are_turns,
    clean,
    natural_key,
)
from kb_report.tree import PROJECT, Task

TEMPLATES = Path(__file__).resolve().parent.parent / "templates/prompt"

# Style -> how many examples it shows.
STYLES = {"zero-shot": 0, "one-shot": 1, "few-shot": 3, "hardware": 1, "refine": 0}
CONTRACTS = ("kernelbench", "fp32", "tf32", "fp16", "bf16")
# What a run.json may let kernels call -> what that is.
LIBRARIES = {"none": (), "cublas": ("cuBLAS",), "cudnn": ("cuDNN", "cuBLAS")}


@dataclass(frozen=True)
class Example:
    """A task that is shown with a kernel of our own, which tests of the harness judge.

    alike: tasks whose kernel would be much the same; they and the example itself get another one.
    """

    name: str
    file: Path
    shows: str
    alike: tuple[str, ...] = ()

    def fits(self, asked: str) -> bool:
        """False if it would give the asked task away."""
        return asked != self.name and asked not in self.alike

    def kernel(self) -> str:
        """The kernel without the lines that tests read. Raises ReportError."""
        text = tree.text(self.file)
        if text is None:
            raise ReportError(f"{self.file} is missing: restore it, prompts show it as an example")
        lines = text.splitlines(keepends=True)
        while lines and lines[0].startswith("//"):
            del lines[0]
        return "".join(lines)


# The last one stands in for an example that does not fit.
EXAMPLES = (
    Example(
        "level1/088_mingpt_new_gelu",
        TEMPLATES / "kernels/fused_gelu.cu",
        "an elementwise expression of several operators in one kernel, four elements per load",
        ("level1/026_gelu",),
    ),
    Example(
        "level1/002_standard_matrix_multiplication",
        TEMPLATES / "kernels/tiled_product.cu",
        "a matrix product in tiles that pass through shared memory",
        (
            "level1/001_square_matrix_multiplication",
            "level1/006_matmul_with_large_k_dimension",
            "level1/007_matmul_with_small_k_dimension",
            "level1/008_matmul_with_irregular_shapes",
            "level1/009_tall_skinny_matrix_multiplication",
        ),
    ),
    Example(
        "level1/097_scaled_dot_product_attention",
        TEMPLATES / "kernels/online_softmax_attention.cu",
        "attention in one kernel: the softmax follows the keys, no scores go through memory",
    ),
    Example(
        "level1/040_layer_norm",
        PROJECT / "candidates/examples/level1/040_layer_norm.cu",
        "a norm of each sample, with a reduction in a block",
    ),
)


@dataclass(frozen=True)
class Attempt:
    """The last kernel of a task with what became of it, for style refine."""

    name: str
    verdict: str
    kernel: str
    evidence: str
    profile: str | None
    contract: str | None
    library: str | None


@dataclass(frozen=True)
class Choices:
    """What a prompt is made from, besides its task."""

    style: str = "zero-shot"
    contract: str | None = None
    library: str | None = None
    gpu: str | None = None
    results: str | None = None
    templates: Path | None = None


def make(name: str, choices: Choices) -> dict[str, Any]:
    """The prompt of one task with what it was made from. Raises ReportError."""
    writer = Writer(choices)
    return writer.row(tree.task(name), writer.attempt(name))


def make_all(choices: Choices) -> tuple[list[dict[str, Any]], list[str]]:
    """The prompts of all tasks, for style refine of those that have a last kernel.

    The second list says why kernels were left out. Raises ReportError, also if nothing is left.
    """
    writer = Writer(choices)
    rows, left_out = [], []
    for name in tree.tasks():
        if choices.style == "refine" and not writer.records(name):
            continue
        try:
            rows.append(writer.row(tree.task(name), writer.attempt(name)))
        except AttemptError as e:
            left_out.append(str(e))
    if not rows:
        first = f": {left_out[0]}" if left_out else f"; choose another run than {choices.results}"
        raise ReportError(f"there is no kernel to refine{first}")
    return rows, left_out


class AttemptError(ReportError):
    """The last kernel of one task cannot be refined; those of others may."""


class Writer:
    """Reads what the choices name once, then writes any number of prompts."""

    def __init__(self, choices: Choices):
        self.choices = choices
        if (choices.style == "refine") != (choices.results is not None):
            raise ReportError(
                "style refine needs --results, the build directory or result of the last kernel"
                if choices.style == "refine"
                else "--results is for --style refine: choose that style, or leave it out"
            )
        if choices.style == "hardware" and choices.gpu is None:
            raise ReportError("style hardware needs --gpu, a preset or a file facts.json")
        self.environment = _environment(choices.templates)
        self.shared = tree.contract()
        self.gpu = hardware.facts(choices.gpu) if choices.gpu else None
        self.suite: Suite | None = None
        self.only: str | None = None
        if choices.results is not None:
            path, _, self.chosen = choices.results.partition("#")
            self.suite, self.only = _suite(Path(path))

    def row(self, task: Task, attempt: Attempt | None) -> dict[str, Any]:
        """One prompt with what it was made from."""
        contract = self.choices.contract or (attempt and attempt.contract) or CONTRACTS[0]
        library = self.choices.library or (attempt and attempt.library) or "none"
        examples = examples_for(task.name, STYLES[self.choices.style])
        return {
            "task": task.name,
            "style": self.choices.style,
            "contract": contract,
            "library": library,
            "gpu": self.gpu and self.gpu["name"],
            "examples": [e["task"].name for e in examples],
            "last": attempt and attempt.name,
            "hashes": {
                tree.HEADER: tree.sha256(task.header),
                tree.REFERENCE: tree.sha256(task.reference),
            },
            "prompt": self._render(
                task=task,
                contract=contract,
                libraries=LIBRARIES[library],
                rules=self.shared.rules,
                contract_header=self.shared.header if "kb::" in task.header else None,
                examples=examples,
                gpu=self.gpu,
                last=attempt,
            ),
        }

    def records(self, name: str) -> list[dict[str, Any]]:
        """The candidates of a task among which the last kernel is."""
        level, slug = tree.split(name)
        run, _, sample = self.chosen.partition("/")
        return [
            c
            for c in self.suite.candidates
            if (c["level"], c["task"]) == (level, slug)
            and (not run or c["run"] == run)
            and (not sample or c["sample"] == sample)
            and self.only in (None, c["name"])
        ]

    def attempt(self, name: str) -> Attempt | None:
        """The last kernel of a task; None in other styles than refine. Raises ReportError."""
        if self.suite is None:
            return None
        found = self.records(name)
        if not found:
            raise ReportError(
                f"{self.choices.results} has no kernel of {name}: judge one, or name another "
                "PATH#RUN"
            )
        last = self._last(found)
        return _attempt(last, self.suite.runs_info.get(last["run"], {}).get("library"))

    def _last(self, records: list[dict[str, Any]]) -> dict[str, Any]:
        """The one that is meant: the last turn where samples are turns. Raises ReportError."""
        path = self.choices.results.partition("#")[0]
        runs = sorted({c["run"] for c in records}, key=natural_key)
        if len(runs) > 1:
            raise ReportError(
                f"{path} has kernels of the runs {', '.join(runs)}: name one as {path}#{runs[-1]}"
            )
        records = sorted(records, key=lambda c: natural_key(c["sample"]))
        turns = are_turns(self.suite.runs_info.get(runs[0], {}))
        if len(records) > 1 and not turns:
            last = records[-1]["sample"]
            raise ReportError(
                f"run {runs[0]} has several samples that are no turns: name one as "
                f"{path}#{runs[0]}/{last}"
            )
        return records[-1]

    def _render(self, **facts: Any) -> str:
        """The text of the style's template. Raises ReportError where a template is wrong."""
        import jinja2

        try:
            text = self.environment.get_template(f"{self.choices.style}.md.j2").render(facts)
        except jinja2.TemplateSyntaxError as e:
            where = f"{Path(e.filename or e.name or '').name}, line {e.lineno}"
            raise ReportError(f"the template {where} is wrong: {e.message}; correct it") from None
        except (
            jinja2.TemplateError, ArithmeticError, AttributeError, LookupError, OSError,
            RuntimeError, TypeError, ValueError,
        ) as e:  # fmt: skip
            raise ReportError(
                f"the templates of style {self.choices.style} fail: {e}; correct them in "
                f"{self.choices.templates or TEMPLATES.name}"
            ) from None
        return clean(text).strip() + "\n"


def examples_for(asked: str, count: int) -> list[dict[str, Any]]:
    """The first `count` examples that fit, as templates see them."""
    fitting = [example for example in EXAMPLES if example.fits(asked)]
    return [
        {"task": tree.task(e.name), "kernel": e.kernel(), "shows": e.shows} for e in fitting[:count]
    ]


def _attempt(record: dict[str, Any], library: Any) -> Attempt:
    """What a prompt says about a judged candidate of a run that may call `library`.

    Raises AttemptError if it has no fresh verdict.
    """
    name = record["name"]
    if record["state"] != JUDGED:
        why = STATE_WORDS[record["state"]]
        raise AttemptError(f"{name} is {why}: build and judge it again (ctest -R '^{name}')")
    if record["source_text"] is None or record["source_changed"]:
        raise AttemptError(f"the source of {name} is not the one that was judged: judge it again")
    found = feedback.document(record)
    return Attempt(
        name,
        feedback.verdict_words(found),
        record["source_text"],
        feedback.evidence(found),
        feedback.profile(found),
        found["contract"] if found["contract"] in CONTRACTS else None,
        library if isinstance(library, str) and library in LIBRARIES else None,
    )


def _suite(path: Path) -> tuple[Suite, str | None]:
    """The suite of a path; for a single result its build directory's, and the candidate's name."""
    if path.is_file():
        try:
            value = load.read_json(path, load.MAX_REPORT_BYTES)
        except BadFile as e:
            raise ReportError(f"{path} {e}: judge that kernel again") from None
        if isinstance(value, dict) and "verdict" in value and "kind" not in value:
            for folder in path.resolve().parents:
                if (folder / "manifest.json").is_file():
                    return load.load_build_dir(folder), str(value.get("name"))
            raise ReportError(
                f"{path} is a result outside of its build directory: name build/<preset> instead"
            )
    return merge.read_suite(path), None


def _environment(folder: Path | None) -> Any:
    """The Jinja2 environment of prompts; files of `folder` replace ours. Raises ReportError."""
    try:
        import jinja2
    except ImportError:
        raise ReportError("prompts need Jinja2 (pip install jinja2)", NO_PAGE) from None
    folders = [TEMPLATES]
    if folder is not None:
        names = sorted(p.name for p in TEMPLATES.glob("*.j2"))
        if not any((folder / name).is_file() for name in names):
            raise ReportError(
                f"{folder} holds no template: copy one of {', '.join(names)} from "
                "reports/templates/prompt there and change it"
            )
        folders.insert(0, folder)
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        autoescape=False,  # the text is Markdown; what candidates wrote goes through `fenced`
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    env.filters["fenced"] = lambda text, language="text": "\n".join(
        feedback.fence(clean(text).rstrip("\n"), language)
    )
    env.filters["kib"] = lambda n: f"{n / 1024:.4g} KiB"
    env.filters["mib"] = lambda n: f"{n / (1 << 20):.4g} MiB"
    env.filters["gib"] = lambda n: f"{n / (1 << 30):.4g} GiB"
    env.filters["tera"] = lambda v: f"{v / 1e12:.3g}"
    return env
