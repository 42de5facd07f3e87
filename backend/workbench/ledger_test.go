package workbench_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/audit"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/guard"
	"atelier.dev/atelier/backend/place"
	"atelier.dev/atelier/backend/reading"
	"atelier.dev/atelier/backend/workbench"
)

// listed shows rows as "tool subject: decision by, outcome".
func listed(rows []audit.LedgerRow) []string {
	var lines []string
	for _, row := range rows {
		line := fmt.Sprintf("%s %s: not recorded, %s", row.Tool, row.Subject, row.Outcome)
		if row.Lost {
			line = "lost"
		} else if a := row.Authority; a != nil {
			line = fmt.Sprintf("%s %s: %s %s, %s", row.Tool, row.Subject, a.Decision, a.By, row.Outcome)
			if a.Rule != nil {
				line += " by " + a.Rule.Text
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// OAS-630: what a real turn ran is listed with what decided about it, and what a
// person answered.
func TestLedgerOfATurn(t *testing.T) {
	t.Parallel()
	bash := func(command string) llmtest.Call { return llmtest.Use("Bash", map[string]any{"command": command}) }
	server := llmtest.Serve(t,
		llmtest.Round{Calls: []llmtest.Call{
			llmtest.Use("Read", map[string]any{"file_path": "a.txt"}), bash("touch made"), bash("rm -rf made"),
		}},
		llmtest.Round{Calls: []llmtest.Call{bash("touch made")}},
		llmtest.Round{Text: "Done."},
	)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test-key-1234567890"))
	if err := os.WriteFile(filepath.Join(p.folder, "a.txt"), []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	session := p.session("compat")
	p.send(session, "Go")
	answers := []agent.Answer{{Decision: agent.Allow, Scope: agent.ScopeSession}, {Decision: agent.Deny, Feedback: "Keep it."}}
	for _, answer := range answers {
		request := await(p, anyOf[agent.ApprovalRequest])
		must[backend.Empty](p, "conversation.answer", workbench.AnswerRequest{Session: session, Approval: request.ID, Answer: answer})
	}
	await(p, anyOf[agent.ProcessingEnd])

	page := must[audit.LedgerPage](p, "permissions.ledger", workbench.LedgerRequest{Session: session})
	want := []string{
		"Bash touch made: allow person, done", // equal to what was allowed for the session
		"Bash rm -rf made: deny person, denied",
		"Bash touch made: allow person, done",
		"Read a.txt: allow mode, done",
	}
	if diff := cmp.Diff(want, listed(page.Rows)); diff != "" || page.Next != nil {
		t.Fatalf("%s, next %v", diff, page.Next)
	}
	if got := page.Rows[1]; got.Answer == nil || got.Answer.Feedback != "Keep it." || got.Outlook == nil || got.Outlook.Risk == agent.RiskLow {
		t.Errorf("the denied call: answer %+v, outlook %+v", got.Answer, got.Outlook)
	}
	if got := page.Rows[2].Answer; got == nil || got.Scope != agent.ScopeSession {
		t.Errorf("the allowed call: answer %+v", got)
	}
	whole := must[reading.EventReply](p, "conversation.event", place.EventRef{Session: session, Seq: page.Rows[1].Start})
	if request, ok := whole.Event.Data.(agent.ApprovalRequest); !ok || !strings.Contains(request.Input, "rm -rf made") {
		t.Errorf("the call begins at %+v", whole.Event.Data)
	}
	unasked := must[audit.LedgerPage](p, "permissions.ledger", workbench.LedgerRequest{Session: session, Filter: audit.LedgerFilter{Unasked: true}})
	if diff := cmp.Diff(want[:1], listed(unasked.Rows)); diff != "" {
		t.Errorf("without asking: %s", diff)
	}
	rules := must[guard.SuggestReply](p, "permissions.suggest_for_call", place.EventRef{Session: session, Seq: page.Rows[1].Place.Seq}).Rules
	if len(rules) == 0 || rules[0].Rule != "Bash(rm -rf made)" {
		t.Errorf("suggested for the denied call: %+v", rules)
	}
	if _, err := call[guard.SuggestReply](p, "permissions.suggest_for_call", place.EventRef{Session: session, Seq: 1}); err == nil {
		t.Error("rules were suggested for the beginning of a session")
	}
	if other := must[audit.LedgerPage](p, "permissions.ledger", workbench.LedgerRequest{Session: p.session("compat")}); len(other.Rows) > 0 {
		t.Errorf("another session has %v", listed(other.Rows))
	}
	if _, err := call[audit.LedgerPage](p, "permissions.ledger", workbench.LedgerRequest{Session: "nobody's"}); err == nil {
		t.Error("the calls of an unknown session were listed")
	}
}

// ran returns the events of one call.
func ran(id, tool, input string, outcome agent.Outcome, by *agent.Authority) []agent.Payload {
	return []agent.Payload{
		agent.ToolCallStart{CallID: id, Tool: tool, Input: input},
		agent.ToolCallEnd{CallID: id, Tool: tool, Outcome: outcome, Authority: by},
	}
}

func byRule(text string, d agent.Decision) *agent.Authority {
	return &agent.Authority{Decision: d, By: agent.ByRule, Mode: agent.ModeDefault, Rule: &agent.RuleRef{Text: text, Decision: d, Scope: agent.ScopeUser}}
}

func byMode(d agent.Decision) *agent.Authority {
	return &agent.Authority{Decision: d, By: agent.ByMode, Mode: agent.ModeAcceptEdits}
}

func command(line string) string {
	b, _ := json.Marshal(map[string]string{"command": line})
	return string(b)
}

// Filters select by what decided, by its decision, by tool and by rule. A call
// without a record, as in an older log, is listed and says so.
func TestLedgerFilters(t *testing.T) {
	t.Parallel()
	hook := &agent.Authority{Decision: agent.Allow, By: agent.ByHook, Mode: agent.ModeDefault}
	edited := agent.ToolCallEnd{
		CallID: "6", Tool: "Edit", Outcome: agent.OutcomeDone, Authority: byMode(agent.Allow),
		Details: &agent.Details{Changes: []agent.FileChange{{Path: "src/a.go", Added: 1}, {Path: "b.go"}}},
	}
	p, session := written(t, slices.Concat(
		ran("1", "Bash", command("old"), agent.OutcomeDone, nil),
		ran("2", "Bash", command("git status"), agent.OutcomeDone, byRule("Bash(git status)", agent.Allow)),
		ran("3", "Bash", command("curl x"), agent.OutcomeDenied, byRule("Bash(curl *)", agent.Deny)),
		ran("4", "Read", `{"file_path":"a.txt"}`, agent.OutcomeDone, byMode(agent.Allow)),
		ran("5", "Bash", command("make"), agent.OutcomeFailed, hook),
		[]agent.Payload{agent.ToolCallStart{CallID: "6", Tool: "Edit", Input: `{"file_path":"src/a.go","old_string":"secret"}`}, edited},
	)...)
	const (
		old      = "Bash old: not recorded, done"
		status   = "Bash git status: allow rule, done by Bash(git status)"
		curl     = "Bash curl x: deny rule, denied by Bash(curl *)"
		read     = "Read a.txt: allow mode, done"
		hooked   = "Bash make: allow hook, failed"
		twoFiles = "Edit src/a.go, b.go: allow mode, done"
	)
	for _, tt := range []struct {
		name   string
		filter audit.LedgerFilter
		want   []string
	}{
		{"all", audit.LedgerFilter{}, []string{twoFiles, hooked, read, curl, status, old}},
		{"by rules", audit.LedgerFilter{By: agent.ByRule}, []string{curl, status}},
		{"denied", audit.LedgerFilter{Decision: agent.Deny}, []string{curl}},
		{"allowed by rules", audit.LedgerFilter{By: agent.ByRule, Decision: agent.Allow}, []string{status}},
		{"a tool", audit.LedgerFilter{Tool: "Read"}, []string{read}},
		{"a rule", audit.LedgerFilter{Rule: "Bash(git status)"}, []string{status}},
		{"not recorded", audit.LedgerFilter{Unrecorded: true}, []string{old}},
		{"without asking", audit.LedgerFilter{Unasked: true}, []string{twoFiles, hooked, status}},
		{"later", audit.LedgerFilter{Since: 2}, nil},
		{"before", audit.LedgerFilter{Until: 1}, nil},
		{"at the time", audit.LedgerFilter{Since: 1, Until: 2, Tool: "Read"}, []string{read}},
	} {
		got := must[audit.LedgerPage](p, "permissions.ledger", workbench.LedgerRequest{Session: session, Filter: tt.filter})
		if diff := cmp.Diff(tt.want, listed(got.Rows)); diff != "" || got.Next != nil {
			t.Errorf("%s: %s, next %v", tt.name, diff, got.Next)
		}
	}
}

// A page ends at its limit and the next one goes on, also over the sessions of
// the folder. Calls of one answer begin before the first of them ends, and an
// input that a hook changed is the one that ran.
func TestLedgerPages(t *testing.T) {
	t.Parallel()
	var payloads []agent.Payload
	for i := range 60 {
		payloads = append(payloads, agent.ToolCallStart{CallID: fmt.Sprint(i), Tool: "Bash", Input: command(fmt.Sprint("line ", i))})
	}
	payloads = append(payloads, agent.HookEnd{CallID: "59", Input: command("changed")})
	for i := range 60 {
		payloads = append(payloads, agent.ToolCallEnd{CallID: fmt.Sprint(i), Tool: "Bash", Outcome: agent.OutcomeDone, Authority: byMode(agent.Allow)})
	}
	p, session := written(t, payloads...)
	helper := backend.SessionInfo{
		ID: session + "h", Folder: p.folder, State: agent.StateIdle, Settings: agent.Settings{Mode: agent.ModeDefault},
		Helper: &agent.Helper{Parent: session, Folder: filepath.Join(p.folder, "sub")},
	}
	if err := p.store.CreateSession(t.Context(), helper); err != nil {
		t.Fatal(err)
	}
	for _, data := range ran("h", "Bash", command("of the agent"), agent.OutcomeDone, byMode(agent.Allow)) {
		if _, err := p.store.Append(t.Context(), agent.Event{Session: helper.ID, At: 1, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	for _, scope := range []string{session, ""} {
		var got []string
		var before *backend.CallPlace
		for range 20 {
			page := must[audit.LedgerPage](p, "permissions.ledger", workbench.LedgerRequest{Session: scope, Before: before, Limit: 7})
			if len(page.Rows) > 7 {
				t.Fatalf("%d rows", len(page.Rows))
			}
			for _, row := range page.Rows {
				got = append(got, row.Subject)
			}
			if before = page.Next; before == nil {
				break
			}
		}
		want := []string{"of the agent", "changed"}
		for i := 58; i >= 0; i-- {
			want = append(want, fmt.Sprint("line ", i))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("in %q: %s", scope, diff)
		}
	}
}

// A damaged event does not stop the list: a lost end keeps its place, and a call
// whose beginning is lost is listed without its command. A filter that needs what
// is lost leaves it out.
func TestLedgerOfADamagedLog(t *testing.T) {
	t.Parallel()
	p, session := written(t, slices.Concat(
		ran("1", "Bash", command("one"), agent.OutcomeDone, byMode(agent.Allow)),
		ran("2", "Bash", command("two"), agent.OutcomeDone, byMode(agent.Allow)),
		ran("3", "Bash", command("three"), agent.OutcomeDone, byMode(agent.Allow)),
	)...)
	events := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: session}).Events
	last := events[len(events)-1].Seq
	spoil(t, p.home, fmt.Sprintf("UPDATE events SET body = 'x' WHERE seq IN (%d, %d)", last-2, last-1)) // the end of two and the start of three
	page := must[audit.LedgerPage](p, "permissions.ledger", workbench.LedgerRequest{Session: session})
	want := []string{"Bash : allow mode, done", "lost", "Bash one: allow mode, done"}
	if diff := cmp.Diff(want, listed(page.Rows)); diff != "" || page.Rows[0].Start != 0 {
		t.Error(diff, page.Rows[0].Start)
	}
	page = must[audit.LedgerPage](p, "permissions.ledger", workbench.LedgerRequest{Session: session, Filter: audit.LedgerFilter{Tool: "Bash"}})
	if diff := cmp.Diff([]string{want[0], want[2]}, listed(page.Rows)); diff != "" {
		t.Error(diff)
	}
}

// One request reads a bounded part of a long log, and says where to go on.
func TestLedgerIsBounded(t *testing.T) {
	t.Parallel()
	payloads := ran("first", "Read", "{}", agent.OutcomeDone, nil)
	for range 5000 {
		payloads = append(payloads, agent.ToolCallEnd{CallID: "x", Tool: "Bash", Outcome: agent.OutcomeDone})
	}
	p, session := written(t, payloads...)
	in := workbench.LedgerRequest{Session: session, Filter: audit.LedgerFilter{Tool: "Read"}}
	page := must[audit.LedgerPage](p, "permissions.ledger", in)
	if len(page.Rows) != 0 || page.Next == nil {
		t.Fatalf("%d rows, next %v", len(page.Rows), page.Next)
	}
	in.Before = page.Next
	page = must[audit.LedgerPage](p, "permissions.ledger", in)
	if diff := cmp.Diff([]string{"Read {}: not recorded, done"}, listed(page.Rows)); diff != "" || page.Next != nil {
		t.Errorf("%s, next %v", diff, page.Next)
	}
	if rows := must[audit.LedgerPage](p, "permissions.ledger", workbench.LedgerRequest{Session: session}).Rows; len(rows) != 200 {
		t.Errorf("%d rows at once", len(rows))
	}
}
