// Package modiar connects bots to a Modiar server.
//
// [Run] makes a whole program of a function that chooses a pit; [Dial] and [Client.Turns] are for a loop of your own;
// [Decoder] and [Encode] are the lines of the protocol without a connection. [Position] knows the rules.
package modiar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"sync"
	"time"
)

// tlsAlert is what the answer of a port that speaks TLS to one who does not begins with; no line does.
const tlsAlert = 0x15

// How long the server may take for its last lines: after bye, and after games were resigned.
const (
	closeWait = time.Second
	leaveWait = 2 * time.Second
)

// Client is one bot's connection to a server. It comes back by itself when the link is lost, and its games with it. Its
// methods may be called from several goroutines, [Client.Turns] from one at a time.
type Client struct {
	settings settings
	stop     context.CancelFunc
	done     chan struct{} // closed when the client has ended, and err says why
	err      error

	mu     sync.Mutex
	player *player
	conn   net.Conn      // nil while there is none
	alarm  *time.Timer   // the player's next
	news   chan struct{} // closed at whatever happens
}

// Dial connects and waits until the bot is let in, or ctx is over. The error is [ErrSetting], [ErrConnect], [ErrAuth],
// [ErrGoodbye], a [*ProtocolError], or that of ctx.
func Dial(ctx context.Context, options ...Option) (*Client, error) {
	settings, err := settle(options)
	if err != nil {
		return nil, err
	}
	life, stop := context.WithCancel(context.Background())
	c := &Client{
		settings: settings, stop: stop, done: make(chan struct{}), player: newPlayer(settings), news: make(chan struct{}),
	}
	c.alarm = time.AfterFunc(welcomeWait, c.tick)
	go c.live(life)
	if err := c.await(ctx, func(p *player) bool { return p.welcomed }); err != nil {
		stop()
		<-c.done
		return nil, err
	}
	return c, nil
}

// Turns seeks games in a pool, so many in all (0: without end), and yields each turn of the bot's until they are over. A turn is
// answered by [Turn.Play], at once or later; one that is not runs out of time. A game that the bot came back to counts as
// one of them. An error is the last that is yielded: that of ctx, [ErrClosed], or one of those of [Dial].
func (c *Client) Turns(ctx context.Context, pool string, games int) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		if err := checkQuest(pool, games); err != nil {
			yield(Turn{}, err)
			return
		}
		c.do(func(p *player) { p.seek(pool, games) })
		defer c.do((*player).stop)
		for {
			turn, err := c.next(ctx)
			if errors.Is(err, errFinished) || !yield(turn, err) || err != nil {
				return
			}
		}
	}
}

var errFinished = errors.New("every game was played")

// next waits for a turn, and tells of the games that end meanwhile.
func (c *Client) next(ctx context.Context) (turn Turn, err error) {
	var asked, finished bool
	err = c.await(ctx, func(p *player) bool {
		finished = p.finished()
		if turn, asked = p.next(); asked {
			turn.client = c
		}
		return asked || finished || len(p.ends) > 0
	})
	c.tell()
	switch {
	case asked || err != nil:
		return turn, err
	case finished:
		return turn, errFinished
	}
	return c.next(ctx)
}

// tell calls the owner for each game that has ended.
func (c *Client) tell() {
	c.mu.Lock()
	ends := c.player.ends
	c.player.ends = nil
	c.mu.Unlock()
	for _, ended := range ends {
		if c.settings.ended != nil {
			c.settings.ended(ended)
		}
	}
}

// Close says bye and waits for the server's, at most a second. Games that are not over go on, and their clocks run.
func (c *Client) Close() error {
	c.end(closeWait, (*player).close)
	return nil
}

// Leave stops seeking, resigns the bot's games and closes, within two seconds.
func (c *Client) Leave() {
	c.end(leaveWait, (*player).leave)
	c.tell()
}

func (c *Client) end(wait time.Duration, how func(*player)) {
	late := time.AfterFunc(wait, c.stop)
	defer late.Stop()
	c.do(func(p *player) {
		if c.conn == nil {
			c.stop()
		}
		how(p)
	})
	<-c.done
	c.stop()
}

func checkQuest(pool string, games int) error {
	if pool == "" {
		return fmt.Errorf("%w: pool is %q: name a pool of the server, such as practice", ErrSetting, pool)
	}
	if games < 0 || games > mostGames {
		return fmt.Errorf("%w: games is %d: write a whole number from 0 to %d", ErrSetting, games, mostGames)
	}
	return nil
}

// live connects again and again, until there is nothing to come back for.
func (c *Client) live(ctx context.Context) {
	defer close(c.done)
	for {
		cause := c.visit(ctx)
		c.mu.Lock()
		c.conn = nil
		pause, err := c.player.lost(cause, time.Now())
		c.mu.Unlock()
		if c.err = err; err != nil {
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			c.err = ErrClosed
			return
		}
	}
}

// visit is one connection from its beginning to its end.
func (c *Client) visit(ctx context.Context) error {
	conn, err := c.settings.dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	c.do(func(p *player) {
		c.conn = conn
		p.open(time.Now())
	})
	decoder := Decoder{Log: c.settings.log}
	buffer := make([]byte, LineBytes)
	for first := true; ; first = false {
		count, ended := conn.Read(buffer)
		at := time.Now()
		if first && count > 0 && buffer[0] == tlsAlert {
			return errors.New("the port may speak TLS; set MODIAR_TLS=1")
		}
		messages, broken := decoder.Feed(buffer[:count])
		c.do(func(p *player) {
			for _, message := range messages {
				p.hear(message, at)
			}
		})
		if err := cmp.Or(broken, ended); err != nil {
			return err
		}
	}
}

// do lets something happen to the player, and then does what it wants done.
func (c *Client) do(event func(*player)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	event(c.player)
	c.send(c.player.out)
	c.player.out = nil
	if c.conn != nil && c.player.hangUp {
		c.conn.Close() // the reader notices
	}
	if alarms := c.player.alarms; len(alarms) > 0 {
		next := alarms[0].at
		for _, alarm := range alarms {
			if alarm.at.Before(next) {
				next = alarm.at
			}
		}
		c.alarm.Reset(time.Until(next))
	}
	close(c.news)
	c.news = make(chan struct{})
}

func (c *Client) tick() {
	c.do(func(p *player) { p.tick(time.Now()) })
}

// send writes the messages in one go. Where there is no link they are dropped: the turns come again.
func (c *Client) send(messages []Message) {
	if c.conn == nil || len(messages) == 0 {
		return
	}
	var lines []byte
	for _, message := range messages {
		line, err := Encode(message)
		if err != nil {
			c.settings.log.Error("cannot say this", "type", message.Type(), "cause", err)
			continue
		}
		lines = append(lines, line...)
	}
	c.conn.SetWriteDeadline(time.Now().Add(writeWait))
	if _, err := c.conn.Write(lines); err != nil {
		c.settings.log.Debug("cannot write", "cause", err)
		c.conn.Close() // the reader notices
	}
}

// await waits until the player is ready, the client has ended, or ctx is over.
func (c *Client) await(ctx context.Context, ready func(*player) bool) error {
	for {
		c.mu.Lock()
		is, news := ready(c.player), c.news
		c.mu.Unlock()
		if is {
			return nil
		}
		select {
		case <-news:
		case <-c.done:
			return c.err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
