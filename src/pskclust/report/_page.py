"""HTML of a report: the sections of the page, in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from string import Template

from .._provenance import arguments
from .._utils.wording import counted
from .._version import __version__
from ._choice import candidates
from ._classes import known_classes
from ._clusters import cards, cluster_table
from ._content import Content
from ._html import command_words, figure, number, pairs, prose, section, table, text
from ._layers import layers
from ._pictures import CHOICE
from ._summary import MAX_COLUMNS, Summary
from .command import FitCommand


def page(content: Content) -> str:
    """Return the HTML of the whole page."""
    clusters, *others = (picture for picture in content.pictures if picture.part != CHOICE)
    of_choice = [picture for picture in content.pictures if picture.part == CHOICE]
    # One cluster does not differ from all rows.
    different = cards(content) if len(content.summary.sizes) > 1 else []
    parts = [
        f"<header><h1>{text(content.title)}</h1>{_origin(content)}{_facts(content.facts)}"
        f"{_column_hints(content.column_hints)}</header>",
        section("Clusters", figure(clusters), cluster_table(content)),
        section("What distinguishes each cluster", *different),
        section("Known classes", *known_classes(content.classes, content.scores)),
        section(
            "How the clusters were chosen",
            *candidates(content.choice, len(content.rows), of_choice),
        ),
        section("Layers", *layers(content)),
        section(_title_of_profile(content), *map(figure, others)),
        section("What to try next", _rules(content), _hints(content.hints)),
        section("The data", _column_table(content.summary, content.names)),
        section("Parameters", _provenance(content), pairs(content.details), _objective(content)),
    ]
    files = resources.files(__package__)
    return Template((files / "page.html").read_text("utf-8")).substitute(
        title=text(content.title),
        style=(files / "page.css").read_text("utf-8"),
        content="\n".join(part for part in parts if part),
    )


def _objective(content: Content) -> str:
    return _OBJECTIVE if "objective" in content.details else ""


_OBJECTIVE = (
    "<p>The objective is the sum of the similarities of all rows to their clusters. It is not good "
    "or bad by itself: compare it only between fits of the same rows with the same psi.</p>"
)


def _origin(content: Content) -> str:
    """Return the date, the version and, if there is one, the command."""
    day = content.date.isoformat()
    command = (
        "" if content.command is None else f"<br><code>{command_words(content.command.line)}</code>"
    )
    return f'<p class="origin">{day}, pskclust {__version__}{command}</p>'


def _facts(facts: Mapping[str, str]) -> str:
    tiles = "".join(
        f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd></div>" for name, value in facts.items()
    )
    return f'<dl class="facts">{tiles}</dl>'


def _title_of_profile(content: Content) -> str:
    return "How the clusters were found" if content.choice is None else "Sizes and similarities"


def _column_table(summary: Summary, names: Sequence[str]) -> str:
    columns = summary.columns
    body = [
        [text(names[place]), number(columns.means[place]), number(columns.spreads[place])]
        + [number(value) for value in values]
        for place, values in enumerate(columns.ranges)
    ]
    shown = table(["column", "mean", "spread", "smallest", "median", "largest"], body)
    n_more = len(names) - MAX_COLUMNS
    return shown + (f"<p>And {counted(n_more, 'more column')}.</p>" if n_more > 0 else "")


def _rules(content: Content) -> str:
    command = content.command
    changes = [arguments(rule.change) for rule in content.rules]
    if command is not None:
        changes = [command.as_options(change) for change in changes]
    body = [
        [text(rule.situation), text(rule.action), f"<code>{text(change)}</code>"]
        for rule, change in zip(content.rules, changes, strict=True)
    ]
    return table(["If", "then", "pass"], body, numbers_from=3) if body else ""


def _hints(hints: Sequence[str]) -> str:
    lines = "".join(f"<li>{prose(hint)}</li>" for hint in hints)
    return f"<ul>{lines}</ul>" if lines else ""


def _column_hints(hints: Sequence[str]) -> str:
    """Return a box of hints on columns, which may change the clusters altogether."""
    title = "<strong>Before you use these clusters, check the columns:</strong>"
    return f'<div class="check">{title}{_hints(hints)}</div>' if hints else ""


def _given(given: Mapping[str, str], command: FitCommand | None) -> str:
    words = [f"{name}={value}" for name, value in given.items()]
    if command is None:
        return ", ".join(words)
    # The command sets the seed even if no option names it.
    words = [f"{word} (default)" if word == "random_state=0" else word for word in words]
    return command.as_options(", ".join(words))


def _provenance(content: Content) -> str:
    fit, command = content.provenance, content.command
    lines = [f"Given: {_given(fit.given, command) or 'nothing'}."]
    if fit.choice is not None:
        lines.append(f"Chosen: {fit.choice}.")
    paragraphs = [f"<p>{prose(line)}</p>" for line in lines]
    call = f"<code>{prose(fit.call)}</code> fitted to {prose(fit.rows)}."
    if command is not None:
        call = f"<code>{command_words(command.line)}</code>, or in Python {call}"
    paragraphs.append(f"<p>Same labels: {call}</p>")
    if fit.note is not None:
        paragraphs.append(f"<p>{prose(fit.note)}</p>")
    return "\n".join(paragraphs)
