package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/journal/objects"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/authors"
	"atelier.dev/atelier/storage"
	"github.com/google/go-cmp/cmp"
)

// The command line says who wrote each line, with the characters marked on which a
// terminal would act.
func TestBlame(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	folder, err := filepath.EvalSymlinks(p.folder)
	if err != nil {
		t.Fatal(err)
	}
	kept := objects.Open(filepath.Join(p.home, "journal", "objects"), objects.Limits{})
	defer kept.Close()
	version := func(text string) agent.FileVersion {
		return kept.Keep(t.Context(), agent.PlainFile, []byte(text))
	}
	store, err := storage.Open(t.Context(), p.home)
	if err != nil {
		t.Fatal(err)
	}
	const id = "01TESTSESSION0000000000000"
	info := backend.SessionInfo{ID: id, Folder: folder, State: agent.StateIdle, Settings: agent.Settings{Mode: agent.ModeDefault}, Usage: llm.Usage{Known: true}}
	if err := store.CreateSession(t.Context(), info); err != nil {
		t.Fatal(err)
	}
	cost := llm.Dollar / 4
	for _, data := range []agent.Payload{
		agent.UserInput{Text: "Improve it"},
		agent.TextEnd{Provider: "openai", Model: "gpt\x1b[2Jx", Usage: llm.Usage{Known: true}, Cost: &cost},
		agent.ToolCallEnd{CallID: "c", Tool: "Edit", Files: &agent.FilesChanged{Files: []agent.FileRecord{
			{Path: "f.txt", Before: version("a\n"), After: version("a\nb\x1b[31m\n")},
		}}},
		agent.LocalCommandEnd{ID: "l", Command: "echo c >> f.txt", Files: &agent.FilesChanged{Files: []agent.FileRecord{
			{Path: "f.txt", Before: version("a\nb\x1b[31m\n"), After: version("a\nb\x1b[31m\nc\n")},
		}}},
	} {
		if _, err := store.Append(t.Context(), agent.Event{Session: id, Turn: 1, At: 1_700_000_000_000, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.folder, "f.txt"), []byte("a\nb\x1b[31m\nc\nmine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := p.run("blame", "f.txt")
	dated := regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d`)
	want := []string{
		"(earlier)                                                       1) a",
		"01TESTSESS     1 gpt⟨U+001B⟩[2Jx         $0.25             date 2) b⟨U+001B⟩[31m",
		"01TESTSESS     1 your command                              date 3) c",
		"(outside)                                                       4) mine",
	}
	got := strings.Split(strings.TrimSpace(dated.ReplaceAllString(out, "            date")), "\n")
	if diff := cmp.Diff(want, got); diff != "" || code != 0 {
		t.Errorf("exit %d: %s\n%s", code, errs, diff)
	}
	out, errs, code = p.run("blame", "--json", "-L", "2", "-C", folder, filepath.Join(p.folder, "f.txt"))
	var row struct {
		From, To int
		Step     authors.BlameStep
	}
	if err := json.Unmarshal([]byte(out), &row); err != nil || code != 0 || row.From != 2 || row.To != 2 || row.Step.Session != id || row.Step.Made.Prompt != "Improve it" {
		t.Errorf("exit %d, %v: %s%s", code, err, out, errs)
	}
	for args, lines := range map[string]int{"-L 2,3": 2, "-L 2,": 3, "-L ,3": 3, "-L 4,90": 1, "-L 9,": 0} {
		out, errs, code := p.run(append(strings.Fields("blame "+args), "f.txt")...)
		if code != 0 || strings.Count(out, "\n") != lines {
			t.Errorf("%s: exit %d: %s%s", args, code, out, errs)
		}
	}
	for args, want := range map[string]int{"": 2, "a b": 2, "-L 0,1 f.txt": 2, "-L 3,2 f.txt": 2, "-L x f.txt": 2, "-L , f.txt": 2, "none": 1, "../f.txt": 1} {
		if _, _, code := p.run(append([]string{"blame"}, strings.Fields(args)...)...); code != want {
			t.Errorf("%s: exit %d, want %d", args, code, want)
		}
	}
}
