package workbench_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/feed"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/tasklist"
	"atelier.dev/atelier/backend/workbench"
)

// news is what a page is told of tasks and of queues.
type news struct {
	t    *testing.T
	told chan agent.Event
}

func watchNews(p *page) *news {
	n := &news{p.t, make(chan agent.Event, 10_000)}
	cancel := p.bench.Subscribe(func(b []byte) {
		var e feed.Envelope
		if err := json.Unmarshal(b, &e); err != nil {
			p.t.Errorf("%s: %v", b, err)
		}
		for _, ev := range e.Events {
			if kind := ev.Kind(); kind == agent.KindTaskChange || kind == agent.KindQueueChange {
				n.told <- ev
			}
		}
	})
	p.t.Cleanup(cancel)
	return n
}

func (n *news) await(session string, want agent.Payload) {
	n.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case ev := <-n.told:
			if ev.Session == session && ev.Data == want {
				return
			}
		case <-deadline:
			n.t.Fatalf("nobody was told %#v within %s", want, patience)
		}
	}
}

// leaving returns a session with a command that was left running, and its
// changes.
func leaving(t *testing.T, command string, rounds ...llmtest.Round) (*page, string, *news) {
	t.Helper()
	server := llmtest.Serve(t, append([]llmtest.Round{
		{Calls: []llmtest.Call{llmtest.Use("Bash", map[string]any{"command": command, "run_in_background": true})}},
		{Text: "started"},
	}, rounds...)...)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	told := watchNews(p)
	id := p.session("compat")
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
		Session: id, Settings: agent.Settings{Provider: "compat", Model: model, Mode: agent.ModeBypass},
	})
	p.send(id, "serve")
	await(p, anyOf[agent.ProcessingEnd])
	told.await(id, agent.TaskChange{Task: "1"})
	return p, id, told
}

// OAS-306, OAS-317: a page lists a command that was left running, follows its
// output, which the model can still read, and stops it.
func TestAPageFollowsATaskAndStopsIt(t *testing.T) {
	t.Parallel()
	token := rand.Text()
	p, id, told := leaving(t, "for i in 1 2 3; do echo tick $i; sleep 0.05; done; bash -c 'sleep 300; : "+token+"'",
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("TaskOutput", map[string]any{"id": "1"})}}, llmtest.Round{Text: "read"})
	list := must[tasklist.TaskList](p, "tasks.list", tasklist.TasksRequest{Session: id})
	want := []tasklist.TaskInfo{{Session: id, ID: "1", Folder: p.folder, State: tasklist.TaskRunning}}
	loose := cmpopts.IgnoreFields(tasklist.TaskInfo{}, "Command", "StartedAt", "EndedAt")
	if diff := cmp.Diff(want, list.Tasks, loose); diff != "" || !strings.Contains(list.Tasks[0].Command, token) || list.Tasks[0].StartedAt == 0 {
		t.Errorf("listed %+v (-want +got):\n%s", list.Tasks, diff)
	}
	if all := must[tasklist.TaskList](p, "tasks.list", tasklist.TasksRequest{}); len(all.Tasks) != 1 {
		t.Errorf("of all sessions: %+v", all.Tasks)
	}
	if other := must[tasklist.TaskList](p, "tasks.list", tasklist.TasksRequest{Session: "other"}); len(other.Tasks) != 0 {
		t.Errorf("of another session: %+v", other.Tasks)
	}

	seen := ""
	for !strings.Contains(seen, "tick 3\n") {
		piece := must[tasklist.TaskOutput](p, "tasks.output", tasklist.TaskOutputRequest{Session: id, Task: "1", From: int64(len(seen))})
		if seen += piece.Text; piece.Begin+int64(len(piece.Text)) != piece.End || piece.End != int64(len(seen)) {
			t.Fatalf("after %d bytes: %+v", len(seen), piece)
		}
		if !strings.Contains(seen, "tick 3\n") {
			told.await(id, agent.TaskChange{Task: "1", Printed: true})
		}
	}
	p.send(id, "what does it say?")
	if end := await(p, func(e agent.ToolCallEnd) bool { return e.Tool == "TaskOutput" }); !strings.Contains(end.Output, "tick 3") {
		t.Errorf("the model was told %q", end.Output)
	}
	await(p, anyOf[agent.ProcessingEnd])

	stopped := must[tasklist.TaskInfo](p, "tasks.stop", tasklist.TaskRef{Session: id, Task: "1"})
	want[0].State = tasklist.TaskStopped
	if diff := cmp.Diff(want[0], stopped, loose); diff != "" || stopped.EndedAt < stopped.StartedAt {
		t.Errorf("stopped at %d (-want +got):\n%s", stopped.EndedAt, diff)
	}
	if n := carrying(t, token); n > 0 {
		t.Errorf("%d processes are left", n)
	}
	told.await(id, agent.TaskChange{Task: "1"})
	if again := must[tasklist.TaskInfo](p, "tasks.stop", tasklist.TaskRef{Session: id, Task: "1"}); !cmp.Equal(again, stopped) {
		t.Errorf("stopped again: %+v", again)
	}
	for method, args := range map[string]any{
		"tasks.stop":   tasklist.TaskRef{Session: id, Task: "2"},
		"tasks.output": tasklist.TaskOutputRequest{Session: "other", Task: "1"},
	} {
		if _, err := call[backend.Empty](p, method, args); err == nil || err.Code != backend.CodeNotFound {
			t.Errorf("%s of an unknown task: %v", method, err)
		}
	}
}

