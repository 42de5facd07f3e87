//go:build sqlite_fts5 || fts5

package search_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
	"atelier.dev/atelier/storage/search"
)

// stage is a store with an index.
type stage struct {
	*testing.T
	home  string
	store *storage.Store
	index *search.Index
	at    int64
}

// day is the beginning of the stage's time: noon of 1 November 2026 in UTC.
const day = 1_793_534_400_000

func newStage(t *testing.T) *stage {
	t.Helper()
	home := t.TempDir()
	store, err := storage.Open(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t, home: home, store: store, at: day}
	s.index = search.Open(home, store.Logs())
	t.Cleanup(func() {
		if err := s.index.Close(); err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *stage) create(info backend.SessionInfo) {
	s.Helper()
	info.State, info.Folder = agent.StateIdle, cmp.Or(info.Folder, "/project")
	info.CreatedAt, info.UpdatedAt = s.at, s.at
	if err := s.store.CreateSession(s.Context(), info); err != nil {
		s.Fatal(err)
	}
	s.append(info.ID, agent.SessionStart{Folder: info.Folder, Helper: info.Helper})
	if info.Title != "" {
		s.append(info.ID, agent.Title{Text: info.Title})
	}
}

func (s *stage) append(session string, payloads ...agent.Payload) (seq int64) {
	s.Helper()
	var events []agent.Event
	for _, p := range payloads {
		s.at += 1000
		events = append(events, agent.Event{Session: session, At: s.at, Data: p})
	}
	seq, err := s.store.Append(s.Context(), events...)
	if err != nil {
		s.Fatal(err)
	}
	return seq
}

// search catches up and searches.
func (s *stage) search(in backend.Search) backend.Found {
	s.Helper()
	if err := s.index.CatchUp(s.Context()); err != nil {
		s.Fatal(err)
	}
	for { // a slow machine, or another process that makes the index anew, leaves it behind
		found, err := s.index.Search(s.Context(), in)
		if err != nil {
			s.Fatalf("%q: %v", in.Text, err)
		}
		if found.Behind == 0 {
			return found
		}
	}
}

// places lists what a text finds, as SESSION@SEQ.
func (s *stage) places(text string) string {
	s.Helper()
	var out []string
	for _, f := range s.search(backend.Search{Text: text}).Sessions {
		for _, h := range f.Hits {
			out = append(out, fmt.Sprintf("%s@%d", f.Session, h.Seq))
		}
	}
	return strings.Join(out, " ")
}

func (s *stage) expect(text, want string) {
	s.Helper()
	if got := s.places(text); got != want {
		s.Errorf("%q finds %q, want %q", text, got, want)
	}
}

func answer(text string) agent.TextEnd {
	cost := llm.Cost(llm.Dollar)
	return agent.TextEnd{
		Message:  llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: "pondering"}}, {Kind: llm.PartText, Text: text}}},
		Provider: "openai", Model: "gpt-9", Cost: &cost, Usage: llm.Usage{Known: true},
	}
}

// story is a session with a text of every kind.
func (s *stage) story(id string) {
	s.create(backend.SessionInfo{ID: id, Title: "Repair the login"})
	s.append(id,
		agent.UserInput{Text: "Why does the Straße of login() fail?"},                              // 3
		answer("The token expires. 错误发生在这里。"),                                                      // 4
		agent.ToolCallStart{CallID: "c1", Tool: "Bash", Input: `{"command":"grep -rn \"if (x\""}`}, // 5
		agent.ToolCallEnd{CallID: "c1", Tool: "Bash", Output: "src/auth.go:12: if (x && y)", Outcome: agent.OutcomeDone},
		agent.ToolCallStart{CallID: "c2", Tool: "Edit", Input: `{"file_path":"/project/src/auth.go","old_string":"y"}`}, // 7
		agent.ToolCallEnd{
			CallID: "c2", Tool: "Edit", Output: "The file was changed.", Outcome: agent.OutcomeDone,
			Details: &agent.Details{Changes: []agent.FileChange{{Path: "src/auth.go", Added: 1}}},
			Files:   &agent.FilesChanged{Files: []agent.FileRecord{{Path: "gen/out.txt"}}},
		},
		agent.SteeringInjected{Text: "please hurry"},                   // 9
		agent.LocalCommandStart{ID: "l1", Command: "make bench"},       // 10
		agent.LocalCommandEnd{ID: "l1", Output: "102 ms"},              // 11
		agent.CompactionEnd{Summary: "They talked about expirations."}, // 12
	)
}

