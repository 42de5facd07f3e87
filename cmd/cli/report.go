package cli

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/sdk"
	"atelier.dev/atelier/backend"
)

// report prints the events of a run.
type report interface {
	// event is called with every event, from one goroutine at a time. own says
	// whether it is an event of the run's own session or of an agent that the
	// run started.
	event(ev agent.Event, own bool)
	finish(agent.ProcessingEnd)
	failed(error)
}

func newReport(format string, out, progress io.Writer) (report, error) {
	switch format {
	case "text":
		return &textReport{out: out, progress: progress}, nil
	case "json":
		return &jsonReport{out: out}, nil
	case "stream-json":
		return &streamReport{out: out}, nil
	case "messages":
		return &messageReport{out: out, sessions: map[string]*sdk.Translator{}}, nil
	}
	return nil, fmt.Errorf("--output is text, json, stream-json or messages, not %q", format)
}

// observer passes the events of all sessions of a run to its report, and
// signals the ends of the run's own turns.
type observer struct {
	mu      sync.Mutex
	report  report
	out     *gather // to which it prints
	session string  // the run's own, which is the first to have an event
	follows bool    // the next turn follows the earlier ones at once
	rounds  int     // of these
	usage   llm.Usage
	ended   chan<- agent.ProcessingEnd
}

func (o *observer) event(ev agent.Event) {
	o.mu.Lock()
	if o.session == "" {
		o.session = ev.Session
	}
	own := ev.Session == o.session
	o.report.event(ev, own)
	if ev.Durable() {
		_ = o.out.Flush() // a reader that has left was noticed
	}
	end, ended := ev.Data.(agent.ProcessingEnd)
	if own && ended {
		end = o.sum(end)
	}
	o.mu.Unlock()
	if !own {
		return
	}
	switch d := ev.Data.(type) {
	case agent.ProcessingEnd:
		if !d.Next { // otherwise a queued message begins the next turn
			o.ended <- end
		}
	case agent.LocalCommandEnd: // the session had a user's command that was cut off
		o.ended <- agent.ProcessingEnd{}
	case agent.CompactionEnd:
		if d.Trigger == agent.CompactManual { // or with this
			o.ended <- agent.ProcessingEnd{}
		}
	}
}

// sum adds the usage of earlier turns, if this one followed them at once.
func (o *observer) sum(end agent.ProcessingEnd) agent.ProcessingEnd {
	if o.follows {
		end.Rounds, end.Usage = o.rounds+end.Rounds, o.usage.Add(end.Usage)
	}
	o.follows, o.rounds, o.usage = end.Next, end.Rounds, end.Usage
	return end
}

// textReport prints the model's text as it comes, and on standard error a line
// for every tool call.
type textReport struct {
	out, progress io.Writer
	open          bool // the current line has not ended yet
}

func (r *textReport) event(ev agent.Event, own bool) {
	if !own {
		return
	}
	switch d := ev.Data.(type) {
	case agent.Briefing:
		r.incomplete(d.Documents)
	case agent.BriefingUpdate:
		r.incomplete(d.Documents)
	case agent.TextDelta:
		fmt.Fprint(r.out, d.Text)
		r.open = !strings.HasSuffix(d.Text, "\n")
	case agent.TextEnd:
		r.endLine()
	case agent.ToolCallEnd:
		fmt.Fprintf(r.progress, "· %s: %s\n", oneLine(d.Tool), d.Outcome)
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
		if d.Details != "" {
			fmt.Fprintf(r.progress, "(%s)\n", d.Details)
		}
	}
}

// incomplete names instructions that the model was not told completely.
func (r *textReport) incomplete(documents []agent.Document) {
	for _, d := range documents {
		switch {
		case d.Problem != "":
			fmt.Fprintf(r.progress, "The instructions in %s were left out: %s.\n", oneLine(d.Path), d.Problem)
		case d.Told < d.Size:
			fmt.Fprintf(r.progress, "The instructions in %s are too long: the model was told %d of %d bytes.\n", oneLine(d.Path), d.Told, d.Size)
		}
	}
}

func limitText(d agent.TurnLimit) string {
	switch {
	case d.Limit != "budget":
		return fmt.Sprintf("Stopped after %d %s.", d.Count, d.Limit)
	case d.Next > 0:
		return fmt.Sprintf("Stopped: %s of the budget of %s is spent, and the next request could cost %s.", d.Spent, d.Budget, d.Next)
	}
	return fmt.Sprintf("Stopped: %s of a budget of %s is spent. The last answer was kept.", d.Spent, d.Budget)
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
	out    io.Writer
	result runResult
}

