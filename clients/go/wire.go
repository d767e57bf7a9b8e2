package modiar

import "encoding/json"

// Protocol is the version of the protocol that this package speaks.
const Protocol = 1

// LineBytes is the most that a line from the server may have, its newline included.
const LineBytes = 16384

// Code says what is wrong in an [ErrorMessage]; spec/errors.md tells what to do about each.
type Code string

// The codes that are published. A newer server may have more.
const (
	CodeBadJSON            Code = "bad_json"
	CodeBadUTF8            Code = "bad_utf8"
	CodeLineTooLong        Code = "line_too_long"
	CodeBadField           Code = "bad_field"
	CodeUnknownType        Code = "unknown_type"
	CodeExpectedHello      Code = "expected_hello"
	CodeUnexpectedHello    Code = "unexpected_hello"
	CodeBadProtocol        Code = "bad_protocol"
	CodeAuthFailed         Code = "auth_failed"
	CodeNameTaken          Code = "name_taken"
	CodeBadName            Code = "bad_name"
	CodeRegistrationClosed Code = "registration_closed"
	CodeGuestsClosed       Code = "guests_closed"
	CodeTooManyConnections Code = "too_many_connections"
	CodeRateLimited        Code = "rate_limited"
	CodeUnknownPool        Code = "unknown_pool"
	CodeUnknownBot         Code = "unknown_bot"
	CodeUnknownChallenge   Code = "unknown_challenge"
	CodeAlreadySeeking     Code = "already_seeking"
	CodeGamesLimit         Code = "games_limit"
	CodeWrongGame          Code = "wrong_game"
	CodeNotYourTurn        Code = "not_your_turn"
	CodeStalePly           Code = "stale_ply"
	CodeDuplicate          Code = "duplicate"
	CodeGameOver           Code = "game_over"
	CodeIllegalMove        Code = "illegal_move"
	CodeDraining           Code = "draining"
	CodeInternal           Code = "internal"
)

// Message is one line of the protocol; spec/messages has a page for each. Optional fields are pointers, or empty where
// they are absent; what ends in MS is in milliseconds, and a time of day is Unix time.
type Message interface {
	// Type is the message's name on the wire.
	Type() string
}

// Ref is a client's mark on a message, a JSON string or integer; it returns on the direct reply.
type Ref = json.RawMessage

// Secret is a token. It prints as dots, so that no log shows it.
type Secret string

// String hides the secret.
func (Secret) String() string { return "…" }

// GoString hides the secret from %#v.
func (Secret) GoString() string { return "…" }

// What a client says.
type (
	// HelloMessage says who the bot is.
	HelloMessage struct {
		Protocol int    `json:"protocol,omitempty"`
		Name     string `json:"name,omitempty"`
		Token    Secret `json:"token,omitempty"`
		Register bool   `json:"register,omitempty"`
		Resume   Secret `json:"resume,omitempty"`
		Client   string `json:"client,omitempty"`
		Version  string `json:"version,omitempty"`
		Games    int    `json:"games,omitempty"`
		Updates  bool   `json:"updates,omitempty"`
		Ref      Ref    `json:"ref,omitempty"`
	}
	// SeekMessage asks for opponents in a pool; Games is 1 where it is nil, and 0 has no end.
	SeekMessage struct {
		Pool  string `json:"pool"`
		Games *int   `json:"games,omitempty"`
		Ref   Ref    `json:"ref,omitempty"`
	}
	// UnseekMessage takes a seek back, or all of them.
	UnseekMessage struct {
		Pool string `json:"pool,omitempty"`
		Ref  Ref    `json:"ref,omitempty"`
	}
	// ChallengeMessage asks one bot for games; Side may also be "random".
	ChallengeMessage struct {
		Opponent string `json:"opponent"`
		Pool     string `json:"pool"`
		Side     Side   `json:"side,omitempty"`
		Rated    bool   `json:"rated,omitempty"`
		Games    int    `json:"games,omitempty"`
		Ref      Ref    `json:"ref,omitempty"`
	}
	// AcceptMessage takes a challenge up.
	AcceptMessage struct {
		Challenge string `json:"challenge"`
		Ref       Ref    `json:"ref,omitempty"`
	}
	// DeclineMessage turns a challenge down, or takes one's own back.
	DeclineMessage struct {
		Challenge string `json:"challenge"`
		Ref       Ref    `json:"ref,omitempty"`
	}
	// MoveMessage plays a pit; with Ply it is safe to send again.
	MoveMessage struct {
		Game string `json:"game"`
		Pit  Pit    `json:"pit"`
		Ply  uint32 `json:"ply,omitempty"`
		Ref  Ref    `json:"ref,omitempty"`
	}
	// ResignMessage gives a game up.
	ResignMessage struct {
		Game string `json:"game"`
		Ref  Ref    `json:"ref,omitempty"`
	}
	// WatchMessage asks to follow a game of others.
	WatchMessage struct {
		Game string `json:"game"`
		Ref  Ref    `json:"ref,omitempty"`
	}
	// UnwatchMessage ends following a game.
	UnwatchMessage struct {
		Game string `json:"game"`
		Ref  Ref    `json:"ref,omitempty"`
	}
	// PingMessage asks for a sign of life.
	PingMessage struct {
		Ref Ref `json:"ref,omitempty"`
	}
	// ByeMessage ends the connection.
	ByeMessage struct {
		Ref Ref `json:"ref,omitempty"`
	}
)

