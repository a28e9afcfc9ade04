"""Turns the result files of KernelBench Native into tables, pages and comparisons."""

__version__ = "0.2.0"
