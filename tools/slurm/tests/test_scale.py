"""reports/hardware/h100/scale.md: its tables are those of the simulation, and the simulation counts right."""

import pytest

import simulate_fleet
from recorded_costs import Cost, Records, read, suite


@pytest.fixture(scope="module", name="records")
def fixture_records():
    return read()


@pytest.fixture
def three_tasks(monkeypatch):
    """Tasks of 10, 20 and 30 seconds, of which the scheduler knows nothing, and no chance."""
    tasks = [(1, "001_a"), (1, "002_b"), (1, "003_c")]
    monkeypatch.setattr(simulate_fleet, "suite", lambda: tasks)
    monkeypatch.setattr(simulate_fleet, "HANGING", 0.0)
    records = Records()
    for task, seconds in zip(tasks, (10.0, 20.0, 30.0)):
        records.costs[task] = Cost(correct=seconds, bench=0.0)
    return records


def test_the_page_says_what_the_program_says(records):
    page = simulate_fleet.PAGE.read_text(encoding="utf-8")
    assert simulate_fleet.filled(page, records) == page, (
        "run python3 tools/slurm/tests/simulate_fleet.py --write, and read whether the text still fits"
    )


def test_a_page_without_a_mark_is_told(records):
    with pytest.raises(ValueError, match="lacks the marks of the table constants"):
        simulate_fleet.filled("nothing", records)


def test_three_shards_on_two_gpus(three_tasks):
    """The first GPU takes 1 + 10 s, then 1 + 30 s; the second 1 + 20 s, and waits for 21 s."""
    night = simulate_fleet.simulate(three_tasks, 1, gpus=2, count=3, start=1.0)
    assert (night.shards, night.wall, night.judging, night.starting) == (3, 42.0, 60.0, 3.0)
    assert night.waiting == pytest.approx(21.0)
    assert night.share(night.judging) == pytest.approx(60 / 84)


def test_one_gpu_never_waits(three_tasks):
    night = simulate_fleet.simulate(three_tasks, 4, gpus=1, count=3, start=1.0)
    assert night.wall == pytest.approx(4 * 60 + 3) and night.waiting == pytest.approx(0.0)


def test_more_gpus_than_shards_wait(three_tasks):
    night = simulate_fleet.simulate(three_tasks, 1, gpus=8, start=0.0)
    assert night.shards == 1 and night.wall == 60.0 and night.waiting == 7 * 60.0


def test_known_seconds_make_even_shards(three_tasks):
    """Two shards: of equal weights one gets 10 + 30 s, of the true ones 10 + 20 s and 30 s."""
    guessed = simulate_fleet.simulate(three_tasks, 1, gpus=2, count=2, start=0.0)
    known = simulate_fleet.simulate(three_tasks, 1, gpus=2, count=2, start=0.0, known=True)
    assert (guessed.wall, known.wall) == (40.0, 30.0)


def test_hanging_kernels_hold_their_deadline(three_tasks, monkeypatch):
    monkeypatch.setattr(simulate_fleet, "HANGING", 1.0)
    night = simulate_fleet.simulate(three_tasks, 1, gpus=1, start=0.0)
    assert night.judging == 3 * simulate_fleet.HANG_SECONDS


def test_what_is_not_on_record_counts_as_the_median():
    records = Records(between=1.0)
    for name, bench in (("a", 2.0), ("b", 4.0), ("c", 9.0), ("d", None)):
        records.costs[1, name] = Cost(correct=0.5, bench=bench)
    assert records.held((1, "d")) == 0.5 + 4.0 + 1.0
    assert records.held((1, "c")) == 0.5 + 9.0 + 1.0


@pytest.mark.parametrize("gpus", [1, 8, 64, 512])
def test_all_of_the_gpus_time_is_accounted_for(records, gpus):
    night = simulate_fleet.simulate(records, 10, gpus)
    parts = (night.judging, night.starting, night.waiting)
    assert all(part >= -1e-6 for part in parts)
    assert sum(map(night.share, parts)) == pytest.approx(1.0)
    again = simulate_fleet.simulate(records, 10, gpus)
    assert again == night


def test_the_records_are_those_of_the_suite(records):
    """Every task on record is one of the 270, and level 1 and 4 are complete."""
    tasks = set(suite())
    known = {task for task, cost in records.costs.items() if cost.correct}
    assert known <= tasks
    assert {t for t in tasks if t[0] in (1, 4)} <= known
    assert 0 < records.between < 5 and 0 < records.spread < 1
