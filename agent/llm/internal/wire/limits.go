package wire

import (
	"fmt"
	"time"

	"atelier.dev/atelier/agent/llm"
)

// An answer has limits, far beyond what any model writes, so that no server can
// fill the memory that all sessions share. One that is larger ends with an error
// of [llm.ClassTooLarge]; it is not asked for again. One with very many calls is
// kept up to them.
const (
	// maxStream is how many bytes a response may have, after decompression. Most
	// of them are the frames around the deltas.
	maxStream = 256 << 20
	// maxEvent is how long one event may be, and maxEvents how many there may be.
	maxEvent  = 32 << 20
	maxEvents = 2_000_000
	// maxKept is how much of an answer is kept: text, reasoning, calls and what
	// its provider alone understands.
	maxKept = 16 << 20
	// maxArguments is how long the arguments of one call may be.
	maxArguments = 8 << 20
	// maxCalls is how many calls are kept of an answer, and maxBlocks how many
	// parts it may have.
	maxCalls  = 256
	maxBlocks = 10_000
	// maxReply is how long a reply may be that is not an answer, such as a list
	// of models.
	maxReply = 16 << 20
	// maxExplanation is how much is read of a reply that explains a failure.
	maxExplanation = 64 << 10
	// patience is how many times as long as in silence a server is waited for
	// that says nothing but that it is there: ten minutes.
	patience = 5
)

// sizeError says that a reply was larger than allowed.
type sizeError struct{ what string }

// Error implements the error interface.
func (e *sizeError) Error() string { return e.what }

func tooLarge(what string, most int) error {
	return &sizeError{fmt.Sprintf("%s was larger than %d MB", what, most>>20)}
}

func tooMany(what string, most int) error {
	return &sizeError{fmt.Sprintf("the answer was larger than allowed: it had more than %d %s", most, what)}
}

// tooLarge makes an error of an answer's size.
func (b *Builder) tooLarge(err error) {
	b.Fail(&llm.Error{Class: llm.ClassTooLarge, Provider: b.origin.Provider, Message: err.Error()})
}

// Keep counts bytes that are kept of the answer. It reports false, and fails the
// answer, where they are too many.
func (b *Builder) Keep(n int) bool {
	if b.size.bytes += n; b.size.bytes <= maxKept {
		return !b.stopped
	}
	b.tooLarge(tooLarge("the answer", maxKept))
	return false
}

// wait limits the wait for the next byte and counts the time that it takes.
func (c *Call) wait() (done func()) {
	since := time.Now()
	c.timer.Reset(max(0, min(c.idle, patience*c.idle-c.waited)))
	return func() {
		c.timer.Stop()
		c.waited += time.Since(since)
	}
}

// progress says that the answer grew.
func (c *Call) progress() { c.waited = 0 }
