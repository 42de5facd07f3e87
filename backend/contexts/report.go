package contexts

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"atelier.dev/atelier/agent/contextinfo"
)

// ContextReport is what the command line says of a session's context: what fills it, as the
// panel shows it, and what the session used so far (COM-94).
type ContextReport struct {
	contextinfo.ContextInfo
	Spent contextinfo.SessionUsage `json:"spent"`
}

// Report says what fills a session's context, with a page of its items, and what it used.
func (c *Contexts) Report(ctx context.Context, in ContextRequest) (r ContextReport, err error) {
	err = c.read(ctx, in.Session, func(s contextinfo.Session, log *contextinfo.Log) error {
		r = ContextReport{log.Info(ctx, s, in.Page, c.cfg.Now()), log.Usage()}
		return nil
	})
	return r, err
}

// Print writes the report, as one line of JSON or for people.
func (r ContextReport) Print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	whole := r.Used + r.Added
	of := fmt.Sprintf("%d tokens", whole)
	if r.Window > 0 {
		of = fmt.Sprintf("%d of %d tokens (%d %%)", whole, r.Window, 100*whole/r.Window)
	}
	if r.Margin > 0 {
		of += fmt.Sprintf(", within about %d", r.Margin)
	}
	line("context  %s", of)
	if r.Threshold > 0 {
		line("compacts at %d tokens", r.Threshold)
	}
	for _, p := range r.Parts {
		line("  %-10s %9d", p.Kind, p.Tokens)
	}
	for _, h := range r.Header {
		line("  %-18s %9d  %s", h.Type, h.Tokens, strings.Join(strings.Fields(h.Name), " "))
	}
	line("items    %d, %d pinned, %d taken out", r.Total, r.Pinned, r.Dropped)
	if c := r.Cache; c != nil {
		line("cache    %d tokens read, %d written, %d neither", c.Read, c.Write, c.Fresh)
		if c.Broken != nil {
			line("  last read anew: %d tokens (%s)", c.Broken.Tokens, c.Broken.Reason)
		}
	}
	for _, c := range r.Compactions {
		done := fmt.Sprintf("compacted in turn %d: %d → %d tokens", c.Turn, c.Before, c.After)
		if c.Undone {
			done += ", taken back"
		}
		line("%s", done)
	}
	spent := r.Spent.Cost.Cost.String()
	if r.Spent.Cost.Unknown > 0 {
		spent = fmt.Sprintf("at least %s, %d requests of unknown cost", spent, r.Spent.Cost.Unknown)
	}
	line("used     %d tokens in %d requests, %s", r.Spent.Tokens, r.Spent.Requests, spent)
	_, err := io.WriteString(w, b.String())
	return err
}
