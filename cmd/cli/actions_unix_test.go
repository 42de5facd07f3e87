//go:build unix

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"atelier.dev/atelier/agent/llm/llmtest"
)

// Issue 39: the workflow of the guide is one, and its step runs as it stands.
func TestTheWorkflowOfTheGuide(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bash", "git", "jq"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("needs " + name)
		}
	}
	page, err := os.ReadFile(commandLinePage)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("the guide has no workflow")
	}
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Name, Uses, Run string
				Env             map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(block[1], &workflow); err != nil {
		t.Fatal(err)
	}
	steps := workflow.Jobs["review"].Steps
	last := steps[len(steps)-1]
	p := newPlace(t, llmtest.Round{Text: `{"summary": "Fine.", "faults": ["One typo."]}`})
	bin, temp, summary := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "summary.md")
	if err := os.Symlink(os.Args[0], filepath.Join(bin, "atelier-headless")); err != nil {
		t.Fatal(err)
	}
	prepare := `git init -q && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && echo x > f && git add f && git -c user.name=a -c user.email=a@b commit -q -m two; BASE=HEAD~1` + "\n"
	cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", prepare+last.Run)
	cmd.Dir = p.folder
	cmd.Env = append(p.env, "PATH="+bin+":"+os.Getenv("PATH"), "RUNNER_TEMP="+temp, "GITHUB_STEP_SUMMARY="+summary, "MODEL=openai/test-model")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, err := os.ReadFile(summary); string(got) != "Fine.\n- One typo.\n" {
		t.Errorf("the summary is %q, %v", got, err)
	}
	if body := string(p.server.Requests()[0].Body); !strings.Contains(body, "diff --git a/f b/f") {
		t.Error("the model was not shown the change")
	}
}
