package output

import (
	"encoding/json"
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

// Report prints the events of a run. A run ends with one call of Finish or Failed.
type Report interface {
	// Event is called with every event, from one goroutine at a time. own says
	// whether it is an event of the run's own session or of an agent that the
	// run started.
	Event(ev agent.Event, own bool)
	// Finish is called with the end of the last turn.
	Finish(End)
	// Failed is called instead if the run failed outside of its turns.
	Failed(error)
}

// End is how a run ended.
type End struct {
	agent.ProcessingEnd
	// Structured is the answer in the form that was asked for; nil if none was asked for, or
	// the model did not give it, which Problem then says.
	Structured json.RawMessage
	Problem    string
}

// NewReport returns a report in a format: text, json, stream-json or messages. With
// structured, text is the structured answer and nothing else.
func NewReport(format string, structured bool, out, progress io.Writer) (Report, error) {
	switch format {
	case "text":
		return &textReport{out: out, progress: progress, structured: structured}, nil
	case "json":
		return &jsonReport{out: out}, nil
	case "stream-json":
		return &streamReport{jsonReport{out: out}}, nil
	case "messages":
		return &messageReport{out: out, sessions: map[string]*sdk.Translator{}}, nil
	}
	return nil, fmt.Errorf("--output is text, json, stream-json or messages, not %q", format)
}

// Observer passes the events of all sessions of a run to its report, and
// signals the ends of the run's own turns.
type Observer struct {
	mu      sync.Mutex
	report  Report
	out     *Gather // to which it prints
	session string  // the run's own, which is the first to have an event
	follows bool    // the next turn follows the earlier ones at once
	rounds  int     // of these
	usage   llm.Usage
	ended   chan<- agent.ProcessingEnd
	notice  func(ev agent.Event, own bool)
	code    string // of the newest failure of the run's own session
}

// NewObserver returns an observer. Report prints to out, and ended must be received from.
// notice, if it is not nil, is called with the events of all sessions and must not block.
func NewObserver(report Report, out *Gather, ended chan<- agent.ProcessingEnd, notice func(ev agent.Event, own bool)) *Observer {
	return &Observer{report: report, out: out, ended: ended, notice: notice}
}

// Event takes an event of any session of the run.
func (o *Observer) Event(ev agent.Event) {
	o.mu.Lock()
	if o.session == "" {
		o.session = ev.Session
	}
	own := ev.Session == o.session
	o.report.Event(ev, own)
	if ev.Durable() {
		_ = o.out.Flush() // a reader that has left was noticed
	}
	if o.notice != nil {
		o.notice(ev, own)
	}
	switch d := ev.Data.(type) {
	case agent.UserInput:
		if own {
			o.code = ""
		}
	case agent.Failure:
		if own {
			o.code = d.Code
		}
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

// Code is that of the failure that ended the newest turn; empty if none did.
func (o *Observer) Code() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.code
}

// sum adds the usage of earlier turns, if this one followed them at once.
func (o *Observer) sum(end agent.ProcessingEnd) agent.ProcessingEnd {
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
	structured    bool // the model's text is not printed
	denied        int
}

// Event implements [Report].
func (r *textReport) Event(ev agent.Event, own bool) {
	if !own {
		return
	}
	switch d := ev.Data.(type) {
	case agent.Briefing:
		r.incomplete(d.Documents)
	case agent.BriefingUpdate:
		r.incomplete(d.Documents)
	case agent.TextDelta:
		if r.structured {
			return
		}
		fmt.Fprint(r.out, d.Text)
		r.open = !strings.HasSuffix(d.Text, "\n")
	case agent.TextEnd:
		r.endLine()
	case agent.ToolCallEnd:
		if d.Outcome == agent.OutcomeDenied {
			r.denied++
		}
		fmt.Fprintf(r.progress, "· %s: %s\n", OneLine(d.Tool), d.Outcome)
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
			fmt.Fprintf(r.progress, "The instructions in %s were left out: %s.\n", OneLine(d.Path), d.Problem)
		case d.Told < d.Size:
			fmt.Fprintf(r.progress, "The instructions in %s are too long: the model was told %d of %d bytes.\n", OneLine(d.Path), d.Told, d.Size)
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

// Finish implements [Report].
func (r *textReport) Finish(end End) {
	r.endLine()
	if r.structured && end.Structured != nil {
		fmt.Fprintf(r.out, "%s\n", escaped(end.Structured))
	}
	if end.Problem != "" {
		fmt.Fprintln(r.progress, end.Problem)
	}
	if r.denied > 0 {
		fmt.Fprintf(r.progress, "%d of its calls of tools were denied. --allowed-tools or another --permission-mode lets them pass.\n", r.denied)
	}
}

// Failed implements [Report].
func (r *textReport) Failed(error) { r.endLine() }

// jsonReport prints one object at the end (OAS-101).
type jsonReport struct {
	out    io.Writer
	result runResult
}

// The kinds of lines of stream-json that are not events: the last one, and what became of a
// line of the input that was not carried out.
const (
	kindResult  = "result"
	kindRefused = "input_refused"
)

// ErrInterrupted ends a run that was interrupted before its turn began.
var ErrInterrupted = errors.New("the run was interrupted")

// Said is what happened, in a sentence for people.
func Said(err error) string {
	if e := new(backend.Error); errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// Refused prints that a line of the input was not carried out. Number is 0 if it was accepted
// before, and failed later.
func Refused(out io.Writer, number int, err error) {
	next := ""
	if e := new(backend.Error); errors.As(err, &e) {
		next = e.Next
	}
	printLine(out, struct {
		Kind    string `json:"kind"`
		Line    int    `json:"line,omitempty"`
		Message string `json:"message"`
		Next    string `json:"next,omitempty"`
	}{kindRefused, number, Said(err), next})
}

type runResult struct {
	Kind    string          `json:"kind,omitempty"`
	Session string          `json:"session_id"`
	Status  agent.EndReason `json:"status"`
	// Text is the model's last message.
	Text string `json:"text"`
	// Structured is the answer in the form that --json-schema asks for.
	Structured json.RawMessage `json:"structured_output,omitempty"`
	// Problem says why there is none, if one was asked for.
	Problem string `json:"structured_problem,omitempty"`
	// Denied counts the calls of tools that were denied.
	Denied int       `json:"denied,omitempty"`
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

// Event implements [Report].
func (r *jsonReport) Event(ev agent.Event, own bool) {
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
	case agent.ToolCallEnd:
		if d.Outcome == agent.OutcomeDenied {
			r.result.Denied++
		}
	case agent.UserInput: // an earlier turn of the run may have failed
		r.result.Error = nil
	case agent.Failure:
		r.result.Error = &d
	case agent.Warning:
		if d.ID == agent.WarnFiltered || d.ID == agent.WarnRefused { // which end the turn
			r.result.Error = d.Failure()
		}
	}
}

// Finish implements [Report].
func (r *jsonReport) Finish(end End) {
	r.result.Status, r.result.Rounds, r.result.Usage, r.result.Structured = end.Reason, end.Rounds, end.Usage, end.Structured
	r.result.Problem = end.Problem
	printLine(r.out, r.result)
}

// Failed implements [Report].
func (r *jsonReport) Failed(err error) {
	if r.result.Status = agent.EndInterrupted; !errors.Is(err, ErrInterrupted) {
		r.result.Status, r.result.Error = agent.EndFailed, backend.AsError(err).Failure()
	}
	printLine(r.out, r.result)
}

// streamReport prints every event as one line of JSON, and the result as the last line. An
// event with a seq has been stored.
type streamReport struct{ jsonReport }

// Event implements [Report].
func (r *streamReport) Event(ev agent.Event, own bool) {
	printLine(r.out, ev)
	r.jsonReport.Event(ev, own)
}

// Finish implements [Report].
func (r *streamReport) Finish(end End) {
	r.result.Kind = kindResult
	r.jsonReport.Finish(end)
}

// Failed implements [Report].
func (r *streamReport) Failed(err error) {
	r.result.Kind = kindResult
	r.jsonReport.Failed(err)
}

// printLine prints a value as one line of JSON.
func printLine(out io.Writer, v any) {
	if err := WriteJSON(out, v); err != nil { // most likely the reader has left
		slog.Info("could not print a line of output", "value", fmt.Sprintf("%T", v), "err", err)
	}
}

// messageReport prints every message as one line of JSON (OAS-102).
type messageReport struct {
	out      io.Writer
	sessions map[string]*sdk.Translator
}

// Event implements [Report].
func (r *messageReport) Event(ev agent.Event, _ bool) {
	t := r.sessions[ev.Session]
	if t == nil {
		t = sdk.NewTranslator()
		r.sessions[ev.Session] = t
	}
	for _, m := range t.Translate(ev) {
		printLine(r.out, m)
	}
}

// Finish implements [Report]. The translator has made a result of each turn's end.
func (r *messageReport) Finish(end End) {
	if end.Structured != nil {
		printLine(r.out, map[string]any{"type": "structured_output", "structured_output": end.Structured})
	}
}

// Failed gives a result to a run that had no turn, or could not be closed.
func (r *messageReport) Failed(err error) {
	result := sdk.Result{Status: agent.StatusCancelled}
	if !errors.Is(err, ErrInterrupted) {
		result = sdk.Result{Status: agent.StatusFailed, Failure: backend.AsError(err).Failure()}
	}
	printLine(r.out, sdk.Message{At: time.Now().UnixMilli(), Data: result})
}
