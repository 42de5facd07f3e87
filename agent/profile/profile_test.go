package profile

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// LOOP-45, LOOP-139, LOOP-140: the prompt is the base followed by the
// environment block.
func TestSystemPrompt(t *testing.T) {
	t.Parallel()
	got := SystemPrompt(Surroundings{
		Folder: "/work/app", Branch: "main", Platform: "linux", OS: "Debian 12", Model: "gpt-x",
		Date: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC),
	})
	want := `<environment>
Working directory: /work/app
Is git repository: true
Git branch: main
Platform: linux
OS version: Debian 12
Today's date: 2026-11-21
Model: gpt-x
</environment>`
	before, block, found := strings.Cut(got, "<environment>")
	if !found || !strings.HasPrefix(before, "You are Atelier") {
		t.Fatalf("no base prompt before the environment block:\n%s", got)
	}
	if diff := cmp.Diff(want, "<environment>"+block); diff != "" {
		t.Error(diff)
	}
}
