package project

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm/tokens"
)

// COM-23: files of a memory share a budget in tokens, in their order; from the first one
// on that does not fit they are cut, with a mark. A cycle of imports ends, what holds
// secrets is left out, and a name that leads out of the project is refused.
func TestMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(path, text string) {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(".git/HEAD", "ref: refs/heads/main\n")
	put("docs/a.md", "First. @b.md")
	put("docs/b.md", "Second. @a.md")
	put("long.md", strings.Repeat("数据库每天备份一次。", 500))
	put("after.md", "Never reached.")
	put(".env", "KEY=1")
	own := filepath.Join(t.TempDir(), "own.md")
	if err := os.WriteFile(own, []byte("My own."), 0o600); err != nil {
		t.Fatal(err)
	}
	same(t, "small files", Memory{Folder: dir, Files: []string{own, "docs/a.md", "none.md", ".env", "../x.md"}}.Documents(),
		filepath.ToSlash(own)+": My own.", "docs/b.md: Second. @a.md", "docs/a.md: First. @b.md", ".env! secret", "../x.md! unopened")

	cut := Memory{Folder: dir, Files: []string{"docs/a.md", "long.md", "after.md"}, MaxTokens: 300}.Documents()
	sum := 0
	for _, d := range cut {
		sum += tokens.Count(d.Text)
	}
	if last := cut[2]; sum > 300 || sum < 290 || last.Told >= last.Size || last.Told != len(last.Text) || last.Cut != "[Memory truncated at 300 tokens]" {
		t.Errorf("%d tokens; %d of %d bytes, %q", sum, last.Told, last.Size, last.Cut)
	}
	if last := cut[3]; last.Text != "" || last.Size == 0 {
		t.Errorf("after a file that was cut: %q", last.Text)
	}
	if diff := cmp.Diff("docs/a.md", cut[0].From); diff != "" {
		t.Error(diff)
	}
}

// A memory file of 10 MB is not read to its end (COM-23).
func TestMemoryOfTenMegabytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	big := []byte(strings.Repeat(fmt.Sprintln("All work and no play makes a dull log."), 270_000))
	if err := os.WriteFile(filepath.Join(dir, "big.md"), big, 0o600); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	got := Memory{Folder: dir, Files: []string{"big.md"}}.Documents()
	if took := time.Since(begin); len(got) != 1 || got[0].Size != len(big) || tokens.Count(got[0].Text) > DefaultMemory || took > 5*time.Second {
		t.Errorf("%d documents in %s", len(got), took)
	}
}

// The rules for certain files are listed on demand, with their patterns, and imports with
// what imports them.
func TestEveryRule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".claude/rules"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".claude/rules/go.md"), []byte("---\npaths: '**/*.go'\n---\nUse gofmt."), 0o600); err != nil {
		t.Fatal(err)
	}
	q := Query{Folder: dir, Names: claude}
	if got := q.Documents(); len(got) != 0 {
		t.Errorf("%v without a file", got)
	}
	q.Every = true
	if got := q.Documents(); len(got) != 1 || cmp.Diff([]string{"**/*.go"}, got[0].For) != "" {
		t.Errorf("%v", got)
	}
}
