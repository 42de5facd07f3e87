//go:build unix

package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/journal/objects"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// K-24: the log says what each call did to files, and the contents before and after
// are in the journal.
func TestTheLogSaysWhatCallsDidToFiles(t *testing.T) {
	t.Parallel()
	bash := func(line string) llmtest.Round {
		return llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Bash", map[string]string{"command": line})}}
	}
	p := newPlace(t, bash("sed -i s/one/two/ a"), bash("rm b"), bash("mv a c && chmod +x c"), bash("git checkout -q other"), bash("cat c"),
		write("d", "new"), llmtest.Round{Text: "Done."})
	setup := exec.CommandContext(t.Context(), "sh", "-ec", `
		git init -q -b main; echo one > a; echo 1 > b; echo main > f; git add .; git commit -qm 1
		git checkout -q -b other; echo other > f; git commit -qam 2; git checkout -q main`)
	setup.Dir = p.folder
	setup.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := setup.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, errs, code := p.run("run", "--model", "openai/test-model", "--output", "stream-json", "--permission-mode", "bypassPermissions", "go")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	kept := objects.Open(filepath.Join(p.home, "journal", "objects"), objects.Limits{})
	defer kept.Close()
	version := func(v agent.FileVersion) string {
		if !v.Exists() {
			return "nothing"
		}
		text, err := kept.Contents(t.Context(), v)
		if err != nil {
			t.Errorf("%+v: %v", v, err)
		}
		return fmt.Sprintf("%s %q", v.Kind, text)
	}
	var got []string
	for _, ev := range events(t, out) {
		end, ok := ev.Data.(agent.ToolCallEnd)
		if !ok {
			continue
		}
		var files []string
		if end.Files != nil {
			for _, f := range end.Files.Files {
				files = append(files, fmt.Sprintf("%s: %s -> %s", f.Path, version(f.Before), version(f.After)))
			}
		}
		got = append(got, strings.Join(files, "; "))
	}
	want := []string{
		`a: file "one\n" -> file "two\n"`,
		`b: file "1\n" -> nothing`,
		`a: file "two\n" -> nothing; c: nothing -> executable "two\n"`,
		`f: file "main\n" -> file "other\n"`,
		``,
		`d: nothing -> file "new"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