func TestEveryKindOfTextIsFound(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.story("a")
	for text, want := range map[string]string{
		"straSSe":                 "", // folding keeps the number of characters
		"STRASSE":                 "",
		"sTRAßE":                  "a@3",
		"token expires":           "a@4",
		`"expires token"`:         "",
		"expires token":           "a@4",
		"expir":                   "a@12 a@4",
		"xpir -token":             "a@12",
		"pondering":               "a@4",
		"错误":                      "a@4",
		"误发生":                     "a@4",
		"误在":                      "",
		"里":                       "a@4",
		"。":                       "a@4",
		"if (x":                   "a@6 a@5",
		`"if (x" in:input`:        "a@5",
		"if":                      "a@6 a@5",
		"y)":                      "a@6",
		")":                       "a@6 a@3",
		"hurry":                   "a@9",
		"bench":                   "a@10",
		"ms":                      "a@11",
		"login":                   "a@3 a@0",
		"login in:title":          "a@0",
		"login -in:title":         "a@3",
		"tool:bash":               "a@6 a@5",
		"tool:edit changed":       "a@8",
		"-tool:edit changed":      "",
		"file:AUTH.go":            "a@8 a@7",
		"file:out.txt hurry":      "a@9",
		"file:other hurry":        "",
		"model:gpt-9 in:answer":   "a@4",
		"cost:>0.5":               "a@0",
		"cost:>1":                 "",
		"cost:<=1":                "a@0",
		"after:2026-11-02":        "",
		"before:2026-10-30 login": "",
		"after:2026-10 hurry":     "a@9",
		"is:archived":             "",
		"-is:archived":            "a@0",
		"unknown:x":               "",
		"cost:much hurry":         "a@9", // it says that the filter is unclear
		"nowhere":                 "",
		"":                        "",
	} {
		s.expect(text, want)
	}
}

func TestHitsSayWhereTheyAre(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.story("a")
	found := s.search(backend.Search{Text: `expires tool:x -"no such" cost:?`})
	if len(found.Sessions) != 0 || len(found.Filters) != 2 || !found.Filters[1].Unclear || found.Filters[0].Raw != "tool:x" || found.Words[0] != "expires" {
		t.Errorf("%+v", found)
	}
	found = s.search(backend.Search{Text: "x TOKEN"})
	if len(found.Sessions) != 1 {
		t.Fatalf("%+v", found)
	}
	h := found.Sessions[0].Hits[0]
	if h.Kind != agent.KindTextEnd || h.Part != backend.PartMessage || h.Snippet != "The token expires. 错误发生在这里。" || h.Places != 2 || h.At == 0 {
		t.Errorf("%+v", h)
	}
	if want := []backend.TextMark{{From: 4, To: 9}, {From: 11, To: 12}}; len(h.Marks) != 2 || h.Marks[0] != want[0] || h.Marks[1] != want[1] {
		t.Errorf("marks %v, want %v", h.Marks, want)
	}
	h = s.search(backend.Search{Text: "auth.go:12"}).Sessions[0].Hits[0]
	if h.Of != "c1" || h.Tool != "Bash" || h.Part != backend.PartOutput {
		t.Errorf("%+v", h)
	}
}

