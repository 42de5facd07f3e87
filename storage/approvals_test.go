package storage_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
	"github.com/google/go-cmp/cmp"
)

// asking returns a session of a folder that asks about a call.
func asking(t *testing.T, s *storage.Store, info backend.SessionInfo, at int64, request agent.ApprovalRequest) {
	t.Helper()
	if err := s.CreateSession(t.Context(), info); err != nil {
		t.Fatal(err)
	}
	for _, data := range []agent.Payload{agent.UserInput{Text: "x"}, request} {
		if _, err := s.Append(t.Context(), agent.Event{Session: info.ID, Turn: 1, At: at, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
}

func approvals(t *testing.T, s *storage.Store) []backend.Approval {
	t.Helper()
	list, err := s.Approvals(t.Context(), "/p")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// OAS-630: what waits is listed over all sessions and agents of the folder, the
// oldest first and whole, until it is answered or its call ends.
func TestApprovals(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	command := agent.ApprovalRequest{
		ID: "r1", CallID: "c", Tool: "Bash", Input: `{"command":"` + strings.Repeat("x", 300<<10) + `"}`, // in a file
		AskReasons: agent.AskReasons{Reason: "It runs.", By: agent.ByMode, Mode: agent.ModePlan, EachTime: true},
	}
	edit := agent.ApprovalRequest{ID: "r2", CallID: "c", Tool: "Write", Changes: []agent.FileChange{{Path: "a", Diff: "+x"}}}
	other := agent.ApprovalRequest{ID: "r3", CallID: "c", Tool: "Write"}
	asking(t, s, backend.SessionInfo{ID: "a", Folder: "/p", Title: "Fix it"}, 20, command)
	asking(t, s, backend.SessionInfo{ID: "b", Folder: "/p", Title: "Look around", Helper: &agent.Helper{Parent: "a"}}, 10, edit)
	asking(t, s, backend.SessionInfo{ID: "c", Folder: "/elsewhere", Title: "Other"}, 5, other)
	asking(t, s, backend.SessionInfo{ID: "d", Folder: "/p", Helper: &agent.Helper{Parent: "gone"}}, 30, agent.ApprovalRequest{ID: "r4", CallID: "c"})
	first := backend.Approval{Session: "b", Title: "Fix it", Agent: "Look around", Since: 10, Request: edit}
	second := backend.Approval{Session: "a", Title: "Fix it", Since: 20, Request: command}
	third := backend.Approval{Session: "d", Since: 30, Request: agent.ApprovalRequest{ID: "r4", CallID: "c"}}
	if diff := cmp.Diff([]backend.Approval{first, second, third}, approvals(t, s)); diff != "" {
		t.Fatal(diff)
	}
	add(t, s, "b", agent.ApprovalAnswer{ID: "r2", CallID: "c"})
	add(t, s, "d", agent.ToolCallEnd{CallID: "c"})
	if diff := cmp.Diff([]backend.Approval{second}, approvals(t, s)); diff != "" {
		t.Fatal(diff)
	}
	renewed := agent.ApprovalRequest{ID: "r5", CallID: "c", Renewed: true}
	add(t, s, "a", agent.ApprovalAnswer{ID: "r1", CallID: "c"}, renewed)
	if list := approvals(t, s); len(list) != 1 || !list[0].Request.Renewed {
		t.Errorf("after a renewal: %+v", list)
	}
	if err := s.DeleteSessions(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if list := approvals(t, s); len(list) != 0 {
		t.Errorf("after its end: %+v", list)
	}
}

// A request that is damaged in the log is left out; the others are listed. So is
// a request whose row names another event, and the session row may be damaged.
func TestDamagedApprovals(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	for _, id := range []string{"damaged", "displaced", "row", "whole"} {
		info := backend.SessionInfo{ID: id, Folder: "/p"}
		asking(t, s, info, 1, agent.ApprovalRequest{ID: "r-" + id, CallID: "c"})
	}
	add(t, s, "row", agent.SessionStart{Folder: "/p"})
	execute(t, filepath.Join(home, storage.File), `UPDATE events SET body = X'7B' WHERE session = 'damaged' AND kind = 'approval_request';
		UPDATE approvals SET seq = 1 WHERE session = 'displaced'; UPDATE sessions SET usage = 'x' WHERE id = 'row'`)
	var ids []string
	for _, a := range approvals(t, s) {
		ids = append(ids, a.Request.ID)
	}
	if diff := cmp.Diff([]string{"r-row", "r-whole"}, ids); diff != "" {
		t.Error(diff)
	}
}

// A database of an older program gets the places of its requests from the log.
func TestApprovalsOfAnOldDatabase(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	large := `{"command":"` + strings.Repeat("x", 300<<10) + `"}`
	for id, input := range map[string]string{"a": "{}", "b": large} {
		asking(t, s, backend.SessionInfo{ID: id, Folder: "/p"}, 1, agent.ApprovalRequest{ID: "old-" + id, CallID: "c1", Input: input})
		add(t, s, id, agent.ApprovalAnswer{ID: "old-" + id, CallID: "c1"}, agent.ApprovalRequest{ID: "new-" + id, CallID: "c2", Input: input}, agent.Title{Text: "x"})
	}
	asking(t, s, backend.SessionInfo{ID: "c", Folder: "/p"}, 1, agent.ApprovalRequest{ID: "spoilt", CallID: "c"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, filepath.Join(home, storage.File), `DELETE FROM migrations WHERE name = '20261122e_approval_places'; PRAGMA user_version = 7;
		ALTER TABLE approvals DROP COLUMN seq; UPDATE events SET body = X'7B' WHERE session = 'c' AND seq = 2`)
	var ids []string
	for _, a := range approvals(t, open(t, home)) {
		ids = append(ids, a.Request.ID)
	}
	if diff := cmp.Diff([]string{"new-a", "new-b"}, ids); diff != "" {
		t.Error(diff)
	}
}

const askerHome = "ATELIER_TEST_ASKER_HOME"

// askAndWait stores a request for approval, says so and waits for its end.
func askAndWait(home string) {
	ctx := context.Background()
	s, err := storage.Open(ctx, home)
	if err == nil {
		_, err = s.Append(ctx, agent.Event{Session: "a", At: 7, Data: agent.ApprovalRequest{ID: "r", CallID: "c", Tool: "Bash"}})
	}
	fmt.Println(err)
	select {}
}

// OAS-630, K-36: a request outlives the process that asked, which is killed.
func TestApprovalOutlivesAKill(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), askerHome+"="+home)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said, err := bufio.NewReader(out).ReadString('\n')
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err != nil || said != "<nil>\n" {
		t.Fatalf("the process said %q, %v", said, err)
	}
	for range 2 { // also in a store that is opened after it
		want := []backend.Approval{{Session: "a", Since: 7, Request: agent.ApprovalRequest{ID: "r", CallID: "c", Tool: "Bash"}}}
		if diff := cmp.Diff(want, approvals(t, s)); diff != "" {
			t.Error(diff)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, home)
	}
}
