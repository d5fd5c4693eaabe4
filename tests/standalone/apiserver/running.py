"""Runs an API server in a process of its own, to be killed: `python running.py DATA_DIR`. Prints its URL."""

from __future__ import annotations

import asyncio
import sys

from gatepost.standalone.apiserver.errors import ApiServerError
from gatepost.standalone.apiserver.server import ApiServer


async def serve(data_dir: str) -> None:
    async with ApiServer(data_dir=data_dir) as server:
        print(server.url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    try:
        asyncio.run(serve(sys.argv[1]))
    except ApiServerError as error:
        print(error, file=sys.stderr)
        sys.exit(3)
