package output

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
)

// Host is the session that is driven.
type Host interface {
	// Begin begins a turn with a message, once the one before it is at rest.
	Begin(ctx context.Context, text string) error
	// Steer tells the model something while it works. If the turn ends before the model is
	// told, the message waits for Rest.
	Steer(ctx context.Context, text string) error
	// Rest begins a turn with what steered too late. It reports false if nothing did.
	Rest(ctx context.Context) (began bool, err error)
	// Answer answers a request of a session.
	Answer(ctx context.Context, session, approval string, a agent.Answer) error
	// Interrupt ends the turn that runs.
	Interrupt()
}

// maxWaiting limits the messages that wait for turns of their own.
const maxWaiting = 100

// Driver drives a session by the lines of a program.
type Driver struct {
	// Ended receives the end of each turn that no queued message follows.
	Ended <-chan agent.ProcessingEnd
	// Refused is told of a line that was not carried out.
	Refused func(number int, err error)

	host    Host
	waiting []string // messages that begin turns, in order
	working bool
	last    agent.ProcessingEnd

	mu      sync.Mutex
	open    []request // what waits for an answer, the oldest first
	changed chan struct{}
}

// request is a request for an answer, of the session or of an agent that it started.
type request struct{ session, id string }

// NewDriver returns a driver. Its Ended and Refused must be set before it runs.
func NewDriver() *Driver { return &Driver{changed: make(chan struct{}, 1)} }

// Observe takes an event of any session of the run. It does not block.
func (d *Driver) Observe(ev agent.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch data := ev.Data.(type) {
	case agent.ApprovalRequest:
		d.open = append(d.open, request{ev.Session, data.ID})
	case agent.ApprovalAnswer:
		d.open = slices.DeleteFunc(d.open, func(r request) bool { return r.id == data.ID })
	case agent.ProcessingEnd: // what it asked is no longer of interest
		d.open = slices.DeleteFunc(d.open, func(r request) bool { return r.session == ev.Session })
	default:
		return
	}
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

// Run carries out the lines of in until it has ended and no turn runs, and returns the end of
// the last turn. first, if it is not empty, is the first message. What waits for an answer
// when the input has ended is denied, because nobody can answer any more.
func (d *Driver) Run(ctx context.Context, host Host, first string, in io.Reader) (agent.ProcessingEnd, error) {
	d.host = host
	if first != "" {
		if err := host.Begin(ctx, first); err != nil {
			return d.last, err
		}
		d.working = true
	}
	lines, stop := make(chan line), make(chan struct{})
	defer close(stop)
	go readLines(in, lines, stop) // until the input has ended, or the program has
	for lines != nil || d.working {
		if lines == nil {
			d.denyAll(ctx)
		}
		select {
		case l, ok := <-lines:
			if !ok {
				lines = nil
				continue
			}
			if err := d.take(ctx, l); err != nil {
				d.Refused(l.number, err)
			}
		case end := <-d.Ended:
			d.working, d.last = false, end
			d.next(ctx)
		case <-d.changed:
		case <-ctx.Done():
			if d.working {
				host.Interrupt()
				d.last = <-d.Ended
			}
			d.last.Reason = agent.EndInterrupted
			return d.last, nil
		}
	}
	if d.last.Reason == "" {
		return d.last, errors.New("the input has ended without a message")
	}
	return d.last, nil
}

// next begins the turn that follows.
func (d *Driver) next(ctx context.Context) {
	began, err := d.host.Rest(ctx)
	if err != nil {
		d.Refused(0, err)
	}
	if d.working = began; began || len(d.waiting) == 0 {
		return
	}
	text := d.waiting[0]
	d.waiting = d.waiting[1:]
	if err := d.begin(ctx, text); err != nil {
		d.Refused(0, err)
		d.next(ctx)
	}
}

func (d *Driver) begin(ctx context.Context, text string) error {
	err := d.host.Begin(ctx, text)
	d.working = err == nil
	return err
}

// take carries a line out.
func (d *Driver) take(ctx context.Context, l line) error {
	if l.err != nil {
		return l.err
	}
	switch l.Type {
	case "user", "steer":
		switch {
		case strings.TrimSpace(l.Text) == "":
			return errors.New("the message is empty")
		case !d.working:
			return d.begin(ctx, l.Text)
		case l.Type == "steer":
			return d.host.Steer(ctx, l.Text)
		}
		if len(d.waiting) == maxWaiting {
			return fmt.Errorf("%d messages wait already: send it again when a turn has ended", maxWaiting)
		}
		d.waiting = append(d.waiting, l.Text)
		return nil
	case "answer":
		return d.answer(ctx, l)
	case "interrupt":
		if !d.working {
			return errors.New("no turn runs that could be interrupted")
		}
		d.host.Interrupt()
		return nil
	}
	return fmt.Errorf("there is no type %q: a line is a user, a steer, an answer or an interrupt", l.Type)
}

func (d *Driver) answer(ctx context.Context, l line) error {
	a, err := l.reply()
	if err != nil {
		return err
	}
	d.mu.Lock()
	open := slices.Clone(d.open)
	d.mu.Unlock()
	if l.ID == "" && len(open) != 1 {
		return fmt.Errorf("%d requests wait for an answer: name one by its id", len(open))
	}
	for _, r := range open {
		if r.id == l.ID || l.ID == "" {
			return d.host.Answer(ctx, r.session, r.id, a)
		}
	}
	return fmt.Errorf("no request %q waits for an answer", l.ID)
}

// denyAll denies what nobody can answer any more.
func (d *Driver) denyAll(ctx context.Context) {
	d.mu.Lock()
	open := d.open
	d.open = nil
	d.mu.Unlock()
	for _, r := range open {
		a := agent.Answer{Decision: agent.Deny, Feedback: "Nobody can be asked any more: the input of this run has ended."}
		if err := d.host.Answer(ctx, r.session, r.id, a); err != nil {
			d.Refused(0, err)
		}
	}
}
