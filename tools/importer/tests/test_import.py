"""import: kernels of other projects become a run, or are listed with the reason."""

import json
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

from kb_import import importing, launch, translate
from kb_import.symbols import Untranslatable
from kb_report import tree
from kb_report.model import ReportError

CUDA = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void relu_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

torch::Tensor relu(torch::Tensor x) {
  auto y = torch::empty_like(x);
  relu_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
"""

RELU = "return self.extension.relu(x)"
NORM = "level1/040_layer_norm"
SIZES = """batch_size = 16
dim = 384

def get_inputs():
    return [torch.randn(batch_size, dim)]"""


def module(forward, init="", cuda=CUDA, functions='["relu"]', sizes=SIZES, init_arguments=""):
    """A source in KernelBench's form."""
    return f'''
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """{cuda}"""
extension = load_inline(name="e", cpp_sources="torch::Tensor relu(torch::Tensor x);",
                        cuda_sources=cuda_source, functions={functions})

class ModelNew(nn.Module):
    def __init__(self{init_arguments}):
        super(ModelNew, self).__init__()
        self.extension = extension
{indent(init, " " * 8)}

    def forward(self, x):
{indent(forward, " " * 8)}

{sizes}
'''


def translated(text, task="level1/019_relu", **more):
    return translate.translate(text, launch.read(task), "a test", **more)


def reason(text, task="level1/019_relu"):
    with pytest.raises(Untranslatable) as caught:
        translated(text, task)
    return str(caught.value)


def test_a_call_of_the_extension():
    made = translated(module(RELU))
    assert "const at::Tensor kb_t0 = ::relu(kb_x0);" in made.source
    assert "kb_scope.give(kb_t0, kb_y0, kb_numel0);" in made.source
    assert "#include <kb/torch.h>" in made.source
    assert "torch/extension.h" not in made.source
    assert made.notes == []


def test_kernels_are_launched_on_the_stream():
    on = "kb::torch_names::stream()"
    assert translate.on_stream("k<<<a, b>>>(x)") == f"k<<<a, b, 0, {on}>>>(x)"
    assert translate.on_stream("k<<<dim3(a, b), c, n>>>(x)") == f"k<<<dim3(a, b), c, n, {on}>>>(x)"
    assert translate.on_stream("k<int><<<a, b, n, 0>>>()") == f"k<int><<<a, b, n, {on}>>>()"
    for same in ("k<<<a, b, n, mine>>>()", "x << y; k<<<a"):
        assert translate.on_stream(same) == same


def weighted(make, weight, bias):
    """A source whose extension takes the weights that `make` makes in __init__."""
    return WEIGHTED.format(make=make, weight=f"self.{weight}", bias=f"self.{bias}")


def test_several_extensions_become_one_file():
    second = CUDA.replace("relu", "clip")
    init = f"self.second = load_inline(name='f', cpp_sources='', cuda_sources='''{second}''')"
    made = translated(module("return self.second.clip(self.extension.relu(x))", init=init))
    assert "const at::Tensor kb_t1 = ::clip(kb_t0);" in made.source
    assert made.source.count("__global__") == 2


def test_what_is_known_decides_branches():
    forward = """if not x.is_cuda:
    return torch.relu(x)
if x.dtype != torch.float32 or x.dim() != 2 or not torch.cuda.is_available():
    x = x.float()
try:
    y = self.extension.relu(x.contiguous())
except Exception as e:
    print(e)
    y = torch.relu(x)
return y.view(x.shape)"""
    made = translated(module(forward))
    assert "if (" not in made.source.split("void task::launch")[1]
    assert "view(std::vector<int64_t>{kb_x0.size(0), kb_x0.size(1)})" in made.source


def test_what_depends_on_sizes_becomes_a_branch():
    forward = """if x.size(1) % 4 == 0:
    return self.extension.relu(x)
return torch.relu(x)"""
    made = translated(module(forward))
    assert "if (((kb_x0.size(1) % 4) == 0)) {" in made.source
    assert 'kb::torch_names::fail("the source uses torch operators: torch.relu' in made.source
    assert made.notes == ["only for some sizes: else it uses torch operators: torch.relu"]
    # At its own sizes it takes the other branch: there is no kernel to judge.
    forward = forward.replace("== 0", "== 3")
    assert reason(module(forward)) == "uses torch operators: torch.relu"


def test_a_loop_over_a_size_is_a_branch_for_each_step():
    sizes = SIZES.replace("dim = 384", "dim = 2")
    forward = "for i in range(self.dim):\n    x = self.extension.relu(x)\nreturn x"
    made = translated(module(forward, init="self.dim = dim", sizes=sizes))
    body = made.source.split("void task::launch")[1]
    assert "if ((s.dim > 0)) {" in body and "if ((s.dim > 1)) {" in body
    assert "kb_t1 = ::relu(kb_t0)" in body
    assert any("a loop whose end depends on sizes" in note for note in made.notes)
    assert reason(module(forward, init="self.dim = dim")) == (
        "Python that is not understood: a loop whose end depends on sizes"
    )


def test_sizes_by_name_and_constants():
    source = module(
        "return self.extension.relu(x, self.slope, self.n * 2)",
        init="self.slope = slope\nself.n = dim",
        init_arguments=", slope=0.5",
        sizes="""batch_size = 16
dim = 384
negative_slope = 0.01

def get_inputs():
    return [torch.randn(batch_size, dim)]

def get_init_inputs():
    return [negative_slope]""",
    )
    made = translated(source, "level1/020_leaky_relu")
    assert "::relu(kb_x0, s.negative_slope, (s.dim * 2))" in made.source


def test_parameters_with_upstreams_values_are_sizes():
    call = "return self.extension.relu(x, self.alpha, self.batch_size)"
    init, parameters = (
        "self.alpha = alpha\nself.batch_size = batch_size",
        ", alpha=1.0, batch_size=3",
    )
    made = translated(module(call, init=init, init_arguments=parameters), "level1/031_elu")
    # alpha is upstream's 1.0; a batch of 3 is something else than upstream's.
    assert "::relu(kb_x0, s.alpha, 3)" in made.source


def without(text, *functions):
    """The source as generators answer: without upstream's functions and what they need."""
    for function in functions:
        text = text[: text.index(f"def {function}")]
    return text


def test_arguments_that_a_source_leaves_to_upstream():
    sizes = "def get_inputs():\n    return []"
    names = ("in_features", "out_features", "multiplier", "slope")
    source = module(
        "return self.extension.relu(x, self.gemm.weight, self.factors[0], self.factors[1])",
        init="self.gemm = nn.Linear(in_features, out_features)\nself.factors = multiplier, slope",
        init_arguments=", " + ", ".join(names),
        sizes=sizes,
    )
    made = translated(without(source, "get_inputs"), "level2/012_gemm_multiply_leaky_relu")
    assert "::relu(kb_x0, kb_w_gemm_weight, s.multiplier, s.negative_slope)" in made.source
    # A tuple of upstream's constants.
    make = "self.ln, self.count = nn.LayerNorm(normalized_shape), normalized_shape[0]"
    source = without(weighted(make, "ln.weight", "ln.bias"), "get_inputs")
    source = source[: source.index("batch_size,")].replace("1e-5)", "self.count)")
    assert (
        "::norm(kb_x0, kb_w_ln_weight, kb_w_ln_bias, s.features)" in translated(source, NORM).source
    )


def test_inputs_that_a_source_leaves_to_upstream():
    source = module("return self.extension.relu(x, s)").replace(
        "forward(self, x)", "forward(self, x, s)"
    )
    made = translated(without(source, "get_inputs"), "level1/005_matrix_scalar_multiplication")
    assert "::relu(kb_x0, s.s)" in made.source
    # Upstream's own sizes decide which branch has to return.
    forward = "if x.size(1) == 393216:\n    return self.extension.relu(x)\nreturn torch.relu(x)"
    assert translated(without(module(forward), "get_inputs")).notes != []
    found = reason(without(module(forward.replace("==", "!=")), "get_inputs"))
    assert found == "uses torch operators: torch.relu"


def test_a_model_with_other_parameters_than_upstreams():
    source = without(module(RELU, init_arguments=", a, b=2"), "get_inputs")
    assert reason(source) == "Python that is not understood: no value for the parameter a"
    source = without(module(RELU), "get_inputs")
    told = "Python that is not understood: more arguments than parameters"
    assert reason(source, "level1/047_sum_reduction_over_a_dimension") == told


def test_inputs_that_are_numbers():
    sizes = """M, N = 16, 384

def get_inputs():
    return [torch.randn(M, N), 3.14]"""
    source = module("return self.extension.relu(x, s)", sizes=sizes)
    source = source.replace("def forward(self, x)", "def forward(self, x, s)")
    made = translated(source, "level1/005_matrix_scalar_multiplication")
    assert "::relu(kb_x0, s.s)" in made.source


WEIGHTED = '''
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

class ModelNew(nn.Module):
    def __init__(self, normalized_shape):
        super().__init__()
        {make}
        self.ops = load_inline(name="n", cpp_sources="", functions=["norm"], cuda_sources="""
torch::Tensor norm(torch::Tensor x, torch::Tensor w, torch::Tensor b, double eps) {{ return x; }}
""")

    def forward(self, x):
        return self.ops.norm(x, {weight}, {bias}, 1e-5)

batch_size, features, dim1, dim2 = 2, 3, 4, 5

def get_inputs():
    return [torch.rand(batch_size, features, dim1, dim2)]

def get_init_inputs():
    return [(features, dim1, dim2)]
'''


def test_weights_by_upstreams_names():
    source = weighted("self.ln = nn.LayerNorm(normalized_shape)", "ln.weight", "ln.bias")
    made = translated(source, NORM)
    assert (
        "kb_w_ln_weight = kb::torch_names::tensor(kb_weight0, kb_weight_shape0(s))" in made.source
    )
    assert "::norm(kb_x0, kb_w_ln_weight, kb_w_ln_bias, 1e-05)" in made.source
    assert made.notes == []


def test_weights_by_their_order():
    make = """self.weight = nn.Parameter(torch.ones(normalized_shape))
        self.bias = nn.Parameter(torch.randn(normalized_shape))"""
    made = translated(weighted(make, "weight", "bias"), NORM)
    assert "kb_w_ln_weight, kb_w_ln_bias" in made.source
    assert "weight is upstream's ln.weight, by their order" in made.notes
    # One too many: no order can be told.
    more = make + "\n        self.third = nn.Parameter(torch.randn(3))"
    told = "weight is not among those of the task (ln.weight, ln.bias)"
    assert told in reason(weighted(more, "weight", "bias"), NORM)


def test_weights_by_names_with_underscores():
    make = """self.ln_bias = nn.Parameter(torch.randn(normalized_shape))
        self.ln_weight = nn.Parameter(torch.ones(normalized_shape))"""
    made = translated(weighted(make, "ln_weight", "ln_bias"), NORM)
    assert "::norm(kb_x0, kb_w_ln_weight, kb_w_ln_bias, 1e-05)" in made.source


def test_first_values_of_weights_are_no_concern():
    make = """self.ln = nn.LayerNorm(normalized_shape)
        fan_in, _ = nn.init._calculate_fan_in_and_fan_out(self.ln.weight)
        bound = 1 / fan_in if fan_in > 0 else 0
        if fan_in != 0:
            nn.init.uniform_(self.ln.bias, -bound, bound)"""
    made = translated(weighted(make, "ln.weight", "ln.bias"), NORM)
    assert "if (" not in made.source.split("void task::launch")[1]


def test_a_number_as_a_buffer():
    make = """self.ln = nn.LayerNorm(normalized_shape)
        self.register_buffer("number", torch.tensor(2.5))"""
    made = translated(weighted(make, "ln.weight", "number"), NORM)
    assert "at::full(std::vector<int64_t>{}, 2.5)" in made.source


def test_buffers_with_known_values_are_made_anew():
    make = """self.ln = nn.LayerNorm(normalized_shape)
        self.register_buffer("mean", torch.zeros(3))"""
    made = translated(weighted(make, "ln.weight", "mean"), NORM)
    assert "at::full(std::vector<int64_t>{3}, 0)" in made.source


def test_weights_that_init_computes():
    make = "self.ln = nn.LayerNorm(normalized_shape); self.w = self.ln.weight * 2 - 1"
    source = weighted(make, "w", "ln.bias")
    made = translated(source, NORM)
    assert "kb_t0 = kb::torch_names::compute(kb_w_ln_weight, '*', 2);" in made.source
    assert "kb_t1 = kb::torch_names::compute(kb_t0, '-', 1);" in made.source
    found = reason(source.replace("weight * 2 - 1", "weight * self.ln.weight"), NORM)
    assert found == "its weights are not upstream's: a weight that __init__ computes"


@pytest.mark.parametrize(
    ("forward", "wanted"),
    [
        ("return torch.relu(x)", "uses torch operators: torch.relu"),
        ("return x * 2", "uses torch operators: * of tensors"),
        ("return self.extension.relu(x) + x", "uses torch operators: + of tensors"),
        ("return self.extension.relu(x[0])", "uses torch operators: a part of a tensor"),
        ("return self.extension.other(x)", "calls what the extension cannot bind: 'other', which its "
         "source does not define"),
        ("return self.extension.relu(x.to(memory_format=torch.channels_last))",
         "keeps tensors channels-last"),
        ("return x.clone()", "never calls its extension"),
        ("with torch.cuda.stream(torch.cuda.Stream()):\n    return self.extension.relu(x)",
         "uses streams of its own: torch.cuda.stream"),
        ("while x.size(0) > 3:\n    x = self.extension.relu(x)\nreturn x",
         "Python that is not understood: a loop whose end depends on sizes"),
        ("return eval('x')", "Python that is not understood: eval()"),
        ("raise ValueError('no')", "Python that is not understood: it raises ValueError('no')"),
        ("import time\nt = time.time()\nreturn self.extension.relu(x)",
         "chooses a kernel by measuring: time.time"),
        ("y = 9 ** 99999999\nreturn self.extension.relu(x)", "Python that is not understood: a large power"),
        ("return self.forward(x)", "Python that is not understood: calls nest too deeply"),
        ("y = 'a' * 10 ** 12\nreturn self.extension.relu(x)",
         "Python that is not understood: a text that is repeated"),
    ],
)  # fmt: skip
def test_what_is_not_translated(forward, wanted):
    assert reason(module(forward)) == wanted


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("range()", "TypeError"),
        ("range(1, 5, 0)", "ValueError"),
        ("round(float('inf'))", "OverflowError"),
        ("getattr(x)", "IndexError"),
        ("isinstance(x)", "TypeError"),
        ("[].append()", "IndexError"),
        ("[1, 2][::0]", "ValueError"),
        ("'ab'[::0]", "ValueError"),
    ],
)
def test_what_python_refuses_is_not_translated(expression, wanted):
    told = f"Python that is not understood: it fails with {wanted}"
    assert reason(module(f"y = {expression}\n{RELU}")) == told


