"""The database: tables, sessions on SQLite and PostgreSQL, migrations.

A :class:`Database` at an address has sessions for reading and writing. :func:`upgrade` creates its
tables, or migrates them to the version of this program; :func:`current_revision` returns their
version. The other classes are tables.

Examples
--------
>>> from gnomon_board.database import Account, Database, upgrade
>>> folder = getfixture("tmp_path")
>>> database = Database(f"sqlite:///{folder / 'board.sqlite'}")
>>> upgrade(database)
>>> with database.writing() as session:
...     session.add(Account(name="ada", name_key="ada"))
>>> with database.reading() as session:
...     [account.name for account in session.query(Account)]
['ada']
>>> database.close()
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
