package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
)

// LocalCommandStart says that the user runs a command themselves (OAS-102).
// That is no turn: no model is asked, and nobody decides about it but the user.
type LocalCommandStart struct {
	ID      string `json:"id"`
	Command string `json:"command"`
}

// LocalCommandOutput is newly printed output of a command of the user's.
type LocalCommandOutput struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	// Offset is where Text belongs in the output so far, in UTF-16 code units.
	Offset int `json:"offset"`
}

// LocalCommandEnd is the end of a command of the user's. A model is told of it
// with the next request.
type LocalCommandEnd struct {
	ID      string `json:"id"`
	Command string `json:"command"`
	// Output is everything that it printed, up to the capture cap.
	Output string `json:"output"`
	// ModelOutput is what a model is told of Output where it differs, which may be
	// nothing at all; nil where it does not.
	ModelOutput *string `json:"model_output,omitempty"`
	// Outcome is never [OutcomeDenied]; a command that failed did not run.
	Outcome    Outcome `json:"outcome"`
	DurationMs int64   `json:"duration_ms"`
	// Size is the full length of Output in bytes where Output was cut for
	// display; 0 means that Output is whole.
	Size int64 `json:"size,omitempty"`
	// Result is there for a command that ended by itself.
	Result *CommandResult `json:"result,omitempty"`
}

// CommandRunner runs a command line to its end, or to ctx's, and passes on what
// it prints as it appears. Its result has all that was printed as its output,
// how the command ended in its details, and is an error where the command did
// not end by itself.
type CommandRunner func(ctx context.Context, line string, output func(text string)) Result

// reducedAs is the tool as whose output that of the user's commands is cut for a
// model.
const reducedAs = "Bash"

// RunCommand runs a command that the user typed and yields what happens, in the
// caller's goroutine. The session must be at rest and is busy meanwhile; no gate
// is asked, because it would ask the user. Interrupt ends the command, what it
// printed is kept. The error is for misuse: [ErrBusy] or [ErrClosed]. If the
// caller stops ranging, the command is ended.
func (s *Session) RunCommand(ctx context.Context, line string, run CommandRunner) iter.Seq2[Event, error] {
	return s.turn(ctx, func(t *turn) {
		if s.isOpen() {
			t.yield(Event{}, ErrBusy)
			return
		}
		t.runCommand(LocalCommandStart{ID: s.cfg.NewID(), Command: line}, run)
		t.closeIfAborted()
		t.settle()
	})
}

// isOpen reports whether something is open in the log, for [Session.Resume] to
// end.
func (s *Session) isOpen() bool {
	return s.transcript.State == StateProcessing || s.transcript.State == StateAwaitingInput
}

// runCommand runs a command of the user's from its start to its end.
func (t *turn) runCommand(start LocalCommandStart, run CommandRunner) {
	begin := t.session.cfg.Now()
	t.emit(start)
	t.settle()
	out := make(chan Payload)
	var result Result
	go func() { // ends with the command, which ends with t.ctx
		defer close(out)
		printed := func(text string, offset int) {
			out <- LocalCommandOutput{ID: start.ID, Text: text, Offset: offset}
		}
		result = watched("a command of the user's", printed, func(output func(string)) Result {
			return run(t.ctx, start.Command, output)
		})
	}()
	for p := range out {
		t.emit(p)
	}
	end := LocalCommandEnd{
		ID: start.ID, Command: start.Command, Output: result.Output, Outcome: OutcomeDone,
		DurationMs: t.session.cfg.Now().Sub(begin).Milliseconds(),
	}
	switch {
	case result.IsError && t.ctx.Err() != nil:
		end.Outcome = OutcomeInterrupted
	case result.IsError:
		end.Outcome = OutcomeFailed
	case result.Details != nil:
		end.Result = result.Details.Command
	}
	end.ModelOutput = share(end.Output, t.reducer(reducedAs, 0)(end.Output))
	t.emit(end)
}

// closeIfAborted closes the session in the log where it ends with what is under
// way.
func (t *turn) closeIfAborted() {
	if !t.fatal && !errors.Is(context.Cause(t.ctx), errAborted) {
		return
	}
	t.fire(HookCall{Point: HookSessionEnd})
	t.session.leave(context.WithoutCancel(t.ctx))
	t.emit(SessionEnd{State: StateProcessing})
}

// cutOff ends a command that was under way when its process was. What it had
// printed is lost.
func (t *turn) cutOff(start LocalCommandStart) {
	t.emit(LocalCommandEnd{
		ID: start.ID, Command: start.Command, Outcome: OutcomeInterrupted,
		Output: "[Atelier ended while this command ran. What it printed is lost.]",
	})
}

// watched runs code that prints, and passes each text on with its place in all
// of them, in UTF-16 code units. Goroutines that the code leaves behind print
// for nobody. A panic is a failed result.
func watched(name string, pass func(text string, offset int), run func(output func(string)) Result) (result Result) {
	var mu sync.Mutex
	offset, over := 0, false
	broken := protect(name, func() {
		result = run(func(text string) {
			mu.Lock()
			defer mu.Unlock()
			if over {
				return
			}
			pass(text, offset)
			offset += utf16Len(text)
		})
	})
	mu.Lock()
	over = true
	mu.Unlock()
	if broken != "" {
		return Fail(broken)
	}
	return result
}

// message is what a model is told of the command. What was printed comes from
// anywhere: it is marked as that to its very end, which it cannot write itself.
func (e LocalCommandEnd) message() llm.Message {
	outcome := string(e.Outcome)
	switch {
	case e.Result != nil:
		outcome = fmt.Sprintf("exit code %d", e.Result.ExitCode)
	case e.Outcome == OutcomeInterrupted:
		outcome = "stopped before its end"
	}
	output := strings.ReplaceAll(forModel(e.Output, e.ModelOutput), "</output>", `<\/output>`)
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	return llm.Text(llm.RoleUser, fmt.Sprintf("The user ran this command themselves, in the folder of this session. "+
		"It is for you to know; do nothing about it unless they ask for it.\n"+
		"<command>\n%s\n</command>\n<outcome>%s</outcome>\n<output>\n%s</output>", e.Command, outcome, output))
}

// beginCommand folds in the start of a command of the user's.
func (t *Transcript) beginCommand(d LocalCommandStart) {
	t.past.forget()
	t.State, t.past.command = StateProcessing, &d
}

// applyCommand folds in the end of a command of the user's.
func (t *Transcript) applyCommand(d LocalCommandEnd) {
	t.State, t.past.command, t.past.held = StateIdle, nil, t.past.held || d.Outcome != OutcomeDone
	m := d.message()
	t.conversation.Append(contextir.LocalCommand, m)
	t.tally.added += len(m.Text())
}

// Follows reports whether what is queued to follow may be given by itself: not
// after a turn, or a command of the user's, that did not end by itself.
func (t *Transcript) Follows() bool { return !t.past.held }