def test_strides_one_by_one_and_all_of_them():
    forward = "rows, columns = x.stride()\nreturn self.extension.relu(x, rows, columns, {})"
    for last in ("x.stride(1)", "x.stride(dim=1)"):
        made = translated(module(forward.format(last)))
        assert "::relu(kb_x0, kb_x0.stride(0), kb_x0.stride(1), kb_x0.stride(1))" in made.source
    unknown = "x = self.extension.relu(x)\n" + forward.format(1)
    told = "Python that is not understood: strides of a tensor of unknown rank"
    assert reason(module(unknown)) == told


def test_operators_in_the_extension():
    member = "dim3 b; int n = (x.numel() + b.x - 1) / b.x; return y;"
    assert translated(module(RELU, cuda=CUDA.replace("return y;", member))).notes == []
    source = module(RELU, cuda=CUDA.replace("return y;", "return y / x;"))
    assert reason(source) == "uses torch operators: / of tensors in its C++"
    offered = ("return y / 2;", "return 2 * y;", "y /= static_cast<float>(x.numel()); return y;",
               "int n = 2; return y - n;", "return y.mean();", "return x.sum( );", "return torch::mean(y);", "return y[0];",
               "if (y.numel() == 0) return torch::tensor(0.0, y.options()); return y;")  # fmt: skip
    for statement in offered:
        made = translated(module(RELU, cuda=CUDA.replace("return y;", statement)))
        assert made.notes == [], statement
    fallback = "if (x.numel() > 9) { return torch::relu(x); }\n  return y;"
    made = translated(module(RELU, cuda=CUDA.replace("return y;", fallback)))
    assert made.notes == ["only for some sizes: else its C++ calls torch::relu"]
    # What kb/torch.h has no name for would not compile, in a branch or not.
    for statement, what in (
        ("if (n > 9) { return torch::var(x, 1); }", "torch::var"),
        ("y = torch::mean(x, 1);", "torch::mean"),
        ("if (n > 9) { y = x.exp(); }", ".exp"),
        ("y /= x;", "/= of tensors"),
        ("y = 2 / x;", "/ of tensors"),
        ("y = x.sum(1);", ".sum"),
    ):
        source = module(RELU, cuda=CUDA.replace("return y;", f"int n = 9; {statement} return y;"))
        assert reason(source) == f"uses torch operators: {what} in its C++"


