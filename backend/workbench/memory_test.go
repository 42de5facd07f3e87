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

// COM-23: models are told the files of the memory within their budget, before the project's
// documents; a person lists, edits and chooses them, and what changed is told in the next turn.
func TestMemory(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
	folder := t.TempDir()
	put := func(path, text string) {
		t.Helper()
		path = filepath.Join(folder, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(".agent/memory.md", "The staging database is read-only.")
	put("AGENTS.md", "Use tabs. @docs/style.md")
	put("docs/style.md", "Short lines.\r\n")
	put("big.md", strings.Repeat("All work and no play. ", 500_000))
	p := newPage(t, folder, t.TempDir(), environment(server, "sk-test"))
	id := p.session("compat")
	sent := func(text string) string {
		t.Helper()
		p.send(id, text)
		await(p, anyOf[agent.ProcessingEnd])
		requests := server.Requests()
		return string(requests[len(requests)-1].Body)
	}
	body := sent("Begin.")
	memory, instructions := strings.Index(body, "read-only."), strings.Index(body, "Use tabs.")
	if memory < 0 || instructions < memory {
		t.Errorf("the memory at %d, the instructions at %d", memory, instructions)
	}

	in := contexts.MemoryRequest{Session: id}
	list := must[contexts.MemoryReply](p, "memory.list", in)
	of := func(path string) contexts.MemoryFile {
		t.Helper()
		i := slices.IndexFunc(list.Files, func(f contexts.MemoryFile) bool { return f.Path == path })
		if i < 0 {
			t.Fatalf("%s is not listed: %+v", path, list.Files)
		}
		return list.Files[i]
	}
	if got := of(".agent/memory.md"); got.Kind != contexts.MemoryChosen || got.Tokens == 0 {
		t.Errorf("%+v", got)
	}
	if got := of("docs/style.md"); got.Kind != contexts.MemoryProject || got.From != "AGENTS.md" {
		t.Errorf("%+v", got)
	}
	if own := of(filepath.ToSlash(filepath.Join(p.home, "AGENTS.md"))); !own.Absent || own.Kind != contexts.MemoryOwn {
		t.Errorf("%+v", own)
	}

	read := func(path string) (contexts.MemoryText, *backend.Error) {
		return call[contexts.MemoryText](p, "memory.read", contexts.MemoryFileRequest{MemoryRequest: in, Path: path})
	}
	save := func(path string, text contexts.MemoryText) *backend.Error {
		_, err := call[contexts.MemoryReply](p, "memory.save", contexts.MemorySaveRequest{MemoryFileRequest: contexts.MemoryFileRequest{MemoryRequest: in, Path: path}, MemoryText: text})
		return err
	}
	style, err := read("docs/style.md")
	if err != nil || style.Text != "Short lines.\n" {
		t.Fatalf("%+v, %v", style, err)
	}
	style.Text += "No tabs.\n"
	if err := save("docs/style.md", style); err != nil {
		t.Fatal(err)
	}
	if raw, _ := os.ReadFile(filepath.Join(folder, "docs/style.md")); string(raw) != "Short lines.\r\nNo tabs.\r\n" {
		t.Errorf("written %q", raw)
	}
	if err := save("docs/style.md", style); err == nil || err.ID != backend.ProblemChangesChanged {
		t.Errorf("over what somebody else wrote: %v", err)
	}
	if _, err := read("go.mod"); err == nil || err.ID != backend.ProblemFileMissing {
		t.Errorf("read what is no memory: %v", err)
	}

	list = must[contexts.MemoryReply](p, "memory.set", contexts.MemorySettingsRequest{MemoryRequest: in, Settings: contexts.MemorySettings{Files: []string{"notes/new.md", "big.md"}, MaxTokens: 100}})
	if got := of("big.md"); got.Tokens > 100 || got.Told >= got.Size {
		t.Errorf("%+v", got)
	}
	if _, err := read("big.md"); err == nil || err.ID != backend.ProblemChangesTooLarge {
		t.Errorf("read 10 MB: %v", err)
	}
	if err := save("notes/new.md", contexts.MemoryText{Text: "Deploys are on Mondays."}); err != nil {
		t.Fatal(err)
	}
	if body := sent("Go on."); !strings.Contains(body, "Deploys are on Mondays.") || !strings.Contains(body, "[Memory truncated at 100 tokens]") || !strings.Contains(body, "No tabs.") {
		t.Error("what changed was not told")
	}
	if _, err := call[contexts.MemoryReply](p, "memory.set", contexts.MemorySettingsRequest{Settings: contexts.MemorySettings{MaxTokens: project.MaxMemory + 1}}); err == nil {
		t.Error("the limit has no limit")
	}
	if runtime.GOOS != "windows" {
		outside := filepath.Join(t.TempDir(), "x.md")
		if err := os.Symlink(outside, filepath.Join(folder, "link.md")); err != nil {
			t.Fatal(err)
		}
		must[contexts.MemoryReply](p, "memory.set", contexts.MemorySettingsRequest{Settings: contexts.MemorySettings{Files: []string{"link.md", "../out.md"}}})
		for _, path := range []string{"link.md", "../out.md"} {
			if err := save(path, contexts.MemoryText{Text: "x"}); err == nil {
				t.Errorf("wrote %s", path)
			}
		}
		if _, err := os.Stat(outside); err == nil {
			t.Error("wrote outside the project")
		}
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
