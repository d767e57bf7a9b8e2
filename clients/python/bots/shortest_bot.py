import json, os, socket

server = os.environ.get("MODIAR_HOST", "127.0.0.1"), int(os.environ.get("MODIAR_PORT", "6634"))
with socket.create_connection(server) as connection:
    def send(**message):
        connection.sendall(json.dumps(message).encode() + b"\n")

    send(type="hello", protocol=1)
    for line in connection.makefile(encoding="utf-8"):
        match json.loads(line):
            case {"type": "welcome"}:
                send(type="seek", pool="practice")
            case {"type": "turn", "game": game, "legal": legal}:
                send(type="move", game=game, pit=legal[0])
            case {"type": "ended", "game": game, "result": result, "termination": termination}:
                print(game, result, termination)
                break
            case {"type": "error" | "goodbye", "message": message}:
                raise SystemExit(message)
    else:
        raise SystemExit("the server closed the connection")