@pytest.mark.parametrize(
    ("source", "task", "wanted"),
    [
        (module(RELU, init="self.second = load_inline(name='f', cpp_sources='', cuda_sources="
         "'__global__ void relu_kernel(float* x) {}')"),
         "019_relu", "has several extensions with the same names: relu_kernel"),
        (module(RELU), "001_square_matrix_multiplication",
         "is written for another task: it has 1 inputs, the task 2"),
        (without(module(RELU), "get_inputs"), "066_matmul_dropout_softmax",
         "draws at random in forward: the task has it as an input: mask"),
        (module(RELU), "040_layer_norm",
         "is written for another task: input 0 has 2 dimensions, that of the task 4"),
        ("import triton\n" + module(RELU), "019_relu", "uses Triton"),
        ("def f(:", "019_relu", "does not parse as Python: line 1"),
        ("x" * 10_000_000, "019_relu", "is larger than 1 MB"),
        ("x = 1", "019_relu", "holds no CUDA"),
        ("x = '__global__'", "019_relu",
         "Python that is not understood: there is no class ModelNew"),
    ],
    ids=range(9),
)  # fmt: skip
def test_sources_that_are_refused_as_a_whole(source, task, wanted):
    level = 2 if task.startswith("066") else 1
    assert reason(source, f"level{level}/{task}") == wanted


