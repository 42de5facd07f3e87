package terminal

import (
	"bytes"
	"context"
	"sync"
	"time"
)

const (
	// kept is how much output a page that was loaded again gets, in bytes. Up to three
	// times as much is held, so that a page has time to read it.
	kept = 1 << 20
	// ahead is how far a shell may be ahead of the page that reads it, in bytes.
	ahead = 512 << 10
	// longest limits what is read at once, in bytes.
	longest = 128 << 10
	// attention is how long after its last request a page counts as reading.
	attention = 3 * time.Second
)

// output is what a shell has printed. It is safe for concurrent use.
type output struct {
	mu      sync.Mutex
	text    []byte
	end     int64 // how many bytes were printed
	read    int64 // how many of them the page that asked last has read
	readers int   // that wait
	last    time.Time
	over    bool
	// changed is closed and replaced after each change.
	changed chan struct{}
}

func newOutput() *output { return &output{changed: make(chan struct{})} }

func (o *output) announce() {
	close(o.changed)
	o.changed = make(chan struct{})
}

// add appends what was printed and waits while the page that reads is too far behind.
func (o *output) add(ctx context.Context, printed []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, printed...)
	o.end += int64(len(printed))
	if len(o.text) > 3*kept {
		o.text = append(make([]byte, 0, 3*kept+longest), o.text[len(o.text)-2*kept:]...)
	}
	o.announce()
	for {
		left := time.Until(o.last.Add(attention))
		if o.end-o.read <= ahead || o.readers == 0 && left <= 0 {
			return
		}
		changed := o.changed
		o.mu.Unlock()
		wait(ctx, changed, max(left, time.Millisecond))
		o.mu.Lock()
		if ctx.Err() != nil {
			return
		}
	}
}

// close says that nothing follows.
func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	o.announce()
}

// piece is a part of what was printed.
type piece struct {
	data []byte
	next int64 // where the one after it begins
	// lost says that the piece does not begin where it was asked for, because that is not
	// kept any more.
	lost bool
	over bool // nothing follows
}

// from returns what was printed from a place on. It waits up to limit for the first byte.
func (o *output) from(ctx context.Context, at int64, limit time.Duration) piece {
	until := time.Now().Add(limit)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.readers++
	defer func() { o.readers--; o.last = time.Now() }()
	if at != o.read && at <= o.end {
		o.read = at
		o.announce()
	}
	for at == o.end && !o.over && ctx.Err() == nil && time.Until(until) > 0 {
		changed := o.changed
		o.mu.Unlock()
		wait(ctx, changed, time.Until(until))
		o.mu.Lock()
	}
	start := o.end - int64(len(o.text))
	p := piece{lost: at < start || at > o.end}
	if p.lost {
		at = max(start, o.end-kept)
		at += lineStart(o.text[at-start:], at > 0)
	}
	rest := o.text[at-start:]
	p.data = bytes.Clone(rest[:min(len(rest), longest)])
	p.next = at + int64(len(p.data))
	p.over = o.over && p.next == o.end
	return p
}

// lineStart returns where the first whole line of a text begins that was cut.
func lineStart(text []byte, cut bool) int64 {
	if !cut {
		return 0
	}
	return int64(bytes.IndexByte(text, '\n') + 1)
}

func wait(ctx context.Context, changed <-chan struct{}, limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
	}
}