func TestSnippetsAreOneLineAndCountAsJavaScriptDoes(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.create(backend.SessionInfo{ID: "a"})
	s.append("a", agent.UserInput{Text: strings.Repeat("x ", 300) + "😀\n\n\tneedle😀 needle " + strings.Repeat("y ", 300)})
	h := s.search(backend.Search{Text: "NEEDLE"}).Sessions[0].Hits[0]
	units := []rune(h.Snippet)
	if strings.ContainsAny(h.Snippet, "\n\t") || len(units) > 300 || h.Places != 2 || len(h.Marks) != 2 {
		t.Fatalf("%+v", h)
	}
	// Each emoji is two code units and one character.
	if got := string(units[h.Marks[1].From-2 : h.Marks[1].To-2]); got != "needle" {
		t.Errorf("the second mark is on %q", got)
	}
}

func TestChangesOfASessionAreSeen(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.story("a")
	s.create(backend.SessionInfo{ID: "h", Title: "A helper", Helper: &agent.Helper{Parent: "a", Folder: "/project"}})
	s.append("h", agent.UserInput{Text: "helping hurry"})
	s.expect("hurry", "h@3 a@9")
	s.append("a", agent.Title{Text: "Now about logout", ByUser: true}, agent.SessionMarks{Tags: []string{"Big One", "x"}, Archived: true})
	s.expect("repair", "")
	s.expect("logout", "a@0")
	s.expect(`tag:"big one" hurry`, "h@3 a@9")
	s.expect("tag:big hurry", "")
	s.expect("-tag:x is:archived hurry", "")
	s.expect("is:archived hurry is:agent", "h@3")
	found := s.search(backend.Search{Text: "hurry"}).Sessions
	if !found[0].Archived || !found[1].Archived || found[0].Parent != "a" || found[0].ParentTitle != "Now about logout" {
		t.Errorf("%+v", found)
	}

	s.append("a", agent.Rewound{ID: "r", To: 8})
	for _, h := range s.search(backend.Search{Text: "e", Session: "a", Limit: 100}).Sessions[0].Hits {
		if h.TakenBack != (h.Seq > 8) {
			t.Errorf("the text at %d is taken back: %v", h.Seq, h.TakenBack)
		}
	}
	s.append("a", agent.RewindUndone{ID: "r"}, agent.SessionMarks{Deleted: 5})
	s.expect("hurry", "")
	s.append("a", agent.SessionMarks{})
	s.expect("hurry", "h@3 a@9")
	if err := s.store.DeleteSessions(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	s.expect("hurry", "h@3")
}

func TestAForkIsFoundOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.story("a")
	s.expect("hurry", "a@9")
	log, err := s.store.Events(t.Context(), backend.EventRange{Session: "a"})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"b", "c"} {
		info := backend.SessionInfo{ID: id, Folder: "/project", State: agent.StateIdle, CreatedAt: day}
		if err := s.store.CreateSession(t.Context(), info); err != nil {
			t.Fatal(err)
		}
		for _, ev := range log[:9] {
			ev.Session = id
			if _, err := s.store.Append(t.Context(), ev); err != nil {
				t.Fatal(err)
			}
		}
		s.append(id, agent.Forked{Origin: agent.ForkOrigin{Session: "a", Seq: 9}}, agent.UserInput{Text: "hurry more " + id})
	}
	s.expect("hurry", "c@11 b@11 a@9")
	found := s.search(backend.Search{Text: `"please hurry"`}).Sessions
	if len(found) != 1 || found[0].Session != "a" || found[0].Hits[0].Copies != 2 {
		t.Errorf("%+v", found)
	}
	s.append("a", agent.SessionMarks{Deleted: 5})
	found = s.search(backend.Search{Text: `"please hurry"`}).Sessions
	if len(found) != 1 || found[0].Session == "a" || found[0].Hits[0].Copies != 1 {
		t.Errorf("without the origin: %+v", found)
	}
}