def test_a_launch_that_names_grid_and_block():
    forward = """y = torch.empty_like(x)
self.extension.relu_kernel(grid=(x.numel() // 256 + 1,), block=(256,),
                           args=[x.data_ptr(), y.data_ptr(), x.numel()])
return y"""
    made = translated(module(forward, functions='["relu_kernel"]'))
    assert "static_cast<const float*>(kb_x0.data_ptr())" in made.source
    assert made.notes == ["launches relu_kernel(), which load_inline() does not bind"]
    without = forward.replace("grid=(x.numel() // 256 + 1,), block=(256,),", "")
    assert "which is a __global__ function" in reason(module(without, functions='["relu_kernel"]'))


def test_bad_sources():
    for source in ("x = 'a\0b'", "x = " + "(" * 900 + ")" * 900):
        assert reason(source).startswith("does not parse as Python")
    deep = "x = '__global__' + " + "-" * 5000 + "1"
    assert reason(deep).startswith(("does not parse", "Python that"))


def test_nothing_of_the_source_is_run(tmp_path):
    mark = tmp_path / "ran"
    forward = f"open({str(mark)!r}, 'w').write('x')\n{RELU}"
    head = f"import os\nos.system('touch {mark}')\n__import__('os').mkdir({str(mark)!r})\n"
    with pytest.raises(Untranslatable):
        translated(head + module(forward))
    translated(module(forward))
    assert not mark.exists()


