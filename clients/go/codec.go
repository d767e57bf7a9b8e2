package modiar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
)

// mostUnknown is of how many unknown types and fields a decoder tells.
const mostUnknown = 256

// kinds are the messages of one direction by their type.
type kinds map[string]reflect.Type

func kindsOf(messages ...Message) kinds {
	all := kinds{}
	for _, message := range messages {
		all[message.Type()] = reflect.TypeOf(message)
	}
	return all
}

var fromClient = kindsOf(
	HelloMessage{}, SeekMessage{}, UnseekMessage{}, ChallengeMessage{}, AcceptMessage{}, DeclineMessage{}, MoveMessage{},
	ResignMessage{}, WatchMessage{}, UnwatchMessage{}, PingMessage{}, ByeMessage{},
)

var fromServer = kindsOf(
	WelcomeMessage{}, SeekingMessage{}, SeekEndedMessage{}, ChallengedMessage{}, ChallengeSentMessage{},
	ChallengeEndedMessage{}, StartedMessage{}, TurnMessage{}, MovedMessage{}, EndedMessage{}, ErrorMessage{},
	NoticeMessage{}, GoodbyeMessage{}, PongMessage{}, UnwatchedMessage{},
)

// errNoMessage is of a line that is no JSON object with a text as its type.
var errNoMessage = errors.New("not a message")

// read makes a message of a line, nil where its type is none of these kinds. Names are exact, which encoding/json alone does
// not hold to; tell is told of each type and field that is passed over.
func (k kinds) read(line []byte, tell func(unknown string)) (Message, error) {
	var fields map[string]json.RawMessage
	var name string
	if json.Unmarshal(line, &fields) != nil || json.Unmarshal(fields["type"], &name) != nil {
		return nil, errNoMessage
	}
	kind, ok := k[name]
	if !ok {
		tell("type " + name)
		return nil, nil
	}
	delete(fields, "type")
	message := reflect.New(kind).Elem()
	for at := range kind.NumField() {
		field, _, _ := strings.Cut(kind.Field(at).Tag.Get("json"), ",")
		text, there := fields[field]
		delete(fields, field)
		if !there || string(text) == "null" {
			continue
		}
		if err := json.Unmarshal(text, message.Field(at).Addr().Interface()); err != nil {
			return nil, fmt.Errorf("%w: field %s of %s: %w", errNoMessage, field, name, err)
		}
	}
	for field := range fields {
		tell("field " + field + " of " + name)
	}
	return message.Interface().(Message), nil
}

// ParseClient reads a client's message, as a server of your own would; nil where its type is unknown.
func ParseClient(line []byte) (Message, error) {
	return fromClient.read(line, func(string) {})
}

// Encode makes one compact line of a message, its newline included.
func Encode(message Message) ([]byte, error) {
	var line bytes.Buffer
	fmt.Fprintf(&line, `{"type":%q`, message.Type())
	head := line.Len()
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(message); err != nil {
		return nil, err
	}
	text := line.Bytes()
	if string(text[head:]) == "{}\n" {
		return append(text[:head], "}\n"...), nil
	}
	text[head] = ','
	return text, nil
}

// Decoder makes messages of the bytes that a server sends, however they are cut. Its zero value is ready.
type Decoder struct {
	// Log is told of what is passed over: a line that is no message at Warn, an unknown type or field once at Debug.
	Log *slog.Logger

	tail  []byte // a line that has no newline yet
	known map[string]bool
}

// Feed takes the next bytes and returns the messages that they complete. A line of more than [LineBytes] is [ErrLineTooLong],
// with the messages before it; the decoder is of no use after it.
func (d *Decoder) Feed(data []byte) ([]Message, error) {
	var messages []Message
	for {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if len(d.tail)+len(line) >= LineBytes {
			return messages, ErrLineTooLong
		}
		d.tail = append(d.tail, line...)
		if !whole {
			return messages, nil
		}
		if message := d.read(bytes.TrimSuffix(d.tail, []byte("\r"))); message != nil {
			messages = append(messages, message)
		}
		d.tail, data = d.tail[:0], rest
	}
}

// read is nil where the line is passed over. Little of such a line is logged: what follows may be a token.
func (d *Decoder) read(line []byte) Message {
	if len(line) == 0 {
		return nil
	}
	message, err := fromServer.read(line, d.unknown)
	if err != nil && d.Log != nil {
		d.Log.Warn("skipped a line", "cause", err, "begins", string(line[:min(len(line), 40)]))
	}
	return message
}

func (d *Decoder) unknown(what string) {
	if d.Log == nil || d.known[what] || len(d.known) >= mostUnknown {
		return
	}
	if d.known == nil {
		d.known = map[string]bool{}
	}
	d.known[what] = true
	d.Log.Debug("passed over", "unknown", what)
}
