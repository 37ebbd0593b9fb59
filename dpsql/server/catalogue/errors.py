"""The one error of the catalogue: a statement that it cannot answer. Nothing in it depends on data."""

from __future__ import annotations


class CatalogueError(Exception):
    """A statement over the catalogue that is not answered; the message says why."""