def test_every_task_can_be_read():
    for name in tree.tasks():
        if not name.startswith("level4"):
            task = launch.read(name)
            assert task.of("input") and task.of("output"), name
            assert all(a.shape for a in task.of("input")), name


# Runs


@pytest.fixture
def suite(tmp_path):
    """A source tree with some tasks, and no candidates."""
    root = tmp_path / "tree"
    for name in ("level1/019_relu", "level1/020_leaky_relu", "level1/040_layer_norm",
                 "level4/007_gpt2_bs32_seq256"):  # fmt: skip
        for file in (tree.HEADER, tree.REFERENCE):
            path = root / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text((tree.PROJECT / name / file).read_text())
    return root


GOOD = module(RELU)
ROW = {"level_id": 1, "task_id": 19, "custom_code": GOOD}


@pytest.fixture
def imported(suite, tmp_path, kb):
    """Imports rows of JSON, or what is in a folder, as the run m: what is printed."""

    def run(form, source, status=0):
        if not isinstance(source, Path):
            path = tmp_path / "a.json"
            path.write_bytes(source if isinstance(source, bytes) else json.dumps(source).encode())
            source = path
        return kb(form, source, "m", "--tree", suite, status=status)

    return run


def record(suite):
    return json.loads((suite / "candidates/m/import.json").read_text())["sources"]


