"""Measurements of sessionstore beside the raw driver, in one run: ``python -m benchmarks``."""
