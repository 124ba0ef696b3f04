"""A client of the socialdata API: typed public data of many social and commerce platforms."""

from . import models
from ._client import AsyncClient, Client, NoProblemDocument, Problem, WebhookError, to_rows, verify_webhook

__all__ = [
    "AsyncClient",
    "Client",
    "NoProblemDocument",
    "Problem",
    "WebhookError",
    "models",
    "to_rows",
    "verify_webhook",
]