def test_a_run_folder_of_kernelbench(suite, tmp_path, imported):
    source = tmp_path / "runs"
    source.mkdir()

    def kernel(level, problem, sample):
        return source / f"level_{level}_problem_{problem}_sample_{sample}_kernel.py"

    kernel(1, 19, 0).write_text(GOOD)
    kernel(1, 19, 1).write_text("def f(:")
    kernel(1, 20, 0).write_text(GOOD)
    kernel(9, 19, 0).write_text(GOOD)
    kernel(1, 40, 0).symlink_to("/etc/passwd")
    kernel(1, 40, 1).write_bytes(b"\xff\xfe")
    kernel(1, 40, 2).write_text("#" * 10_000_000)
    (source / "eval_results.json").write_text("{}")
    assert imported("kernelbench", source).out == (
        "7 read, 2 translated\n"
        "not translated:\n"
        "  2  cannot be read\n"
        f"       it is a link or no file: {kernel(1, 40, 0).name}\n"
        f"       it is not UTF-8: {kernel(1, 40, 1).name}\n"
        "  1  does not parse as Python\n"
        f"       line 1: {kernel(1, 19, 1).name}\n"
        "  1  is larger than 1 MB\n"
        f"       10000000 bytes: {kernel(1, 40, 2).name}\n"
        "  1  belongs to no task of this suite\n"
        f"       level 9, number 19: {kernel(9, 19, 0).name}\n"
        "candidates/m: 2 kernels; import.json names every source\n"
    )
    run = suite / "candidates/m"
    assert json.loads((run / "run.json").read_text()) == {
        "imported": "kernelbench",
        "headers": ["torch"],
    }
    files = sorted(p.relative_to(run).as_posix() for p in run.rglob("*.cu"))
    assert files == ["s0/level1/019_relu.cu", "s0/level1/020_leaky_relu.cu"]
    rows = {r["source"]: r for r in record(suite)}
    assert rows[kernel(1, 19, 1).name]["detail"] == "line 1"
    assert rows[kernel(1, 40, 1).name]["detail"] == "it is not UTF-8"


def test_names_and_marks_of_other_scripts(suite, tmp_path, imported):
    source = tmp_path / "mine_level1_20260101"
    source.mkdir()
    (source / "problem_19_kernel.py").write_text("\ufeff" + GOOD)
    (source / "level_1_problem_20_kernel.py").write_text(GOOD)
    (source / "helpers.py").write_text("")
    assert imported("kernelbench", source).out == (
        "3 read, 2 translated\n"
        "not translated:\n"
        "  1  has a name that says no task\n"
        "       call it level_<L>_problem_<N>_sample_<S>_kernel.py: helpers.py\n"
        "candidates/m: 2 kernels; import.json names every source\n"
    )
    assert (suite / "candidates/m/level1/019_relu.cu").is_file()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("helpers.py", "its files are called level_<L>_problem_<N>_sample_<S>_kernel.py"),
        ("inner/level_1_problem_19_sample_0_kernel.py", "give one of its folders, such as inner"),
    ],
)
def test_a_folder_that_is_no_run(suite, tmp_path, imported, name, message):
    file = tmp_path / "runs" / name
    file.parent.mkdir(parents=True)
    file.write_text(GOOD)
    assert message in imported("kernelbench", tmp_path / "runs", status=2).err


