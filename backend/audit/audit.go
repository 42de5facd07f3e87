package audit

import (
	"context"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// Log is the part of a [backend.Store] that is read.
type Log interface {
	CallEnds(context.Context, backend.CallRange) ([]agent.Event, error)
	CallEvents(ctx context.Context, session string, before int64, limit int) ([]agent.Event, error)
}

// LedgerRow is one call that has ended.
type LedgerRow struct {
	Place backend.CallPlace `json:"place"`
	Tool  string            `json:"tool"`
	// Subject is the command line or what else tells most about the call; Cut says
	// that it was cut. The event at Start has the call whole; Start is 0 if the log
	// has lost it.
	Subject    string        `json:"subject"`
	Cut        bool          `json:"cut,omitempty"`
	Start      int64         `json:"start,omitempty"`
	Outcome    agent.Outcome `json:"outcome"`
	DurationMs int64         `json:"duration_ms"`
	// Authority is what decided; nil if it was not recorded.
	Authority *agent.Authority `json:"authority,omitempty"`
	// Answer is the person's answer, if a person was asked.
	Answer *agent.Answer `json:"answer,omitempty"`
	// Outlook is what the person was told that the call would do or, if nobody was
	// asked, what it would do if it ran now; nil if that cannot be told.
	Outlook *agent.Forecast `json:"outlook,omitempty"`
	// Lost says that the call's end is damaged, so that only its place is known.
	Lost bool `json:"lost,omitempty"`
}

// LedgerFilter selects rows; an empty member selects all.
type LedgerFilter struct {
	By       agent.Authoriser `json:"by,omitempty"`
	Decision agent.Decision   `json:"decision,omitempty"`
	Tool     string           `json:"tool,omitempty"`
	Rule     string           `json:"rule,omitempty"` // its text
	// Since and Until are milliseconds since 1970.
	Since int64 `json:"since,omitempty"`
	Until int64 `json:"until,omitempty"`
	// Unasked selects what was done without asking anybody, except for reading
	// that the mode allows.
	Unasked bool `json:"unasked,omitempty"`
	// Unrecorded selects calls for which no decision was recorded.
	Unrecorded bool `json:"unrecorded,omitempty"`
}

// takes reports whether a filter selects a call.
func (f LedgerFilter) takes(end agent.ToolCallEnd) bool {
	a := end.Authority
	if f.Tool != "" && f.Tool != end.Tool || f.Unrecorded && a != nil || f.Unasked && !Unasked(end) {
		return false
	}
	if a == nil {
		return f.By == "" && f.Decision == "" && f.Rule == ""
	}
	return (f.By == "" || f.By == a.By) && (f.Decision == "" || f.Decision == a.Decision) &&
		(f.Rule == "" || a.Rule != nil && a.Rule.Text == f.Rule)
}

// takesLost reports whether a filter selects calls of which only the place is
// known.
func (f LedgerFilter) takesLost() bool {
	f.Since, f.Until = 0, 0
	return f == LedgerFilter{}
}

// Unasked reports whether a call was allowed without a question, and did more
// than the reads that the mode always allows.
func Unasked(end agent.ToolCallEnd) bool {
	a := end.Authority
	if a == nil || a.Decision != agent.Allow || a.Approval != "" || end.Outcome == agent.OutcomeDenied {
		return false
	}
	return a.By != agent.ByMode || isCommand(end) || end.Details != nil && len(end.Details.Changes) > 0
}

func isCommand(end agent.ToolCallEnd) bool {
	return end.Tool == "Bash" || end.Details != nil && end.Details.Command != nil
}

// Limits of one call of [Reader.Page], so that nobody waits long for it.
const (
	readAtOnce = 200     // ends of calls
	maxRead    = 4000    // ends of calls in all
	maxBytes   = 8 << 20 // of what they printed
	maxRows    = 200
)

// Reader reads the calls of sessions.
type Reader struct {
	Log Log
	// Sessions are those whose calls are read, each with the folder in which its
	// tools act.
	Sessions map[string]string
	// Copied says up to which place a log is a copy, or was imported: those calls did
	// not run in this session.
	Copied map[string]int64
	// Foretell says what a call would do.
	Foretell func(context.Context, agent.GateCall) agent.Forecast
}

// LedgerPage is a part of the calls, the newest first.
type LedgerPage struct {
	Rows []LedgerRow `json:"rows,omitempty"`
	// Next is where the reading goes on; nil if nothing is left.
	Next *backend.CallPlace `json:"next,omitempty"`
}

// Page reads at most limit calls that a filter selects, from a place back. It may
// return fewer although there are more: it ends after a bounded part of the logs.
func (r Reader) Page(ctx context.Context, f LedgerFilter, from backend.CallPlace, limit int) (LedgerPage, error) {
	if limit <= 0 || limit > maxRows {
		limit = maxRows
	}
	var page LedgerPage
	next, err := r.scan(ctx, f, from, func(ev agent.Event) (bool, error) {
		end, ok := ev.Data.(agent.ToolCallEnd)
		if !ok {
			if f.takesLost() {
				page.Rows = append(page.Rows, LedgerRow{Place: placeOf(ev), Lost: true})
			}
			return len(page.Rows) < limit, nil
		}
		if f.takes(end) {
			row, err := r.row(ctx, ev, end)
			if err != nil {
				return false, err
			}
			page.Rows = append(page.Rows, row)
		}
		return len(page.Rows) < limit, nil
	})
	page.Next = next
	return page, err
}

// scan passes the ends of calls to visit, the newest first, until visit returns
// false or the limits are reached. It returns where to go on.
func (r Reader) scan(ctx context.Context, f LedgerFilter, from backend.CallPlace, visit func(agent.Event) (bool, error)) (*backend.CallPlace, error) {
	sessions := make([]string, 0, len(r.Sessions))
	for id := range r.Sessions {
		sessions = append(sessions, id)
	}
	slices.Sort(sessions)
	if f.Until > 0 && (from.At == 0 || from.At >= f.Until) {
		from = backend.CallPlace{At: f.Until}
	}
	bytes := 0
	for read := 0; read < maxRead && bytes < maxBytes; {
		ends, err := r.Log.CallEnds(ctx, backend.CallRange{Sessions: sessions, Before: from, Since: f.Since, Limit: readAtOnce})
		if err != nil {
			return nil, err
		}
		for i, ev := range ends {
			from = placeOf(ev)
			if ev.Seq <= r.Copied[ev.Session] {
				continue
			}
			if end, ok := ev.Data.(agent.ToolCallEnd); ok {
				bytes += len(end.Output)
			}
			more, err := visit(ev)
			if err != nil {
				return nil, err
			}
			if !more && (i < len(ends)-1 || len(ends) == readAtOnce) {
				return &from, nil
			}
		}
		if len(ends) < readAtOnce {
			return nil, nil
		}
		read += len(ends)
	}
	return &from, nil
}

func placeOf(ev agent.Event) backend.CallPlace {
	return backend.CallPlace{At: ev.At, Session: ev.Session, Seq: ev.Seq}
}

// row joins the end of a call with its beginning.
func (r Reader) row(ctx context.Context, ev agent.Event, end agent.ToolCallEnd) (LedgerRow, error) {
	row := LedgerRow{
		Place: placeOf(ev), Tool: end.Tool, Outcome: end.Outcome, DurationMs: end.DurationMs, Authority: end.Authority,
	}
	b, err := r.beginning(ctx, ev, end.CallID)
	if err != nil {
		return LedgerRow{}, err
	}
	row.Start, row.Answer, row.Outlook = b.seq, b.answer, b.outlook
	row.Subject, row.Cut = subject(b.input, end)
	if row.Outlook == nil && r.Foretell != nil {
		if call, ok := gateCall(r.Sessions[ev.Session], end, b.input); ok {
			o := r.Foretell(ctx, call)
			row.Outlook = &o
		}
	}
	return row, nil
}

// Input returns the arguments with which a call ran; empty if they are lost.
func (r Reader) Input(ctx context.Context, ev agent.Event, end agent.ToolCallEnd) (string, error) {
	b, err := r.beginning(ctx, ev, end.CallID)
	return b.input, err
}

// beginning is what the log says about a call before its end.
type beginning struct {
	seq     int64 // of the event that has the input; 0 if it is lost
	input   string
	answer  *agent.Answer
	outlook *agent.Forecast
}

// near and far say how many events about calls are read in search of a call's
// beginning: calls of an answer may all begin before the first one ends.
const near, far = 12, 500

// beginning searches for the beginning of a call. The newest input is the one with
// which the call ran.
func (r Reader) beginning(ctx context.Context, end agent.Event, id string) (beginning, error) {
	for _, limit := range []int{near, far} {
		events, err := r.Log.CallEvents(ctx, end.Session, end.Seq, limit)
		if err != nil {
			return beginning{}, err
		}
		var b beginning
		for _, ev := range events {
			switch d := ev.Data.(type) {
			case agent.ApprovalAnswer:
				if d.CallID == id && b.answer == nil {
					b.answer = &d.Answer
				}
			case agent.ApprovalRequest:
				if d.CallID == id && b.outlook == nil {
					b.outlook = d.Outlook
					b.take(ev.Seq, d.Input)
				}
			case agent.HookEnd:
				if d.CallID == id && d.Input != "" {
					b.take(ev.Seq, d.Input)
				}
			case agent.ToolCallStart:
				if d.CallID == id {
					b.take(ev.Seq, d.Input)
					return b, nil
				}
			}
		}
		if len(events) < limit || limit == far {
			return b, nil
		}
	}
	return beginning{}, nil
}

// take keeps an input if there is not a newer one.
func (b *beginning) take(seq int64, input string) {
	if b.seq == 0 {
		b.seq, b.input = seq, input
	}
}
