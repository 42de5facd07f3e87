package storage_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
	"github.com/google/go-cmp/cmp"
)

// someSessions stores sessions of all kinds, some of which started agents, and
// returns them with their agents.
func someSessions(t testing.TB, s *storage.Store, count int) (heads []backend.SessionInfo, agents map[string][]backend.SessionInfo) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	states := []agent.State{agent.StateIdle, agent.StateIdle, agent.StateClosed, agent.StateProcessing, agent.StateAwaitingInput}
	titles := []string{"Fix the login", "Größe ändern", "测试 API", "ÜBER alles", "a%b_c", ""}
	agents = map[string][]backend.SessionInfo{}
	for n := range count {
		info := backend.SessionInfo{
			ID: fmt.Sprintf("%c%05d", 'A'+n%3, n), Folder: "/p", Title: titles[r.IntN(len(titles))], State: states[r.IntN(len(states))],
			Settings:  agent.Settings{Provider: "p", Model: fmt.Sprintf("m%d", r.IntN(3)), Mode: agent.ModeDefault},
			CreatedAt: 1, UpdatedAt: int64(1000 + r.IntN(count)), Prompt: "please " + titles[r.IntN(len(titles))],
		}
		info.Marks = agent.Marks{Pinned: r.IntN(5) == 0, Archived: r.IntN(5) == 0}
		if r.IntN(5) == 0 {
			info.Marks.Deleted = 7
		}
		if r.IntN(3) == 0 {
			info.Marks.Tags = []string{"api", "later"}[:1+r.IntN(2)]
		}
		create(t, s, info)
		heads = append(heads, info)
		if r.IntN(6) == 0 {
			a := info
			a.ID, a.Marks, a.Helper = info.ID+"-agent", agent.Marks{}, &agent.Helper{Parent: info.ID, Folder: "/p"}
			a.Title, a.State = titles[r.IntN(len(titles))], states[r.IntN(len(states))]
			create(t, s, a)
			agents[info.ID] = append(agents[info.ID], a)
		}
	}
	return heads, agents
}

func create(t testing.TB, s *storage.Store, info backend.SessionInfo) {
	t.Helper()
	if err := s.CreateSession(t.Context(), info); err != nil {
		t.Fatal(err)
	}
}

// Whatever is looked for, the pages of a list together have just the sessions that
// the filter selects, in order, each once and with its agents.
func TestSessionPages(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	heads, agents := someSessions(t, s, 120)
	for _, f := range []backend.SessionFilter{
		{}, {View: backend.ViewAll}, {View: backend.ViewArchived}, {View: backend.ViewDeleted}, {Text: "LOGIN"}, {Text: "über"}, {Text: "ÄNDERN"}, {Text: "测试"}, {Text: "%"},
		{Text: "_"}, {Text: "please"}, {Text: "missing"}, {Tag: "later"}, {Tag: "none"}, {Pinned: true}, {State: agent.StateIdle}, {State: agent.StateProcessing},
		{State: agent.StateAwaitingInput, View: backend.ViewAll}, {Model: "m1"}, {Model: "p/m2"}, {Model: "m"}, {Since: 1040, Until: 1080},
		{Prefix: "b0"}, {Prefix: "C00003"}, {Prefix: "%"}, {View: "odd"}, {Text: "login", Tag: "api", Pinned: true, View: backend.ViewAll},
	} {
		for _, urgent := range []bool{false, true} {
			var want []string
			selected := slices.DeleteFunc(slices.Clone(heads), func(h backend.SessionInfo) bool { return !f.Selects(h, agents[h.ID]...) })
			isUrgent := func(h backend.SessionInfo) bool {
				return urgent && (h.Marks.Pinned || backend.StateOf(h, agents[h.ID]...) != agent.StateIdle)
			}
			slices.SortFunc(selected, func(a, b backend.SessionInfo) int {
				switch {
				case isUrgent(a) != isUrgent(b):
					return map[bool]int{true: -1, false: 1}[isUrgent(a)]
				case a.UpdatedAt != b.UpdatedAt:
					return int(b.UpdatedAt - a.UpdatedAt)
				}
				return strings.Compare(b.ID, a.ID)
			})
			for _, h := range selected {
				want = append(want, h.ID)
				for _, a := range agents[h.ID] {
					want = append(want, a.ID)
				}
			}
			var got []string
			q := backend.SessionQuery{Folder: "/p", SessionFilter: f, UrgentFirst: urgent, Limit: 7}
			for {
				page, err := s.SessionPage(t.Context(), q)
				if err != nil {
					t.Fatalf("%+v: %v", f, err)
				}
				for _, info := range page.Sessions {
					got = append(got, info.ID)
				}
				if page.Next == nil {
					break
				}
				q.After = *page.Next
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%+v, urgent first: %t (-want +got)\n%s", f, urgent, diff)
			}
		}
	}
}

// A list of 10,000 sessions is read page by page, and no filter reads it all at
// once. See make bench.
func BenchmarkSessionPage(b *testing.B) {
	s := open(b, b.TempDir())
	someSessions(b, s, 10_000)
	for name, q := range map[string]backend.SessionQuery{
		"newest":  {},
		"urgent":  {UrgentFirst: true},
		"text":    {SessionFilter: backend.SessionFilter{Text: "login"}, UrgentFirst: true},
		"missing": {SessionFilter: backend.SessionFilter{Text: "missing"}, UrgentFirst: true},
		"tag":     {SessionFilter: backend.SessionFilter{Tag: "later"}, UrgentFirst: true},
		"prefix":  {SessionFilter: backend.SessionFilter{Prefix: "C09"}},
	} {
		q.Folder, q.Limit = "/p", 50
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.SessionPage(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
