package repetition

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"atelier.dev/atelier/agent/llm"
)

// longestCycle is the longest repeated sequence of calls that is recognised
// (LOOP-20).
const longestCycle = 3

// signature identifies a call by its tool, its arguments regardless of order
// and spacing, and its result. A call with a new result is not a repetition,
// because it may wait for something.
type signature [sha256.Size]byte

// sign returns the signature of a call with the given result.
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

// signResult returns the signature of a call's result before it was cut.
func signResult(outcome, output string, media []llm.Media) (s signature) {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d %s", outcome, len(output), output)
	for _, m := range media {
		fmt.Fprintf(h, "%d %s", len(m.Data), m.Data)
	}
	h.Sum(s[:0])
	return s
}

// Watch watches the calls of a turn for cycles. The zero value is ready to use. It is not
// safe for concurrent use.
type Watch struct {
	recent  []signature          // the newest last
	told    []signature          // the last cycle that was reported
	results map[string]signature // of calls that were not passed to Add yet, by id
}

// Note keeps the result of the call with an id until [Watch.Add] gets the call.
func (r *Watch) Note(id, outcome, output string, media []llm.Media) {
	if r.results == nil {
		r.results = map[string]signature{}
	}
	r.results[id] = signResult(outcome, output, media)
}

// Add records calls and returns the length of a cycle that fills the window and was not
// reported yet; 0 if there is none.
func (r *Watch) Add(calls []llm.ToolCall, window int) int {
	for _, c := range calls {
		r.recent = append(r.recent, sign(c, r.results[c.ID]))
	}
	r.results = nil
	r.recent = r.recent[max(0, len(r.recent)-window):]
	if len(r.recent) < window {
		return 0
	}
	for n := 1; n <= min(longestCycle, window/2); n++ {
		// If the window is not a multiple of the cycle, its oldest calls are
		// ignored.
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

// cyclic reports whether s repeats its first n elements.
func cyclic(s []signature, n int) bool {
	for i := n; i < len(s); i++ {
		if s[i] != s[i-n] {
			return false
		}
	}
	return true
}

// isRotation reports whether a and b are the same cycle with any starting
// point.
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
