package workbench_test

import (
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
)

// OAS-609: the newest session is the one of this folder that a person started, also if an
// agent of a session that is gone, a deleted session or one of another folder is newer.
func TestNewestSession(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), "sk-test"))
	if info, err := p.bench.List().Newest(t.Context()); err == nil {
		t.Errorf("there is %+v", info)
	}
	for i, info := range []backend.SessionInfo{
		{ID: "older"}, {ID: "wanted"}, {ID: "agent", Helper: &agent.Helper{Parent: "gone", Folder: p.folder}},
		{ID: "elsewhere", Folder: "/elsewhere"}, {ID: "deleted", Marks: agent.SessionMarks{Deleted: 1}}, {ID: "archived", Marks: agent.SessionMarks{Archived: true}},
	} {
		if info.Folder == "" {
			info.Folder = p.folder
		}
		info.State, info.UpdatedAt = agent.StateIdle, int64(i+1)
		if err := p.store.CreateSession(t.Context(), info); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := p.bench.List().Newest(t.Context()); err != nil || info.ID != "wanted" {
		t.Errorf("the newest is %q, %v", info.ID, err)
	}
}
