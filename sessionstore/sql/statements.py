"""Every statement of the store, built from the models and compiled once for a dialect."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias, cast

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    null,
    or_,
    select,
    type_coerce,
    union_all,
    update,
)

from sessionstore.queries import LARGEST_SEQ, Order
from sessionstore.sql.dbapi import Values
from sessionstore.sql.dialects import SqlDialect
from sessionstore.sql.models import EntryRow, ListValueRow, ScalarValueRow, SessionRow, UsageLedgerRow
from sessionstore.sql.prepared import BySize, Expansion, Prepared, Statement, filled

SESSIONS: Final = cast("Table", SessionRow.__table__)
ENTRIES: Final = cast("Table", EntryRow.__table__)
VALUES: Final = cast("Table", ScalarValueRow.__table__)
LISTS: Final = cast("Table", ListValueRow.__table__)
LEDGER: Final = cast("Table", UsageLedgerRow.__table__)

LARGEST_LIST: Final = 8192
"""Values of one ``IN`` list; more take several statements."""

LARGEST_DELETE: Final = 256
"""Places that one DELETE names; more take several statements."""

HEADER_COLUMNS: Final = (
    "id", "created_at", "modified_at", "parent_session_id", "storage_version", "metadata",
)  # fmt: skip
ENTRY_COLUMNS: Final = ("id", "parent_id", "seq", "timestamp", "type", "custom_type", "payload")
STRUCTURE_COLUMNS: Final = ENTRY_COLUMNS[:-1]
USAGE_COLUMNS: Final = ("id", "seq", "entry_id", "adjustment", "usage", "details")
VALUE_COLUMNS: Final = ("scope_id", "namespace", "key", "seq", "value")
ELEMENT_COLUMNS: Final = (*VALUE_COLUMNS, "tag")
PLACE_COLUMNS: Final = ("scope_id", "namespace", "key")

Deletable: TypeAlias = Literal["values", "lists"]


class ListStatement:
    """A statement with one list of texts, the last of its values."""

    def __init__(self, statement: Statement, names: Sequence[str], dialect: SqlDialect) -> None:
        """The list is the parameter ``items`` of :meth:`SqlDialect.one_of`."""
        self._one = (
            Prepared(statement, (*names, "items"), dialect.compiler) if dialect.array_parameters else None
        )
        self._by_size = BySize(
            lambda size: Prepared(statement, names, dialect.compiler, Expansion("items", size))
        )

    def of(self, head: Values, items: Sequence[str]) -> tuple[Prepared, Values]:
        """The statement for this list, and its values."""
        if self._one is not None:
            return self._one, (*head, list(items))
        statement, size = self._by_size.at_least(len(items))
        return statement, (*head, *filled(items, size))


class Statements:
    """The statements of one dialect; each is compiled when it is first asked for.

    Compiling one twice because two threads asked at once is harmless.
    """

    def __init__(self, dialect: SqlDialect) -> None:
        self._dialect = dialect
        self._scans: dict[tuple[Any, ...], Prepared] = {}
        self._deletes: dict[tuple[Deletable, int, int], Prepared] = {}

    def _prepare(self, statement: Statement, *names: str) -> Prepared:
        return Prepared(statement, names, self._dialect.compiler)

    # -- sessions ----------------------------------------------------------------------------

    @cached_property
    def insert_session(self) -> Prepared:
        """Every column of ``sessions``."""
        return self._prepare(insert(SESSIONS), *SESSIONS.columns.keys())

    @cached_property
    def session_header(self) -> Prepared:
        """``id`` -> :data:`HEADER_COLUMNS`."""
        return self._prepare(self._header(), "id")

    @cached_property
    def lock_session_header(self) -> Prepared:
        """The same, and the row is locked until the transaction ends."""
        return self._prepare(self._header().with_for_update(), "id")

    def _header(self) -> Select[*tuple[Any, ...]]:
        wanted = [SESSIONS.c[name] for name in HEADER_COLUMNS]
        return select(*wanted).where(SESSIONS.c.id == bindparam("id"))

    @cached_property
    def session_image(self) -> Prepared:
        """``id`` -> :data:`HEADER_COLUMNS`, next_seq, message_count, usage."""
        wanted = [SESSIONS.c[name] for name in (*HEADER_COLUMNS, "next_seq", "message_count", "usage")]
        return self._prepare(select(*wanted).where(SESSIONS.c.id == bindparam("id")), "id")

    @cached_property
    def session_state(self) -> Prepared:
        """``id, created_at`` -> next_seq, message_count, usage."""
        return self._prepare(self._state(), "id", "created_at")

    @cached_property
    def lock_session(self) -> Prepared:
        """The same, and the row is locked until the transaction ends."""
        return self._prepare(self._state().with_for_update(), "id", "created_at")

    def _state(self) -> Select[*tuple[Any, ...]]:
        wanted = [SESSIONS.c[name] for name in ("next_seq", "message_count", "usage")]
        return select(*wanted).where(this_session())

    @cached_property
    def take_numbers(self) -> Prepared:
        """``count, messages, modified_at, id, created_at`` -> the same, as they are afterwards."""
        statement = (
            update(SESSIONS)
            .where(this_session())
            .values(
                next_seq=SESSIONS.c.next_seq + bindparam("count"),
                message_count=SESSIONS.c.message_count + bindparam("messages"),
                modified_at=bindparam("modified_at"),
            )
            .returning(SESSIONS.c.next_seq, SESSIONS.c.message_count, SESSIONS.c.usage)
        )
        return self._prepare(statement, "count", "messages", "modified_at", "id", "created_at")

    @cached_property
    def set_derived(self) -> Prepared:
        """``next_seq, message_count, usage, id``."""
        names = ("next_seq", "message_count", "usage")
        statement = (
            update(SESSIONS)
            .where(SESSIONS.c.id == bindparam("this_id"))
            .values({name: bindparam(name) for name in names})
        )
        return self._prepare(statement, *names, "this_id")

    @cached_property
    def highest_seqs(self) -> Prepared:
        """``session_id`` four times -> the highest number in each table; NULL where there is none."""
        tables = (ENTRIES, VALUES, LISTS, LEDGER)
        names = [f"session_id_{number}" for number in range(len(tables))]
        highest = [
            select(func.max(table.c.seq)).where(table.c.session_id == bindparam(name))
            for table, name in zip(tables, names, strict=True)
        ]
        return self._prepare(union_all(*highest), *names)

    @cached_property
    def advance_session(self) -> Prepared:
        """``next_seq, message_count, modified_at, usage, id``; the row was locked before."""
        names = ("next_seq", "message_count", "modified_at", "usage")
        statement = (
            update(SESSIONS)
            .where(SESSIONS.c.id == bindparam("this_id"))
            .values({name: bindparam(name) for name in names})
        )
        return self._prepare(statement, *names, "this_id")

    def list_sessions(self, *, after: bool, limited: bool) -> Prepared:
        """``[created_at, id] [limit]`` -> :data:`HEADER_COLUMNS`, newest first, then by id."""
        key = ("sessions", after, limited)
        found = self._scans.get(key)
        if found is None:
            statement = select(*(SESSIONS.c[name] for name in HEADER_COLUMNS)).order_by(
                SESSIONS.c.created_at.desc(), SESSIONS.c.id
            )
            names: list[str] = []
            if after:
                created_at = bindparam("created_at", type_=SESSIONS.c.created_at.type)
                id = bindparam("id", type_=SESSIONS.c.id.type)
                # The first half bounds the range of the index, the second decides.
                statement = statement.where(
                    SESSIONS.c.created_at <= created_at,
                    or_(SESSIONS.c.created_at < created_at, SESSIONS.c.id > id),
                )
                names += ["created_at", "id"]
            if limited:
                statement = statement.limit(bindparam("limit"))
                names.append("limit")
            found = self._scans[key] = self._prepare(statement, *names)
        return found

    @cached_property
    def delete_session(self) -> tuple[Prepared, ...]:
        """``session_id``: what a session consists of, its own row last."""
        return (
            *(
                self._prepare(delete(table).where(table.c.session_id == bindparam("id")), "id")
                for table in (ENTRIES, VALUES, LISTS, LEDGER)
            ),
            self._prepare(delete(SESSIONS).where(SESSIONS.c.id == bindparam("id")), "id"),
        )

    # -- entries and ledger ------------------------------------------------------------------

    @cached_property
    def insert_entries(self) -> Prepared:
        """Every column of ``entries``."""
        return self._prepare(insert(ENTRIES), *ENTRIES.columns.keys())

    @cached_property
    def find_ids(self) -> ListStatement:
        """``session_id``, ids -> id, seq, segment_seq, depth, and whether it ends its segment.

        Of a ledger row only the id is told; its ``seq`` is NULL. The last column is a number where
        the database has no booleans: no row needs a conversion.
        """
        dialect = self._dialect
        last = ENTRIES.alias("last")
        session_id = bindparam("session_id", type_=ENTRIES.c.session_id.type)
        # The last entry of the segment is one step in the index; "no later one exists" is a walk
        # for a planner that expects to find one soon.
        newest = (
            dialect.along_segment(select(*[last.c.seq]), last)
            .where(
                last.c.session_id == session_id,
                dialect.in_segment(
                    last,
                    ENTRIES.c.segment_seq,
                    ENTRIES.c.seq,
                    literal_column(str(LARGEST_SEQ), BigInteger),
                ),
            )
            .order_by(*(column.desc() for column in dialect.segment_order(last)))
            .limit(literal_column("1", Integer))
            .scalar_subquery()
        )
        ends_segment = newest == ENTRIES.c.seq
        found: list[ColumnElement[Any]] = [ENTRIES.c[name] for name in ("id", "seq", "segment_seq", "depth")]
        entries = select(*[*found, type_coerce(ends_segment, Integer).label("ends_segment")])
        rows = select(*[LEDGER.c.id]).where(LEDGER.c.session_id == session_id)
        statement = union_all(
            dialect.listed(entries.where(ENTRIES.c.session_id == session_id), ENTRIES.c.id, "items"),
            dialect.listed(rows, LEDGER.c.id, "items").add_columns(*(null() for _ in range(4))),
        )
        return ListStatement(statement, ["session_id"], self._dialect)

    @cached_property
    def entries_by_id(self) -> ListStatement:
        """``session_id``, ids -> :data:`ENTRY_COLUMNS`."""
        entries = select(*(ENTRIES.c[name] for name in ENTRY_COLUMNS))
        in_session = entries.where(ENTRIES.c.session_id == bindparam("session_id"))
        statement = self._dialect.listed(in_session, ENTRIES.c.id, "items")
        return ListStatement(statement, ["session_id"], self._dialect)

    def scan_entries(self, order: Order, *, by_type: bool, by_custom_type: bool) -> Prepared:
        """``session_id, from_seq, to_seq, limit [type] [custom_type]`` -> :data:`ENTRY_COLUMNS`."""
        wanted = (("type", by_type), ("custom_type", by_custom_type))
        return self._scan(ENTRIES, ENTRY_COLUMNS, order, [name for name, asked in wanted if asked])

    @cached_property
    def insert_usage(self) -> Prepared:
        """``session_id`` and :data:`USAGE_COLUMNS`."""
        return self._prepare(insert(LEDGER), "session_id", *USAGE_COLUMNS)

    def scan_usage(self, order: Order) -> Prepared:
        """``session_id, from_seq, to_seq, limit`` -> :data:`USAGE_COLUMNS`."""
        return self._scan(LEDGER, USAGE_COLUMNS, order, [])

    def _scan(self, table: Table, columns: Sequence[str], order: Order, filters: Sequence[str]) -> Prepared:
        key = (table.name, order, *filters)
        found = self._scans.get(key)
        if found is None:
            statement = (
                select(*(table.c[name] for name in columns))
                .where(
                    table.c.session_id == bindparam("session_id"),
                    table.c.seq >= bindparam("from_seq"),
                    table.c.seq <= bindparam("to_seq"),
                    *(table.c[name] == bindparam(name) for name in filters),
                )
                .order_by(table.c.seq if order == "asc" else table.c.seq.desc())
                .limit(bindparam("limit"))
            )
            found = self._scans[key] = self._prepare(
                statement, "session_id", "from_seq", "to_seq", "limit", *filters
            )
        return found

    @cached_property
    def place_entry(self) -> Prepared:
        """``segment_seq, depth, session_id, id``: rebuilds the branch index."""
        statement = (
            update(ENTRIES)
            .where(ENTRIES.c.session_id == bindparam("this_session"), ENTRIES.c.id == bindparam("this_id"))
            .values(segment_seq=bindparam("segment_seq"), depth=bindparam("depth"))
        )
        return self._prepare(statement, "segment_seq", "depth", "this_session", "this_id")

    @cached_property
    def all_places(self) -> Prepared:
        """``session_id`` -> id, parent_id, seq, segment_seq, depth, type of all entries by number."""
        return self._all(ENTRIES, ("id", "parent_id", "seq", "segment_seq", "depth", "type"))

    # -- whole sessions: ``session_id`` -> all rows of a table, by number ------------------------

    @cached_property
    def all_entries(self) -> Prepared:
        """:data:`ENTRY_COLUMNS`."""
        return self._all(ENTRIES, ENTRY_COLUMNS)

    @cached_property
    def all_usage(self) -> Prepared:
        """:data:`USAGE_COLUMNS`."""
        return self._all(LEDGER, USAGE_COLUMNS)

    @cached_property
    def all_values(self) -> Prepared:
        """:data:`VALUE_COLUMNS`."""
        return self._all(VALUES, VALUE_COLUMNS)

    @cached_property
    def all_elements(self) -> Prepared:
        """:data:`ELEMENT_COLUMNS`."""
        return self._all(LISTS, ELEMENT_COLUMNS)

    @cached_property
    def values_in(self) -> ListStatement:
        """``session_id, scope_id``, namespaces -> :data:`VALUE_COLUMNS`, by number."""
        return self._in_namespaces(VALUES, VALUE_COLUMNS)

    @cached_property
    def elements_in(self) -> ListStatement:
        """The same for lists: :data:`ELEMENT_COLUMNS`."""
        return self._in_namespaces(LISTS, ELEMENT_COLUMNS)

    def _in_namespaces(self, table: Table, columns: Sequence[str]) -> ListStatement:
        statement = (
            select(*(table.c[name] for name in columns))
            .where(
                table.c.session_id == bindparam("session_id"),
                table.c.scope_id == bindparam("scope_id"),
                self._dialect.one_of(table.c.namespace, "items"),
            )
            .order_by(table.c.seq)
        )
        return ListStatement(statement, ["session_id", "scope_id"], self._dialect)

    @cached_property
    def all_structure(self) -> Prepared:
        """:data:`STRUCTURE_COLUMNS`."""
        return self._all(ENTRIES, STRUCTURE_COLUMNS)

    @cached_property
    def value_places(self) -> Prepared:
        """Places of session scope that hold a value: :data:`PLACE_COLUMNS`, in no order."""
        return self._places(VALUES)

    @cached_property
    def list_places(self) -> Prepared:
        """The same for lists, each once."""
        return self._places(LISTS)

    def _places(self, table: Table) -> Prepared:
        statement = (
            select(*(table.c[name] for name in PLACE_COLUMNS))
            .where(table.c.session_id == bindparam("session_id"), table.c.scope_id == bindparam("scope_id"))
            .distinct()
        )
        return self._prepare(statement, "session_id", "scope_id")

    def _all(self, table: Table, columns: Sequence[str]) -> Prepared:
        statement = (
            select(*(table.c[name] for name in columns))
            .where(table.c.session_id == bindparam("session_id"))
            .order_by(table.c.seq)
        )
        return self._prepare(statement, "session_id")

    # -- values and lists --------------------------------------------------------------------

    @cached_property
    def set_values(self) -> Prepared:
        """``session_id`` and :data:`VALUE_COLUMNS`."""
        statement = self._dialect.upsert(VALUES, ("session_id", *PLACE_COLUMNS), ("seq", "value"))
        return self._prepare(statement, "session_id", *VALUE_COLUMNS)

    @cached_property
    def append_elements(self) -> Prepared:
        """``session_id`` and :data:`ELEMENT_COLUMNS`."""
        return self._prepare(insert(LISTS), "session_id", *ELEMENT_COLUMNS)

    @cached_property
    def get_value(self) -> Prepared:
        """``session_id, scope_id, namespace, key`` -> seq, value."""
        statement = select(*(VALUES.c[name] for name in ("seq", "value"))).where(_at_place(VALUES))
        return self._prepare(statement, "session_id", *PLACE_COLUMNS)

    def scan_values(self, *, bounded: bool) -> Prepared:
        """``session_id, scope_id, namespace, low [, high]`` -> :data:`VALUE_COLUMNS`, by key."""
        key = ("values", bounded)
        found = self._scans.get(key)
        if found is None:
            statement = (
                select(*(VALUES.c[name] for name in VALUE_COLUMNS))
                .where(
                    VALUES.c.session_id == bindparam("session_id"),
                    VALUES.c.scope_id == bindparam("scope_id"),
                    VALUES.c.namespace == bindparam("namespace"),
                    VALUES.c.key >= bindparam("low"),
                )
                .order_by(VALUES.c.key)
            )
            names = ["session_id", "scope_id", "namespace", "low"]
            if bounded:
                statement = statement.where(VALUES.c.key < bindparam("high"))
                names.append("high")
            found = self._scans[key] = self._prepare(statement, *names)
        return found

    def read_list(self, order: Order) -> Prepared:
        """``session_id, scope_id, namespace, key, cursor, limit`` -> seq, value, tag."""
        key = ("lists", order)
        found = self._scans.get(key)
        if found is None:
            cursor = bindparam("cursor", type_=LISTS.c.seq.type)
            statement = (
                select(*(LISTS.c[name] for name in ("seq", "value", "tag")))
                .where(_at_place(LISTS), LISTS.c.seq > cursor if order == "asc" else LISTS.c.seq < cursor)
                .order_by(LISTS.c.seq if order == "asc" else LISTS.c.seq.desc())
                .limit(bindparam("limit"))
            )
            found = self._scans[key] = self._prepare(
                statement, "session_id", *PLACE_COLUMNS, "cursor", "limit"
            )
        return found

    @cached_property
    def delete_place(self) -> dict[Deletable, Prepared]:
        """``session_id, scope_id, namespace, key``."""
        return {
            "values": self._prepare(delete(VALUES).where(_at_place(VALUES)), "session_id", *PLACE_COLUMNS),
            "lists": self._prepare(delete(LISTS).where(_at_place(LISTS)), "session_id", *PLACE_COLUMNS),
        }

    def delete_places(self, what: Deletable, places: int, scopes: int) -> tuple[Prepared, int, int]:
        """``session_id``, places (scope_id, namespace, key) and whole scopes, in one statement.

        Also tells for how many of each it is made: a few more than were asked for.
        """
        places, scopes = _bucket(places), _bucket(scopes)
        found = self._deletes.get((what, places, scopes))
        if found is None:
            table = VALUES if what == "values" else LISTS
            session = table.c.session_id == bindparam("session_id")
            names = ["session_id"]
            branches: list[ColumnElement[bool]] = []
            for number in range(places):
                own = [f"{name}_{number}" for name in PLACE_COLUMNS]
                names += own
                branches.append(
                    and_(
                        session,
                        *(
                            table.c[name] == bindparam(parameter)
                            for name, parameter in zip(PLACE_COLUMNS, own, strict=True)
                        ),
                    )
                )
            for number in range(scopes):
                names.append(f"retired_{number}")
                branches.append(and_(session, table.c.scope_id == bindparam(names[-1])))
            found = self._prepare(delete(table).where(or_(*branches)), *names)
            self._deletes[what, places, scopes] = found
        return found, places, scopes


def _bucket(count: int) -> int:
    return 1 << (count - 1).bit_length() if count else 0


def this_session() -> ColumnElement[bool]:
    """The session of this id, and not another that was created under it later."""
    return and_(SESSIONS.c.id == bindparam("id"), SESSIONS.c.created_at == bindparam("created_at"))


def _at_place(table: Table) -> ColumnElement[bool]:
    return and_(*(table.c[name] == bindparam(name) for name in ("session_id", *PLACE_COLUMNS)))
