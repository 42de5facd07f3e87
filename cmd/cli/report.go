package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
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
		fmt.Fprintln(r.progress, limitText(d))
	case agent.Failure:
		r.endLine()
		for _, line := range []string{d.Message, d.Kept, d.Next} {
			if line != "" {
				fmt.Fprintln(r.progress, line)
			}
		}
	}
}

func limitText(d agent.TurnLimit) string {
	switch {
	case d.Limit != "budget":
		return fmt.Sprintf("Stopped after %d %s.", d.Count, d.Limit)
	case d.Next > 0:
		return fmt.Sprintf("Stopped: %s of the budget of %s are spent, and the next request could cost %s.", d.Spent, d.Budget, d.Next)
	}
	return fmt.Sprintf("Stopped: %s are spent of a budget of %s. The last answer was kept.", d.Spent, d.Budget)
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
	Text   string    `json:"text"`
	Rounds int       `json:"rounds"`
	Usage  llm.Usage `json:"usage"`
	// Cost sums the run's requests. Unknown says that some cost is not known:
	// the sum is then what was spent at least.
	Cost    llm.Cost       `json:"total_cost_usd"`
	Unknown bool           `json:"cost_unknown"`
	Costs   []*modelCost   `json:"cost_by_model,omitempty"`
	Error   *agent.Failure `json:"error,omitempty"`
}

// modelCost is what the run spent on one model (OAS-712).
type modelCost struct {
	Model    string    `json:"model"` // PROVIDER/ID
	Requests int       `json:"requests"`
	Usage    llm.Usage `json:"usage"`
	Cost     llm.Cost  `json:"cost_usd"`
	Unknown  bool      `json:"cost_unknown"`
}

// count adds a request to the costs of its model.
func (r *runResult) count(end agent.TextEnd) {
	name := end.Provider + "/" + end.Model
	i := slices.IndexFunc(r.Costs, func(m *modelCost) bool { return m.Model == name })
	if i < 0 {
		i = len(r.Costs)
		r.Costs = append(r.Costs, &modelCost{Model: name, Usage: llm.Usage{Known: true}})
	}
	m := r.Costs[i]
	m.Requests++
	m.Usage = m.Usage.Add(end.Usage)
	if end.Cost == nil {
		m.Unknown, r.Unknown = true, true
		return
	}
	m.Cost += *end.Cost
	r.Cost += *end.Cost
}

func (r *jsonReport) event(ev agent.Event) {
	r.result.Session = ev.Session
	switch d := ev.Data.(type) {
	case agent.TextEnd:
		r.result.count(d)
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
type streamReport struct{ out io.Writer }

func (r *streamReport) event(ev agent.Event) {
	line, err := ev.MarshalJSON() // an encoder would read over what it returns once more
	if err != nil {
		slog.Error("encode event", "kind", ev.Kind(), "err", err)
		return
	}
	_, _ = r.out.Write(append(line, '\n')) // whoever reads may have left
}

func (r *streamReport) finish(agent.ProcessingEnd) {}
func (r *streamReport) failed(error)               {}
