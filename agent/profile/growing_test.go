package profile_test

import (
	"context"
	"maps"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/profile"
)

// servers is a changing set of tools and of notes about them.
type servers struct {
	more  *agent.Registry
	notes []agent.Note
}

func (s *servers) More(string, string) *agent.Registry { return s.more }
func (s *servers) Notes(string, string) []agent.Note   { return s.notes }

func remote(t *testing.T, names ...string) *agent.Registry {
	t.Helper()
	r, err := agent.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		tool := agent.Function(agent.Spec{Name: name, Description: "Does " + name + "."},
			func(context.Context, struct{}) (string, error) { return name, nil })
		if err := r.Register(tool); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// LOOP-33, OAS-211: tools that appear while the session runs follow the profile's own, for every
// vendor, and the profile is the same one while they are.
func TestGrowing(t *testing.T) {
	t.Parallel()
	own := remote(t, "Read", "Bash")
	for _, provider := range []string{"openai", "anthropic", "gemini", "compat"} {
		s := &servers{}
		p := profile.New(own, profile.Surroundings{Platform: "linux", Growing: s})
		before := p.Profile(provider, "m").Tools
		if again := p.Profile(provider, "m").Tools; again != before {
			t.Errorf("%s: the tools are others without a change", provider)
		}
		s.more = remote(t, "mcp__s__b", "mcp__s__a", "Bash")
		after := p.Profile(provider, "m").Tools
		want := append(before.Names(), "mcp__s__b", "mcp__s__a")
		if got := after.Names(); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s is shown %v", provider, got)
		}
		if p.Profile(provider, "m").Tools != after {
			t.Errorf("%s: the grown tools are others without a change", provider)
		}
		if after.Canonical("exec_command") != before.Canonical("exec_command") {
			t.Errorf("%s: a name has another meaning now", provider)
		}
	}
}

// Notes about tools that may change are told once, when they change, and when they
// are gone; also to a session that was opened again.
func TestNotesAreTold(t *testing.T) {
	t.Parallel()
	s := &servers{}
	own := remote(t, "Read")
	folder := t.TempDir()
	open := func() *profile.Profiles {
		return profile.New(own, profile.Surroundings{Folder: folder, Platform: "linux", Growing: s})
	}
	p := open()
	now := agent.BriefingInput{Provider: "openai", Model: "m"}
	told := p.Brief(t.Context(), now).Told
	a := agent.Note{About: "server a", Now: "1", Text: "The server a says: be kind.", Gone: "The server a has left."}
	changed := a
	changed.Now, changed.Text = "2", "The server a says: be bold."
	for i, step := range []struct {
		notes  []agent.Note
		reopen bool
		want   string
	}{
		{nil, false, ""}, {[]agent.Note{a}, false, a.Text}, {[]agent.Note{a}, false, ""}, {[]agent.Note{a}, true, ""},
		{[]agent.Note{changed}, false, changed.Text}, {nil, false, a.Gone}, {nil, false, ""}, {[]agent.Note{a}, false, a.Text},
		{nil, true, `What you were told about "server a" does not hold any more.`}, {nil, true, ""},
	} {
		if s.notes = step.notes; step.reopen {
			p = open()
		}
		update := p.Renew(t.Context(), now, told)
		if !strings.Contains(update.Text, step.want) || step.want == "" && update.Text != "" {
			t.Errorf("step %d: told %q", i, update.Text)
		}
		maps.Copy(told, update.Told)
	}
}

// An early note is part of the system prompt, and is told again only when it changes.
func TestEarlyNotes(t *testing.T) {
	t.Parallel()
	skills := agent.Note{About: "skills", Now: "1", Text: "There is the skill look.", Gone: "There are no skills any more.", Early: true}
	s := &servers{notes: []agent.Note{skills, {About: "server", Now: "1", Text: "There is a server."}}}
	p := profile.New(remote(t, "Read"), profile.Surroundings{Folder: t.TempDir(), Platform: "linux", Growing: s})
	now := agent.BriefingInput{Provider: "openai", Model: "m", AtInput: true}
	brief := p.Brief(t.Context(), now)
	if !strings.Contains(brief.System, skills.Text) || strings.Contains(brief.System, "There is a server.") {
		t.Errorf("the model is briefed: %s", brief.System)
	}
	if update := p.Renew(t.Context(), now, brief.Told); strings.Contains(update.Text, skills.Text) || !strings.Contains(update.Text, "There is a server.") {
		t.Errorf("it is told again: %q", update.Text)
	}
	s.notes = nil
	if update := p.Renew(t.Context(), now, brief.Told); !strings.Contains(update.Text, skills.Gone) {
		t.Errorf("it is not told that they are gone: %q", update.Text)
	}
}
