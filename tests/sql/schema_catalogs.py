"""What a database says its schema is: everything that Alembic's comparison does not see included."""

from __future__ import annotations

from typing import Any, TypeAlias

from sqlalchemy import Connection, Engine

Catalog: TypeAlias = dict[str, list[tuple[Any, ...]]]

TABLES = ("entries", "list_values", "scalar_values", "sessions", "usage_ledger")

_SQLITE = {
    "objects": "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name",
    "tables": "SELECT name, type, ncol, wr, strict FROM pragma_table_list WHERE schema = 'main' ORDER BY 1",
    "index columns": (
        "SELECT m.name, x.seqno, x.name, x.desc, x.coll, x.key FROM sqlite_master m, "
        "pragma_index_xinfo(m.name) x WHERE m.type = 'index' ORDER BY m.name, x.seqno"
    ),
}
_POSTGRESQL = {
    "columns": (
        "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, l.collname, "
        "pg_get_expr(d.adbin, d.adrelid) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
        "LEFT JOIN pg_collation l ON l.oid = a.attcollation "
        "LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum "
        "WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attnum > 0 "
        "ORDER BY c.relname, a.attnum"
    ),
    "constraints": (
        "SELECT conrelid::regclass::text, conname, contype::text, pg_get_constraintdef(oid) "
        "FROM pg_constraint WHERE connamespace = current_schema()::regnamespace ORDER BY 1, 2"
    ),
    "indexes": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1",
    "triggers": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1",
    "relations": (
        "SELECT relname, relkind::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace "
        "ORDER BY 1"
    ),
}
_MARIADB = {
    "tables": (
        "SELECT table_name, engine, row_format, table_collation FROM information_schema.tables "
        "WHERE table_schema = DATABASE() ORDER BY 1"
    ),
    "columns": (
        "SELECT table_name, column_name, column_type, is_nullable, column_default, character_set_name, "
        "collation_name, extra FROM information_schema.columns WHERE table_schema = DATABASE() "
        "ORDER BY 1, ordinal_position"
    ),
    "indexes": (
        "SELECT table_name, index_name, non_unique, seq_in_index, column_name, sub_part "
        "FROM information_schema.statistics WHERE table_schema = DATABASE() ORDER BY 1, 2, 4"
    ),
    "keys": (
        "SELECT constraint_name, table_name, referenced_table_name, update_rule, delete_rule "
        "FROM information_schema.referential_constraints WHERE constraint_schema = DATABASE() ORDER BY 1"
    ),
    "triggers": (
        "SELECT trigger_name FROM information_schema.triggers WHERE trigger_schema = DATABASE() ORDER BY 1"
    ),
}
QUERIES = {"sqlite": _SQLITE, "postgresql": _POSTGRESQL, "mariadb": _MARIADB}


def catalog(engine: Engine) -> Catalog:
    """The whole schema of a database as its own catalogs tell it, without the order of creation."""
    with engine.connect() as connection:
        found = {
            name: [tuple(row) for row in connection.exec_driver_sql(query)]
            for name, query in QUERIES[engine.dialect.name].items()
        }
        if engine.dialect.name == "mariadb":
            found["statements"] = [_show_create(connection, row[0]) for row in found["tables"]]
    return found


def _show_create(connection: Connection, table: str) -> tuple[Any, ...]:
    return tuple(connection.exec_driver_sql(f"SHOW CREATE TABLE {table}").one())