// What the server says.
type (
	// WelcomeMessage lets a bot in, and tells it all it has to know.
	WelcomeMessage struct {
		Protocol int      `json:"protocol"`
		Server   string   `json:"server"`
		Bot      Bot      `json:"bot"`
		Token    Secret   `json:"token,omitempty"`
		Resume   Secret   `json:"resume,omitempty"`
		Pools    []Pool   `json:"pools"`
		Limits   Limits   `json:"limits"`
		Games    []string `json:"games"`
		Missed   []Missed `json:"missed"`
		Ref      Ref      `json:"ref,omitempty"`
	}
	// SeekingMessage tells that a seek waits in its pool.
	SeekingMessage struct {
		Pool    string `json:"pool"`
		Waiting int    `json:"waiting"`
		Reason  string `json:"reason,omitempty"`
		Ref     Ref    `json:"ref,omitempty"`
	}
	// SeekEndedMessage tells that a seek is over: cancelled, done, draining or penalised.
	SeekEndedMessage struct {
		Pool    string `json:"pool"`
		Reason  string `json:"reason"`
		UntilMS *int64 `json:"until_ms,omitempty"`
		Message string `json:"message,omitempty"`
		Ref     Ref    `json:"ref,omitempty"`
	}
	// ChallengedMessage tells that another bot asks for games.
	ChallengedMessage struct {
		Challenge string     `json:"challenge"`
		From      Challenger `json:"from"`
		Pool      string     `json:"pool"`
		Side      Side       `json:"side"`
		Rated     bool       `json:"rated"`
		Games     int        `json:"games"`
		ExpiresMS int64      `json:"expires_ms"`
	}
	// ChallengeSentMessage tells the id of one's own challenge.
	ChallengeSentMessage struct {
		Challenge string `json:"challenge"`
		Ref       Ref    `json:"ref,omitempty"`
	}
	// ChallengeEndedMessage tells that a challenge is over without a game: declined, expired, cancelled, unavailable or draining.
	ChallengeEndedMessage struct {
		Challenge string `json:"challenge"`
		Reason    string `json:"reason"`
		Ref       Ref    `json:"ref,omitempty"`
	}
	// StartedMessage tells the whole state of a game; a spectator has no Side.
	StartedMessage struct {
		Game        string        `json:"game"`
		Pool        string        `json:"pool"`
		Rated       bool          `json:"rated"`
		Side        Side          `json:"side,omitempty"`
		Spectator   bool          `json:"spectator,omitempty"`
		South       Player        `json:"south"`
		North       Player        `json:"north"`
		Time        Time          `json:"time"`
		Rules       Rules         `json:"rules"`
		Opening     string        `json:"opening"`
		Moves       string        `json:"moves"`
		Ply         uint32        `json:"ply"`
		SideToMove  Side          `json:"side_to_move"`
		Pits        [Pits]int     `json:"pits"`
		Captured    BySide[int]   `json:"captured"`
		RemainingMS BySide[int64] `json:"remaining_ms"`
		Resumed     bool          `json:"resumed"`
		Ref         Ref           `json:"ref,omitempty"`
	}
	// TurnMessage asks for a move.
	TurnMessage struct {
		Game        string        `json:"game"`
		Ply         uint32        `json:"ply"`
		Side        Side          `json:"side"`
		Pits        [Pits]int     `json:"pits"`
		Captured    BySide[int]   `json:"captured"`
		Legal       []Pit         `json:"legal"`
		RemainingMS BySide[int64] `json:"remaining_ms"`
		Last        *Last         `json:"last,omitempty"`
	}
	// MovedMessage tells a ply that was played, to spectators and to who asked for updates.
	MovedMessage struct {
		Game        string        `json:"game"`
		Ply         uint32        `json:"ply"`
		Side        Side          `json:"side"`
		Pit         Pit           `json:"pit"`
		Taken       int           `json:"taken"`
		ElapsedMS   int64         `json:"elapsed_ms"`
		Pits        [Pits]int     `json:"pits"`
		Captured    BySide[int]   `json:"captured"`
		RemainingMS BySide[int64] `json:"remaining_ms"`
	}
	// EndedMessage tells that a game is over: Result is south, north, draw or none; Termination is immobile, repetition,
	// quiet_plies, majority, resignation, time_forfeit, illegal_move, aborted or server_error.
	EndedMessage struct {
		Game        string      `json:"game"`
		Result      string      `json:"result"`
		Termination string      `json:"termination"`
		Score       BySide[int] `json:"score"`
		Pits        [Pits]int   `json:"pits"`
		Ply         uint32      `json:"ply"`
		Detail      *Detail     `json:"detail,omitempty"`
		Rating      *Change     `json:"rating,omitempty"`
	}
	// ErrorMessage tells that a message was not acted on.
	ErrorMessage struct {
		Code      Code   `json:"code"`
		Message   string `json:"message"`
		Fatal     bool   `json:"fatal"`
		Ref       Ref    `json:"ref,omitempty"`
		Game      string `json:"game,omitempty"`
		Field     string `json:"field,omitempty"`
		Clause    Clause `json:"clause,omitempty"`
		Legal     []Pit  `json:"legal,omitempty"`
		Supported []int  `json:"supported,omitempty"`
	}
	// NoticeMessage tells something that concerns every connection; the one published code is draining.
	NoticeMessage struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		UntilMS *int64 `json:"until_ms,omitempty"`
	}
	// GoodbyeMessage is the last of a connection; Reason is bye, handshake, replaced, flood, slow_reader, line_too_long, banned,
	// draining or internal.
	GoodbyeMessage struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
		Ref     Ref    `json:"ref,omitempty"`
	}
	// PongMessage is a sign of life.
	PongMessage struct {
		TimeMS int64 `json:"time_ms"`
		Ref    Ref   `json:"ref,omitempty"`
	}
	// UnwatchedMessage tells that nothing more of a watched game follows.
	UnwatchedMessage struct {
		Game string `json:"game"`
		Ref  Ref    `json:"ref,omitempty"`
	}
)

