"""Fit rows from Parquet in a process that may use less memory than the cells take.

    python benchmarks/out_of_core.py [--rows N] [--gigabytes 3] [--folder DIR] [--results FILE]

A control group (version 1) limits the memory of the process, including the files that the system
caches for it. Without the rights to create a control group, the fit runs without a limit, and a
message says so.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N_COLUMNS, N_CLUSTERS, ROWS_PER_FILE = 8, 12, 1_000_000
PARAMETERS = {"psi": 64, "tau": 0.01, "random_state": 0}
GROUPS = Path("/sys/fs/cgroup/memory")


def write_rows(folder: Path, n_rows: int) -> None:
    """Write float32 rows of clusters with 2% noise, a million rows per file."""
    rng = np.random.default_rng(0)
    centres = rng.uniform(-8, 8, (N_CLUSTERS, N_COLUMNS)).astype(np.float32)
    widths = rng.uniform(0.4, 1.2, N_CLUSTERS).astype(np.float32)
    for number, start in enumerate(range(0, n_rows, ROWS_PER_FILE)):
        size = min(ROWS_PER_FILE, n_rows - start)
        cluster = rng.integers(0, N_CLUSTERS, size)
        noise = rng.standard_normal((size, N_COLUMNS), dtype=np.float32)
        rows = centres[cluster] + widths[cluster][:, np.newaxis] * noise
        stray = rng.random(size) < 0.02
        rows[stray] = rng.uniform(-10, 10, (stray.sum(), N_COLUMNS))
        columns = {f"c{column}": rows[:, column] for column in range(N_COLUMNS)}
        pq.write_table(pa.table(columns), folder / f"part-{number:04}.parquet")


def fit(folder: str, scratch: str) -> None:
    """Fit in this process; print its time and memory as JSON."""
    import resource

    from pskclust import PSKC, Progress

    began: dict[str, float] = {}
    started, started_cpu = time.perf_counter(), time.process_time()

    def note(progress: Progress) -> None:
        began.setdefault(progress.stage, time.perf_counter() - started)

    model = PSKC(**PARAMETERS, scratch_dir=scratch, callback=note).fit(folder)
    print(
        json.dumps(
            {
                "rows": len(model.labels_),
                "seconds": time.perf_counter() - started,
                "processor_seconds": time.process_time() - started_cpu,
                "growth_seconds": time.perf_counter() - started - began["grow"],
                "clusters": model.n_clusters_,
                "peak_resident_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
                "left_in_scratch": os.listdir(scratch),
            }
        )
    )


@contextlib.contextmanager
def control_group(n_bytes: int) -> Iterator[Path | None]:
    group = GROUPS / f"pskclust-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(n_bytes))
    except OSError as error:
        print(f"The fit runs without a limit of memory: {error}", file=sys.stderr)
        yield None
        return
    try:
        yield group
    finally:
        group.rmdir()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--gigabytes", type=float, default=3)
    parser.add_argument("--folder", type=Path, default=tempfile.gettempdir())
    here = Path(__file__).parent
    parser.add_argument("--results", type=Path, default=here / "out_of_core.json")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(dir=options.folder, prefix="pskclust-benchmark-"))
    rows, scratch = folder / "rows", folder / "scratch"
    try:
        rows.mkdir()
        scratch.mkdir()
        write_rows(rows, options.rows)
        with control_group(int(options.gigabytes * 1e9)) as group:
            code = f"import out_of_core; out_of_core.fit({str(rows)!r}, {str(scratch)!r})"
            enter = f'echo $$ > "{group}/cgroup.procs";' if group else ""
            command = ["sh", "-c", f'{enter} exec "$0" -c "$1"', sys.executable, code]
            path = os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(Path(__file__).parent)])
            environment = {**os.environ, "PYTHONPATH": path}
            answer = subprocess.run(command, env=environment, check=True, capture_output=True)
            found = json.loads(answer.stdout)
            if group:
                peak = (group / "memory.max_usage_in_bytes").read_text()
                found |= {"limit_bytes": int(options.gigabytes * 1e9), "group_bytes": int(peak)}
            print(json.dumps(found, indent=2))
            options.results.write_text(json.dumps(found, indent=2) + "\n")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
