"""Outside the checkout: the installed wheel has its migrations and opens a repository."""

import sys
from pathlib import Path

import sessionstore
from sessionstore import open_repository

package = Path(sessionstore.__file__).parent
revisions = sorted(path.name for path in (package / "sql" / "_alembic" / "versions").glob("*.py"))
assert "site-packages" in package.parts, f"not the installed package: {package}"
assert (package / "py.typed").is_file(), "the wheel lacks py.typed"
assert revisions, "the wheel lacks the migrations"

with open_repository(Path(sys.argv[1])) as repository:
    with repository.create(id="from-the-wheel") as session:
        session.create_branch("main").append_message({"role": "user", "content": "hi"})
    assert [metadata.id for metadata in repository.list()] == ["from-the-wheel"]
print(f"wheel: {', '.join(revisions)}; a repository opens")
