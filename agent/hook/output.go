package hook

import (
	"context"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/sandbox"
)

// A user is told what a running hook printed last: at most maxTail bytes each
// tailPause.
const (
	maxTail   = 4 << 10
	tailPause = 100 * time.Millisecond
)

// tail keeps the newest whole lines that a program printed since they were taken
// last. A part of a line could be a part of a secret, which nobody recognizes.
type tail struct {
	mu   sync.Mutex // guards what follows
	text string
	// within says that the beginning of the line at the start of text is lost.
	within bool
}

// add implements [Program.Output].
func (t *tail) add(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.text += text; len(t.text) > maxTail {
		t.within = t.within || t.text[len(t.text)-maxTail-1] != '\n'
		t.text = t.text[len(t.text)-maxTail:]
	}
	if !t.within {
		return
	}
	_, rest, whole := strings.Cut(t.text, "\n")
	t.text, t.within = rest, !whole
}

// take returns the lines, and forgets them.
func (t *tail) take() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	end := strings.LastIndexByte(t.text, '\n') + 1
	lines := t.text[:end]
	t.text = t.text[end:]
	return lines
}

// follow runs a hook. Meanwhile it reports, in the caller's goroutine, what the
// hook prints.
func (f *firing) follow(ctx context.Context, r *run, name string) {
	if r.handler.Kind != KindCommand {
		f.engine.execute(ctx, r)
		return
	}
	var printed tail
	r.output = printed.add
	var broken any
	done := make(chan struct{})
	go func() { // ends with the hook, for which follow waits
		defer close(done)
		defer func() { broken = recover() }()
		f.engine.execute(ctx, r)
	}()
	defer func() { <-done }() // the listener may panic
	ticker := time.NewTicker(tailPause)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if text := printed.take(); text != "" {
				f.report(agent.HookOutput{Point: f.point, Name: name, CallID: r.about.CallID, Text: sandbox.Redact(text)})
			}
		case <-done:
			if broken != nil {
				panic(broken)
			}
			return
		}
	}
}
