#!/usr/bin/env bash
# Plays the first legal pit: bot.sh [--games N] [--pool P]. It does not come back after a lost link.
games=1 pool=practice
while (($#)); do
    case "$1 ${2-}" in
        "--games "[0-9]*) games=$2 ;;
        "--pool "?*) pool=$2 ;;
        *) echo "usage: $0 [--games N] [--pool P]" >&2; exit 2 ;;
    esac
    shift 2
done
if [[ $games == *[!0-9]* ]]; then echo "--games is '$games': write a whole number from 0 to 1000000" >&2; exit 2; fi
if [[ ${MODIAR_TLS-}${MODIAR_CA-} ]]; then echo "this bot speaks no TLS: unset MODIAR_TLS and MODIAR_CA, and use a tunnel" >&2; exit 2; fi

coproc nc "${MODIAR_HOST:-127.0.0.1}" "${MODIAR_PORT:-6634}"
nc=$! status=3
exec {in}<&"${COPROC[0]}" {out}>&"${COPROC[1]}"
trap '' PIPE
trap 'kill $nc 2>/dev/null' EXIT
declare -A sides
answer() { jq -c "$1" --arg pool "$pool" --argjson games "$((10#$games))" <<<"$line" >&"$out"; }
tell() { jq -r "$1" --arg side "${sides[$game]-unknown}" <<<"$line"; }

line={}
answer '{type: "hello", protocol: 1, client: "modiar-shell"} + (env | {name: .MODIAR_NAME, token: .MODIAR_TOKEN} | map_values(select(. != "")))'
while IFS= read -r line <&"$in"; do
    read -r type game < <(jq -r '"\(.type) \(.game)"' <<<"$line")
    case $type in
        welcome) answer '{type: "seek", pool: $pool, games: $games}' ;;
        started) sides[$game]=$(jq -r .side <<<"$line") ;;
        turn) answer '{type: "move", game, pit: .legal[0], ply}' ;;
        ended) tell '"\(.game) \(.result) \(.termination) \($side) \(.score.south)-\(.score.north)"' ;;
        seek_ended) [[ $line == *'"done"'* ]] && status=0; answer '{type: "bye"}' ;;
        error) tell '"error \(.code): \(.message)"' >&2; break ;;
        goodbye) ((status)) && tell .message >&2; exit "$status" ;;
    esac
done
echo "no connection, or it ended before the games were played" >&2
exit 3
