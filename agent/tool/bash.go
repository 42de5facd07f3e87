package tool

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
)

// DefaultCommandTimeout and MaxCommandTimeout bound commands (K-01).
const (
	DefaultCommandTimeout = 120 * time.Second
	MaxCommandTimeout     = 600 * time.Second
)

// maxStreamed caps the output that is shown while a command runs, in bytes.
const maxStreamed = 1 << 20

//go:embed bash.md
var bashDescription string

// BashInput is what Bash is called with.
type BashInput struct {
	Command     string `json:"command" jsonschema:"the command line to run"`
	Timeout     int64  `json:"timeout,omitempty" jsonschema:"time limit in milliseconds, at most 600000"`
	Description string `json:"description,omitempty" jsonschema:"what the command does, in five to ten words"`
}

// bash implements the Bash tool (LOOP-26, OAS-306). The data of its results is an
// [env.CommandResult].
type bash struct {
	definition
	env     env.Environment
	timeout time.Duration // for commands that name none
}

// Access implements [agent.Accessor].
func (b *bash) Access(input json.RawMessage) agent.Access {
	in, err := parse(input, BashInput{})
	if err != nil {
		return agent.Access{}
	}
	return agent.Access{Command: in.Command}
}

// Run implements [agent.Tool].
func (b *bash) Run(ctx context.Context, call agent.Invocation) agent.Result {
	in, err := parse(call.Input, BashInput{})
	if err != nil {
		return failed(err)
	}
	if strings.TrimSpace(in.Command) == "" {
		return agent.Fail("The command is empty.")
	}
	timeout, clamped := b.limit(in.Timeout)
	r, err := b.env.Exec(ctx, env.Command{
		Line: in.Command, Timeout: timeout, Merge: true, Output: atMost(maxStreamed, call.Output),
	})
	if err != nil {
		return failed(fmt.Errorf("the command did not run: %w", err))
	}
	notes := remarks(r, timeout)
	if clamped {
		notes = append(notes, fmt.Sprintf("[The timeout was set to %d ms, the longest allowed.]", timeout.Milliseconds()))
	}
	return agent.Result{
		Output:  withRemarks(r.Stdout, notes),
		IsError: r.TimedOut || r.Interrupted,
		Details: &agent.Details{Command: &agent.CommandResult{ExitCode: r.ExitCode, TimedOut: r.TimedOut, Dropped: r.Dropped}},
		Data:    r,
	}
}

// limit returns the time limit for a call that asks for so many milliseconds.
func (b *bash) limit(ms int64) (limit time.Duration, clamped bool) {
	switch {
	case ms <= 0:
		return min(b.timeout, MaxCommandTimeout), false
	case ms > MaxCommandTimeout.Milliseconds():
		return MaxCommandTimeout, true
	}
	return time.Duration(ms) * time.Millisecond, false
}

// remarks says how the command ended, where its output alone would mislead
// (LOOP-41).
func remarks(r env.CommandResult, timeout time.Duration) (notes []string) {
	switch {
	case r.Interrupted:
		notes = append(notes, "[The user interrupted the command. Partial output is shown above.]")
	case r.TimedOut:
		notes = append(notes, fmt.Sprintf("[ERROR: Command timed out after %dms. Partial output is shown above. "+
			"You can retry with a longer timeout by setting the timeout parameter.]", timeout.Milliseconds()))
	case r.ExitCode != 0:
		notes = append(notes, fmt.Sprintf("[Exit code %d]", r.ExitCode))
	case r.Stdout == "":
		notes = append(notes, "[The command succeeded and printed nothing.]")
	}
	if r.Left {
		notes = append(notes, "[A process was left running in the background; what it prints from now on is lost. "+
			"To keep it, redirect its output to a file.]")
	}
	return notes
}

func withRemarks(output string, notes []string) string {
	if len(notes) == 0 {
		return output
	}
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	return output + strings.Join(notes, "\n")
}

// atMost passes on the first limit bytes of a text that comes in pieces.
func atMost(limit int, pass func(string)) func(string) {
	return func(text string) {
		if limit <= 0 {
			return
		}
		if len(text) > limit {
			text = text[:limit]
			for !utf8.ValidString(text) { // the cut fell into a rune
				text = text[:len(text)-1]
			}
			limit = 0
		}
		limit -= len(text)
		pass(text)
	}
}
