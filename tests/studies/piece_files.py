"""A folder of the reference system's kind with pictures, a shape and colours of its own."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

CAT = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><circle cx="50" cy="55" r="30" '
    'fill="#c96"/><path d="M25 35L30 8L48 28ZM75 35L70 8L52 28Z" fill="#c96"/></svg>'
)
HEART = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" onload="alert(1)">'
    '<script>alert(2)</script><path onclick="alert(3)" style="fill:red" d="M12 21C5 14 1 11 1 '
    '6.5C1 3 4 1 6.5 1C9 1 11 2.5 12 4.5C13 2.5 15 1 17.5 1C20 1 23 3 23 6.5C23 11 19 14 12 21Z"/>'
    "</svg>"
)
TRIAL_LIST = """\
rule_id,max_boards,min_objects,max_objects,min_shapes,max_shapes,min_colors,max_colors,shapes,\
colors,images,crowded,feedback_switches,stack_memory_depth,grid_memory_show_order,give_up_at
my/legs,1,6,6,,,,,,,zoo/*;/composite/v2/d=13/gs/rq,,free,4,TRUE,0
my/hue,1,36,36,3,3,4,4,heart;star;square,teal;coral;red;black,,,free,4,TRUE,0
my/hue,1,36,36,3,3,4,4,heart;star;square,teal;coral;red;black,,TRUE,free,4,TRUE,0
"""
RULES = {
    "legs": "(legs:4, bucket:0) (legs:2, bucket:1) (c:gr, bucket:2)\n",
    "hue": "(*,*,TEAL,*,0) (*,*,CORAL,*,1) (*,*,RED,*,2) (*,*,BLACK,*,3)\n",
}


def png(color: tuple[int, int, int], side: int = 8) -> bytes:
    """Return a picture of one colour."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

    rows = (b"\0" + bytes(color) * side) * side
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def write_piece_files(data: Path, trial_list: str = TRIAL_LIST) -> Path:
    """Write a folder of data, and return the folder of its trial lists."""
    lists = data / "trial-lists" / "exp"
    texts = {
        lists / "a.csv": trial_list,
        data / "shapes" / "heart.svg": HEART,
        data / "shapes" / "zoo" / "cat.svg": CAT,
        data / "shapes" / "zoo" / "properties.csv": (
            "image,species,legs,label\ncat.svg,cat,4,a cat\nhen.png,bird,2,\n"
        ),
        data / "colors.csv": "teal,17,122,101\ncoral,255,127,80\n",
    } | {data / "rules" / "my" / f"{name}.txt": text for name, text in RULES.items()}
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (data / "shapes" / "zoo" / "hen.png").write_bytes(png((230, 160, 40)))
    return lists
