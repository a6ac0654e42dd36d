"""How long a pass takes, as the one JSON line that scripts/bench-peers reads."""
import json
import resource
import statistics
import time

import torch


def report(once, seconds, **more):
    once()
    times, begin = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        once()
        times.append(time.perf_counter() - start)
    print(json.dumps({
        "seconds": statistics.median(times),
        "runs": len(times),
        "threads": torch.get_num_threads(),
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        **more,
    }))
