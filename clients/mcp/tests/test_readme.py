"""The page shows what runs."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import sys
import tempfile
import unittest
from pathlib import Path

from mcp.client.stdio import StdioServerParameters
from support import FOLDER, PATIENCE, POOLS, Case, agent, parameters

PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")


def block(language: str, begins: str) -> str:
    """The code of the page in this language that begins so."""
    blocks: list[str] = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    [found] = [code for code in blocks if code.startswith(begins)]
    return found


class Page(Case):
    config = POOLS + block("toml", "[[pool]]")
    house_bots = True

    def as_a_host_starts_it(self) -> StdioServerParameters:
        """What the page tells a host, with `modiar-mcp` of this checkout, and the port of the test."""
        told = json.loads(block("json", "{"))["mcpServers"]["modiar"]
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        program = Path(folder.name) / told["command"]
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m modiar_mcp "$@"\n', encoding="utf-8")
        program.chmod(0o755)
        here = parameters(self.daemon.port).env or {}
        return StdioServerParameters(command=str(program), env={**told["env"], **here})

    async def house_bots_are_there(self) -> None:
        """They sit down a moment after the start."""
        async with agent(parameters(self.daemon.port)) as early:
            while (await early.ask("challenge", bot="house-greedy")).error:
                await asyncio.sleep(0.05)

    async def test_the_session_is_played_as_it_stands(self) -> None:
        await asyncio.wait_for(self.house_bots_are_there(), PATIENCE)
        async with agent(self.as_a_host_starts_it()) as player:
            answers: dict[str, str] = {}
            for line in block("text", "rules\n").splitlines():
                tool, _, arguments = line.partition(" ")
                answer = await player.ask(tool, **json.loads(arguments or "{}"))
                self.assertFalse(answer.error, f"{line}: {answer.text}")
                answers[tool] = answer.text
            self.assertIn('"you": "Tanja"', answers["pools"])
            after = json.loads(answers["what_if"])["after"]
            self.assertEqual(after["picture"] + "\n", block("text", "North, "))

    async def test_it_names_every_tool_and_the_slowest_pool(self) -> None:
        async with agent(parameters(self.daemon.port)) as player:
            tools = {tool.name for tool in (await player.client.list_tools()).tools}
            self.assertEqual(set(re.findall(r"^\| `(\w+)` \| ", PAGE, re.MULTILINE)) & tools, tools)
            slowest = (await player.call("pools"))["pools"][0]
            self.assertEqual((slowest["name"], slowest["base_ms"]), ("slow", 600_000))


if __name__ == "__main__":
    unittest.main()
