"""`python -m modiar_mcp` is `modiar-mcp`."""

from .server import main

main()