def test_a_level_that_no_name_says(suite, tmp_path, imported):
    source = tmp_path / "mine"
    source.mkdir()
    (source / "problem_19_kernel.py").write_text(GOOD)
    assert "1  has a name that says no task" in imported("kernelbench", source).out


def test_kernels_that_call_a_vendor_library(suite, tmp_path, imported):
    rows = [
        ROW | {"custom_code": GOOD.replace("#include <cuda_runtime.h>", "#include <cublas_v2.h>")}
    ]
    assert (
        "1 of them call a vendor library, which run.json declares" in imported("cuda-l1", rows).out
    )
    assert json.loads((suite / "candidates/m/run.json").read_text())["library"] == "cublas"
    assert record(suite)[0]["notes"] == ["calls cublas"]


def test_many_details_of_one_reason():
    entries = [importing.Entry(f"{i}.py", reason="r", detail=f"d{i // 2}") for i in range(26)]
    lines = importing.summary("kernelbench", entries).splitlines()
    assert lines[2:5] == ["  26  r", "        d0: 0.py and 1 more", "        d1: 2.py and 1 more"]
    assert lines[12:] == ["        d9: 18.py and 1 more", "        6 others with 3 other details"]


def test_one_sample_needs_no_folder(suite, tmp_path, imported):
    source = tmp_path / "runs"
    source.mkdir()
    (source / "level_1_problem_19_sample_0_kernel.py").write_text(GOOD)
    imported("kernelbench", source)
    assert (suite / "candidates/m/level1/019_relu.cu").is_file()


def test_json_of_cuda_l1(suite, imported):
    rows = [
        ROW | {"task_id": "19"},
        ROW,
        {"level_id": 1, "task_id": 19},
        ROW | {"level_id": "../../x"},
        ROW | {"task_id": 20, "custom_code": None},
        ROW | {"task_id": 40, "custom_code": "x = '\ud800'"},
        "a text",
    ]
    assert "7 read, 1 translated" in imported("cuda-l1", rows).out
    assert [r.get("reason") for r in record(suite)] == [
        None, "is a second kernel for its task and sample", "lacks a column",
        "belongs to no task of this suite", "has no source", "does not parse as Python",
        "cannot be read",
    ]  # fmt: skip
    assert sorted(p.name for p in suite.iterdir()) == ["candidates", "level1", "level4"]


def test_a_task_that_is_not_understood_stops_no_import(suite, imported):
    out = imported("cuda-l1", [ROW | {"level_id": 4, "task_id": 7}, ROW]).out
    assert "2 read, 1 translated" in out
    assert "  1  belongs to a task whose launch is not understood\n" in out
    assert record(suite)[0]["detail"].startswith("level4/007_gpt2_bs32_seq256: launch, Sizes")


def test_lines_of_json_of_which_one_is_bad(suite, imported):
    row = json.dumps(ROW)
    assert "2 read, 1 translated" in imported("cuda-l1", f"{row}\n{row[:-9]}\n".encode()).out
    assert record(suite)[1]["detail"].startswith("no JSON: ")


def test_a_folder_of_json_has_a_sample_per_file(suite, tmp_path, imported):
    source = tmp_path / "all"
    source.mkdir()
    for name in ("a100", "h100"):
        rows = {"1": [{"task_id": 19, "custom_code": GOOD}]}
        (source / f"{name}.json").write_text(json.dumps(rows))
    imported("cuda-l1", source)
    run = suite / "candidates/m"
    files = sorted(p.relative_to(run).as_posix() for p in run.glob("*/level1/*.cu"))
    assert files == ["a100/level1/019_relu.cu", "h100/level1/019_relu.cu"]


