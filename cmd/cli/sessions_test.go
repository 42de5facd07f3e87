package cli_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
	"github.com/google/go-cmp/cmp"
)

// Sessions are listed, shown and renamed, and some of their messages too (OAS-603,
// OAS-604). An id may be given by its beginning.
func TestSessions(t *testing.T) {
	t.Parallel()
	p := newPlace(t, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
	for _, prompt := range []string{"first \x1b[31mthing", "second thing"} {
		if _, errs, code := p.run("run", "--model", "openai/m", prompt); code != 0 {
			t.Fatalf("exit %d: %s", code, errs)
		}
	}
	listed := p.sessions("list", "--json")
	if len(listed) != 2 || listed[0].Title != "second thing" || listed[1].Prompt != "first \x1b[31mthing" || listed[1].Messages != 2 {
		t.Fatalf("listed %+v", listed)
	}
	first := listed[1].ID
	renamed := p.sessions("rename", "--json", strings.ToLower(first[:25]), "another", "title")
	if len(renamed) != 1 || renamed[0].ID != first || renamed[0].Title != "another title" {
		t.Errorf("renamed %+v", renamed)
	}
	if shown := p.sessions("show", "--json", first); len(shown) != 1 || shown[0].Title != "another title" {
		t.Errorf("shown %+v", shown)
	}
	var sized struct {
		LogSize int64 `json:"log_size"`
	}
	out, _, _ := p.run("sessions", "list", "--json", "--limit", "1")
	if err := json.Unmarshal([]byte(out), &sized); err != nil || sized.LogSize < 1000 {
		t.Errorf("the log has %d bytes: %s", sized.LogSize, out)
	}
	for want, flags := range map[string]string{"1/2 first ⟨U+001B⟩[31mthing": "--offset=0 --limit=1", "2/2 One.": "--limit=1"} {
		out, _, _ := p.run(append([]string{"sessions", "show", first}, strings.Fields(flags)...)...)
		at, text, _ := strings.Cut(want, " ")
		if !strings.Contains(out, "\n"+at+" ") || !strings.HasSuffix(out, "\n"+text+"\n") {
			t.Errorf("%s: %q", flags, out)
		}
	}
	out, _, code := p.run("sessions", "list", "-C", p.folder)
	if code != 0 || !strings.Contains(out, first) || !strings.Contains(out, "another title") || strings.Contains(out, "\x1b") {
		t.Errorf("exit %d: %q", code, out)
	}
	if _, errs, code := p.run("sessions", "show", first[:2]); code != 1 || !strings.Contains(errs, "Several sessions") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// Sessions are tagged, pinned, archived, deleted, restored and removed, and the list
// is filtered by all of that (OAS-604).
func TestSessionMarks(t *testing.T) {
	t.Parallel()
	p := newPlace(t, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
	for _, prompt := range []string{"first thing", "second thing"} {
		if _, errs, code := p.run("run", "--model", "openai/m", prompt); code != 0 {
			t.Fatalf("exit %d: %s", code, errs)
		}
	}
	first := p.sessions("list", "--json", "--text", "FIRST")[0].ID
	titles := func(flags ...string) (titles []string) {
		for _, session := range p.sessions(append([]string{"list", "--json"}, flags...)...) {
			titles = append(titles, session.Title)
		}
		return titles
	}
	for _, tt := range []struct {
		do   []string
		list []string // flags
		want []string // titles
	}{
		{[]string{"tag", first, "#API", "later"}, []string{"--tag", "api"}, []string{"first thing"}},
		{[]string{"pin", first}, []string{"--pinned"}, []string{"first thing"}},
		{[]string{"unpin", first}, []string{"--pinned"}, nil},
		{[]string{"archive", first}, nil, []string{"second thing"}},
		{[]string{"pin", first}, []string{"--archived"}, []string{"first thing"}},
		{[]string{"unarchive", first}, []string{"--limit", "1"}, []string{"second thing"}},
		{[]string{"delete", first}, []string{"--state", "resting"}, []string{"second thing"}},
		{[]string{"show", first}, []string{"--deleted", "--model", "openai/m"}, []string{"first thing"}},
		{[]string{"show", first}, []string{"--all", "--since", "2001-01-01"}, []string{"second thing", "first thing"}},
		{[]string{"show", first}, []string{"--all", "--until", "2001-01-01"}, nil},
		{[]string{"restore", first}, nil, []string{"second thing", "first thing"}},
		{[]string{"delete", first}, nil, []string{"second thing"}},
		{[]string{"remove", first}, []string{"--all"}, []string{"second thing"}},
	} {
		if out, errs, code := p.run(append([]string{"sessions"}, tt.do...)...); code != 0 {
			t.Fatalf("%v: exit %d: %s%s", tt.do, code, out, errs)
		}
		if diff := cmp.Diff(tt.want, titles(tt.list...)); diff != "" {
			t.Errorf("%v, then %v (-want +got)\n%s", tt.do, tt.list, diff)
		}
	}
	second := p.sessions("list", "--json")[0].ID
	if _, errs, code := p.run("sessions", "remove", second); code != 1 || !strings.Contains(errs, "Only a deleted session") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// OAS-608, OAS-609, OAS-610, OAS-611: a run goes on with a session by its id, with the newest one, or
// with a fork of either at a message. An unknown message is an error.
func TestResumeInThreeWays(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const answer = "Yes."
	run := func(args ...string) (code int, errs string) {
		p.server.Script("m", llmtest.Round{Text: answer})
		_, errs, code = p.run(append([]string{"run", "--model", "openai/m"}, args...)...)
		return code, errs
	}
	for _, args := range [][]string{{"one"}, {"--continue", "two"}} {
		if code, errs := run(args...); code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, errs)
		}
	}
	source := p.sessions("list", "--json")[0]
	if source.Messages != 4 {
		t.Fatalf("%d messages", source.Messages)
	}
	prefix := source.ID[:20]
	var forked []int
	for _, args := range [][]string{{"--session", prefix, "--fork", "three"}, {"--session", source.ID, "--fork", "--at", "3", "three"}} {
		if code, errs := run(args...); code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, errs)
		}
		fork := p.sessions("list", "--json", "--limit", "1")[0]
		if fork.ID == source.ID || fork.Origin == nil || fork.Origin.Session != source.ID {
			t.Fatalf("%v: %+v", args, fork)
		}
		forked = append(forked, fork.Messages)
	}
	if diff := cmp.Diff([]int{6, 2}, forked); diff != "" {
		t.Error(diff)
	}
	if now := p.sessions("show", "--json", source.ID)[0]; now.Messages != 4 || now.Seq != source.Seq {
		t.Errorf("the source changed: %+v", now)
	}
	if code, errs := run("--session", prefix, "four"); code != 0 || p.sessions("show", "--json", source.ID)[0].Messages != 6 {
		t.Errorf("exit %d: %s", code, errs)
	}
	var inputs []int64
	store, err := storage.Open(t.Context(), p.home)
	if err != nil {
		t.Fatal(err)
	}
	events, err := store.Events(t.Context(), backend.EventRange{Session: source.ID})
	if err = errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if _, ok := ev.Data.(agent.UserInput); ok {
			inputs = append(inputs, ev.Seq)
		}
	}
	last := strconv.FormatInt(inputs[len(inputs)-1], 10)
	if code, errs := run("--session", prefix, "--at", last, "instead of four"); code != 0 {
		t.Errorf("exit %d: %s", code, errs)
	}
	requests := p.server.Requests()
	if sent := string(requests[len(requests)-1].Body); strings.Contains(sent, `"four"`) || !strings.Contains(sent, "two") || !strings.Contains(sent, "instead of four") {
		t.Errorf("sent %s", sent)
	}
	if code, errs := run("--session", prefix, "--at", last, "again"); code != 1 {
		t.Errorf("a place that was taken back: exit %d: %s", code, errs)
	}
	for want, args := range map[int][]string{1: {"--continue", "--fork", "--at", "9999", "x"}, 2: {"--fork", "x"}} {
		if code, errs := run(args...); code != want {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
}

// OAS-612: what cannot be an id is refused with a clear error.
func TestSessionIDs(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, id := range []string{"", "/etc/passwd", `a\b`, "..", "a..b", "a\nb", strings.Repeat("x", 129), "\xff"} {
		if _, errs, code := p.run("sessions", "show", id); code != 1 || !strings.Contains(errs, "not the id of a session") {
			t.Errorf("%q: exit %d: %s", id, code, errs)
		}
	}
	if _, errs, code := p.run("sessions", "show", "missing"); code != 1 || !strings.Contains(errs, "does not exist") {
		t.Errorf("exit %d: %s", code, errs)
	}
	for _, args := range [][]string{{}, {"none"}, {"show"}, {"list", "x"}, {"rename", "x"}, {"list", "--none"}} {
		if _, errs, code := p.run(append([]string{"sessions"}, args...)...); code != 2 || !strings.Contains(errs, "Usage: atelier sessions") {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
	if _, errs, code := p.run("sessions", "--help"); code != 0 || !strings.Contains(errs, "rename") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// sessions runs a command about sessions, and returns those that it printed as JSON.
func (p *place) sessions(args ...string) (printed []backend.SessionInfo) {
	p.t.Helper()
	out, errs, code := p.run(append([]string{"sessions"}, args...)...)
	if code != 0 {
		p.t.Fatalf("%v: exit %d: %s", args, code, errs)
	}
	for line := range strings.Lines(out) {
		var each backend.SessionInfo
		if err := json.Unmarshal([]byte(line), &each); err != nil {
			p.t.Fatalf("%v printed %q: %v", args, line, err)
		}
		printed = append(printed, each)
	}
	return printed
}
