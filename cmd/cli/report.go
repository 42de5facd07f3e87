package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
)

// textReport prints the model's text as it comes, and on the side a line for
// every tool call.
type textReport struct {
	out, progress io.Writer
	open          bool // the current line has no end yet
}

func (r *textReport) event(ev agent.Event) {
	switch d := ev.Data.(type) {
	case agent.TextDelta:
		fmt.Fprint(r.out, d.Text)
		r.open = !strings.HasSuffix(d.Text, "\n")
	case agent.TextEnd:
		r.endLine()
	case agent.ToolCallEnd:
		fmt.Fprintf(r.progress, "· %s: %s\n", d.Tool, d.Outcome)
	case agent.Warning:
		fmt.Fprintln(r.progress, d.Message)
	case agent.HistoryRepaired:
		fmt.Fprintln(r.progress, d.Message)
	case agent.Retrying:
		r.endLine()
		fmt.Fprintf(r.progress, "%s Asking again in %.0f s (%d of %d); the answer begins anew.\n", d.Message, float64(d.DelayMs)/1000, d.Attempt, d.Of)
	case agent.TurnLimit:
		fmt.Fprintf(r.progress, "Stopped after %d %s.\n", d.Count, d.Limit)
	case agent.Failure:
		r.endLine()
		for _, line := range []string{d.Message, d.Kept, d.Next} {
			if line != "" {
				fmt.Fprintln(r.progress, line)
			}
		}
	}
}

func (r *textReport) endLine() {
	if r.open {
		fmt.Fprintln(r.out)
		r.open = false
	}
}

func (r *textReport) finish(agent.ProcessingEnd) { r.endLine() }
func (r *textReport) failed(error)               { r.endLine() }

// jsonReport prints one object at the end (OAS-101).
type jsonReport struct {
	out    *json.Encoder
	result runResult
}

type runResult struct {
	Session string          `json:"session_id"`
	Status  agent.EndReason `json:"status"`
	// Text is the model's last message.
	Text   string         `json:"text"`
	Rounds int            `json:"rounds"`
	Usage  llm.Usage      `json:"usage"`
	Error  *agent.Failure `json:"error,omitempty"`
}

func (r *jsonReport) event(ev agent.Event) {
	r.result.Session = ev.Session
	switch d := ev.Data.(type) {
	case agent.TextEnd:
		if text := d.Message.Text(); text != "" {
			r.result.Text = text
		}
	case agent.Failure:
		r.result.Error = &d
	}
}

func (r *jsonReport) finish(end agent.ProcessingEnd) {
	r.result.Status, r.result.Rounds, r.result.Usage = end.Reason, end.Rounds, end.Usage
	_ = r.out.Encode(r.result) // whoever reads may have left
}

func (r *jsonReport) failed(err error) {
	e := backend.AsError(err)
	r.result.Status = agent.EndFailed
	r.result.Error = &agent.Failure{Code: string(e.Code), Message: e.Message, Kept: e.Kept, Next: e.Next, Details: e.Details}
	_ = r.out.Encode(r.result)
}

// streamReport prints every event as one line of JSON. A line with a seq is
// in the store already.
type streamReport struct{ out *json.Encoder }

func (r *streamReport) event(ev agent.Event)       { _ = r.out.Encode(ev) }
func (r *streamReport) finish(agent.ProcessingEnd) {}
func (r *streamReport) failed(error)               {}
