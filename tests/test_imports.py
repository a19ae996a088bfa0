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


def test_every_name_of_the_package_can_be_imported():
    script = (
        "import sys, sessionstore\n"
        "assert 'sqlalchemy' not in sys.modules\n"
        "for name in sessionstore.__all__: getattr(sessionstore, name)\n"
    )
    subprocess.run([sys.executable, "-c", script], timeout=60, check=True)
