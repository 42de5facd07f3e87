package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
)

// LLM-53: every form of an event stream that its standard allows is read, and
// also those that servers send besides.
func TestEvents(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	for in, want := range map[string][]string{
		"":                         nil,
		"data: 1\n\ndata: 2\n\n":   {" 1", " 2"},
		"data:1\r\n\r\ndata:2\r\r": {" 1", " 2"},
		"data: 1\r\rdata: 2\r\r":   {" 1", " 2"},
		"\uFEFFevent: a\ndata: 1\n\n: comment\n\nevent: b\n\ndata: 2\n\n": {"a 1", " 2"},
		"data: {\ndata: }\n\n":                {" {\n}"},
		"data: 1\n\ndata: {\"a\":1}":          {" 1", ` {"a":1}`},
		"data: 1\n\ndata: {\"a\":1}\n":        {" 1", ` {"a":1}`},
		"data: 1\n\ndata: {\"a\":":            {" 1"},
		"data: 1\n\ndata: [DONE]":             {" 1", " [DONE]"},
		"data: 1\n\ndata: [DON":               {" 1"},
		"error: {\"message\":\"no\"}\n\n":     {`error {"message":"no"}`},
		"data: " + long + "\n\ndata: 1\n\n":   {" " + long, " 1"},
		"data: " + long + "\r\rdata: 1\r\r":   {" " + long, " 1"},
		"id: 7\nretry: 1\nnonsense\ndata\n\n": nil,
	} {
		for name, body := range map[string]io.Reader{"at once": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in))} {
			var got []string
			e := NewEvents(body)
			for e.Next() {
				got = append(got, e.Name()+" "+string(e.Data()))
			}
			if diff := cmp.Diff(want, got); diff != "" || e.Err() != nil {
				t.Errorf("%.60q %s: %v\n%.400s", in, name, e.Err(), diff)
			}
		}
	}
}

// A body that breaks off ends the events with its error, and the incomplete
// rest is dropped.
func TestEventsOfABrokenBody(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	e := NewEvents(io.MultiReader(strings.NewReader("data: 1\n\ndata: {}"), iotest.ErrReader(broken)))
	n := 0
	for e.Next() {
		n++
	}
	if n != 1 || !errors.Is(e.Err(), broken) {
		t.Errorf("%d events, %v", n, e.Err())
	}
}

// endless repeats a piece forever.
type endless string

func (s endless) Read(p []byte) (int, error) {
	n := 0
	for n+len(s) <= len(p) {
		n += copy(p[n:], s)
	}
	return n, nil
}

func TestEventsAreLimited(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body endless
		read int
	}{
		"line": {"data", 0}, "event": {endless("data: " + strings.Repeat("x", 1000) + "\n"), 0}, "events": {"data:x\n\n", maxEvents - 10},
	} {
		e := NewEvents(tt.body)
		e.read = tt.read
		for e.Next() {
		}
		var size *sizeError
		if !errors.As(e.Err(), &size) {
			t.Errorf("%s: %v", name, e.Err())
		}
	}
}

// For any input, the events contain no line ends of their own, and they end.
func FuzzEvents(f *testing.F) {
	f.Add("event: a\ndata: 1\n\n")
	f.Add("\uFEFFdata: 1\r\rdata: {}\r\n\r\nerror: x")
	f.Fuzz(func(t *testing.T, body string) {
		whole, single := NewEvents(strings.NewReader(body)), NewEvents(iotest.OneByteReader(strings.NewReader(body)))
		for whole.Next() {
			if !single.Next() || whole.Name() != single.Name() || string(whole.Data()) != string(single.Data()) {
				t.Fatalf("%q %q, byte by byte %q %q", whole.Name(), whole.Data(), single.Name(), single.Data())
			}
			if strings.Contains(string(whole.Data()), "\r") {
				t.Fatalf("%q", whole.Data())
			}
		}
		if single.Next() || whole.Err() != nil || single.Err() != nil {
			t.Fatalf("%q, %v, %v", single.Data(), whole.Err(), single.Err())
		}
	})
}

// pings is a body that yields a piece every minute.
type pings struct {
	ctx  context.Context
	next func() (string, bool)
}

func (b pings) Read(p []byte) (int, error) {
	select {
	case <-time.After(time.Minute):
	case <-b.ctx.Done():
		return 0, context.Cause(b.ctx)
	}
	piece, _ := b.next()
	return copy(p, piece), nil
}

func (pings) Close() error { return nil }

// A server elsewhere that only sends pings is waited for longer than a silent one, but
// not forever. A server whose answer grows is waited for.
func TestPingsDoNotCountAsAnAnswer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		pieces iter.Seq[string]
		ends   time.Duration
		effort llm.Effort
		idle   time.Duration
	}{
		"pings only": {func(yield func(string) bool) {
			for yield(": ping\n\n") {
			}
		}, 10 * time.Minute, "", 0},
		"pings only, while it thinks much": {func(yield func(string) bool) {
			for yield(": ping\n\n") {
			}
		}, 10 * time.Minute, llm.EffortMax, 0},
		"pings only, from a patient user": {func(yield func(string) bool) {
			for yield("event: ping\ndata:\n\n") {
			}
		}, 25 * time.Minute, "", 25 * time.Minute},
		"half a line": {func(yield func(string) bool) {
			for yield(" ") {
			}
		}, 10 * time.Minute, llm.EffortHigh, 0},
		"after an hour of deltas": {func(yield func(string) bool) {
			for i := 0; ; i++ {
				piece := ": ping\n\n"
				if i < 60 && i%5 == 4 {
					piece = "data: x\n\n"
				}
				if !yield(piece) {
					return
				}
			}
		}, 70 * time.Minute, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				call, ctx, invalid := NewEndpoint(Config{AdapterConfig: llm.AdapterConfig{BaseURL: "https://api.example.com", IdleTimeout: tt.idle}}).Begin(t.Context(), llm.Request{Effort: tt.effort})
				if invalid != nil {
					t.Fatal(invalid)
				}
				defer call.End()
				b := NewBuilder(llm.Origin{}, func(llm.Event, error) bool { return true })
				b.Follow(call)
				text := b.Open(llm.Part{Kind: llm.PartText})
				next, stop := iter.Pull(tt.pieces)
				defer stop()
				events := NewEvents(&watchedBody{pings{ctx, next}, call})
				for events.Next() {
					b.Append(text, string(events.Data()))
					b.Provider(json.RawMessage(`{}`))
				}
				err := call.Error(events.Err())
				if err.Class != llm.ClassTimeout || err.Retryable || !strings.Contains(err.Message, "only that it is still there") {
					t.Errorf("%v", err)
				}
				if took := time.Since(begin); took != tt.ends {
					t.Errorf("took %v, want %v", took, tt.ends)
				}
			})
		})
	}
}