func TestResultsComeInPages(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for n := range 30 {
		id := fmt.Sprintf("s%02d", n)
		s.create(backend.SessionInfo{ID: id, Folder: []string{"/project", "/other"}[n%2]})
		for range 8 {
			s.append(id, agent.UserInput{Text: "needle"})
		}
	}
	seen := map[string]int{}
	in := backend.Search{Text: "needle", Limit: 12, Folder: "/project"}
	for pages := 0; ; pages++ {
		found := s.search(in)
		for _, f := range found.Sessions {
			if f.Folder != "/project" || len(f.Hits) > 5 || len(f.Hits) == 5 && !f.More {
				t.Errorf("%+v", f)
			}
			seen[f.Session] += len(f.Hits)
		}
		if in.Next = found.Next; in.Next == "" {
			break
		}
		if pages > 100 {
			t.Fatal("the pages do not end")
		}
	}
	if len(seen) != 15 {
		t.Errorf("%d sessions: %v", len(seen), seen)
	}
	one := s.search(backend.Search{Text: "needle", Session: "s03"})
	if len(one.Sessions) != 1 || len(one.Sessions[0].Hits) != 8 {
		t.Errorf("%+v", one)
	}
}

func TestHostileTextIsJustText(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.create(backend.SessionInfo{ID: "a", Title: "x\x00y"})
	long := strings.Repeat("z", 3<<20)
	s.append("a",
		agent.UserInput{Text: "before\x00after NUL \xff\xfe broken"},                                    // 3
		agent.UserInput{Text: `a "quoted" OR b AND NEAR(c d) * ^e {f}: col:x 'single' %like% _under -`}, // 4
		agent.ToolCallEnd{CallID: "c", Tool: "Bash", Output: "start" + long + "middle" + long + "finish"},
	)
	for text, want := range map[string]string{
		"after":                  "a@3",
		"broken":                 "a@3",
		"\x00":                   "",
		"\xff":                   "",
		`"`:                      "",
		`""`:                     "",
		`"""`:                    "",
		`-`:                      "a@4",
		`near(c`:                 "a@4",
		"OR AND":                 "a@4",
		"NOT":                    "",
		"%like%":                 "a@4",
		"'single'":               "a@4",
		"col:x":                  "a@4",
		"{f}:":                   "a@4",
		"start":                  "a@5",
		"finish":                 "a@5",
		"middle":                 "", // beyond what is indexed of a long text
		strings.Repeat("z", 999): "a@5",
		"'; DROP TABLE docs; --": "",
		"tool:' OR 1=1":          "",
		"tag:\x00 after":         "a@3",
		"file:*":                 "",
		"*":                      "a@4",
	} {
		s.expect(text, want)
	}
}

func TestALongSessionIsReadInParts(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.create(backend.SessionInfo{ID: "a"})
	filler := strings.Repeat("filling ", 6<<10)
	for n := range 200 {
		s.append("a", agent.UserInput{Text: fmt.Sprintf("place%d. %s", n, filler)})
	}
	s.expect("place7.", "a@9")
	s.append("a", agent.UserInput{Text: "and on"})
	s.expect(`"and on"`, "a@202")
	s.expect("place199.", "a@201")
}

func TestManyTextsOfOneMoment(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.create(backend.SessionInfo{ID: "a"})
	var events []agent.Event
	for n := range 5000 {
		events = append(events, agent.Event{Session: "a", At: -5, Data: agent.UserInput{Text: fmt.Sprintf("n%d.", n)}})
	}
	if _, err := s.store.Append(t.Context(), events...); err != nil {
		t.Fatal(err)
	}
	s.expect("n4999.", "a@5001")
	s.expect("n0.", "a@2")
}

func TestASearchObeysItsContext(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.story("a")
	s.search(backend.Search{Text: "login"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.index.Search(ctx, backend.Search{Text: "login"}); err == nil {
		t.Error("a search that was given up succeeds")
	}
}
