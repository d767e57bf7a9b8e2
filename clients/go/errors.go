package modiar

import (
	"errors"
	"fmt"
	"slices"
)

// What can go wrong, for [errors.Is]. The error that is returned says more.
var (
	// ErrSetting: an option or a variable of the environment is wrong.
	ErrSetting = errors.New("wrong setting")
	// ErrConnect: the server could not be reached, or did not stay.
	ErrConnect = errors.New("cannot connect")
	// ErrAuth: the server does not let this name in; the error is also a [*ProtocolError].
	ErrAuth = errors.New("not let in")
	// ErrGoodbye: the server hung up before a welcome, or for good (banned, replaced, flood, handshake, line_too_long).
	ErrGoodbye = errors.New("the server hung up")
	// ErrIllegalMove: a pit may not be played; the error is also a [*IllegalMoveError].
	ErrIllegalMove = errors.New("illegal move")
	// ErrGameOver: the game of a turn has ended.
	ErrGameOver = errors.New("the game is over")
	// ErrPlayed: the turn has been answered.
	ErrPlayed = errors.New("the turn was played")
	// ErrClosed: the client has been closed.
	ErrClosed = errors.New("the client is closed")
	// ErrLineTooLong: a line of the server has more than [LineBytes].
	ErrLineTooLong = errors.New("a line of the server is too long")
)

// ProtocolError is an error that the server told. Codes are those of spec/errors.md.
type ProtocolError struct {
	Code    Code
	Message string
	Field   string // with bad_field
	Clause  Clause // with illegal_move
	Fatal   bool   // the connection ended by it
}

func (e *ProtocolError) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// Is tells that the codes which refuse a name are [ErrAuth].
func (e *ProtocolError) Is(target error) bool {
	return target == ErrAuth && slices.Contains(authCodes, e.Code)
}

var authCodes = []Code{CodeAuthFailed, CodeNameTaken, CodeBadName, CodeRegistrationClosed, CodeGuestsClosed}

func protocolError(m ErrorMessage) error {
	return &ProtocolError{Code: m.Code, Message: m.Message, Field: m.Field, Clause: m.Clause, Fatal: m.Fatal}
}

// IllegalMoveError tells which clause of spec/rules.md a pit breaks.
type IllegalMoveError struct {
	Pit    Pit
	Clause Clause
}

func (e *IllegalMoveError) Error() string { return fmt.Sprintf("pit %d breaks %s", e.Pit, e.Clause) }

// Is tells that it is [ErrIllegalMove].
func (e *IllegalMoveError) Is(target error) bool { return target == ErrIllegalMove }

// PositionError tells why a text is no position.
type PositionError struct {
	Text   string
	Clause Clause
}

func (e *PositionError) Error() string { return fmt.Sprintf("%q breaks %s", e.Text, e.Clause) }
