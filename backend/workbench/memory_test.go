package workbench_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/project"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/contexts"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// remembering is a project with a memory, and a session in it.
type remembering struct {
	*page
	t      *testing.T
	server *llmtest.Server
	id     string
}

func newRemembering(t *testing.T) *remembering {
	t.Helper()
	folder := t.TempDir()
	for path, text := range map[string]string{
		".agent/memory.md": "The staging database is read-only.",
		"AGENTS.md":        "Use tabs. @docs/style.md",
		"docs/style.md":    "Short lines.\r\n",
		"big.md":           strings.Repeat("All work and no play. ", 500_000),
	} {
		path = filepath.Join(folder, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := llmtest.Serve(t, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
	p := newPage(t, folder, t.TempDir(), environment(server, "sk-test"))
	return &remembering{p, t, server, p.session("compat")}
}

// sent sends a prompt and returns the request.
func (r *remembering) sent(text string) string {
	r.t.Helper()
	r.send(r.id, text)
	await(r.page, anyOf[agent.ProcessingEnd])
	requests := r.server.Requests()
	return string(requests[len(requests)-1].Body)
}

func (r *remembering) in() contexts.MemoryRequest { return contexts.MemoryRequest{Session: r.id} }

func (r *remembering) read(path string) (contexts.MemoryText, *backend.Error) {
	return call[contexts.MemoryText](r.page, "memory.read", contexts.MemoryFileRequest{MemoryRequest: r.in(), Path: path})
}

func (r *remembering) save(path string, text contexts.MemoryText) *backend.Error {
	in := contexts.MemorySaveRequest{MemoryFileRequest: contexts.MemoryFileRequest{MemoryRequest: r.in(), Path: path}, MemoryText: text}
	_, err := call[contexts.MemoryReply](r.page, "memory.save", in)
	return err
}

func (r *remembering) choose(files []string, limit int) contexts.MemoryReply {
	r.t.Helper()
	return must[contexts.MemoryReply](r.page, "memory.set", contexts.MemorySettingsRequest{MemoryRequest: r.in(), Settings: contexts.MemorySettings{Files: files, MaxTokens: limit}})
}

// of returns a listed file.
func (r *remembering) of(list contexts.MemoryReply, path string) contexts.MemoryFile {
	r.t.Helper()
	i := slices.IndexFunc(list.Files, func(f contexts.MemoryFile) bool { return f.Path == path })
	if i < 0 {
		r.t.Fatalf("%s is not listed: %+v", path, list.Files)
	}
	return list.Files[i]
}

// COM-23: models are told the files of the memory within their budget, before the project's
// documents; a person lists and chooses them, and what changed is told in the next turn.
func TestMemory(t *testing.T) {
	t.Parallel()
	r := newRemembering(t)
	body := r.sent("Begin.")
	memory, instructions := strings.Index(body, "read-only."), strings.Index(body, "Use tabs.")
	if memory < 0 || instructions < memory {
		t.Errorf("the memory at %d, the instructions at %d", memory, instructions)
	}
	list := must[contexts.MemoryReply](r.page, "memory.list", r.in())
	if got := r.of(list, ".agent/memory.md"); got.Kind != contexts.MemoryChosen || got.Tokens == 0 {
		t.Errorf("%+v", got)
	}
	if got := r.of(list, "docs/style.md"); got.Kind != contexts.MemoryProject || got.From != "AGENTS.md" {
		t.Errorf("%+v", got)
	}
	if own := r.of(list, filepath.ToSlash(filepath.Join(r.home, "AGENTS.md"))); !own.Absent || own.Kind != contexts.MemoryOwn {
		t.Errorf("%+v", own)
	}
	list = r.choose([]string{"notes/new.md", "big.md"}, 100)
	if got := r.of(list, "big.md"); got.Tokens > 100 || got.Told >= got.Size {
		t.Errorf("%+v", got)
	}
	if _, err := r.read("big.md"); err == nil || err.ID != backend.ProblemChangesTooLarge {
		t.Errorf("read 10 MB: %v", err)
	}
	if err := r.save("notes/new.md", contexts.MemoryText{Text: "Deploys are on Mondays."}); err != nil {
		t.Fatal(err)
	}
	if body := r.sent("Go on."); !strings.Contains(body, "Deploys are on Mondays.") || !strings.Contains(body, "[Memory truncated at 100 tokens]") {
		t.Error("what changed was not told")
	}
	if _, err := call[contexts.MemoryReply](r.page, "memory.set", contexts.MemorySettingsRequest{Settings: contexts.MemorySettings{MaxTokens: project.MaxMemory + 1}}); err == nil {
		t.Error("the limit has no limit")
	}
}

// A person edits what is listed, with its line ends, and over nothing that changed meanwhile
// or lies outside the project.
func TestMemoryEdited(t *testing.T) {
	t.Parallel()
	r := newRemembering(t)
	style, err := r.read("docs/style.md")
	if err != nil || style.Text != "Short lines.\n" {
		t.Fatalf("%+v, %v", style, err)
	}
	style.Text += "No tabs.\n"
	if err := r.save("docs/style.md", style); err != nil {
		t.Fatal(err)
	}
	if raw, _ := os.ReadFile(filepath.Join(r.folder, "docs/style.md")); string(raw) != "Short lines.\r\nNo tabs.\r\n" {
		t.Errorf("written %q", raw)
	}
	if err := r.save("docs/style.md", style); err == nil || err.ID != backend.ProblemChangesChanged {
		t.Errorf("over what somebody else wrote: %v", err)
	}
	if _, err := r.read("go.mod"); err == nil || err.ID != backend.ProblemFileMissing {
		t.Errorf("read what is no memory: %v", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	outside := filepath.Join(t.TempDir(), "x.md")
	if err := os.Symlink(outside, filepath.Join(r.folder, "link.md")); err != nil {
		t.Fatal(err)
	}
	r.choose([]string{"link.md", "../out.md"}, 0)
	for _, path := range []string{"link.md", "../out.md"} {
		if err := r.save(path, contexts.MemoryText{Text: "x"}); err == nil {
			t.Errorf("wrote %s", path)
		}
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("wrote outside the project")
	}
}

// What a read-only program shows of the memory it does not change.
func TestMemoryReadOnly(t *testing.T) {
	t.Parallel()
	p := openPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), "sk-test"), func(s *storage.Store) backend.Store { return s }, func(c *workbench.Config) { c.ReadOnly = true })
	list := must[contexts.MemoryReply](p, "memory.list", contexts.MemoryRequest{})
	if !list.ReadOnly {
		t.Error("it is not said")
	}
	in := contexts.MemorySaveRequest{MemoryFileRequest: contexts.MemoryFileRequest{Path: "AGENTS.md"}, MemoryText: contexts.MemoryText{Text: "x"}}
	if _, err := call[contexts.MemoryReply](p, "memory.save", in); err == nil || err.ID != backend.ProblemChangesReadOnly {
		t.Errorf("saved: %v", err)
	}
}
