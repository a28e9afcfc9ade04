"""The page: its structure as text, and its behaviour in a headless Chromium."""

import json
import re
from html.parser import HTMLParser

import pytest
from chromium import (
    DESKTOP,
    PHONE,
    Browser,
    assert_background,
    clean_run,
    keep_picture,
    needs_browser,
)

from kb_report import page, schema
from synthetic import EVIDENCE, BuildDir, full_suite, read_json, sha, tasks_of

pytest.importorskip("jinja2")


class Outline(HTMLParser):
    """Collects ids, references and elements, and checks that elements nest."""

    VOID = frozenset(("meta", "link", "input", "br", "wbr", "img", "hr", "circle", "path", "rect"))

    def __init__(self, text):
        super().__init__()
        self.ids, self.targets, self.outside, self.labels = [], [], [], []
        self.counts, self.stack, self.wrong = {}, [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag not in self.VOID:
            self.stack.append(tag)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        for name in ("href", "src"):
            value = attrs.get(name, "")
            if value.startswith("#"):
                self.targets.append(value[1:])
            elif value and not value.startswith("data:"):
                self.outside.append(value)
        if tag == "svg" and attrs.get("role") != "img" and attrs.get("aria-hidden") != "true":
            self.wrong.append("svg without a text alternative")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        if tag in self.VOID or (tag == "p" and (not self.stack or self.stack[-1] != "p")):
            return
        if not self.stack or self.stack.pop() != tag:
            self.wrong.append(f"</{tag}> does not close anything")


def assert_one_file_that_loads_nothing(text: str) -> None:
    """What every page without a script is."""
    outline = Outline(text)
    assert outline.wrong == [] and outline.stack == [] and outline.outside == []
    assert len(outline.ids) == len(set(outline.ids)) and outline.counts["h1"] == 1
    assert "<script" not in text and "<b>" not in text and "None" not in text
    assert "default-src 'none'" in text and "url(" not in text


@pytest.fixture(scope="module")
def one_run(tmp_path_factory):
    """The page of all 270 tasks, one run."""
    build = full_suite(tmp_path_factory.mktemp("one") / "h200")
    build.report()
    return build.root / "reports/index.html"


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory):
    """The page of two runs with every verdict, something stale and a bad file."""
    build = full_suite(tmp_path_factory.mktemp("two") / "h200", ("seed", "mymodel"))
    by_run = [c for c in build.candidates if c["run"] == "mymodel"]
    build.path(by_run[0]["module"]).write_text("rebuilt")
    build.path(by_run[1]["result"]).write_text('{"schema": 1')
    build.report(status=1)
    return build.root / "reports/index.html"


def test_size_and_outline(one_run):
    text = one_run.read_text()
    assert len(text.encode()) < 1_000_000
    outline = Outline(text)
    assert outline.wrong == [] and outline.stack == []
    assert outline.outside == [], "nothing outside the file is referred to"
    assert len(outline.ids) == len(set(outline.ids))
    assert set(outline.targets) <= set(outline.ids)
    assert outline.counts["h1"] == 1 and outline.counts["main"] == 1
    assert text.count('class="open"') == 270
    for word in ("Overview", "Tasks", "Failures by verdict", "Machine and method", "NVIDIA H200"):
        assert word in text
    assert "http://" not in text and "https://" not in text and "url(" not in text


def test_golden_structure(two_runs):
    text = two_runs.read_text()
    outline = Outline(text)
    assert outline.wrong == [] and set(outline.targets) <= set(outline.ids)
    wanted = ["overview", "tasks", "failures", "absent", "about"]
    assert [i for i in outline.ids if i in wanted] == wanted
    assert [i for i in outline.ids if i.startswith("level-")] == [f"level-{n}" for n in range(1, 5)]
    fields = ["f-text", "f-level", "f-run", "f-verdict", "f-speed"]
    assert [i for i in outline.ids if i.startswith("f-")] == fields
    assert "1 bad input file." in text and "not judged (stale)" in text


