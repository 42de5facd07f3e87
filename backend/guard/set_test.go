package guard

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
)

// A set is made once, and again as soon as something that it says has changed:
// each call is decided by what holds then.
func TestSetsFollowWhatChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := filepath.Join(w.project, ".agent", "settings.json")
	old := time.Now().Add(-time.Hour)
	write := func(text string) {
		w.write(path, text)
		old = old.Add(time.Minute)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	steps := []struct {
		name   string
		change func()
		want   agent.Decision
	}{
		{"no rules", func() {}, ""},
		{"a file appears", func() { write(`{"permissions": {"deny": ["Bash(make *)"]}}`) }, agent.Deny},
		{"a file changes", func() { write(`{"permissions": {"ask": ["Bash(make *)"]}}`) }, agent.Ask},
		{"another file has its name", func() {
			w.write(path+".new", `{"permissions": {"deny":["Bash(make *)"]}}`)
			if err := os.Chtimes(path+".new", old, old); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		}, agent.Deny},
		{"a file vanishes", func() {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, ""},
		{"the session gets a rule", func() { w.add("Bash(make *)", agent.Allow, agent.ScopeSession) }, agent.Allow},
		{"the session is forgotten", func() {
			if err := w.Forget(t.Context(), "s1"); err != nil {
				t.Fatal(err)
			}
		}, ""},
		{"a file allows", func() { write(`{"permissions": {"allow": ["Bash(make *)"]}}`) }, ""},
		{"the user accepts it", func() {
			reply, err := w.Rules(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Accept(t.Context(), AcceptRequest{Path: path, Seal: reply.Files[0].Seal}); err != nil {
				t.Fatal(err)
			}
		}, agent.Allow},
	}
	for _, s := range steps {
		s.change()
		if got := w.decides("make x"); got != s.want {
			t.Errorf("%s: %q, want %q", s.name, got, s.want)
		}
		if once, again := w.Set(t.Context(), "s1"), w.Set(t.Context(), "s1"); once != again {
			t.Errorf("%s: the same set was made twice", s.name)
		}
	}
}

// A rule about the user's home folder follows it when a link leads elsewhere.
func TestSetsFollowLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	base := filepath.Dir(w.user)
	for _, name := range []string{"one", "two"} {
		if err := os.MkdirAll(filepath.Join(base, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Join(base, "home")
	w.user = home
	w.open()
	w.add("Read(~/notes)", agent.Deny, agent.ScopeSession)
	for _, name := range []string{"one", "two"} {
		if err := os.RemoveAll(home); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(base, name), home); err != nil {
			t.Fatal(err)
		}
		call := agent.GateCall{Tool: "Read", Access: agent.Access{Reads: []string{filepath.Join(base, name, "notes")}}}
		if got := w.Set(t.Context(), "s1").Judge(call, nil).Decision; got != agent.Deny {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A rule that a project allows, and that the user has not accepted, does not hold
// because the clock was set back after its end.
func TestEndedRulesStayUnaccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	end := w.now
	path, old := filepath.Join(w.project, ".agent", "settings.json"), time.Now().Add(-time.Hour)
	w.write(path, `{"permissions": {"allow": [{"rule": "Bash(make *)", "expires": "`+end.Format(time.RFC3339)+`"}]}}`)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	w.now = end.Add(time.Second)
	w.wants("make x", "")
	w.now = end.Add(-time.Second)
	w.wants("make x", "")
}

// A settings file that a link leads out of its folder for is not read, whenever
// the link appears.
func TestLinkedFilesAreNotRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("Bash(make *)", agent.Allow, agent.ScopeUser)
	w.wants("curl x.dev", "")
	outside := filepath.Join(filepath.Dir(w.project), "rules.json")
	w.write(outside, `{"permissions": {"deny": ["Bash(make *)"]}}`)
	path := filepath.Join(w.project, ".agent", "settings.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, path); err != nil {
		t.Fatal(err)
	}
	w.wants("make x", agent.Allow)
	w.wants("curl x.dev", agent.Ask)
}

// late marks the context of a reader that waits after it read a value.
type late struct{}

// A reader that comes late with what was kept before does not undo what the user
// has changed since.
func TestLateReaders(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *world){
		"a rule of the session": func(w *world) { w.add("Bash(x)", agent.Deny, agent.ScopeSession) },
		"a rule of the project": func(w *world) { w.add("Bash(x)", agent.Deny, agent.ScopeProject) },
		"what was accepted":     (*world).acceptAll,
	} {
		want := "deny"
		if name == "what was accepted" {
			want = "allow"
		}
		for wait := range 2 { // for what was accepted of the file, and for the session's rules
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write(filepath.Join(w.project, ".agent/settings.json"), `{"permissions": {"allow": ["Bash(y)"]}}`)
				reached, release := make(chan struct{}), make(chan struct{})
				reads := 0
				w.store.read = func(ctx context.Context) {
					if ctx.Value(late{}) == nil {
						return
					}
					if reads++; reads == wait+1 {
						close(reached)
						<-release
					}
				}
				var reader sync.WaitGroup
				reader.Go(func() { w.Set(context.WithValue(t.Context(), late{}, true), "s1") })
				<-reached
				change(w)
				before := w.decides("x") + ", " + w.decides("y")
				close(release)
				reader.Wait()
				if now := w.decides("x") + ", " + w.decides("y"); now != before || !strings.Contains(string(before), want) {
					t.Errorf("%q became %q", before, now)
				}
			})
		}
	}
}

// A result that was read for a caller who has left is not used for others.
func TestReadersThatLeave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("Bash(x)", agent.Deny, agent.ScopeSession)
	w.write(filepath.Join(w.project, ".agent/settings.json"), `{"permissions": {"allow": ["Bash(y)"]}}`)
	w.acceptAll()
	w.open()
	left, leave := context.WithCancel(t.Context())
	leave()
	if got := w.Set(left, "s1").Judge(agent.GateCall{Tool: "Bash", Access: agent.Access{Command: "z"}}, nil).Decision; got != agent.Ask {
		t.Errorf("with rules that nobody could read: %q", got)
	}
	w.wants("x", agent.Deny)
	w.wants("y", agent.Allow)
}
