package workbench_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/workbench"
)

// What the page asks of its window is brought within bounds: a notice has one
// short line of each text, and a scale can be read.
func TestWindowGetsBoundedWishes(t *testing.T) {
	t.Parallel()
	var notices []backend.Notice
	var scales []int
	bench := workbench.New(workbench.Config{
		Folder: t.TempDir(), Home: t.TempDir(), Getenv: func(string) string { return "" },
		Notify: func(n backend.Notice) { notices = append(notices, n) },
		Zoom:   func(percent int) { scales = append(scales, percent) },
	})
	long := strings.Repeat("a", 100)
	for _, each := range []struct{ method, args string }{
		{"host.notify", `{"session":"s","kind":"done","title":"Done\nmore","body":"\u0007` + long + `"}`},
		{"host.zoom", `{"percent":110}`},
		{"host.zoom", `{"percent":-3}`},
		{"host.zoom", `{"percent":100000}`},
	} {
		if got := bench.Call(t.Context(), each.method, each.args); got != `{"ok":{}}` {
			t.Errorf("%s %s: %s", each.method, each.args, got)
		}
	}
	want := []backend.Notice{{Session: "s", Kind: "done", Title: "Done", Body: long[:60] + "…"}}
	if diff := cmp.Diff(want, notices); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{110, 50, 200}, scales); diff != "" {
		t.Error(diff)
	}
}

func TestWindowAsksForAFolder(t *testing.T) {
	t.Parallel()
	var titles []string
	answer := func(title string) (string, error) {
		titles = append(titles, title)
		return map[string]string{"Open": "/src/shop"}[title], map[string]error{"Fail": errors.New("no portal")}[title]
	}
	bench := workbench.New(workbench.Config{Folder: t.TempDir(), Home: t.TempDir(), Getenv: func(string) string { return "" }, PickFolder: answer})
	for title, want := range map[string]string{"Open": `{"ok":{"folder":"/src/shop"}}`, "Cancel": `{"ok":{}}`, "Fail": `{"error":{"id":"pick_folder",`} {
		if got := bench.Call(t.Context(), "host.pick_folder", `{"title":"`+title+`"}`); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", title, got, want)
		}
	}
	if len(titles) != 3 {
		t.Errorf("asked %v", titles)
	}
}
