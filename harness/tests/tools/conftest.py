"""A checkout for each test."""

import pathlib

import pytest
from checkout import Checkout


@pytest.fixture
def checkout(tmp_path: pathlib.Path) -> Checkout:
    """A checkout in which nothing was judged."""
    return Checkout(tmp_path)
