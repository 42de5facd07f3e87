package wire

import (
	"fmt"
	"time"

	"atelier.dev/atelier/agent/llm"
)

// The limits of an answer are far above what any model writes, so that no
// server can fill the memory that all sessions share. A larger answer ends with
// an error of [llm.ClassTooLarge] and is not requested again. If an answer has
// too many calls, the first ones are kept. The sizes do not change while a program
// runs; tests begin with smaller ones.
var (
	// maxStream limits the bytes of a response after decompression. Most of
	// them are the frames around deltas.
	maxStream = 256 << 20
	// maxEvent limits the length of one event.
	maxEvent = 32 << 20
	// maxKept limits the kept part of an answer: text, reasoning, calls and
	// data that only its provider understands.
	maxKept = 16 << 20
	// maxArguments limits the arguments of one call.
	maxArguments = 8 << 20
	// maxReply limits a reply that is not an answer, such as a list of models.
	maxReply = 16 << 20
)

const (
	// maxEvents limits the number of events of an answer.
	maxEvents = 2_000_000
	// maxCalls limits the kept calls of an answer, and maxBlocks its parts.
	maxCalls  = 256
	maxBlocks = 10_000
	// maxExplanation limits the part of a reply that is read to explain a
	// failure.
	maxExplanation = 64 << 10
	// patience is how long a server is waited for that only sends keep-alives, and
	// at least as long as one that is silent.
	patience = 10 * time.Minute
)

// sizeError means that a reply was larger than allowed.
type sizeError struct{ what string }

// Error implements the error interface.
func (e *sizeError) Error() string { return e.what }

func tooLarge(what string, most int) error {
	return &sizeError{fmt.Sprintf("%s was larger than %d MB", what, most>>20)}
}

func tooMany(what string, most int) error {
	return &sizeError{fmt.Sprintf("the answer was larger than allowed: it had more than %d %s", most, what)}
}

// tooLarge fails the answer because of its size.
func (b *Builder) tooLarge(err error) {
	b.Fail(&llm.Error{Class: llm.ClassTooLarge, Provider: b.origin.Provider, Message: err.Error()})
}

// Keep counts kept bytes of the answer. If there are too many, it fails the
// answer and reports false.
func (b *Builder) Keep(n int) bool {
	if b.size.bytes += n; b.size.bytes <= maxKept {
		return !b.stopped
	}
	b.tooLarge(tooLarge("the answer", maxKept))
	return false
}

// wait limits the wait for the next byte and measures it.
func (c *Call) wait() (done func()) {
	since := time.Now()
	c.timer.Reset(max(0, min(c.idle, c.patience()-c.waited)))
	return func() {
		c.timer.Stop()
		c.waited += time.Since(since)
	}
}

// patience is how long the answer may not grow.
func (c *Call) patience() time.Duration { return max(patience, c.idle) }

// progress records that the answer grew.
func (c *Call) progress() { c.waited = 0 }
