package workbench_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/workbench"
)

// searched keeps what was asked of it.
type searched struct {
	asked []backend.Search
}

func (s *searched) Search(_ context.Context, in backend.Search) (backend.Found, error) {
	s.asked = append(s.asked, in)
	return backend.Found{Next: "7"}, nil
}

func (s *searched) Changed() {}

// The sessions of this folder are searched, those of others if the page asks for them.
func TestSearchOfSessions(t *testing.T) {
	t.Parallel()
	s := &searched{}
	bench := workbench.New(workbench.Config{Folder: "/here", Home: t.TempDir(), Getenv: func(string) string { return "" }, Search: s})
	for _, args := range []string{`{"text":"x","next":"9","limit":3,"session":"a"}`, `{"text":"x","everywhere":true}`} {
		if got := bench.Call(t.Context(), "sessions.search", args); got != `{"ok":{"next":"7"}}` {
			t.Error(got)
		}
	}
	want := []backend.Search{{Text: "x", Folder: "/here", Session: "a", Next: "9", Limit: 3}, {Text: "x"}}
	if diff := cmp.Diff(want, s.asked); diff != "" {
		t.Error(diff)
	}
	if err := bench.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
