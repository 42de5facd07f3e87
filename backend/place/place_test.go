package place_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/place"
)

type stored map[string]backend.SessionInfo

func (s stored) Session(_ context.Context, id string) (backend.SessionInfo, error) {
	info, ok := s[id]
	if !ok {
		return info, errors.New("no such session")
	}
	return info, nil
}

// A session works in the project, in its own worktree if the log names one below the folder of
// worktrees, or, as an agent, where it was sent.
func TestWhereSessionsWork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := place.Project{Dir: dir}
	const tree = ".worktrees/a-b"
	for name, tt := range map[string]struct {
		info           backend.SessionInfo
		folder, bounds string
		lost           bool
	}{
		"plain":            {backend.SessionInfo{}, dir, dir, false},
		"worktree":         {backend.SessionInfo{Worktree: tree}, filepath.Join(dir, tree), filepath.Join(dir, tree), true},
		"below a worktree": {backend.SessionInfo{Worktree: tree + "/x"}, filepath.Join(dir, tree, "x"), filepath.Join(dir, tree, "x"), true},
		"elsewhere":        {backend.SessionInfo{Worktree: "../a"}, dir, dir, true},
		"out of it":        {backend.SessionInfo{Worktree: ".worktrees/../../a"}, dir, dir, true},
		"agent":            {backend.SessionInfo{Helper: &agent.Helper{Folder: "/x", Worktree: "y"}}, "/x", dir, false},
	} {
		if got := p.Folder(tt.info); got != tt.folder {
			t.Errorf("%s: works in %s, want %s", name, got, tt.folder)
		}
		if got := p.Bounds(tt.info); got != tt.bounds {
			t.Errorf("%s: may change %s, want %s", name, got, tt.bounds)
		}
		if err := p.CheckTree(tt.info); (err != nil) != tt.lost {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, tree), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := p.CheckTree(backend.SessionInfo{Worktree: tree}); err != nil {
		t.Error(err)
	}
}

// A session of another folder is refused.
func TestForeignSessions(t *testing.T) {
	t.Parallel()
	ours, theirs := backend.SessionInfo{ID: "01J00000000000000000000000", Folder: "/a"}, backend.SessionInfo{ID: "01J00000000000000000000001", Folder: "/b"}
	p := place.Project{Dir: "/a", Store: stored{ours.ID: ours, theirs.ID: theirs}}
	if info, err := p.Session(t.Context(), ours.ID); err != nil || info.ID != ours.ID {
		t.Errorf("%+v, %v", info, err)
	}
	if _, err := p.Session(t.Context(), theirs.ID); backend.AsError(err).ID != backend.ProblemSessionForeign {
		t.Errorf("%v", err)
	}
	if _, err := p.Session(t.Context(), "../x"); err == nil {
		t.Error("a name that is none was looked up")
	}
}
