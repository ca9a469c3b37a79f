"""Wait until a server has printed its address in a file, and fetch its first page from there."""

import re
import sys
import time
import urllib.request
from pathlib import Path

out, err = Path(sys.argv[1]), Path(sys.argv[2])
for _ in range(600):
    found = re.search(r"http://[\w.:]+", out.read_text())
    if found:
        break
    time.sleep(0.2)
else:
    sys.exit(f"the server printed no address in two minutes: {err.read_text()[-500:]}")
with urllib.request.urlopen(found.group(), timeout=30) as answer:
    page = answer.read().decode()
if answer.status != 200 or "<html" not in page:
    sys.exit(f"{found.group()}: expected a page, found status {answer.status}")
