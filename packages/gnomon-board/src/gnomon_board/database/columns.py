"""Column types with the same meaning in SQLite and PostgreSQL, and the base of all tables."""

from __future__ import annotations

import datetime
from typing import Annotated, Any

from sqlalchemy import JSON, BigInteger, DateTime, Dialect, ForeignKey, LargeBinary, String, Text
from sqlalchemy.orm import DeclarativeBase, mapped_column
from sqlalchemy.schema import MetaData
from sqlalchemy.types import TypeDecorator


def now() -> datetime.datetime:
    """Return the current time in UTC."""
    return datetime.datetime.now(datetime.UTC)


class UtcTime(TypeDecorator[datetime.datetime]):
    """A time in UTC, stored without a time zone, which SQLite would lose."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(
        self, value: datetime.datetime | None, dialect: Dialect
    ) -> datetime.datetime | None:
        """Convert to UTC and remove the time zone; reject a time without one."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"expected a moment with a time zone, found {value}")
        return value.astimezone(datetime.UTC).replace(tzinfo=None)

    def process_result_value(
        self, value: datetime.datetime | None, dialect: Dialect
    ) -> datetime.datetime | None:
        """Restore the time zone."""
        return None if value is None else value.replace(tzinfo=datetime.UTC)


class Base(DeclarativeBase):
    """Declarative base of all tables; constraints have names, so that a migration can drop them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_label)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it from the class
        datetime.datetime: UtcTime(),
        dict[str, Any]: JSON(),
        list[Any]: JSON(),
        list[str]: JSON(),
        bytes: LargeBinary(),
        str: Text(),
    }


Id = Annotated[int, mapped_column(primary_key=True)]
AssignmentId = Annotated[int, mapped_column(ForeignKey("study_assignments.id"), index=True)]
AccountId = Annotated[int, mapped_column(ForeignKey("accounts.id"), index=True)]
Name = Annotated[str, mapped_column(String(128))]
Sha256 = Annotated[str, mapped_column(String(64))]
BigNumber = Annotated[int, mapped_column(BigInteger)]
