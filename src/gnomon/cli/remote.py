"""``gnomon run CONFIG --server URL``: a learner plays a hidden season of a leaderboard."""

from __future__ import annotations

import dataclasses

import typer

from gnomon.cli.answer import answering

__all__ = ["play_season"]


def play_season(
    config: str, server: str, token: str, *, again: bool, seed: int | None, as_json: bool
) -> None:
    """Play, with a bar; Ctrl-C keeps what has been played."""
    from gnomon.cli.progress import bar_of
    from gnomon.leaderboard.client.remote_connection import RemoteBoard
    from gnomon.leaderboard.client.remote_run import RemotePlan, play_remotely

    with answering("run", as_json=as_json) as answer:
        plan = RemotePlan.from_toml(config)
        if seed is not None:
            plan = dataclasses.replace(plan, seed=seed)
        board = RemoteBoard(server, token)
        try:
            with bar_of("trials") as progress:
                summary = play_remotely(plan, board, again=again, progress=progress)
        except KeyboardInterrupt:
            answer.warn("stopped; what was played is kept, and the same command goes on")
            raise typer.Exit(130) from None
        answer.results([dataclasses.asdict(summary)])
        answer.say(
            f"{plan.entry}: {summary.done} trials played, {summary.skipped} before, "
            f"{summary.n_attempts} attempts; season {summary.season}, entry {summary.entry}, "
            f"attempt {summary.attempt}"
        )
        answer.say("the server replays them before they stand on the board")
