"""The database: tables, sessions on SQLite and PostgreSQL, migrations."""