// What messages are made of.
type (
	// Bot is who the server takes the client for; Ratings is by pool.
	Bot struct {
		Name    string              `json:"name"`
		Guest   bool                `json:"guest"`
		Ratings map[string]Standing `json:"ratings"`
	}
	// Missed is an [EndedMessage] inside a welcome, where it has a type of its own.
	Missed struct {
		Type string `json:"type"`
		EndedMessage
	}
	// Standing is a bot's rating in a pool, its deviation, and its games of this season.
	Standing struct {
		Rating float64 `json:"rating"`
		RD     float64 `json:"rd"`
		Games  int     `json:"games"`
	}
	// Pool is where bots meet; Openings is start or balanced.
	Pool struct {
		Name     string `json:"name"`
		Time     Time   `json:"time"`
		Rated    bool   `json:"rated"`
		Openings string `json:"openings"`
		Rules    Rules  `json:"rules"`
	}
	// Time is a time control; MoveMS is nil where no single move is limited.
	Time struct {
		BaseMS      int64  `json:"base_ms"`
		IncrementMS int64  `json:"increment_ms"`
		GraceMS     int64  `json:"grace_ms"`
		MoveMS      *int64 `json:"move_ms,omitempty"`
	}
	// Rules are the limits of endless play (0: off), the end at a majority, and how many illegal moves are forgiven.
	Rules struct {
		Name         string `json:"name"`
		Repetition   int    `json:"repetition"`
		QuietPlies   int    `json:"quiet_plies"`
		Majority     bool   `json:"majority"`
		IllegalMoves int    `json:"illegal_moves"`
	}
	// Limits are the server's for this bot.
	Limits struct {
		LineBytes    int `json:"line_bytes"`
		MessagesPerS int `json:"messages_per_s"`
		Games        int `json:"games"`
	}
	// Player is one of the two bots of a game.
	Player struct {
		Name    string   `json:"name"`
		Guest   bool     `json:"guest"`
		Rating  *float64 `json:"rating,omitempty"`
		Version string   `json:"version,omitempty"`
	}
	// Challenger is who challenged.
	Challenger struct {
		Name   string   `json:"name"`
		Rating *float64 `json:"rating,omitempty"`
	}
	// Last is the ply before a turn; Taken is in seeds.
	Last struct {
		Ply       uint32 `json:"ply"`
		Side      Side   `json:"side"`
		Pit       Pit    `json:"pit"`
		Taken     int    `json:"taken"`
		ElapsedMS int64  `json:"elapsed_ms"`
	}
	// Detail is what an illegal move was.
	Detail struct {
		Pit    Pit    `json:"pit"`
		Clause Clause `json:"clause"`
		Legal  []Pit  `json:"legal"`
	}
	// Change is what a game made of one's rating; RD is the deviation after it.
	Change struct {
		Before float64 `json:"before"`
		After  float64 `json:"after"`
		RD     float64 `json:"rd"`
	}
)