type runResult struct {
	Session string          `json:"session_id"`
	Status  agent.EndReason `json:"status"`
	// Text is the model's last message.
	Text   string    `json:"text"`
	Rounds int       `json:"rounds"`
	Usage  llm.Usage `json:"usage"`
	// Cost sums all requests of the run: answers, also those that broke off,
	// summaries, and those of the agents that it started. If Unknown is set, some
	// costs are unknown and the sum is a minimum.
	Cost    llm.Cost       `json:"total_cost_usd"`
	Unknown bool           `json:"cost_unknown"`
	Costs   []*modelCost   `json:"cost_by_model,omitempty"`
	Error   *agent.Failure `json:"error,omitempty"`
}

// modelCost is the cost of one model in the run (OAS-712).
type modelCost struct {
	Model    string    `json:"model"` // PROVIDER/ID
	Requests int       `json:"requests"`
	Usage    llm.Usage `json:"usage"`
	Cost     llm.Cost  `json:"cost_usd"`
	Unknown  bool      `json:"cost_unknown"`
}

// count adds a request to the costs of its model.
func (r *runResult) count(made agent.SideRequest) {
	name := made.Provider + "/" + made.Model
	i := slices.IndexFunc(r.Costs, func(m *modelCost) bool { return m.Model == name })
	if i < 0 {
		i = len(r.Costs)
		r.Costs = append(r.Costs, &modelCost{Model: name, Usage: llm.Usage{Known: true}})
	}
	m := r.Costs[i]
	m.Requests++
	m.Usage = m.Usage.Add(made.Usage)
	if made.Cost == nil {
		m.Unknown, r.Unknown = true, true
		return
	}
	m.Cost += *made.Cost
	r.Cost += *made.Cost
}

func (r *jsonReport) event(ev agent.Event, own bool) {
	if made, ok := agent.RequestOf(ev.Data); ok {
		r.result.count(made)
	}
	if !own {
		return
	}
	r.result.Session = ev.Session
	switch d := ev.Data.(type) {
	case agent.TextEnd:
		if text := d.Message.Text(); text != "" {
			r.result.Text = text
		}
	case agent.Failure:
		r.result.Error = &d
	case agent.Warning:
		if d.ID == agent.WarnFiltered || d.ID == agent.WarnRefused { // which end the turn
			r.result.Error = d.Failure()
		}
	}
}

func (r *jsonReport) finish(end agent.ProcessingEnd) {
	r.result.Status, r.result.Rounds, r.result.Usage = end.Reason, end.Rounds, end.Usage
	printLine(r.out, r.result)
}

func (r *jsonReport) failed(err error) {
	if r.result.Status = agent.EndInterrupted; !errors.Is(err, errInterrupted) {
		r.result.Status, r.result.Error = agent.EndFailed, backend.AsError(err).Failure()
	}
	printLine(r.out, r.result)
}

// streamReport prints every event as one line of JSON. An event with a seq has
// been stored.
type streamReport struct{ out io.Writer }

func (r *streamReport) event(ev agent.Event, _ bool) { printLine(r.out, ev) }

// printLine prints a value as one line of JSON.
func printLine(out io.Writer, v any) {
	if err := writeJSON(out, v); err != nil { // most likely the reader has left
		slog.Info("could not print a line of output", "value", fmt.Sprintf("%T", v), "err", err)
	}
}

func (r *streamReport) finish(agent.ProcessingEnd) {}
func (r *streamReport) failed(error)               {}

// messageReport prints every message as one line of JSON (OAS-102).
type messageReport struct {
	out      io.Writer
	sessions map[string]*sdk.Translator
}

func (r *messageReport) event(ev agent.Event, _ bool) {
	t := r.sessions[ev.Session]
	if t == nil {
		t = sdk.NewTranslator()
		r.sessions[ev.Session] = t
	}
	for _, m := range t.Translate(ev) {
		printLine(r.out, m)
	}
}

func (r *messageReport) finish(agent.ProcessingEnd) {}

// failed gives a result to a run that had no turn, or could not be closed.
func (r *messageReport) failed(err error) {
	result := sdk.Result{Status: agent.StatusCancelled}
	if !errors.Is(err, errInterrupted) {
		result = sdk.Result{Status: agent.StatusFailed, Failure: backend.AsError(err).Failure()}
	}
	printLine(r.out, sdk.Message{At: time.Now().UnixMilli(), Data: result})
}
