"""Modiar for agents: a server of the Model Context Protocol over stdio that plays through `modiar.aio`.

`server` has the tools, `seat` the bot that they move, `game` what it knows of a game, `views` what an agent reads.
"""

__version__ = "0.1.0"
