"""The list of games: filters, pages of games, and how far their index is."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from liescope.data_cards.tables import TARGETS
from liescope.web.site import link, page
from liescope.web.view.facts import PAIRS
from liescope.web.view.game_routes import game_address
from liescope.web.view.index import Index
from liescope.web.view.listing import ANY, MISTAKES, SORTS, Filters, choices, list_games, read_filters

_BEGUN = 12  # games under way that are named


def list_routes(index: Index) -> APIRouter:
    """The first page of what was opened, and the line that says how far its index is."""
    router = APIRouter()

    @router.get("/", response_class=HTMLResponse)
    def games(request: Request) -> HTMLResponse:
        opened = index.opened
        detectors = [one.name for one in opened.scores.detectors] if opened.scores else []
        filters = read_filters(request.query_params)
        listing = list_games(index.store, filters, detectors[0] if detectors else "")
        now = index.progress()
        values: dict[str, Any] = {
            "listing": listing,
            "filters": filters,
            "source": opened.source,
            "offered": _offered(index, detectors),
            "detectors": detectors,
            "begun": now.begun[:_BEGUN],
            "more_begun": max(0, len(now.begun) - _BEGUN),
            "progress": now,
            "to_game": lambda game_id: game_address(request, game_id),
            "to_page": lambda number: _address(request, listing.filters.at(number)),
        }
        return page(request, "list.html", **values)

    @router.get("/progress", response_class=HTMLResponse)
    def progress(request: Request, seen: int = -1) -> HTMLResponse:
        """seen: the games whose facts the list shows."""
        now = index.progress()
        response = page(request, "progress.html", progress=now)
        if now.complete and now.indexed != seen:
            response.headers["HX-Trigger"] = "indexed"
        return response

    return router


def _address(request: Request, filters: Filters) -> str:
    query = filters.query
    return link(request, f"/?{query}" if query else "/")


def _offered(index: Index, detectors: list[str]) -> dict[str, list[tuple[str, str]]]:
    """What each filter offers: values with their words. A filter with nothing to choose between is left out."""
    found = {kind: [(value, value) for value in values] for kind, values in choices(index.store).items()}
    offered = {kind: found.get(kind, []) for kind in ("model", "role", "game", "winner", "status")}
    offered = {kind: values for kind, values in offered.items() if len(values) > 1}
    offered["labels"] = [(label, label) for label in TARGETS]
    pairs = [(pair, " and ".join(pair.split("_"))) for pair in PAIRS]
    offered["differ"] = [(ANY, "any of them, or a detector" if detectors else "any of them"), *pairs]
    if detectors:
        words = {ANY: "anything", "missed": "a deception it missed", "alarms": "a false alarm"}
        offered["mistakes"] = [(kind, words[kind]) for kind in MISTAKES]
    if len(detectors) > 1:
        offered["detector"] = [(name, name) for name in detectors]
    offered["sort"] = [(name, name) for name in SORTS]
    return offered
