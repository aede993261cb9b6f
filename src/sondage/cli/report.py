"""``sondage report``: the answer of a study and all that it rests on, for the terminal, programs or a browser."""

from __future__ import annotations

from pathlib import Path

import click

from sondage.cli.options import json_option, level_option, study_argument
from sondage.cli.printing import print_json, print_line, print_lines, waiting, write_file
from sondage.errors import InputError

__all__ = ["command"]


@click.command("report", short_help="Report everything: the answer and all that it rests on.")
@study_argument
@click.option("--html", type=click.Path(dir_okay=False), help="Write a page that needs no other file; ends in .html.")
@level_option
@json_option
def command(study: str, html: str | None, level: float, as_json: bool) -> None:
    """Report the answer of STUDY and all that it rests on.

    Where the study stands, how items were chosen, what uniform sampling would have needed, weights, whether the
    belief was right, the labels that moved the result most, the result by the pool's fields, and all settings.

    \b
    sondage report study.db --html report.html
    sondage report study.db --json
    """
    import sondage
    from sondage.adapters.whole_files import require_no_pool
    from sondage.reports.lines import report_lines

    if html is not None and Path(html).suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{html or repr(html)}: the name of a page ends in .html")
    with sondage.Study.open(study) as opened:
        if html is not None:
            require_no_pool(html, opened)
        report = sondage.report(opened, level)
    if html is not None:
        with waiting("drawing"):
            page = report.to_html()
        write_file(html, page, "the study is as it was")
        print_line(f"Wrote {html}.", err=True)
    if as_json:
        print_json(report.to_data())
    elif html is None:
        print_lines(report_lines(report))
