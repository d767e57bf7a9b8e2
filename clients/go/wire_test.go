package modiar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// words are all names of fields and all fixed texts of a schema: types, codes, reasons.
func words(schema any, found map[string]bool) {
	switch node := schema.(type) {
	case map[string]any:
		if properties, ok := node["properties"].(map[string]any); ok {
			for name := range properties {
				found[name] = true
			}
		}
		texts, _ := node["enum"].([]any)
		for _, text := range append(texts, node["const"]) {
			if word, ok := text.(string); ok {
				found[word] = true
			}
		}
		for _, below := range node {
			words(below, found)
		}
	case []any:
		for _, below := range node {
			words(below, found)
		}
	}
}

func TestEveryWordOfTheSchemaIsInTheWireFile(t *testing.T) {
	wire, err := os.ReadFile("wire.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, side := range []string{"client", "server"} {
		text, err := os.ReadFile(filepath.Join(spec, "schema", side+".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		words(read[any](t, text), found)
	}
	if len(found) < 100 {
		t.Fatalf("only %d words", len(found))
	}
	for word := range found {
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`).Match(wire) {
			t.Errorf("%s is not in wire.go", word)
		}
	}
}

// examples are the messages on the pages of the specification.
func examples(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(spec, "messages", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages", err)
	}
	var lines []string
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile("(?s)```json\n(.*?)\n```").FindAllSubmatch(text, -1) {
			lines = append(lines, string(block[1]))
		}
	}
	return lines
}

func TestExamplesAreReadAndWrittenAgain(t *testing.T) {
	for _, line := range examples(t) {
		message, err := ParseClient([]byte(line))
		if message == nil && err == nil {
			var messages []Message
			var decoder Decoder
			messages, err = decoder.Feed([]byte(line + "\n"))
			if len(messages) == 1 {
				message = messages[0]
			}
		}
		if err != nil || message == nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		again, err := Encode(message)
		if err != nil || !bytes.HasSuffix(again, []byte("}\n")) || bytes.Count(again, []byte("\n")) != 1 {
			t.Errorf("%q: %v", again, err)
		}
		if !reflect.DeepEqual(read[any](t, again), read[any](t, []byte(line))) {
			t.Errorf("%s became %s", line, again)
		}
	}
}

func TestLinesMayBeCutAnywhere(t *testing.T) {
	text := "\r\n{\"type\":\"pong\",\"time_ms\":1}\r\n\n{\"type\":\"pong\",\"time_ms\":9223372036854775807,\"ref\":9007199254740991}\n{\"type"
	for size := range len(text) {
		var decoder Decoder
		var messages []Message
		for rest := []byte(text); len(rest) > 0; rest = rest[min(size+1, len(rest)):] {
			some, err := decoder.Feed(rest[:min(size+1, len(rest))])
			if err != nil {
				t.Fatal(err)
			}
			messages = append(messages, some...)
		}
		want := []Message{PongMessage{TimeMS: 1}, PongMessage{TimeMS: 9223372036854775807, Ref: Ref("9007199254740991")}}
		if !reflect.DeepEqual(messages, want) {
			t.Fatalf("in pieces of %d: %v", size+1, messages)
		}
	}
}

func TestWhatIsUnknownIsPassedOverAndToldOnce(t *testing.T) {
	var told bytes.Buffer
	decoder := Decoder{Log: slog.New(slog.NewTextHandler(&told, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	lines := `{"type":"pong","time_ms":1,"TIME_MS":2,"mood":{"a":[1e400]}}
{"type":"weather"}
{"type":7}
[1]
not JSON
{"type":"pong","time_ms":"late"}
`
	messages, err := decoder.Feed([]byte(lines + lines))
	if err != nil || !reflect.DeepEqual(messages, []Message{PongMessage{TimeMS: 1}, PongMessage{TimeMS: 1}}) {
		t.Error(messages, err)
	}
	for text, times := range map[string]int{"field mood": 1, "field TIME_MS": 1, "type weather": 1, "level=WARN": 8} {
		if strings.Count(told.String(), text) != times {
			t.Errorf("%s is not told %d times:\n%s", text, times, told.String())
		}
	}
}

func TestALineHasALimit(t *testing.T) {
	pong := "{\"type\":\"pong\",\"time_ms\":1}\n"
	for spaces, broken := range map[int]bool{LineBytes - len(pong): false, LineBytes - len(pong) + 1: true} {
		var decoder Decoder
		messages, err := decoder.Feed([]byte(pong + strings.Repeat(" ", spaces) + pong))
		if errors.Is(err, ErrLineTooLong) != broken || len(messages) == 1 != broken {
			t.Error(spaces, len(messages), err)
		}
	}
	var decoder Decoder
	if _, err := decoder.Feed(bytes.Repeat([]byte("x"), LineBytes)); !errors.Is(err, ErrLineTooLong) {
		t.Error(err)
	}
}

func TestATokenIsNotPrinted(t *testing.T) {
	hello := HelloMessage{Token: "modiar-secret", Resume: "modiar-secret"}
	var told bytes.Buffer
	slog.New(slog.NewTextHandler(&told, nil)).Info("x", "message", hello, "token", hello.Token)
	text := fmt.Sprintf("%v %+v %#v %s %q %x", hello, hello, hello, hello.Token, hello.Token, hello.Token) + told.String()
	line, err := Encode(hello)
	if strings.Contains(text, "secret") || strings.Contains(text, fmt.Sprintf("%x", "secret")) {
		t.Error(text)
	}
	if err != nil || !json.Valid(line) || !bytes.Contains(line, []byte(`"token":"modiar-secret"`)) {
		t.Error(string(line), err)
	}
}
