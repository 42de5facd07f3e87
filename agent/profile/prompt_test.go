package profile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/project"
	"atelier.dev/atelier/agent/sandbox"
	"github.com/google/go-cmp/cmp"
)

// inOrder fails the test unless text has all parts, one after the other.
func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("%q is missing, or comes too early, in:\n%s", part, text)
		}
		rest = after
	}
}

// LOOP-43, LOOP-44, LOOP-142, LOOP-143, LOOP-144: the layers come in their
// order, the user's own last, with the documents of the model's own vendor
// only.
func TestLayers(t *testing.T) {
	t.Parallel()
	all := []string{"Claude: spaces.", "Gemini: neither.", "Codex: both."}
	for provider, want := range map[string]struct {
		shell, document string
		topics          []string
	}{
		"openai":    {"exec_command", "Codex: both.", []string{"review"}},
		"anthropic": {"Bash", "Claude: spaces.", []string{"Edit needs text that occurs exactly once", "must have been read before", "Prefer Edit to Write"}},
		"gemini":    {"run_shell_command", "Gemini: neither.", []string{"GEMINI.md"}},
		"compat":    {"shell", "", []string{"Calling tools"}},
	} {
		p := newPlace(t, provider, "", nil)
		system := p.profiles.Brief(t.Context(), agent.BriefingInput{Provider: provider, Model: "m"}).System
		inOrder(t, system, "You are Atelier", "<environment>", "</environment>", "Tools\n", "- "+want.shell+": ",
			"<project_instructions path=\"AGENTS.md\">\nEverybody: tabs.\n</project_instructions>", want.document,
			"The user's own instructions", "<user_instructions>\nI like short names.\n</user_instructions>")
		for _, text := range append(want.topics, want.document) {
			if !strings.Contains(system, text) {
				t.Errorf("%s is not told %q", provider, text)
			}
		}
		for _, text := range all {
			if text != want.document && strings.Contains(system, text) {
				t.Errorf("%s is told %q", provider, text)
			}
		}
		if strings.ContainsAny(system, "{}") {
			t.Errorf("%s is told of something without its name:\n%s", provider, system)
		}
		if !strings.HasSuffix(system, "I like short names.\n</user_instructions>") {
			t.Errorf("%s: something follows the user's own", provider)
		}
	}
}

// LOOP-47: documents are cut at 32 KB, with a mark. The log says which were
// read, and how much of each the model was told.
func TestDocumentsOnTheRecord(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "anthropic", "", nil)
	p.put(filepath.Join(p.folder, "CLAUDE.md"), strings.Repeat("x", 40_000))
	if err := os.Remove(filepath.Join(p.folder, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(p.folder, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	b := p.profiles.Brief(t.Context(), agent.BriefingInput{Provider: "anthropic", Model: "m"})
	want := []agent.Document{
		{Path: "AGENTS.md", Problem: "it cannot be opened, or leads out of the project", ProblemID: agent.DocumentUnopened},
		{Path: "CLAUDE.md", Size: 40_000, Told: project.MaxDocuments},
		{Path: "/home/me/.atelier/AGENTS.md", Size: 20, Told: 20},
	}
	for i := range b.Documents {
		b.Documents[i].Path = p.stable(b.Documents[i].Path)
	}
	if diff := cmp.Diff(want, b.Documents); diff != "" {
		t.Error(diff)
	}
	inOrder(t, b.System, "<project_instructions path=\"CLAUDE.md\">\nxxx", "x\n</project_instructions>\n[Project instructions truncated at 32KB]\n\nThe user's own")
	if strings.Contains(b.System, "root:") {
		t.Error("a file outside the project was read")
	}
}

// LOOP-45, LOOP-46: the repository is read once a session.
func TestSnapshotOnce(t *testing.T) {
	t.Parallel()
	if sandbox.LookPath("git") == "" {
		t.Skip("no git")
	}
	p := newPlace(t, "anthropic", "", nil)
	p.repository("begin")
	p.put(filepath.Join(p.folder, "AGENTS.md"), "changed\n")
	first := p.profiles.Brief(t.Context(), agent.BriefingInput{Provider: "anthropic", Model: "m"}).System
	inOrder(t, first, "Is git repository: true", "Git branch: work", "</environment>\n\n<repository>\n", "Modified files: 1, untracked: 3\n", "Last commits:\n  ", " begin\n</repository>")
	p.put(filepath.Join(p.folder, "new"), "")
	if again := p.profiles.Brief(t.Context(), agent.BriefingInput{Provider: "anthropic", Model: "m"}).System; again != first {
		t.Error(cmp.Diff(first, again))
	}
}

// repository makes the folder a repository with one commit.
func (p *place) repository(message string) {
	p.t.Helper()
	if err := os.RemoveAll(filepath.Join(p.folder, ".git")); err != nil {
		p.t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-qb", "work"}, {"add", "AGENTS.md"}, {"commit", "-qm", message}} {
		r, err := sandbox.Run(p.t.Context(), sandbox.Spec{Dir: p.folder, Argv: append([]string{"git", "-c", "user.name=A", "-c", "user.email=a@b"}, args...)})
		if err != nil || r.ExitCode != 0 {
			p.t.Fatalf("git %v: %v %s", args, err, r.Stderr)
		}
	}
}
