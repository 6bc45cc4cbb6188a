"""Help texts with options in sections instead of one long list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

_SECTIONS = {
    "Output": (
        *("output", "keep_columns", "similarity", "model_file", "report", "plot"),
        *("force", "as_json"),
    ),
    "Page": ("sample", "no_browser", "port", "host"),
    "Image": ("color_space", "position"),
    "Columns": ("columns", "drop", "ids", "label", "weight", "scaling", "missing"),
    "File": ("kind", "delimiter", "has_header", "encoding", "missing_values"),
    "Clustering": ("n_clusters", "min_cluster_size", "noise", "metric", "random_state"),
    "Expert": (
        *("psi", "tau", "growth_rate", "n_partitions", "method", "replace", "refine"),
        *("device", "scratch_dir", "checkpoint"),
    ),
}
_REST = "Other"


class SectionedCommand(click.Command):
    """A command whose help shows options in sections; `sections` maps more names to sections."""

    def __init__(
        self, *about: Any, sections: Mapping[str, tuple[str, ...]] | None = None, **more: Any
    ) -> None:
        super().__init__(*about, **more)
        self._sections = {**(sections or {}), **_SECTIONS}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections that have options; options without a section come last."""
        records: dict[str, list[tuple[str, str]]] = {title: [] for title in self._sections}
        records[_REST] = []
        section_of: dict[str, str] = {}
        for title, names in self._sections.items():
            section_of = {**dict.fromkeys(names, title), **section_of}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                records[section_of.get(str(parameter.name), _REST)].append(record)
        for title, lines in records.items():
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines)
