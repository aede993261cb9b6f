"""The labelling page as an ASGI application."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from sondage.errors import SondageError
from sondage.studies.study import Study
from sondage.web.images import named_images
from sondage.web.labelling import Labelling
from sondage.web.security import Gate, Guard
from sondage.web.views import ROUTES, Site, failed

__all__ = ["create_app"]


def create_app(
    study: Study,
    token: str,
    owner: str | None = None,
    *,
    images: str | None = None,
    question: str = "",
    guide: str = "",
) -> Starlette:
    """Return the labelling page of a study.

    Parameters
    ----------
    study : Study
        The study.
    token : str
        Lets its bearer label.
    owner : str, optional
        Lets its bearer see the estimate too; without it nobody sees it.
    images : str, optional
        Folder, or address of this machine, below which the pictures are that items name.
    question : str
        What is asked of the labeller.
    guide : str
        How to label, shown with the help.

    Returns
    -------
    Starlette

    Raises
    ------
    InputError
        If a token is too short or cannot be typed, or there are no images at that place.
    """
    gate, pictures = Gate(token, owner), named_images(images)
    templates = Environment(
        loader=PackageLoader("sondage.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    app = Starlette(
        routes=[*ROUTES, Mount("/static", StaticFiles(packages=[("sondage.web", "static")]))],
        middleware=[Middleware(Guard, pictures=pictures.origin)],
        exception_handlers={SondageError: failed, HTTPException: failed},
    )
    app.state.site = Site(Labelling(study, pictures, question, guide), gate, templates)
    return app