func TestTasksSayHowTheyEnded(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]tasklist.TaskInfo{
		"exit 3":            {State: tasklist.TaskExited, ExitCode: 3},
		"echo over":         {State: tasklist.TaskExited},
		"kill -9 $$":        {State: tasklist.TaskExited, ExitCode: 137},
		"cd / && sleep 0.1": {State: tasklist.TaskExited},
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			p, id, told := leaving(t, command)
			for {
				got := must[tasklist.TaskList](p, "tasks.list", tasklist.TasksRequest{Session: id}).Tasks[0]
				if got.State != tasklist.TaskRunning {
					if got.State != want.State || got.ExitCode != want.ExitCode || got.EndedAt < got.StartedAt {
						t.Errorf("%+v, want %+v", got, want)
					}
					return
				}
				told.await(id, agent.TaskChange{Task: "1"})
			}
		})
	}
}

// K-37: tasks end with their session, and pages are told so.
func TestPagesAreToldThatTasksEndedWithTheirSession(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*page, string){
		"closed": func(p *page, _ string) { p.close() },
		"deleted": func(p *page, id string) {
			must[sessionlist.RemoveReply](p, "sessions.remove", workbench.SessionRef{Session: id})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, id, told := leaving(t, "sleep 300")
			end(p, id)
			told.await(id, agent.TaskChange{})
			if list := must[tasklist.TaskList](p, "tasks.list", tasklist.TasksRequest{}); len(list.Tasks) != 0 {
				t.Errorf("still listed: %+v", list.Tasks)
			}
		})
	}
}

// The output of a flooding command is read in pieces of limited size, and pages
// are told at most once between two reads.
func TestATaskThatFloodsIsReadInPieces(t *testing.T) {
	t.Parallel()
	p, id, told := leaving(t, "yes 0123456789")
	const looks = 20
	place := int64(0)
	for range looks {
		piece := must[tasklist.TaskOutput](p, "tasks.output", tasklist.TaskOutputRequest{Session: id, Task: "1", From: place})
		if len(piece.Text) > 32<<10 || piece.End < place {
			t.Fatalf("%d bytes from %d to %d", len(piece.Text), piece.Begin, piece.End)
		}
		place = piece.End
		told.await(id, agent.TaskChange{Task: "1", Printed: true})
	}
	must[tasklist.TaskInfo](p, "tasks.stop", tasklist.TaskRef{Session: id, Task: "1"})
	told.await(id, agent.TaskChange{Task: "1"})
	if n := len(told.told); n > 0 {
		t.Errorf("after %d looks, told %d times more", looks, n)
	}
}

