import asyncio

import modiar
import modiar.aio


def blocking() -> None:
    with modiar.connect() as client:
        client.ended = print  # is called at each end; client.results has all of them
        for turn in client.turns(pool="practice", games=2):
            turn.play(turn.legal[0])


async def waiting() -> None:
    async with modiar.aio.connect() as client:
        client.ended = print
        async for turn in client.turns(pool="practice", games=2):
            turn.play(turn.legal[0])  # now, or from a task, while the loop goes on


if __name__ == "__main__":
    blocking()
    asyncio.run(waiting())