def test_few_failures_stand_open_above_the_tasks(build):
    build.fill({0: 2.0, 1: "incorrect"}).report()
    text = (build.root / "reports/index.html").read_text()
    ids = [i for i in Outline(text).ids if i in ("failures", "tasks")]
    assert ids == ["failures", "tasks"]
    assert '<details open><summary><span class="badge v-incorrect">' in text


@pytest.mark.parametrize("right", [{0: 2.0}, {}])
def test_a_card_and_a_row_say_what_failed(build, right):
    """In a page with times, and in one without."""
    build.fill({**right, 1: "incorrect"}, run="m").report()
    text = (build.root / "reports/index.html").read_text()
    assert f'<p class="what">{len(right)} of {len(right) + 1} submitted</p>' in text
    rows = dict(re.findall(r'<tr id="([^"]+)"(.*?)</tr>', text, re.DOTALL))
    said = [c["task"] for c in build.candidates if 'class="why"' in rows[c["name"]]]
    assert said == [build.levels[1][1]]
    assert EVIDENCE["incorrect"][:90] in re.search(r'class="why">.*', text)[0]


def test_tasks_that_nobody_provides_are_a_number_on_the_page(build):
    build.fill({0: 2.0}, run="m").report()
    text = (build.root / "reports/index.html").read_text()
    assert "m, level 1: 3 of 4 tasks not provided" in text
    assert build.levels[1][3] not in text


def test_degenerate_is_no_failure_of_the_kernel(build):
    build.fill({0: 2.0, 1: "degenerate", 2: "incorrect"}).report()
    text = (build.root / "reports/index.html").read_text()
    bar = re.search(r'<div class="stack"[^>]*>', text)[0]
    assert "1 degenerate, 1 not correct" in bar
    assert 'class="s-degenerate"' in text


def test_the_runs_of_the_repository_are_explained(build):
    build.fill({0: 2.0}).fill({1: "incorrect"}, run="examples").fill({0: 2.0}, run="m").report()
    text = (build.root / "reports/index.html").read_text()
    assert re.findall(r"<p class=\"note\"><code>(\w+)</code>: ", text) == ["seed", "examples"]


def test_a_legend_stands_before_its_table(build, tmp_path, kb):
    build.fill({0: 2.0}).fill({0: 3.0}, run="m").report()
    kb("leaderboard", build.root, "--out", tmp_path / "leaderboard.html")
    kb("matrix", build.root, "--out", tmp_path / "matrix.html")
    kb("compare", f"{build.root}#seed", f"{build.root}#m", "--out", tmp_path)
    pages = [build.root / "reports/index.html"]
    pages += [tmp_path / f"{name}.html" for name in ("leaderboard", "matrix", "compare")]
    for found in (path.read_text() for path in pages):
        assert 0 < found.index("In square brackets") < found.index('<table class="plain')


def test_lanes_stand_beside_each_other(two_runs):
    text = two_runs.read_text()
    assert "against eager" in text and "against graph" in text
    heads = re.findall(r'<th scope="col"[^>]*><button type="button">([^<]+)</button>', text)
    assert heads[2:4] == ["Speed-up, eager", "graph"]
    doc = read_json(two_runs.parent / "results.json")
    row = doc["runs"][0]["levels"][0]["samples"][0]
    eager, graph = (row["lanes"][x]["geo_mean_speedup_correct"] for x in ("eager", "graph"))
    assert eager != graph and page._times(eager) in text and page._times(graph) in text


def test_details_say_how_it_was_measured(build):
    changes = {
        "timing.lanes.eager": {
            "block_speedups": [1.9, 2.1], "pair_speedups": [1.95, 2.0, 2.05], "pairs": 3,
            "second_look": True, "anomalies": ["drift"],
        },
        "timing.missing_lanes": {"graph": "it cannot be captured"},
    }  # fmt: skip
    entry = build.judged(0, "pass", 2.0, changes)
    build.report()
    text = build.details(entry)
    assert "3 pairs of processes; measured twice; drift" in text
    assert "No graph lane: it cannot be captured" in text
    assert "Speed-up of each pair of processes in lane eager" in text
    assert text.count("<circle") == 3
    assert text.count("<small>first of 3 pairs</small>") == 2
    assert "The times in eager are those of the first of 3 pairs" in build.feedback(entry)


