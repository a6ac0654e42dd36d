"""Decodes byte strings as Python does. Usage: utf8.py FILE: lines of hex in, FILE.out: the same lines decoded, as hex"""

import sys

with open(sys.argv[1]) as lines, open(sys.argv[1] + ".out", "w") as out:
    for line in lines:
        decoded = bytes.fromhex(line.strip()).decode("utf-8", errors="replace")
        print(decoded.encode("utf-8").hex(), file=out)
