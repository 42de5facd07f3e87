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
// This is not a turn: no model is asked, and only the user decides about it.
type LocalCommandStart struct {
	ID      string `json:"id"`
	Command string `json:"command"`
}

// LocalCommandOutput is newly printed output of the user's command.
type LocalCommandOutput struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	// Offset is where Text belongs in the output so far, in UTF-16 code units.
	Offset int `json:"offset"`
}

// LocalCommandEnd ends a command of the user. The next request tells the model
// about it.
type LocalCommandEnd struct {
	ID      string `json:"id"`
	Command string `json:"command"`
	// Output is everything that it printed, up to the capture cap.
	Output string `json:"output"`
	// ModelOutput is what the model is told instead of Output, and may be
	// empty; nil means that it is told Output.
	ModelOutput *string `json:"model_output,omitempty"`
	// Outcome is never [OutcomeDenied]. [OutcomeFailed] means that the command
	// did not run.
	Outcome    Outcome `json:"outcome"`
	DurationMs int64   `json:"duration_ms"`
	// Size is the full length of Output in bytes if it was cut for display; 0
	// means that Output is complete.
	Size int64 `json:"size,omitempty"`
	// Result is set if the command ended by itself.
	Result *CommandResult `json:"result,omitempty"`
	// Files are what the command changed on disk, as in [ToolCallEnd].
	Files *FilesChanged `json:"files,omitempty"`
}

// CommandRunner runs a command line until it ends or ctx does, and passes on
// its output as it appears. The result contains all output and, in its details,
// how the command ended. It is an error if the command did not end by itself.
type CommandRunner func(ctx context.Context, line string, output func(text string)) Result

// reducedAs names the tool whose output limit applies to the user's commands.
const reducedAs = "Bash"

// RunCommand runs a command that the user typed and yields its events in the
// caller's goroutine. The session must be at rest and is busy meanwhile. No
// gate is asked, because it would ask the user. Interrupt ends the command and
// keeps its output. The error reports misuse: [ErrBusy] or [ErrClosed]. If the
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

// isOpen reports whether the log has an open turn, command or compaction for
// [Session.Resume] to end.
func (s *Session) isOpen() bool {
	return s.transcript.State == StateProcessing || s.transcript.State == StateAwaitingInput
}

// runCommand runs a command of the user from its start to its end.
func (t *turn) runCommand(start LocalCommandStart, run CommandRunner) {
	begin := t.session.cfg.Now()
	t.emit(start)
	t.settle()
	recorded := t.session.cfg.begin(t.ctx, start.ID, GateCall{Tool: "Bash", Access: Access{Command: start.Command}})
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
		DurationMs: t.session.cfg.Now().Sub(begin).Milliseconds(), Files: recorded(),
	}
	switch {
	case result.IsError && t.ctx.Err() != nil:
		end.Outcome = OutcomeInterrupted
	case result.IsError:
		end.Outcome = OutcomeFailed
	case result.Details != nil:
		end.Result = result.Details.Command
	}
	told := t.session.cfg.rewritten(t.ctx, "", end.Files)
	end.ModelOutput = share(end.Output, joined(t.reducer(reducedAs, 0)(end.Output), told))
	t.emit(end)
}

// closeIfAborted writes the session's end if the session closes together with
// the current turn or command.
func (t *turn) closeIfAborted() {
	if !t.fatal && !errors.Is(context.Cause(t.ctx), errAborted) {
		return
	}
	t.settle()
	t.fire(SessionEndInput{Reason: "aborted"})
	t.session.cleanUp(context.WithoutCancel(t.ctx))
	_ = t.besides()
	t.emit(SessionEnd{State: StateProcessing})
}

// cutOff ends a command that was running when the process died. Its output is
// lost.
func (t *turn) cutOff(start LocalCommandStart) {
	t.emit(LocalCommandEnd{
		ID: start.ID, Command: start.Command, Outcome: OutcomeInterrupted,
		Output: "[The program ended while this command ran. What it printed is lost.]",
		Files:  t.session.cfg.recovered(t.ctx, start.ID),
	})
}

// watched runs code that prints, and passes on each text with its offset in
// UTF-16 code units. Output of goroutines that the code leaves behind is
// discarded. A panic becomes a failed result.
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

// message tells the model about the command. The output is untrusted, so it is
// enclosed in marks that it cannot forge.
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

// beginCommand folds in the start of a user's command.
func (t *Transcript) beginCommand(d LocalCommandStart) {
	t.past.forget()
	t.State, t.past.command = StateProcessing, &d
}

// applyCommand folds in the end of a user's command.
func (t *Transcript) applyCommand(d LocalCommandEnd) {
	t.State, t.past.command, t.past.held = StateIdle, nil, t.past.held || d.Outcome != OutcomeDone
	m := d.message()
	t.conversation.Append(contextir.LocalCommand, m)
	t.tally.added += len(m.Text())
}

// Follows reports whether a queued follow-up may start without the user: only
// if the last turn or command ended by itself.
func (t *Transcript) Follows() bool { return !t.past.held }