def test_near_1_there_are_three_decimals(tmp_path):
    for i, (speedup, half, shown) in enumerate(
        [(1.0, 0.004, "0.996 – 1.004"), (1.05, 0.1, "0.945 – 1.155"), (2.0, 0.004, "1.99 – 2.01")]
    ):
        build = BuildDir(tmp_path / str(i)).fill({0: speedup}, half)
        build.report()
        assert f"</span> {shown}</small>" in build.text()
    times = [page._times(v) for v in (0.5, 0.95, 1.05, 25.0)]
    assert times == ["0.500×", "0.950×", "1.050×", "25.0×"]


def test_everyone_sees_what_was_won(build):
    speedups = {"won": 2.0, "undecided": 1.01, "lost": 0.5}
    build.fill(dict(enumerate(speedups.values()))).report()
    text = build.text()
    rows = re.findall(r'<tr id="seed.level1[^§]*?</tr>', text)
    chips = [re.findall(r'class="chip \w+">(\w+)<', row) for row in rows]
    assert chips == [[word] for word in speedups]
    for word in speedups:
        assert re.search(rf"<option[^>]*>{word}</option>", text)


def test_a_page_names_no_file_that_may_not_lie_beside_it(build):
    build.fill({0: "pass"}).report()
    text = build.text()
    assert "the report's results.json" in text
    assert "results.csv" not in text and "next to this file" not in text


def test_details_leave_out_what_is_empty(build):
    entry = build.judged(0, "pass", 2.0)
    build.report()
    assert "<h4>Correctness</h4>" in build.details(entry)
    build.result(entry, "incorrect")
    build.change(entry, {"correctness.sets": []})
    build.report()
    section = build.details(entry)
    assert "Worst element" in section and "<h4>Correctness</h4>" not in section
    build.result(entry, "pass", 2.0)
    build.change(entry, {"timing.lanes.eager.anomalies": ["throttle"]})
    build.report()
    assert "<td>throttle</td>" in build.details(entry)


def test_anomalies_that_stayed_are_seen_without_opening_a_row(build):
    odd, fine, wrong = (build.judged(i, "pass", 2.0) for i in range(3))
    for entry in (odd, wrong):
        eager = build.read(entry)["timing"]["lanes"]["eager"]
        build.change(entry, {
            "timing.lanes.graph": eager | {"anomalies": ["busy"]},
            "timing.lanes.eager.anomalies": ["throttle", "drift"],
        })  # fmt: skip
    build.change(wrong, {"verdict": "cheat"})
    build.report()
    text = build.text()
    said = '<span class="vh">anomalies in eager: throttle, drift; graph: busy</span>'
    assert text.count(said) == 1 and said in text.split(f'id="{fine["name"]}"')[0]
    assert "every anomaly" in text and "from 1 candidate;" in text
    line = next(x for x in build.text("summary.md").splitlines() if "anomalies" in x)
    assert "in 2 lane(s) of 1 candidate(s)" in line and "(eager: throttle, drift; graph" in line
    told = build.feedback(odd)
    assert "in 2 of 2 lanes: eager: throttle, drift; graph: busy." in told
    assert "anomal" not in build.feedback(fine)


@pytest.mark.parametrize(
    ("run", "shown"),
    [
        ({"model": "none"}, ""),
        ({"model": None}, ""),
        ({"model": "gpt <5>"}, " <small>gpt &lt;5&gt;</small>"),
        ({"library": "cublas"}, " <small>may call cublas</small>"),
        ({"library": "none"}, ""),
        ({"library": None}, ""),
        ({"headers": ["kb"]}, " <small>may include kb</small>"),
        ({"headers": ["kb", "<b>\n"]}, " <small>may include kb, &lt;b&gt;</small>"),
        ({"headers": []}, ""),
        ({"headers": None}, ""),
        ({"headers": "kb"}, ""),
        ({"headers": 5}, ""),
    ],
)
def test_a_page_tells_the_model_of_a_run_and_what_it_may_use(build, run, shown):
    build.runs["seed"] = run
    build.fill({0: "pass"}).report()
    assert f"<h3>seed{shown}</h3>" in build.text()


