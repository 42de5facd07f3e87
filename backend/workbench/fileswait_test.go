package workbench_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/filechanges"
	"atelier.dev/atelier/storage"
)

// The page is told when others change files in the folders that it shows, and of nothing else,
// also of what changed between two of its questions.
func TestFilesAreFollowed(t *testing.T) {
	t.Parallel()
	p := openPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), ""), func(s *storage.Store) backend.Store { return s })
	p.putFile("a.txt", "a")
	for i := range 300 {
		put(t, filepath.Join(p.folder, fmt.Sprintf("deep/%d/x.txt", i)), "x")
	}
	first := make(chan filechanges.FilesWaitReply)
	wait := func(in filechanges.FilesWaitRequest) { first <- must[filechanges.FilesWaitReply](p, "files.wait", in) }
	ask := filechanges.FilesWaitRequest{Folders: []string{"deep/7", "../..", "gone"}}
	stale := must[filechanges.FilesWaitReply](p, "files.wait", ask)
	if !stale.Changed || stale.Stamp == "" {
		t.Fatalf("at first: %+v", stale)
	}
	ask.Stamp = stale.Stamp
	go wait(ask)
	p.putFile(filepath.Join("deep", "7", "new.txt"), "new")
	told := <-first
	if !told.Changed || told.Stamp == stale.Stamp {
		t.Errorf("after a new file: %+v", told)
	}
	ask.Stamp = told.Stamp
	p.putFile("b.txt", "b")
	if missed := must[filechanges.FilesWaitReply](p, "files.wait", ask); !missed.Changed {
		t.Errorf("between two questions: %+v", missed)
	}
}
