"""Transcripts of people in the formats of the reference game server: a game of ours, and records.

The records, of synthetic players, lie beside some checkouts only.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from recorded_episodes import VECTORS, records

#: Colour decides the bucket, so that chance is 1/4 as long as anything is left.
RULE = "(*,*,red,*,0) (*,*,blue,*,2)\n"
BUCKETS = ("7,0", "7,7", "0,7", "0,0")
#: Two boards: number, row, column, colour of each piece; pieces of both are stars.
BOARDS = {
    "20250304-090016-AAAAAA": [(0, 5, 3, "RED"), (1, 2, 6, "BLUE"), (2, 1, 1, "RED")],
    "20250304-090116-BBBBBB": [(0, 5, 3, "BLUE"), (1, 2, 6, "RED")],
}
#: Outcomes F S F F S S S S, with an accepted pick; piece, bucket (None of a pick) and code.
ATTEMPTS = {
    "20250304-090016-AAAAAA": [
        (0, 2, 4), (0, 0, 0), (1, None, 0), (1, 0, 4), (1, 1, 4), (1, 2, 0), (2, 0, 0),
    ],
    "20250304-090116-BBBBBB": [(0, 2, 0), (1, 0, 0)],
}  # fmt: skip
HEADERS = {
    "6.x": "#pid,episodeId,moveNo,timestamp,y,x,by,bx,code",
    "7.x": "#pid,episodeId,moveNo,timestamp,mover,y,x,by,bx,code",
    "8.x": "#pid,episodeId,moveNo,timestamp,mover,objectId,y,x,by,bx,code",
    "8.x with hints": "#pid,episodeId,moveNo,timestamp,mover,objectId,y,x,by,bx,code,followed",
}


def recorded(name: str) -> list[dict[str, Any]]:
    """Return the records of a file, or skip the test."""
    path = VECTORS / "transcripts" / f"{name}.jsonl.gz"
    if not path.is_file():
        pytest.skip("the recorded transcripts are not beside the repository")
    return list(records(path))


def our_player(name: str = "A01", version: str = "8.x", **changes: Any) -> dict[str, Any]:
    """Return a player of the game above as the records have theirs."""
    names = HEADERS[version].lstrip("#").split(",")
    lines = [HEADERS[version], *(_line(names, name, *attempt) for attempt in _attempts())]
    old = "objectId" not in names
    board = f"#playerId,episodeId,{'' if old else 'objectId,'}y,x,shape,color,objectType"
    pieces = [
        f"{name},{episode},{'' if old else f'{number},'}{y},{x},STAR,{color},{color}_STAR"
        for episode, dealt in BOARDS.items()
        for number, y, x, color in dealt
    ]
    return {
        "playerId": name,
        "experimentPlan": "ours",
        "trialListId": "one",
        "partnerPlayerId": None,
        "trial_list": "rule_id,max_boards,feedback_switches\nhue,2,free\n",
        "rules": {"hue": RULE},
        "episodes": [{"episodeId": episode, "seriesNo": 0} for episode in BOARDS],
        "transcripts": "\n".join([*lines, ""]),
        "boards": "\n".join([board, *pieces, ""]),
        **changes,
    }


def _attempts() -> list[tuple[str, int, int, int | None, int]]:
    return [(e, i, *attempt) for e, made in ATTEMPTS.items() for i, attempt in enumerate(made)]


def _line(
    names: list[str], player: str, episode: str, number: int, piece: int, bucket: int | None,
    code: int,
) -> str:  # fmt: skip
    _, y, x, _ = BOARDS[episode][piece]
    by, bx = ("", "") if bucket is None else BUCKETS[bucket].split(",")
    cells = {
        "pid": player, "episodeId": episode, "moveNo": number,
        "timestamp": f"20250304-0901{number:02}.000", "mover": number % 2, "objectId": piece,
        "y": y, "x": x, "by": by, "bx": bx, "code": code, "followed": 0,
    }  # fmt: skip
    return ",".join(str(cells[name]) for name in names)


def write_player(folder: Path, record: Mapping[str, Any], *, detailed: bool = False) -> Path:
    """Write the files of a player, with tables of players and episodes, or with a detailed file."""
    name, plan = record["playerId"], record["experimentPlan"]
    files = {
        f"transcripts/{name}.transcripts.csv": record["transcripts"],
        f"boards/{name}.boards.csv": record["boards"],
        f"lists/{plan}/{record['trialListId']}.csv": record["trial_list"],
        **{f"rules/{rule}.txt": text for rule, text in record["rules"].items()},
    }
    if detailed:
        files[f"detailed-transcripts/{name}.detailed-transcripts.csv"] = record["detailed"]
    else:
        files["PlayerInfo.csv"] = (
            "id,playerId,experimentPlan,trialListId,partnerPlayerId\n"
            f"7,{name},{plan},{record['trialListId']},{record['partnerPlayerId'] or ''}\n"
        )
        episodes = [f"{e['episodeId']},7,{e['seriesNo']},1" for e in record["episodes"]]
        files["Episode.csv"] = "\n".join(["episodeId,PLAYER_ID,seriesNo,finishCode", *episodes, ""])
    for place, text in files.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