def test_what_was_not_judged_has_no_share(build):
    build.fill({0: None}).report()
    text = build.text()
    assert '<p class="big"><small>not judged</small></p>' in text
    assert "none of 4 tasks has a verdict" in text and 'class="lanes"' not in text


@pytest.mark.parametrize(
    ("samples_are", "card", "what", "name"),
    [
        (None, "25<small> %", "pass@1, mean of 2 samples; pass@2 50 %", "mean of 2 samples"),
        ("turns", "50<small> %", "fast<sub>0</sub>@2: 2 of 4", "all 2 turns"),
    ],
)
def test_a_card_and_its_groups_name_the_samples_that_they_show(
    tmp_path, samples_are, card, what, name
):
    build = BuildDir(tmp_path / "cpu", backend="cpu")
    build.runs["m"] = {"samples_are": samples_are}
    build.fill(dict.fromkeys(range(4), "incorrect"), run="m", sample="s1")
    build.fill({0: "pass", 1: "pass", 2: "incorrect", 3: "timeout"}, run="m", sample="s2")
    build.report()
    text = build.text()
    assert f'<p class="big">{card}' in text and what in text
    assert f"<caption>m {name}: by category" in text


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
def test_an_empty_report_is_that_of_its_backend(tmp_path, backend):
    build = BuildDir(tmp_path / "h200", backend=backend)
    build.report()
    without = backend == "cpu"
    assert ("was made without a GPU" in build.text()) == without
    assert ("not a GPU measurement" in build.text("summary.md")) == without


def test_cpu_page_shows_no_speed(tmp_path):
    build = full_suite(tmp_path / "cpu", backend="cpu")
    build.report()
    text = build.text()
    assert "functional, not a GPU measurement" in text
    assert "fast<sub>1</sub>" not in text and "geo-mean" not in text and 'id="f-speed"' not in text


def test_hostile_candidate_cannot_script(build):
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
    build.judged(0, "runtime_error", source=evil, evidence=evil)
    build.runs["seed"] = {"model": evil}
    build.report()
    text = build.text()
    assert evil not in text and "<img" not in text
    assert text.count("<script") == 2 and "script-src 'sha256-" in text


def without(node, path=()):
    """Paths to every optional member of a result."""
    required = schema.load("result")["required"]
    if isinstance(node, dict):
        for key in node:
            if path or key not in required:
                yield (*path, key)
            yield from without(node[key], (*path, key))
    elif isinstance(node, list) and node:
        yield from without(node[0], (*path, 0))


def test_any_optional_member_may_be_missing(tmp_path):
    """Page, tables and feedback survive results that lack members, or hold null there."""
    full = full_suite(tmp_path / "full", every=30)
    results = (full.read(c) for c in full.candidates)
    timed = next(value for value in results if value["timing"])
    timed["correctness"]["worst"] = {"set": "odd", "output": "y", "index": [1], "bound": 1.0}
    build = BuildDir(tmp_path / "h200", levels={1: tasks_of(1), 2: tasks_of(2), 3: tasks_of(3)})
    free = [(level, task) for level, tasks in build.levels.items() for task in tasks]
    paths = [p for p in without(timed) if p[0] != "hashes"]
    assert 60 < len(paths) < len(free) / 2
    for path in paths:
        for drop in (True, False):
            level, task = free.pop(0)
            entry = build.add(task, level)
            value = json.loads(json.dumps(timed))
            value |= {k: entry[k] for k in ("name", "run", "sample", "level", "task")}
            value["hashes"]["module"] = sha(f"module of {entry['name']}")
            value["hashes"]["task"] = sha(f"library of {task}")
            node = value
            for step in path[:-1]:
                node = node[step]
            if drop:
                del node[path[-1]]
            else:
                node[path[-1]] = None
            build.write(entry["result"], value)
    doc = build.report(status=1)
    judged = sum(c["state"] == "judged" for c in doc["candidates"])
    # What is missing inside a lane or a set is refused by the schema; the rest is judged.
    assert judged + len(doc["problems"]) == 2 * len(paths) and judged > len(paths)


