"""What is done to an input: everything that reads a store. Only our own errors may come of it."""

from __future__ import annotations

import random
import shutil
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from sessionstore import (
    ForkTree,
    NewMessageEntry,
    NewUsageRow,
    SessionRepo,
    SessionStoreError,
    append_list,
    ephemeral_scope,
    insert_entry,
    insert_usage,
    open_repository,
    set_value,
    value,
    value_list,
)
from sessionstore.jsonl import JsonlSessionRepo
from sessionstore.transfer import find_sources, import_sources, verify_store
from sessionstore.usage import Usage
from tests.fuzz.mutation import TOKENS, Mutator, Seed, seeds

PROBE: Final = value("fuzz", "probe")


class Changed(BaseException):
    """Something that only reads changed its source."""


class Lost(BaseException):
    """Something that was there before is gone."""


class Target(ABC):
    """A kind of input. ``prepare`` makes the next one in a folder, ``run`` does everything to it."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    @abstractmethod
    def prepare(self, folder: Path) -> int:
        """Make an input; its size."""

    @abstractmethod
    def run(self, folder: Path) -> None:
        """Raises whatever is no error of ours."""


@contextmanager
def unchanged(folder: Path) -> Iterator[None]:
    """Check that the block changes no byte of the files in a folder."""
    before = contents(folder)
    yield
    after = contents(folder)
    if before != {name: after.get(name) for name in before}:
        raise Changed([name for name in before if before[name] != after.get(name)])


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# -- JSONL ---------------------------------------------------------------------------------------


class JsonlTarget(Target):
    """A session file, or one of its sidecars, that was tampered with."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance)
        self._seeds = seeds()
        others = [seed.main for seed in self._seeds]
        self._mutator = Mutator(chance, others)

    def prepare(self, folder: Path) -> int:
        seed = self.chance.choice(self._seeds)
        in_sidecar = bool(seed.sidecars) and self.chance.random() < 0.7
        victim = self.chance.choice(sorted(seed.sidecars)) if in_sidecar else ""
        return self.place(folder, seed, victim, self._mutator.mutate)

    def place(self, folder: Path, seed: Seed, victim: str, mutate: Callable[[bytes], bytes]) -> int:
        """Write a seed of which one file is changed."""
        path = folder / "--srv--" / "2025-01-01T00-00-00-000Z_s.jsonl"
        path.parent.mkdir(parents=True)
        files = {path: mutate(seed.main) if not victim else seed.main}
        for name, data in seed.sidecars.items():
            files[Path(f"{path}.scopes") / name] = mutate(data) if name == victim else data
        for file, data in files.items():
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(data)
        return sum(map(len, files.values()))

    def run(self, folder: Path) -> None:
        with unchanged(folder):
            self._import(folder)
            with JsonlSessionRepo(folder) as repo:
                look(repo)
        copy = folder.with_name("copy")
        for work in (self._write, self._repair):
            shutil.copytree(folder, copy)
            try:
                with JsonlSessionRepo(copy) as repo:
                    for metadata in repo.list():
                        work(repo, metadata, copy)
            finally:
                shutil.rmtree(copy)

    def _import(self, folder: Path) -> None:
        for lenient in (False, True):
            with open_repository("memory://") as memory:
                for _ in import_sources(find_sources([folder]), memory, lenient=lenient):
                    pass

    def _write(self, repo: SessionRepo, metadata: Any, _: Path) -> None:
        with suppress(SessionStoreError):
            with repo.open(metadata) as session:
                number = session.storage.next_seq()
                session.set_value(PROBE, "x")
            with repo.open(metadata) as session:
                found = session.get_value(PROBE)
                if found is None or found.seq < number or session.storage.next_seq() <= found.seq:
                    raise Lost(f"the value with number {number}: {found}")

    def _repair(self, repo: SessionRepo, metadata: Any, folder: Path) -> None:
        before = contents(folder)
        try:
            done = repo.repair_session(metadata)
        except SessionStoreError:
            if contents(folder) != before:
                raise Changed("by a repair that was refused") from None
            return
        if repo.check_session(metadata):
            raise Lost(f"a repaired session is damaged: {repo.check_session(metadata)}")
        repo.open(metadata).close()
        if done:
            after = {line for data in contents(folder).values() for line in data.split(b"\n")}
            for name, data in before.items():
                lost = [line for line in data.split(b"\n")[1:-1] if line not in after]
                # A sidecar of which the rest is dead goes when the session is opened.
                if lost and (".scopes" not in name or name in contents(folder)):
                    raise Lost(f"{name}: {lost}")


