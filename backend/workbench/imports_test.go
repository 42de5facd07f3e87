package workbench_test

import (
	"context"
	"iter"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/transfer"
	"atelier.dev/atelier/storage"
)

const foreign = `{"type":"user","uuid":"1","sessionId":"s","message":{"role":"user","content":"Name a river."}}` + "\n"

// What several pages import at once is imported once, and what was imported and deleted
// is imported anew.
func TestImportOnce(t *testing.T) {
	t.Parallel()
	p := importing(t, llmtest.Serve(t))
	in := transfer.ImportRequest{Path: writer(t)(filepath.Join(p.folder, "s.jsonl"), foreign)}
	var pages sync.WaitGroup
	for range 4 {
		pages.Go(func() { must[transfer.ImportReply](p, "transcripts.import", in) })
	}
	pages.Wait()
	again := must[transfer.ImportReply](p, "transcripts.import", in)
	if list, err := p.store.Sessions(t.Context(), p.folder); err != nil || len(list) != 1 || !again.Already {
		t.Errorf("%d sessions, %+v, %v", len(list), again, err)
	}
	deleted := true
	must[backend.SessionInfo](p, "sessions.mark", sessionlist.MarkRequest{Session: again.Session.ID, Deleted: &deleted})
	if anew := must[transfer.ImportReply](p, "transcripts.import", in); anew.Already || anew.Session.ID == again.Session.ID {
		t.Errorf("%+v", anew)
	}
}

// slowStore waits in the middle of a session that it is given, until that is given up.
type slowStore struct {
	backend.Store
	begun chan struct{}
}

func (s slowStore) CreateSessionFrom(ctx context.Context, info backend.SessionInfo, events iter.Seq2[agent.Event, error]) (backend.SessionInfo, error) {
	waited := false
	return s.Store.CreateSessionFrom(ctx, info, func(yield func(agent.Event, error) bool) {
		for ev, err := range events {
			if _, input := ev.Data.(agent.UserInput); input && !waited {
				waited = true
				s.begun <- struct{}{}
				<-ctx.Done()
			}
			if !yield(ev, err) {
				return
			}
		}
	})
}

// An import that takes long says how far it is, and can be stopped; nothing of it stays.
func TestImportStopped(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	server := llmtest.Serve(t)
	p := newPageOn(t, environment(server, ""), func(s *storage.Store) backend.Store { return slowStore{s, begun} })
	progress := func() transfer.ImportProgress {
		return must[transfer.ImportProgress](p, "transcripts.progress", backend.Empty{})
	}
	if got := progress(); got != (transfer.ImportProgress{}) {
		t.Errorf("%+v", got)
	}
	path := writer(t)(filepath.Join(p.folder, "s.jsonl"), foreign+strings.Repeat(strings.Replace(foreign, `"1"`, `"2"`, 1), 3000))
	failed := make(chan *backend.Error, 1)
	go func() { // ends when the import is stopped
		_, err := call[transfer.ImportReply](p, "transcripts.import", transfer.ImportRequest{Path: path})
		failed <- err
	}()
	<-begun
	if got := progress(); got.Path != path || got.Done <= 0 || got.Done >= 1 {
		t.Errorf("%+v", got)
	}
	must[backend.Empty](p, "transcripts.stop_import", backend.Empty{})
	if err := <-failed; err == nil || err.ID != backend.ProblemImportStopped {
		t.Errorf("%v", err)
	}
	if list, err := p.store.Sessions(t.Context(), p.folder); err != nil || len(list) != 0 || progress().Path != "" {
		t.Errorf("%d sessions, %v", len(list), err)
	}
}
