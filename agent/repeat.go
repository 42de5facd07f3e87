package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"atelier.dev/atelier/agent/llm"
)

// defaultLoopWindow is how many calls are checked for a repetition (LOOP-04).
const defaultLoopWindow = 10

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
func signResult(end ToolCallEnd) (s signature) {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d %s", end.Outcome, len(end.Output), end.Output)
	for _, m := range end.Media {
		fmt.Fprintf(h, "%d %s", len(m.Data), m.Data)
	}
	h.Sum(s[:0])
	return s
}

// repetition watches the calls of a turn for cycles. The zero value is ready to
// use.
type repetition struct {
	recent  []signature          // the newest last
	told    []signature          // the last cycle that was reported
	results map[string]signature // of calls that were not passed to add yet, by id
}

// note keeps a call's result until add gets the call.
func (r *repetition) note(end ToolCallEnd) {
	if r.results == nil {
		r.results = map[string]signature{}
	}
	r.results[end.CallID] = signResult(end)
}

// add records calls and returns the length of a cycle that fills the window and
// was not reported yet; 0 if there is none.
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

// watch warns the model when it repeats the same calls with the same results.
func (t *turn) watch(calls []llm.ToolCall) {
	window := t.session.cfg.Limits.LoopWindow
	if window <= 0 {
		return
	}
	cycle := t.repetition.add(calls, window)
	if cycle == 0 {
		return
	}
	t.emit(LoopDetection{Cycle: cycle, Calls: window})
	t.emit(SteeringInjected{ByLoop: true, Text: fmt.Sprintf(
		"Your last %d tool calls repeat the same %d, and so do their results. Try something else, or say what keeps you from going on.", window, cycle)})
}
