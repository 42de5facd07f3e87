package workbench_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/absence"
	"atelier.dev/atelier/backend/audit"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

const minute = int64(60_000)

// looked is the reply of away.look at a minute.
func looked(p *page, at int64) []absence.Absence {
	p.t.Helper()
	return must[absence.LookReply](p, "away.look", absence.LookRequest{At: at * minute}).Absences
}

func left(p *page, at int64) {
	p.t.Helper()
	must[absence.LookReply](p, "away.leave", absence.LookRequest{At: at * minute})
}

// at appends events of a session, all of the same minute.
func at(p *page, session string, when int64, payloads ...agent.Payload) {
	p.t.Helper()
	for _, data := range payloads {
		if _, err := p.store.Append(p.t.Context(), agent.Event{Session: session, At: when * minute, Data: data}); err != nil {
			p.t.Fatal(err)
		}
	}
}

// OAS-630: whoever comes back learns what ran without asking since somebody last
// looked: of which kind, by which rule, outside the project, at which cost. It
// stays until it is put away, on every page, also when the program was closed.
func TestAbsence(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), ""))
	a, quiet := p.session("compat"), p.session("compat")
	helper := backend.SessionInfo{
		ID: a + "h", Folder: p.folder, Settings: agent.Settings{Mode: agent.ModeDefault}, State: agent.StateIdle,
		Helper: &agent.Helper{Parent: a, Folder: p.folder},
	}
	if err := p.store.CreateSession(t.Context(), helper); err != nil {
		t.Fatal(err)
	}
	if got := looked(p, 10); len(got) > 0 {
		t.Errorf("at the first look: %+v", got)
	}
	status := byRule("Bash(git status)", agent.Allow)
	outside := filepath.Join(filepath.Dir(p.folder), "elsewhere", "x.txt")
	cost := llm.Cost(420_000_000_000)
	at(p, a, 9, ran("before", "Bash", command("make"), agent.OutcomeDone, status)...)
	left(p, 11)
	at(p, a, 20, slices.Concat(
		ran("1", "Bash", command("git status"), agent.OutcomeDone, status),
		ran("2", "Bash", command("touch "+outside), agent.OutcomeFailed, byMode(agent.Allow)),
		ran("3", "Read", `{"file_path":"a.txt"}`, agent.OutcomeDone, byMode(agent.Allow)), // which everybody may
		ran("4", "Bash", command("curl x"), agent.OutcomeDenied, byRule("Bash(curl *)", agent.Deny)),
		ran("5", "Bash", command("make"), agent.OutcomeDone, &agent.Authority{Decision: agent.Allow, By: agent.ByPerson, Approval: "r"}),
		ran("6", "Bash", command("old"), agent.OutcomeDone, nil),
		[]agent.Payload{agent.SideRequest{Purpose: agent.PurposeTitle, Cost: &cost}},
	)...)
	at(p, helper.ID, 30, ran("7", "Bash", command("git status"), agent.OutcomeDone, status)...)
	at(p, quiet, 30, ran("8", "Read", `{"file_path":"a.txt"}`, agent.OutcomeDone, byMode(agent.Allow))...)

	want := []absence.Absence{{From: 11 * minute, To: 83 * minute, Digest: audit.Digest{
		Session: a, Commands: 3, Outside: []string{outside}, Cost: llm.Spending{Cost: cost},
		By: []audit.AllowedBy{{By: agent.ByRule, Rule: status.Rule, Calls: 2}, {By: agent.ByMode, Calls: 1}},
	}}}
	if diff := cmp.Diff(want, looked(p, 83)); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff(want, looked(p, 84)); diff != "" {
		t.Errorf("on another page: %s", diff)
	}
	// Somebody who looks away for a moment was not absent.
	left(p, 85)
	at(p, quiet, 86, ran("9", "Bash", command("git status"), agent.OutcomeDone, status)...)
	if diff := cmp.Diff(want, looked(p, 87)); diff != "" {
		t.Errorf("after a moment: %s", diff)
	}

	home, folder := p.home, p.folder
	p.close()
	p = newPage(t, folder, home, environment(llmtest.Serve(t), ""))
	at(p, quiet, 100, ran("10", "Bash", command("git status"), agent.OutcomeDone, status)...)
	got := looked(p, 200)
	if len(got) != 2 || got[1].Session != quiet || got[1].Commands != 1 || got[1].From != 87*minute {
		t.Fatalf("after a restart: %+v", got)
	}
	if diff := cmp.Diff(want[0], got[0]); diff != "" {
		t.Errorf("after a restart: %s", diff)
	}
	must[absence.LookReply](p, "away.dismiss", workbench.SessionRef{Session: a})
	p.close()
	p = newPage(t, folder, home, environment(llmtest.Serve(t), ""))
	if left := looked(p, 201); len(left) != 1 || left[0].Session != quiet {
		t.Errorf("after one was put away: %+v", left)
	}
}

// settingsCount counts what is written to the settings.
type settingsCount struct {
	backend.Store
	written int
}

func (s *settingsCount) SetSetting(ctx context.Context, key, value string) error {
	if strings.HasPrefix(key, "away:") {
		s.written++
	}
	return s.Store.SetSetting(ctx, key, value)
}

// The time of a look is written sparingly: a look each half minute writes once in
// five minutes, and the program's end once.
func TestLooksAreWrittenSparingly(t *testing.T) {
	t.Parallel()
	var count settingsCount
	p := newPageOn(t, environment(llmtest.Serve(t), ""), func(s *storage.Store) backend.Store {
		count.Store = s
		return &count
	})
	for half := range int64(40) {
		must[absence.LookReply](p, "away.look", absence.LookRequest{At: 100*minute + half*minute/2})
	}
	if count.written != 4 {
		t.Errorf("20 minutes wrote %d times", count.written)
	}
	p.close()
	if count.written != 5 {
		t.Errorf("the end wrote %d times", count.written-4)
	}
}

// Stored looks that are damaged are forgotten.
func TestDamagedLooks(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{", `{"seen":"x"}`, `[]`} {
		p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), ""))
		if err := p.store.SetSetting(t.Context(), "away:"+p.folder, text); err != nil {
			t.Fatal(err)
		}
		if got := looked(p, 10); len(got) > 0 {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// A clock that was ahead for a while does not hide what is done once it is right again.
func TestLooksOfAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), ""))
	a := p.session("compat")
	looked(p, 10)
	looked(p, 1_000_000)
	looked(p, 12)
	at(p, a, 20, ran("1", "Bash", command("git status"), agent.OutcomeDone, byMode(agent.Allow))...)
	got := looked(p, 30)
	if len(got) != 1 || got[0].From != 12*minute || got[0].To != 30*minute || got[0].Commands != 1 {
		t.Errorf("%+v", got)
	}
}
