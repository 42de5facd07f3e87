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
// returns them with their agents. Half of those that work do so in this process.
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
		info.Marks = agent.SessionMarks{Pinned: r.IntN(5) == 0, Archived: r.IntN(5) == 0}
		if r.IntN(5) == 0 {
			info.Marks.Deleted = 7
		}
		if r.IntN(3) == 0 {
			info.Marks.Tags = []string{"api", "later"}[:1+r.IntN(2)]
		}
		create(t, s, info)
		run(t, s, &info, count)
		heads = append(heads, info)
		if r.IntN(6) == 0 {
			a := info
			a.ID, a.Marks, a.Helper = info.ID+"-agent", agent.SessionMarks{}, &agent.Helper{Parent: info.ID, Folder: "/p"}
			a.Title, a.State = titles[r.IntN(len(titles))], states[r.IntN(len(states))]
			create(t, s, a)
			run(t, s, &a, count)
			agents[info.ID] = append(agents[info.ID], a)
		}
	}
	return heads, agents
}

// run takes the lease of every other session that works. A large list has none: each
// is an open file.
func run(t testing.TB, s *storage.Store, info *backend.SessionInfo, count int) {
	t.Helper()
	info.Interrupted = info.State == agent.StateProcessing && (count > 200 || info.ID[3]%2 == 0 || info.ID[5]%2 == 0)
	if info.State != agent.StateProcessing || info.Interrupted {
		return
	}
	if _, err := s.Lease(info.ID); err != nil {
		t.Fatal(err)
	}
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
					if isCut := slices.ContainsFunc(append(heads, agents[strings.TrimSuffix(info.ID, "-agent")]...), func(known backend.SessionInfo) bool {
						return known.ID == info.ID && known.Interrupted
					}); isCut != info.Interrupted {
						t.Errorf("%s is interrupted: %t", info.ID, info.Interrupted)
					}
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

// TestInterruptedSessions proves that a session is interrupted while it is stored as
// working and no store holds its lease, in this process or in another.
func TestInterruptedSessions(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	one, two := open(t, home), open(t, home)
	states := map[string]agent.State{"own": agent.StateProcessing, "other": agent.StateProcessing, "lost": agent.StateProcessing, "never": agent.StateProcessing, "rest": agent.StateIdle, "asks": agent.StateAwaitingInput}
	for id, state := range states {
		create(t, one, backend.SessionInfo{ID: id, Folder: "/" + id, State: state, UpdatedAt: 1})
	}
	for id, s := range map[string]*storage.Store{"own": one, "other": two, "lost": two} {
		release, err := s.Lease(id)
		if err != nil {
			t.Fatal(err)
		}
		if id == "lost" {
			release()
		}
	}
	list := func(f backend.SessionFilter) (all, cut []string) {
		t.Helper()
		page, err := one.SessionPage(t.Context(), backend.SessionQuery{SessionFilter: f, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range page.Sessions {
			if all = append(all, info.ID); info.Interrupted {
				cut = append(cut, info.ID)
			}
		}
		return all, cut
	}
	for state, want := range map[agent.State][2][]string{
		"":                       {{"rest", "own", "other", "never", "lost", "asks"}, {"never", "lost"}},
		agent.StateProcessing:    {{"own", "other"}, nil},
		agent.StateIdle:          {{"rest", "never", "lost"}, {"never", "lost"}},
		agent.StateAwaitingInput: {{"asks"}, nil},
	} {
		all, cut := list(backend.SessionFilter{State: state})
		if diff := cmp.Diff(want, [2][]string{all, cut}); diff != "" {
			t.Errorf("%q:\n%s", state, diff)
		}
	}
	if _, err := one.Lease("never"); err != nil { // a list that looked does not hold it
		t.Error(err)
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
