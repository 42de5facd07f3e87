package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"atelier.dev/atelier/agent/llm"
)

// defaultLoopWindow is how many calls are looked at for a repetition
// (LOOP-04).
const defaultLoopWindow = 10

// longestCycle is the longest sequence of calls that is recognised when it
// comes again and again (LOOP-20).
const longestCycle = 3

// signature stands for a call: its tool and what it was called with, whatever
// the order and spacing of the arguments, and what it returned. A call that
// returns something new is not a repetition: it may wait for something.
type signature [sha256.Size]byte

// sign returns the signature of a call with such a result.
func sign(call llm.ToolCall, result signature) signature {
	arguments := []byte(call.Arguments)
	dec := json.NewDecoder(bytes.NewReader(arguments))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) == nil {
		if sorted, err := json.Marshal(v); err == nil { // which sorts keys
			arguments = sorted
		}
	}
	return sha256.Sum256(slices.Concat(result[:], []byte(call.Name+"\x00"), arguments))
}

// signResult returns the signature of what a call returned, before it was cut.
func signResult(end ToolCallEnd) (s signature) {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d %s", end.Outcome, len(end.Output), end.Output)
	for _, m := range end.Media {
		fmt.Fprintf(h, "%d %s", len(m.Data), m.Data)
	}
	h.Sum(s[:0])
	return s
}

// repetition watches the calls of a turn for cycles. The zero value has seen
// none.
type repetition struct {
	recent  []signature          // the newest last
	told    []signature          // the cycle that was told of last
	results map[string]signature // of calls that add was not told of yet, by id
}

// note keeps what a call returned until add is told of the call.
func (r *repetition) note(end ToolCallEnd) {
	if r.results == nil {
		r.results = map[string]signature{}
	}
	r.results[end.CallID] = signResult(end)
}

// add notes calls and returns the length of a cycle that fills the window and
// was not told of yet; 0 for none.
func (r *repetition) add(calls []llm.ToolCall, window int) int {
	for _, c := range calls {
		r.recent = append(r.recent, sign(c, r.results[c.ID]))
	}
	r.results = nil
	r.recent = r.recent[max(0, len(r.recent)-window):]
	if len(r.recent) < window {
		return 0
	}
	for n := 1; n <= min(longestCycle, window/2); n++ {
		// A window that no whole number of cycles fills is looked at from its
		// first whole one.
		tail := r.recent[len(r.recent)%n:]
		if !cyclic(tail, n) || n > 1 && cyclic(tail, 1) {
			continue
		}
		if isRotation(r.told, tail[:n]) {
			return 0
		}
		r.told = slices.Clone(tail[:n])
		return n
	}
	r.told = nil
	return 0
}

// cyclic reports whether s is its first n elements again and again.
func cyclic(s []signature, n int) bool {
	for i := n; i < len(s); i++ {
		if s[i] != s[i-n] {
			return false
		}
	}
	return true
}

// isRotation reports whether a and b are the same cycle, wherever it begins.
func isRotation(a, b []signature) bool {
	if len(a) != len(b) {
		return false
	}
	for shift := range a {
		if slices.Equal(append(slices.Clone(a[shift:]), a[:shift]...), b) {
			return true
		}
	}
	return len(a) == 0
}
