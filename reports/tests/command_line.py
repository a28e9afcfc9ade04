"""Fixtures of tests that run a program of Python within their own process."""

from collections.abc import Callable

import pytest


def fixture_run(main: Callable[[list[str]], int]):
    """The fixture `kb`: runs `main` and checks its exit status; what this command prints."""

    @pytest.fixture
    def kb(capsys):
        def run(*arguments, status=0):
            capsys.readouterr()
            assert main([str(a) for a in arguments]) == status, arguments
            return capsys.readouterr()

        return run

    return kb


def fixture_refused():
    """The fixture `refused`: runs what has to fail; its only sentence, and nothing else is printed."""

    @pytest.fixture
    def refused(kb):
        def run(*arguments, status=2):
            out, err = kb(*arguments, status=status)
            assert out == "" and len(err.splitlines()) == 1, (out, err)
            return err

        return run

    return refused