func TestLongCommandLinesAreListedByTheirBeginning(t *testing.T) {
	t.Parallel()
	p, id, _ := leaving(t, "sleep 300 # "+strings.Repeat("好", 10_000))
	if got := must[tasklist.TaskList](p, "tasks.list", tasklist.TasksRequest{Session: id}).Tasks[0].Command; len(got) > 2<<10 || !strings.HasPrefix(got, "sleep 300 # 好好") {
		t.Errorf("%d bytes: %.40q", len(got), got)
	}
}

// K-01: the user's own time limit for commands is stored, within its bounds.
func TestCommandTimeout(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	if got := workbench.CommandTimeout(p.bench); got != 0 {
		t.Errorf("shipped as %v", got)
	}
	for seconds, isTaken := range map[int]bool{1: true, 120: true, 600: true, 601: false, -1: false} {
		prefs := must[backend.Preferences](p, "preferences.get", backend.Empty{})
		before := workbench.CommandTimeout(p.bench)
		prefs.CommandTimeout = seconds
		_, err := call[backend.Preferences](p, "preferences.change", workbench.PreferencesChange{After: prefs})
		if taken := err == nil; taken != isTaken || err != nil && err.Code != backend.CodeInvalid {
			t.Errorf("%d seconds: %v", seconds, err)
		}
		want := before
		if isTaken {
			want = time.Duration(seconds) * time.Second
		}
		if got := workbench.CommandTimeout(p.bench); got != want {
			t.Errorf("after %d seconds were set: %v, want %v", seconds, got, want)
		}
	}
}

// K-01: the limit holds from the next command on, even in an open session.
func TestCommandTimeoutHolds(t *testing.T) {
	t.Parallel()
	sleep := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("shell", map[string]any{"command": "sleep 30"})}}
	server := llmtest.Serve(t, llmtest.Round{Text: "Ready."}, sleep, llmtest.Round{Text: "On."})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	id := p.session("compat")
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
		Session: id, Settings: agent.Settings{Provider: "compat", Model: model, Mode: agent.ModeBypass},
	})
	p.send(id, "be ready")
	await(p, anyOf[agent.ProcessingEnd])
	prefs := must[backend.Preferences](p, "preferences.get", backend.Empty{})
	prefs.CommandTimeout = 1
	must[backend.Preferences](p, "preferences.change", workbench.PreferencesChange{After: prefs})
	p.send(id, "sleep")
	if end := await(p, anyOf[agent.ToolCallEnd]); !strings.Contains(end.Output, "timed out after 1000ms") {
		t.Errorf("%+v", end)
	}
	await(p, anyOf[agent.ProcessingEnd])
}

func TestTasksOfCommandsInOtherFolders(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Calls: []llmtest.Call{
		llmtest.Use("Bash", map[string]any{"command": "sleep 300", "run_in_background": true, "workdir": "."}),
		llmtest.Use("Bash", map[string]any{"command": "sleep 300", "run_in_background": true, "workdir": "/"}),
	}}, llmtest.Round{Text: "started"})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	id := p.session("compat")
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
		Session: id, Settings: agent.Settings{Provider: "compat", Model: model, Mode: agent.ModeBypass},
	})
	p.send(id, "serve")
	await(p, anyOf[agent.ProcessingEnd])
	var folders []string
	for _, task := range must[tasklist.TaskList](p, "tasks.list", tasklist.TasksRequest{Session: id}).Tasks {
		folders = append(folders, task.Folder)
	}
	if want := fmt.Sprint([]string{p.folder, filepath.FromSlash("/")}); fmt.Sprint(folders) != want {
		t.Errorf("folders %v, want %s", folders, want)
	}
}
