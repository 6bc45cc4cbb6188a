"""``pskclust completion``: scripts that complete commands and options with the Tab key."""

from __future__ import annotations

import click

_EPILOG = """\b
Example:
  pskclust completion bash > pskclust-completion.bash

\b
bash: add the line "source /path/to/pskclust-completion.bash" to ~/.bashrc
zsh: the same with the script of "pskclust completion zsh" and ~/.zshrc
fish: pskclust completion fish > ~/.config/fish/completions/pskclust.fish
"""


@click.command(epilog=_EPILOG, short_help="Print a script for shell completion.")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes commands and options in bash, zsh or fish."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    root = context.find_root().command
    script = kind(root, {}, "pskclust", "_PSKCLUST_COMPLETE")
    click.echo(script.source_template % script.source_vars())
