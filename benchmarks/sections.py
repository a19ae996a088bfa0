from benchmarks import sqlite

SECTIONS = {"sqlite": sqlite.run}