def test_without_jinja2_the_rest_is_written(build, no_jinja2, capsys):
    build.fill({0: 2.0}).report(status=77)
    assert capsys.readouterr().out.rstrip().endswith("summary.md")


@pytest.fixture
def browser(tmp_path):
    with Browser(tmp_path / "profile") as b:
        b.size(*DESKTOP)
        yield b


@needs_browser
def test_a_phone_shows_whole_tables_and_says_what_it_hides(browser, two_runs):
    hint = "getComputedStyle(document.querySelector('.narrow')).display"
    browser.open(two_runs)
    assert browser.js(hint) == "none"
    browser.size(*PHONE, mobile=True)
    browser.open(two_runs)
    assert browser.js(hint) == "block"
    cut = "[...document.querySelectorAll('.groups')].filter(g => g.scrollWidth > g.clientWidth)"
    assert browser.js(f"{cut}.map(g => g.textContent.trim().slice(0, 20) + g.scrollWidth)") == []


@needs_browser
def test_a_phone_shows_every_fast_p(browser, two_runs):
    browser.size(*PHONE, mobile=True)
    browser.open(two_runs)
    cells = "[...document.querySelectorAll('.by-row td[data-h=fast_1]')]"
    right, tall = browser.js(
        f"[Math.max(...{cells}.map(c => c.getBoundingClientRect().right)),"
        " Math.max(...[...document.querySelectorAll('.by-row tr')].map(r => r.offsetHeight))]"
    )
    assert 0 < right < PHONE[0] and tall < 260
    names = f"{cells}.map(c => getComputedStyle(c, '::before').content)"
    assert set(browser.js(names)) == {'"fast_1"'}
    outside = "[...document.querySelectorAll('.by-row')].map(t => t.scrollWidth - t.clientWidth)"
    assert set(browser.js(outside)) == {0}


@needs_browser
def test_the_key_of_a_chart_looks_like_its_lines(browser, two_runs):
    browser.open(two_runs)
    dashes = "[...document.querySelectorAll({})].map(p => getComputedStyle(p).strokeDasharray)"
    key = set(browser.js(dashes.format("'.swatch path'")))
    assert key == set(browser.js(dashes.format("'figure > svg .line'"))) and len(key) == 2


def visible(browser):
    rows = "[...document.querySelectorAll('#table > tbody > tr:not(.detail)')]"
    return browser.js(f"{rows}.filter(r => !r.hidden).map(r => r.id)")