def look(repo: SessionRepo) -> None:
    """Everything that only reads."""
    with suppress(SessionStoreError):
        repo.check_container()
    with suppress(SessionStoreError):
        for _ in verify_store(repo):
            pass
    with suppress(SessionStoreError):
        for metadata in repo.list():
            with suppress(SessionStoreError), repo.snapshot(metadata) as image:
                for _ in image.records:
                    pass


# -- SQLite --------------------------------------------------------------------------------------


class SqliteTarget(Target):
    """A database with two sessions, of which bytes or values were changed."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance)
        self._data = b""
        self._mutator = Mutator(chance, [b"SQLite format 3\0" * 40])

    def prepare(self, folder: Path) -> int:
        path = folder / "sessions.db"
        folder.mkdir(parents=True)
        path.write_bytes(self._data or self._made(path))
        if self.chance.random() < 0.6:
            self._change_values(path)
        if self.chance.random() < 0.5:
            path.write_bytes(self._mutate(path.read_bytes()))
        return path.stat().st_size

    def _mutate(self, data: bytes) -> bytes:
        if self.chance.random() < 0.2:
            return self._mutator.mutate(data)
        changed = bytearray(data)
        for _ in range(self.chance.choice((1, 1, 3, 30))):
            changed[self.chance.randrange(len(changed))] = self.chance.randrange(256)
        return bytes(changed)

    def _made(self, path: Path) -> bytes:
        with open_repository(f"sqlite:///{path}") as repo:
            with repo.create(id="s", cwd="/srv") as session:
                session.create_branch("main").append_message({"role": "user", "content": "x"})
                session.commit([insert_entry(NewMessageEntry("a", None, {"role": "user"}))])
                session.commit([insert_entry(NewMessageEntry("b", "a", {"role": "user"}))])
                session.commit([insert_entry(NewMessageEntry("c", "a", {"role": "user"}))])
                session.commit([insert_usage(NewUsageRow("u", Usage(input=1)))])
                session.commit([set_value(value("app"), 1), append_list(value_list("app"), {"a": [1]})])
                session.set_value(value("app", scope=ephemeral_scope("op")), 1)
            repo.fork("s", ForkTree(), id="t").close()
        self._data = path.read_bytes()
        return self._data

    def _change_values(self, path: Path) -> None:
        """Values that no write of ours stores, in rows that the schema lets in."""
        values: list[Any] = [
            None,
            0,
            -1,
            2**63 - 1,
            1.5,
            "",
            "{",
            "[]",
            "null",
            '{"input":null}',
            b"\xff\xfe",
            b"",
        ]
        values += [token.decode("latin-1") for token in TOKENS[:40]]
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for _ in range(self.chance.choice((1, 1, 2, 5))):
                [table] = self.chance.choice(tables)
                columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
                column = self.chance.choice(columns)
                with suppress(sqlite3.Error):
                    database.execute(
                        f'UPDATE {table} SET "{column}" = ? WHERE random() % 3 = 0',
                        (self.chance.choice(values),),
                    )
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def run(self, folder: Path) -> None:
        url = f"sqlite:///{folder / 'sessions.db'}"
        with unchanged(folder), open_repository(url) as repo:
            look(repo)
        with open_repository(url) as repo, suppress(SessionStoreError):
            for metadata in repo.list():
                self._use(repo, metadata)

    def _use(self, repo: SessionRepo, metadata: Any) -> None:
        with suppress(SessionStoreError), repo.open(metadata) as session:
            reads: list[Callable[[], object]] = [
                session.find_entries,
                session.scan_usage,
                session.get_stats,
                lambda: session.branch("main"),
                lambda: session.read_list(value_list("app")),
                lambda: session.get_value(value("app")),
                lambda: list(session.storage.scan_branch("b")),
            ]
            for read in reads:
                with suppress(SessionStoreError):
                    read()
            session.set_value(PROBE, 1)
            session.commit([insert_entry(NewMessageEntry("new", "b", {"role": "user"}))])
        with suppress(SessionStoreError):
            repo.repair_session(metadata)
        with suppress(SessionStoreError):
            repo.fork(metadata, ForkTree()).close()
        with suppress(SessionStoreError):
            repo.delete(metadata)


TARGETS: Final[dict[str, type[Target]]] = {"jsonl": JsonlTarget, "sqlite": SqliteTarget}
