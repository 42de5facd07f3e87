package hook

import (
	"context"
	"sync"
	"time"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
)

// A user is told what a running hook printed last: at most maxTail bytes each
// tailPause.
const (
	maxTail   = 4 << 10
	tailPause = 100 * time.Millisecond
)

// tail keeps the end of what a program printed since it was taken last.
type tail struct {
	mu   sync.Mutex // guards text
	text string
}

// add implements [Program.Output].
func (t *tail) add(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text += text
	if over := len(t.text) - maxTail; over > 0 {
		for over < len(t.text) && !utf8.RuneStart(t.text[over]) {
			over++
		}
		t.text = t.text[over:]
	}
}

func (t *tail) take() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := t.text
	t.text = ""
	return text
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
				f.report(agent.HookOutput{Point: f.point, Name: name, CallID: r.about.CallID, Text: text})
			}
		case <-done:
			if broken != nil {
				panic(broken)
			}
			return
		}
	}
}
