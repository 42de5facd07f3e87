package workbench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/contextinfo"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/contexts"
	"atelier.dev/atelier/backend/sessionlist"
)

// figures are what is said of a session in several places.
type figures struct {
	Before, After int64 // of the compaction
	Tokens        int64 // of all requests
	Cost          llm.Spending
	Requests      int
	Context       int64
}

// COM-94, COM-18: events, the panel, the ledger of costs, the command line and the library say
// the same of a session that was compacted.
func TestFiguresAreEqual(t *testing.T) {
	t.Parallel()
	counted := llm.Usage{Input: 3000, CacheRead: 1000, Output: 50, Known: true}
	p, _, id := readsMany(t, contexts.RoomSettings{Preset: contexts.RulesSummary}, llmtest.Round{Text: "In short.", Usage: small}, llmtest.Round{Text: "Done.", Usage: counted})
	end := await(p, anyOf[agent.CompactionEnd])
	await(p, anyOf[agent.ProcessingEnd])

	report := must[contexts.ContextReport](p, "context.report", contexts.ContextRequest{Session: id})
	spent := report.Spent
	want := figures{end.Before, end.After, spent.Tokens, spent.Cost, spent.Requests, counted.Total()}
	same := func(where string, got figures) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-report, +it): %s", where, diff)
		}
	}

	events, err := p.store.Events(context.Background(), backend.EventRange{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	var fromEvents figures
	var library contextinfo.Log
	count := func(u llm.Usage, cost *llm.Cost) {
		fromEvents.Tokens += u.Total()
		fromEvents.Cost.Add(cost)
		fromEvents.Requests++
	}
	for _, ev := range events {
		library.Apply(ev, false)
		switch d := ev.Data.(type) {
		case agent.TextEnd:
			count(d.Usage, d.Cost)
			fromEvents.Context = d.Usage.Total()
		case agent.SideRequest:
			count(d.Usage, d.Cost)
		case agent.CompactionEnd:
			fromEvents.Before, fromEvents.After = d.Before, d.After
		}
	}
	same("events", fromEvents)

	of := func(i contextinfo.ContextInfo, tokens int64, cost llm.Spending, requests int) figures {
		t.Helper()
		if len(i.Compactions) != 1 {
			t.Fatalf("%d compactions", len(i.Compactions))
		}
		return figures{i.Compactions[0].Before, i.Compactions[0].After, tokens, cost, requests, i.Used + i.Added}
	}
	panel := must[contextinfo.ContextInfo](p, "context.info", contexts.ContextRequest{Session: id})
	ledger := must[backend.CostSummary](p, "costs.summary", sessionlist.CostsRequest{Session: id}).Total
	same("panel and ledger", of(panel, ledger.Usage.Total(), ledger.Cost, ledger.Requests))

	s, release, err := p.bench.Sessions().Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	usage := library.Usage()
	same("library", of(library.Info(t.Context(), s, contextinfo.ContextPage{}, time.Now()), usage.Tokens, usage.Cost, usage.Requests))

	var out bytes.Buffer
	if err := report.Print(&out, true); err != nil {
		t.Fatal(err)
	}
	var printed contexts.ContextReport
	if err := json.Unmarshal(out.Bytes(), &printed); err != nil {
		t.Fatal(err)
	}
	same("command line", of(printed.ContextInfo, printed.Spent.Tokens, printed.Spent.Cost, printed.Spent.Requests))
}
