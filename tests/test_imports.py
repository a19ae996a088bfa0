"""What `import sessionstore` may cost and need: extras stay out of it."""

from __future__ import annotations

import subprocess
import sys

EXTRAS = (
    "typer",
    "click",
    "rich",
    "psycopg",
    "pymysql",
    "fastapi",
    "opentelemetry",
    "alembic",
    "pytest",
    "hypothesis",
    "testcontainers",
)


def test_the_import_loads_no_extra():
    script = f"import sys, sessionstore; print([name for name in {EXTRAS} if name in sys.modules])"
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stdout.strip() == "[]"
