"""The SQL backend: SQLite embedded, PostgreSQL and MariaDB/MySQL as servers."""