func (HelloMessage) Type() string          { return "hello" }
func (SeekMessage) Type() string           { return "seek" }
func (UnseekMessage) Type() string         { return "unseek" }
func (ChallengeMessage) Type() string      { return "challenge" }
func (AcceptMessage) Type() string         { return "accept" }
func (DeclineMessage) Type() string        { return "decline" }
func (MoveMessage) Type() string           { return "move" }
func (ResignMessage) Type() string         { return "resign" }
func (WatchMessage) Type() string          { return "watch" }
func (UnwatchMessage) Type() string        { return "unwatch" }
func (PingMessage) Type() string           { return "ping" }
func (ByeMessage) Type() string            { return "bye" }
func (WelcomeMessage) Type() string        { return "welcome" }
func (SeekingMessage) Type() string        { return "seeking" }
func (SeekEndedMessage) Type() string      { return "seek_ended" }
func (ChallengedMessage) Type() string     { return "challenged" }
func (ChallengeSentMessage) Type() string  { return "challenge_sent" }
func (ChallengeEndedMessage) Type() string { return "challenge_ended" }
func (StartedMessage) Type() string        { return "started" }
func (TurnMessage) Type() string           { return "turn" }
func (MovedMessage) Type() string          { return "moved" }
func (EndedMessage) Type() string          { return "ended" }
func (ErrorMessage) Type() string          { return "error" }
func (NoticeMessage) Type() string         { return "notice" }
func (GoodbyeMessage) Type() string        { return "goodbye" }
func (PongMessage) Type() string           { return "pong" }
func (UnwatchedMessage) Type() string      { return "unwatched" }