ROBUST = """
import torch
import torch.nn as nn

def forward_fn(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x)

class Model(nn.Module):
    def __init__(self, dim: int = 384):
        super().__init__()

    def forward(self, x, fn=forward_fn):
        return fn(x)

def get_inputs(batch_size: int = 16, dim: int = 384):
    return [torch.randn(batch_size, dim)]
"""


def test_folders_of_robust_kbench(suite, tmp_path, imported):
    task = tmp_path / "rk/tasks/kernelbench/level_1/task_19"
    (task / "k1").mkdir(parents=True)
    (task / "func_forward.py").write_text(ROBUST)
    binding = 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &relu); }'
    (task / "k1/forward.cu").write_text(CUDA + binding)
    (task / "k1/backward.cu").write_text(CUDA)
    (tmp_path / "rk/llama").mkdir()
    (tmp_path / "rk/llama/forward.cu").write_text(CUDA)
    assert "3 read, 1 translated" in imported("robust-kbench", tmp_path / "rk").out
    assert "::relu(kb_x0)" in next((suite / "candidates/m").rglob("019_relu.cu")).read_text()


def test_pairs_of_kernelbook(suite, imported):
    code = """import torch.nn as nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()
    def forward(self, x):
        return self.act(x)
"""
    rows = [
        {"entry_point": "Net", "pytorch_code": code, "triton_code": "import triton"},
        {"entry_point": "Net", "pytorch_code": code.replace("ReLU", "Hardswish")},
        {"entry_point": "Net", "pytorch_code": "def f(:"},
        {"entry_point": "Net"},
    ]
    out = imported("kernelbook", rows).out
    assert out.startswith("4 read, 1 with the operators of a task\n")
    assert "  2  holds Triton and no CUDA\n" in out
    assert record(suite)[0]["tasks"] == ["level1/019_relu"]
    assert not list((suite / "candidates/m").rglob("*.cu"))


@pytest.mark.parametrize("name", ["../x", "a/b", "", "seed", "level1", "x" * 65, ".hidden"])
def test_names_that_are_none(suite, tmp_path, kb, name):
    err = kb("cuda-l1", tmp_path, name, "--tree", suite, status=2).err
    assert "is no name for a run" in err
    assert not (suite / "candidates").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "a.json is no JSON"),
        (b"", "a.json is no JSON"),
        (b"\xff", "a.json is not UTF-8"),
        (b"[" * 100_000, "a.json is no JSON"),
        (b"[]", "holds nothing in the form of cuda-l1"),
    ],
)
def test_sources_that_are_none(suite, imported, content, message):
    error = imported("cuda-l1", content, status=2).err
    assert message in error and error.count("\n") == 1
    assert not list(suite.glob("candidates/*"))


def test_a_run_that_exists_is_left_alone(suite, tmp_path, imported, kb):
    kept = suite / "candidates/m/mine.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text("mine")
    error = imported("cuda-l1", [ROW], status=2).err
    assert "candidates/m exists: choose another name" in error
    assert kept.read_text() == "mine"
    kb("cuda-l1", tmp_path / "none.json", "n", "--tree", suite, status=2)


def test_a_full_disk_leaves_nothing(suite, tmp_path, monkeypatch):
    source = tmp_path / "a.json"
    source.write_text(json.dumps([ROW]))
    real = importing.write.write_atomic

    def full(path, *more, **options):
        if path.suffix == ".cu":
            raise OSError(28, "No space left on device")
        real(path, *more, **options)

    monkeypatch.setattr(importing.write, "write_atomic", full)
    with pytest.raises(ReportError, match="No space left on device"):
        importing.run("cuda-l1", source, "m", suite)
    assert list((suite / "candidates").iterdir()) == []


def test_the_tool(suite, tmp_path):
    source = tmp_path / "a.json"
    source.write_text(json.dumps([ROW]))
    done = subprocess.run(
        [tree.PROJECT / "tools/import", "cuda-l1", source, "m", "--tree", suite],
        env={"PATH": "/usr/bin:/bin", "KB_PYTHON": sys.executable},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 read, 1 translated\n")
