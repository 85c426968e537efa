"""The page of whoever comes without a link."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from liescope.web.site import page


def front_routes() -> APIRouter:
    """/, which says where to go on, and nothing of what is there."""
    router = APIRouter()

    @router.get("/")
    async def front(request: Request) -> HTMLResponse:
        return page(request, "play/front.html")

    return router
