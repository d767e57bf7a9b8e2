package modiar

import (
	"bytes"
	"errors"
	"slices"
	"time"
)

// refused is an error of the server's.
func (p *player) refused(m ErrorMessage, at time.Time) {
	p.log.Warn("error", "code", m.Code, "message", m.Message, "game", m.Game)
	_, running := p.games[m.Game]
	switch {
	case !p.link.welcomed:
		p.helloRefused(m)
	case bytes.Equal(m.Ref, seekRef):
		p.seekRefused(m, at)
	case running && m.Code == CodeIllegalMove:
		p.forgive(m)
	case running && m.Code == CodeRateLimited:
		p.sayAgain(p.games[m.Game], at)
	}
}

// refusedForGood are codes that no second hello or seek would change.
var refusedForGood = []Code{CodeBadProtocol, CodeBadField, CodeUnknownPool}

func (p *player) helloRefused(m ErrorMessage) {
	err := protocolError(m)
	isAuth := errors.Is(err, ErrAuth)
	switch {
	case !p.welcomed || slices.Contains(refusedForGood, m.Code) || (isAuth && p.refusals > 0):
		p.fail(err)
	case !isAuth:
		p.hangUp = true
	default:
		p.refusals++
		p.hangUp = true
		if p.settings.token == "" && len(p.games) == 0 {
			p.name, p.resume = "", "" // a new guest
		}
	}
}

func (p *player) seekRefused(m ErrorMessage, at time.Time) {
	switch {
	case m.Code == CodeAlreadySeeking:
	case m.Code == CodeDraining || m.Code == CodeTooManyConnections:
		p.link.seeking, p.hangUp = false, true
	case slices.Contains(refusedForGood, m.Code):
		p.fail(protocolError(m))
	default:
		p.pause(at.Add(seekWait))
	}
}

// forgive asks once more for a ply at which an illegal pit was forgiven, and gives the game up at the second.
func (p *player) forgive(m ErrorMessage) {
	g := p.games[m.Game]
	if _, answered := g.answers[g.turn.Ply]; !answered {
		return
	}
	if g.forgiven == g.turn.Ply {
		p.log.Error("a second illegal pit; the game is resigned", "game", m.Game, "ply", g.turn.Ply)
		p.resign(m.Game)
		return
	}
	g.forgiven = g.turn.Ply
	delete(g.answers, g.turn.Ply)
	if len(m.Legal) > 0 {
		g.turn.Legal = m.Legal
	}
	p.ask(g)
}

// sayAgain repeats what was limited, in a while.
func (p *player) sayAgain(g *game, at time.Time) {
	if g.limited == limitedMoves || g.said == nil {
		return
	}
	g.limited++
	times := g.limited
	p.alarm(at.Add(limitedWait), func() {
		if g.limited == times { // else something newer was said
			p.say(g.said)
		}
	})
}
