// Driver answers questions about this library: one JSON object a line on stdin, one a line on stdout.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"

	"modiar"
)

type question struct {
	Op       string          `json:"op"`
	Position string          `json:"position"`
	Pit      modiar.Pit      `json:"pit"`
	Depth    int             `json:"depth"`
	Chunks   []string        `json:"chunks"`
	Message  json.RawMessage `json:"message"`
}

type answer map[string]any

func main() {
	output := json.NewEncoder(os.Stdout)
	output.SetEscapeHTML(false)
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<24)
	for input.Scan() {
		if err := output.Encode(reply(input.Bytes())); err != nil {
			log.Fatal(err)
		}
	}
	if err := input.Err(); err != nil {
		log.Fatal(err)
	}
}

func reply(line []byte) answer {
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{"error": err.Error()}
	}
	switch asked.Op {
	case "decode":
		return decode(asked.Chunks)
	case "encode":
		return encode(asked.Message)
	case "legal", "parse", "play", "score", "greedy", "minimax":
		position, err := modiar.ParsePosition(asked.Position)
		if err != nil {
			return answer{"error": clause(err)}
		}
		return asked.about(position)
	}
	return answer{"error": "unknown op"}
}

func (q question) about(position modiar.Position) answer {
	switch q.Op {
	case "legal":
		return answer{"legal": append([]modiar.Pit{}, position.Legal()...)}
	case "parse":
		return answer{
			"pits": position.Pits, "captured": position.Captured, "side": position.Side, "ply": position.Ply,
			"text": position.String(),
		}
	case "play":
		after, taken, err := position.Play(q.Pit)
		if err != nil {
			return answer{"error": clause(err)}
		}
		return answer{"after": after.String(), "taken": taken}
	case "score":
		return answer{"score": position.Score()}
	case "greedy":
		return answer{"pit": position.Greedy()}
	default:
		return answer{"pit": position.Minimax(q.Depth), "value": position.Value(q.Depth)}
	}
}

func clause(err error) string {
	var text *modiar.PositionError
	if errors.As(err, &text) {
		return string(text.Clause)
	}
	var move *modiar.IllegalMoveError
	if errors.As(err, &move) {
		return string(move.Clause)
	}
	return err.Error()
}

func decode(chunks []string) answer {
	var decoder modiar.Decoder
	messages := []json.RawMessage{}
	for _, chunk := range chunks {
		data, err := hex.DecodeString(chunk)
		if err != nil {
			return answer{"error": err.Error()}
		}
		decoded, err := decoder.Feed(data)
		for _, message := range decoded {
			line, err := modiar.Encode(message)
			if err != nil {
				return answer{"error": err.Error()}
			}
			messages = append(messages, line)
		}
		if err != nil {
			return answer{"error": err.Error(), "messages": messages}
		}
	}
	return answer{"messages": messages}
}

func encode(text []byte) answer {
	message, err := modiar.ParseClient(text)
	if err != nil {
		return answer{"error": err.Error()}
	}
	if message == nil {
		return answer{"error": fmt.Sprintf("no message of a client: %s", text)}
	}
	line, err := modiar.Encode(message)
	if err != nil {
		return answer{"error": err.Error()}
	}
	return answer{"line": string(line)}
}
