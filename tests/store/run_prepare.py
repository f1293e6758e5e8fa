"""One ``prepare`` in a process of its own, for tests that kill it or starve it.

    python run_prepare.py ROOT OUT [--workers N] [--kill-after N] [--largest-file BYTES]

Prints the report and the peak memory (kB, of this process) as JSON; exit code 1 with the message of
a MotionpredError.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
from pathlib import Path

from crossing_files import CrossingFiles

from motionpred.errors import MotionpredError
from motionpred.store import PrepareProgress, prepare


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--shard-size", type=int)
    parser.add_argument("--compression")
    parser.add_argument("--kill-after", type=int)
    parser.add_argument("--largest-file", type=int)
    options = parser.parse_args()
    if options.largest_file:
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (options.largest_file, hard))

    def kill(progress: PrepareProgress) -> None:
        if progress.scenes == options.kill_after:
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        report = prepare(
            CrossingFiles(),
            options.root,
            options.out,
            workers=options.workers,
            shard_size=options.shard_size,
            compression=options.compression,
            progress=kill if options.kill_after else None,
        )
    except MotionpredError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sys.stdout.write(
        json.dumps(
            {
                "scenes": report.scenes,
                "built": report.built,
                "resumed": report.resumed,
                "content_hash": report.content_hash,
                "peak": peak,
            }
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
