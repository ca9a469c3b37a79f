"""The first tables, and the triggers that keep the audit log append-only."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from gnomon_board.database.columns import UtcTime

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

#: In the order in which they can be dropped.
_TABLES = (
    "trials",
    "play_attempts",
    "jobs",
    "submissions",
    "study_answers",
    "remote_trials",
    "play_sessions",
    "study_assignments",
    "browser_sessions",
    "attempts",
    "tokens",
    "token_requests",
    "studies",
    "season_rules",
    "entries",
    "audit_log",
    "server_switches",
    "server_secrets",
    "seasons",
    "rate_limits",
    "accounts",
)
_SQLITE = """
CREATE TRIGGER audit_log_no_{0} BEFORE {0} ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END
"""
_POSTGRESQL = """
CREATE FUNCTION audit_log_only_grows() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the audit log only grows'; END $$
"""
_POSTGRESQL_TRIGGER = """
CREATE TRIGGER audit_log_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
FOR EACH STATEMENT EXECUTE FUNCTION audit_log_only_grows()
"""


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "accounts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("name_key", sa.String(length=128), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("disabled_at", UtcTime(), nullable=True),
        sa.Column("erased_at", UtcTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint("name_key", name=op.f("uq_accounts_name_key")),
    )
    op.create_table(
        "rate_limits",
        sa.Column("key", sa.String(length=128), nullable=False),
        sa.Column("window", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("key", "window", name=op.f("pk_rate_limits")),
    )
    op.create_table(
        "seasons",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("division", sa.String(length=16), nullable=False),
        sa.Column("board", sa.JSON(), nullable=False),
        sa.Column("trials", sa.Integer(), nullable=False),
        sa.Column("episodes", sa.Integer(), nullable=False),
        sa.Column("horizon", sa.Integer(), nullable=False),
        sa.Column("max_attempts", sa.Integer(), nullable=True),
        sa.Column("opens_at", UtcTime(), nullable=True),
        sa.Column("closes_at", UtcTime(), nullable=True),
        sa.Column("commitment", sa.String(length=64), nullable=True),
        sa.Column("salt", sa.Text(), nullable=True),
        sa.Column("revealed_at", UtcTime(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_seasons")),
        sa.UniqueConstraint("name", name=op.f("uq_seasons_name")),
    )
    op.create_table(
        "server_secrets",
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_server_secrets")),
    )
    op.create_table(
        "server_switches",
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("value", sa.String(length=128), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_server_switches")),
    )
    op.create_table(
        "audit_log",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", UtcTime(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=True),
        sa.Column("action", sa.String(length=128), nullable=False),
        sa.Column("subject", sa.String(length=128), nullable=False),
        sa.Column("subject_id", sa.Integer(), nullable=True),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("public", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_audit_log_account_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log")),
    )
    op.create_index(op.f("ix_audit_log_at"), "audit_log", ["at"])

    op.create_table(
        "entries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("season_id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("name_key", sa.String(length=128), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("link", sa.Text(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("withdrawn_at", UtcTime(), nullable=True),
        sa.Column("withdrawn_reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_entries_account_id")
        ),
        sa.ForeignKeyConstraint(["season_id"], ["seasons.id"], name=op.f("fk_entries_season_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_entries")),
        sa.UniqueConstraint("season_id", "name_key", name=op.f("uq_entries_season_id_name_key")),
    )
    op.create_index(op.f("ix_entries_account_id"), "entries", ["account_id"])
    op.create_index(op.f("ix_entries_season_id"), "entries", ["season_id"])

    op.create_table(
        "season_rules",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("season_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("family", sa.String(length=128), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("visibility", sa.String(length=8), nullable=False),
        sa.ForeignKeyConstraint(
            ["season_id"], ["seasons.id"], name=op.f("fk_season_rules_season_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_season_rules")),
        sa.UniqueConstraint("season_id", "name", name=op.f("uq_season_rules_season_id_name")),
    )
    op.create_index(op.f("ix_season_rules_season_id"), "season_rules", ["season_id"])

    op.create_table(
        "studies",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("consent", sa.Text(), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("invitation", sa.String(length=64), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("closes_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_studies_account_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_studies")),
        sa.UniqueConstraint("invitation", name=op.f("uq_studies_invitation")),
        sa.UniqueConstraint("name", name=op.f("uq_studies_name")),
    )
    op.create_index(op.f("ix_studies_account_id"), "studies", ["account_id"])

    op.create_table(
        "token_requests",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("contact", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("claim", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("decided_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_token_requests_account_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_token_requests")),
        sa.UniqueConstraint("claim", name=op.f("uq_token_requests_claim")),
    )
    op.create_index(op.f("ix_token_requests_state"), "token_requests", ["state"])

    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=16), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("label", sa.String(length=128), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=True),
        sa.Column("revoked_at", UtcTime(), nullable=True),
        sa.Column("last_used_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_tokens_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("key", name=op.f("uq_tokens_key")),
    )
    op.create_index(op.f("ix_tokens_account_id"), "tokens", ["account_id"])

    op.create_table(
        "attempts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("entry_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("begun_at", UtcTime(), nullable=True),
        sa.Column("begun_from", sa.String(length=64), nullable=True),
        sa.Column("closed_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(["entry_id"], ["entries.id"], name=op.f("fk_attempts_entry_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempts")),
        sa.UniqueConstraint("entry_id", "number", name=op.f("uq_attempts_entry_id_number")),
    )
    op.create_index(op.f("ix_attempts_entry_id"), "attempts", ["entry_id"])

    op.create_table(
        "browser_sessions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("token_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=False),
        sa.Column("ended_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["token_id"], ["tokens.id"], name=op.f("fk_browser_sessions_token_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_browser_sessions")),
        sa.UniqueConstraint("digest", name=op.f("uq_browser_sessions_digest")),
    )
    op.create_index(op.f("ix_browser_sessions_token_id"), "browser_sessions", ["token_id"])

    op.create_table(
        "study_assignments",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("player", sa.String(length=128), nullable=False),
        sa.Column("rule_list", sa.String(length=128), nullable=False),
        sa.Column("n_played", sa.Integer(), nullable=False),
        sa.Column("consented_at", UtcTime(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("finished_at", UtcTime(), nullable=True),
        sa.Column("identity", sa.String(length=64), nullable=True),
        sa.Column("identifiers", sa.JSON(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("ending", sa.String(length=16), nullable=False),
        sa.Column("completion_code", sa.String(length=128), nullable=False),
        sa.Column("excluded_at", UtcTime(), nullable=True),
        sa.Column("end_key", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name=op.f("fk_study_assignments_study_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_study_assignments")),
        sa.UniqueConstraint("end_key", name=op.f("uq_study_assignments_end_key")),
        sa.UniqueConstraint("key", name=op.f("uq_study_assignments_key")),
        sa.UniqueConstraint(
            "study_id", "identity", name=op.f("uq_study_assignments_study_id_identity")
        ),
        sa.UniqueConstraint(
            "study_id", "player", name=op.f("uq_study_assignments_study_id_player")
        ),
    )
    op.create_index(op.f("ix_study_assignments_study_id"), "study_assignments", ["study_id"])

    op.create_table(
        "play_sessions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=True),
        sa.Column("season_rule_id", sa.Integer(), nullable=True),
        sa.Column("rule", sa.String(length=128), nullable=False),
        sa.Column("series", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("board", sa.JSON(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("n_episodes", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("changed_at", UtcTime(), nullable=False),
        sa.Column("finished_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["study_assignments.id"], name=op.f("fk_play_sessions_assignment_id")
        ),
        sa.ForeignKeyConstraint(
            ["season_rule_id"], ["season_rules.id"], name=op.f("fk_play_sessions_season_rule_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_play_sessions")),
        sa.UniqueConstraint("key", name=op.f("uq_play_sessions_key")),
    )
    op.create_index(op.f("ix_play_sessions_assignment_id"), "play_sessions", ["assignment_id"])
    op.create_index(op.f("ix_play_sessions_season_rule_id"), "play_sessions", ["season_rule_id"])

    op.create_table(
        "remote_trials",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("attempt_id", sa.Integer(), nullable=False),
        sa.Column("rule_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("episode", sa.Integer(), nullable=False),
        sa.Column("n_attempts", sa.Integer(), nullable=False),
        sa.Column("n_errors", sa.Integer(), nullable=False),
        sa.Column("actions", sa.LargeBinary(), nullable=False),
        sa.Column("log_sha256", sa.String(length=64), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("changed_at", UtcTime(), nullable=False),
        sa.Column("finished_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempts.id"], name=op.f("fk_remote_trials_attempt_id")
        ),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["season_rules.id"], name=op.f("fk_remote_trials_rule_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_remote_trials")),
        sa.UniqueConstraint(
            "attempt_id",
            "rule_id",
            "number",
            name=op.f("uq_remote_trials_attempt_id_rule_id_number"),
        ),
    )
    op.create_index(op.f("ix_remote_trials_attempt_id"), "remote_trials", ["attempt_id"])

    op.create_table(
        "study_answers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("page", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("series", sa.Integer(), nullable=True),
        sa.Column("episode", sa.Integer(), nullable=True),
        sa.Column("confidence", sa.Integer(), nullable=True),
        sa.Column("at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["study_assignments.id"], name=op.f("fk_study_answers_assignment_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_study_answers")),
    )
    op.create_index(op.f("ix_study_answers_assignment_id"), "study_answers", ["assignment_id"])

    op.create_table(
        "submissions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("season_id", sa.Integer(), nullable=False),
        sa.Column("attempt_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("origin", sa.String(length=8), nullable=False),
        sa.Column("manifest", sa.JSON(), nullable=False),
        sa.Column("log_sha256", sa.String(length=64), nullable=True),
        sa.Column("log_format", sa.String(length=16), nullable=False),
        sa.Column("log_bytes", sa.BigInteger(), nullable=False),
        sa.Column("n_attempts", sa.Integer(), nullable=True),
        sa.Column("warnings", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("changed_at", UtcTime(), nullable=False),
        sa.Column("verified_at", UtcTime(), nullable=True),
        sa.Column("withdrawn_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempts.id"], name=op.f("fk_submissions_attempt_id")
        ),
        sa.ForeignKeyConstraint(
            ["season_id"], ["seasons.id"], name=op.f("fk_submissions_season_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submissions")),
        sa.UniqueConstraint("attempt_id", name=op.f("uq_submissions_attempt_id")),
        sa.UniqueConstraint(
            "season_id", "log_sha256", name=op.f("uq_submissions_season_id_log_sha256")
        ),
    )
    op.create_index("ix_submissions_season_state", "submissions", ["season_id", "state"])

    op.create_table(
        "jobs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("n_attempts", sa.Integer(), nullable=False),
        sa.Column("lease_owner", sa.String(length=128), nullable=True),
        sa.Column("lease_until", UtcTime(), nullable=True),
        sa.Column("heartbeat_at", UtcTime(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("started_at", UtcTime(), nullable=True),
        sa.Column("finished_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=op.f("fk_jobs_submission_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    op.create_index("ix_jobs_state_lease", "jobs", ["state", "lease_until"])
    op.create_index(op.f("ix_jobs_submission_id"), "jobs", ["submission_id"])

    op.create_table(
        "play_attempts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("episode", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("cell", sa.Integer(), nullable=True),
        sa.Column("bucket", sa.Integer(), nullable=True),
        sa.Column("outcome", sa.Integer(), nullable=False),
        sa.Column("finish", sa.Integer(), nullable=False),
        sa.Column("board", sa.LargeBinary(), nullable=True),
        sa.Column("at", UtcTime(), nullable=False),
        sa.Column("reaction_ms", sa.Integer(), nullable=True),
        sa.Column("client_touch_ms", sa.Integer(), nullable=True),
        sa.Column("client_action_ms", sa.Integer(), nullable=True),
        sa.Column("client_away_ms", sa.Integer(), nullable=True),
        sa.Column("client_animation_ms", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["session_id"], ["play_sessions.id"], name=op.f("fk_play_attempts_session_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_play_attempts")),
        sa.UniqueConstraint(
            "session_id",
            "episode",
            "number",
            name=op.f("uq_play_attempts_session_id_episode_number"),
        ),
    )
    op.create_index(op.f("ix_play_attempts_session_id"), "play_attempts", ["session_id"])

    op.create_table(
        "trials",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("rule_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("tce", sa.Double(), nullable=False),
        sa.Column("errors_to_learn", sa.Double(), nullable=True),
        sa.Column("n_episodes", sa.Integer(), nullable=False),
        sa.Column("n_attempts", sa.Integer(), nullable=False),
        sa.Column("n_moves", sa.Integer(), nullable=False),
        sa.Column("n_cleared", sa.Integer(), nullable=False),
        sa.Column("curve", sa.JSON(), nullable=False),
        sa.Column("log_sha256", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["rule_id"], ["season_rules.id"], name=op.f("fk_trials_rule_id")),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=op.f("fk_trials_submission_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trials")),
        sa.UniqueConstraint(
            "submission_id",
            "rule_id",
            "number",
            name=op.f("uq_trials_submission_id_rule_id_number"),
        ),
    )
    op.create_index(op.f("ix_trials_log_sha256"), "trials", ["log_sha256"])
    op.create_index(op.f("ix_trials_rule_id"), "trials", ["rule_id"])
    op.create_index(op.f("ix_trials_submission_id"), "trials", ["submission_id"])

    if op.get_bind().dialect.name == "sqlite":
        op.execute(_SQLITE.format("UPDATE"))
        op.execute(_SQLITE.format("DELETE"))
    else:
        op.execute(_POSTGRESQL)
        op.execute(_POSTGRESQL_TRIGGER)


def downgrade() -> None:
    """Remove all tables."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TRIGGER audit_log_no_UPDATE")
        op.execute("DROP TRIGGER audit_log_no_DELETE")
    else:
        op.execute("DROP TRIGGER audit_log_only_grows ON audit_log")
        op.execute("DROP FUNCTION audit_log_only_grows()")
    for table in _TABLES:
        op.drop_table(table)