def set_field(browser, name, value):
    browser.js(
        f"(() => {{ const f = document.getElementById('f-{name}'); f.value = {json.dumps(value)};"
        " f.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )


@needs_browser
def test_sort(browser, one_run):
    browser.open(one_run)
    before = visible(browser)
    click = "document.querySelectorAll('#table thead button')[{}].click()"
    sorts = "[...document.querySelectorAll('#table thead th')].map(t => t.ariaSort)"
    browser.js(click.format(2))
    speed = browser.js(
        "[...document.querySelectorAll('#table tbody tr')].map(r => r.cells[2].dataset.k ?? null)"
    )
    numbers = [float(s) for s in speed if s is not None]
    assert len(numbers) > 200 and numbers == sorted(numbers, reverse=True)
    assert speed[len(numbers) :] == [None] * (270 - len(numbers)), "without a time: at the end"
    assert browser.js(sorts)[2] == "descending" and browser.js(sorts)[0] is None
    browser.js(click.format(2))
    assert browser.js(sorts)[2] == "ascending"
    browser.js(click.format(0))
    assert visible(browser) == before
    clean_run(browser, one_run)


@needs_browser
def test_filter(browser, two_runs):
    browser.open(two_runs)
    everything = visible(browser)
    set_field(browser, "run", "mymodel")
    set_field(browser, "level", "2")
    found = visible(browser)
    assert found and all(i.startswith("mymodel.level2.") for i in found)
    set_field(browser, "verdict", "pass")
    set_field(browser, "speed", "WIN")
    wins = visible(browser)
    assert 0 < len(wins) < len(found)
    for name in ("run", "level", "verdict", "speed"):
        set_field(browser, name, "")
    set_field(browser, "text", "softmax dropout")
    found = visible(browser)
    assert found and all("softmax" in i and "dropout" in i for i in found)
    set_field(browser, "text", "illegal memory access")
    found = visible(browser)
    assert found and browser.js("document.getElementById('shown').textContent").startswith(
        f"{len(found)} of "
    )
    assert browser.js("document.getElementById('none').hidden")
    set_field(browser, "text", "nothing like this")
    assert visible(browser) == [] and not browser.js("document.getElementById('none').hidden")
    browser.js("document.querySelector('#none button').click()")
    assert visible(browser) == everything
    assert browser.js("document.activeElement.id") == "f-text"
    clean_run(browser, two_runs)


@needs_browser
def test_open_a_candidate(browser, two_runs):
    browser.open(two_runs)
    name = visible(browser)[3]
    row = f"document.getElementById({json.dumps(name)})"
    browser.js(f"{row}.querySelector('.open').focus()")
    browser.key("Enter", text="\r")
    browser.wait("document.querySelector('.detail section') !== null")
    text = browser.js("document.querySelector('.detail').innerText")
    for word in ("Time", "Correctness", "Build", "Source", "__global__", "speed-up"):
        assert word in text
    assert browser.js(f"{row}.querySelector('.open').ariaExpanded") == "true"
    browser.key("Enter", text="\r")
    assert browser.js("document.querySelectorAll('.detail').length") == 0
    failed = browser.js(
        "[...document.querySelectorAll('tr[data-v=compile_error]')].map(r => r.id)[0]"
    )
    browser.js(f"location.hash = {json.dumps(failed)}")
    browser.wait("document.querySelector('.detail section') !== null")
    assert "__shfl_down_synch" in browser.js("document.querySelector('.diagnostics').textContent")
    clean_run(browser, two_runs)


@needs_browser
def test_link_opens_a_filtered_row(browser, one_run):
    browser.open(one_run, "#seed.level1.019_relu")
    browser.wait("document.querySelector('.detail section') !== null")
    browser.wait("document.activeElement.classList.contains('open')")
    assert browser.js("document.activeElement.closest('tr').id") == "seed.level1.019_relu"
    set_field(browser, "text", "nothing like this")
    assert visible(browser) == []
    browser.js("location.hash = 'seed.level2.001_conv2d_relu_bias_add'")
    browser.wait("document.querySelector('.detail section') !== null")
    assert len(visible(browser)) == 270
    clean_run(browser, one_run)


@needs_browser
def test_keyboard_reaches_everything(browser, one_run):
    browser.open(one_run)
    seen = []
    for _ in range(60):  # the open failures come before the tasks
        browser.key("Tab")
        seen.append(
            browser.js(
                "(e => e.id || e.closest('th,nav,label')?.tagName + ' ' + e.tagName)"
                "(document.activeElement)"
            )
        )
    assert "f-text" in seen and "f-verdict" in seen
    assert "NAV A" in seen and seen.count("TH BUTTON") >= 9
    names = browser.js(
        "[...document.querySelectorAll('button,input,select,a')].filter(e => "
        "!(e.textContent.trim() || e.labels?.[0]?.textContent.trim() || e.ariaLabel || "
        "e.querySelector('title'))).length"
    )
    assert names == 0, "every control has a name"


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(("name", "size"), [("phone", PHONE), ("desktop", DESKTOP)])
def test_no_sideways_scrolling(tmp_path, two_runs, name, size, dark):
    with Browser(tmp_path / "profile", dark) as b:
        b.size(*size, scale=2 if name == "phone" else 1, mobile=name == "phone")
        b.open(two_runs, "#mymodel.level1.019_relu" if name == "phone" else "")
        if name == "phone":
            b.wait("document.querySelector('.detail section') !== null")
        assert b.js("document.documentElement.scrollWidth") == size[0]
        assert_background(b, dark)
        image = tmp_path / "shot.png"
        b.screenshot(image)
        assert image.stat().st_size > 20_000
        keep_picture(b, f"{name}-{'dark' if dark else 'light'}.png")
        clean_run(b, two_runs)


@needs_browser
def test_text_has_contrast(browser, two_runs):
    """Every colour of text has a contrast of 4.5 with what lies behind it (WCAG 2, level AA)."""
    script = """(() => {
      const light = c => { const f = c.map(v => { v /= 255; return v <= .03928 ? v / 12.92 :
        ((v + .055) / 1.055) ** 2.4 }); return .2126 * f[0] + .7152 * f[1] + .0722 * f[2] };
      const rgb = s => { const m = s.match(/[\\d.]+/g).map(Number);
        const c = s.startsWith('color(') ? m.slice(0, 3).map(v => v * 255) : m.slice(0, 3);
        return [...c, m[3] ?? 1] };
      const behind = e => { let c = [255, 255, 255]; const chain = [];
        for (; e; e = e.parentElement) chain.push(rgb(getComputedStyle(e).backgroundColor));
        for (const b of chain.reverse()) c = c.map((v, i) => b[3] * b[i] + (1 - b[3]) * v);
        return c };
      const bad = new Set();
      for (const e of document.querySelectorAll('h1,p,small,td,th,.badge,.chip,a,figcaption,summary,dt')) {
        if (!e.textContent.trim() || !e.offsetParent) continue;
        const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))];
        const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        if (ratio < 4.5) bad.add(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2));
      }
      return [...bad];
    })()"""
    for scheme in ("light", "dark"):
        browser.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        browser.open(two_runs)
        assert browser.js(script) == [], scheme


@needs_browser
def test_prints(browser, one_run, tmp_path):
    browser.open(one_run)
    browser.pdf(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    assert browser.js("[...document.querySelectorAll('details')].every(d => d.open)")


@needs_browser
def test_comparison_page(browser, tmp_path, kb):
    a, b = (full_suite(tmp_path / gpu, gpu=gpu).finish() for gpu in ("h200", "l40s"))
    kb("compare", a, b, "--out", tmp_path / "out")
    file = tmp_path / "out/compare.html"
    assert Outline(file.read_text()).wrong == []
    for size in (DESKTOP, PHONE):
        browser.size(*size, mobile=size == PHONE)
        browser.open(file)
        assert browser.js("document.documentElement.scrollWidth") == size[0]
    browser.size(*DESKTOP)
    keep_picture(browser, "compare.png")
    clean_run(browser, file)


@needs_browser
def test_a_comparison_of_two_records_of_a_gpu_fits_a_phone(browser, tmp_path, kb):
    folders = []
    for name, day in (("old", "2026-01-02"), ("new", "2026-02-03")):
        doc = full_suite(tmp_path / "h200", ("seed", "examples"), every=30).report()
        folder = tmp_path / ("a_folder_with_a_long_name_" * 3) / name / "h200"
        folder.mkdir(parents=True)
        (folder / "results.json").write_text(json.dumps(doc | {"time": f"{day}T00:00:00Z"}))
        folders.append(folder)
    out = tmp_path / "out"
    kb("compare", *folders, "--out", out)
    doc = read_json(out / "compare.json")
    days = ("2026-01-02", "2026-02-03")
    labels = [f"{run} {day}" for day in days for run in ("seed", "examples")]
    assert [s["label"] for s in doc["sides"]] == labels
    pairs = [(p["b"].split()[0], p["a"].split()[0]) for p in doc["levels"][0]["pairs"]]
    assert pairs == [("seed", "seed"), ("examples", "examples"), ("examples", "seed")]
    for folder in folders:
        file = folder / "results.json"
        file.write_text(json.dumps(read_json(file) | {"time": f"{days[0]}T00:00:00Z"}))
    kb("compare", *folders, "--out", out)
    doc = read_json(out / "compare.json")
    labels = [f"{run} {name}/h200" for name in ("old", "new") for run in ("seed", "examples")]
    assert [s["label"] for s in doc["sides"]] == labels, "the same day: told by their folders"
    browser.size(*PHONE, mobile=True)
    browser.open(out / "compare.html")
    assert browser.js("document.querySelector('h1').textContent") == f"{labels[0]} against 3 others"
    assert browser.js("document.documentElement.scrollWidth") == PHONE[0]
