package projects_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/instance"
	"atelier.dev/atelier/backend/projects"
	"atelier.dev/atelier/storage"
)

// Issue 36: one list has what waits, works, failed and was done today in all projects. What a killed
// process left open has failed. A session is stopped where it works, also in another process.
func TestWorkOfAllProjects(t *testing.T) {
	t.Parallel()
	home, here, there := t.TempDir(), t.TempDir(), t.TempDir()
	store, err := storage.Open(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	now := time.Now().UnixMilli()
	add := func(id, folder string, state agent.State, end agent.EndReason, ago time.Duration, helper *agent.Helper) string {
		id = (id + "0000000000000000000000000000")[:26]
		info := backend.SessionInfo{ID: id, Folder: folder, Title: id[:3], State: state, LastEnd: end, Settings: agent.Settings{Provider: "compat", Model: "m"},
			CreatedAt: now, UpdatedAt: now - ago.Milliseconds(), Usage: llm.Usage{Known: true}, Helper: helper}
		if err := store.CreateSession(t.Context(), info); err != nil {
			t.Fatal(err)
		}
		return id
	}
	waits := add("01W", there, agent.StateAwaitingInput, "", 0, nil)
	works := add("01K", here, agent.StateProcessing, "", 0, nil)
	child := add("01C", here, agent.StateProcessing, "", 0, &agent.Helper{Parent: works, Folder: here, Name: "scout"})
	add("01D", there, agent.StateProcessing, "", 0, nil) // its process was killed
	add("01F", there, agent.StateIdle, agent.EndFailed, time.Hour, nil)
	add("01O", there, agent.StateIdle, agent.EndFailed, 30*24*time.Hour, nil)
	add("01I", here, agent.StateIdle, agent.EndDone, time.Hour, nil)
	add("01J", here, agent.StateIdle, agent.EndDone, 48*time.Hour, nil)
	for _, id := range []string{waits, works, child} {
		release, err := store.Lease(id)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
	}
	var stopped []string
	d := &dispatch.Dispatcher{}
	projects.New(projects.Config{Folder: here, Home: home, Store: store, Interrupt: func(id string) { stopped = append(stopped, id) }}).Register(d)
	list := decode[projects.WorkList](t, d.Call(t.Context(), "projects.work", "{}"))
	var got []string
	for _, w := range list.Work {
		got = append(got, string(w.Group)+" "+w.Session[:3])
	}
	want := []string{"needs 01W", "working 01K", "working 01C", "failed 01D", "failed 01F", "done 01I"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var b strings.Builder
	if err := projects.PrintWork(&b, list, func(s string) string { return s }); err != nil || !strings.Contains(b.String(), "Working\n  "+works) || !strings.Contains(b.String(), "agent: 01C") {
		t.Errorf("%v %s", err, b.String())
	}

	decode[backend.Empty](t, d.Call(t.Context(), "projects.stop", `{"session":"`+works+`"}`))
	if diff := cmp.Diff([]string{works}, stopped); diff != "" {
		t.Error(diff)
	}
	if reply := d.Call(t.Context(), "projects.stop", `{"session":"`+waits+`"}`); !strings.Contains(reply, string(backend.ProblemStopUnreached)) {
		t.Errorf("nobody runs there, but %s", reply)
	}
	other, err := instance.Acquire(home, there)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	asked := make(chan string, 1)
	other.Serve(func(r instance.Request) instance.Reply {
		return r.StopWith(func(method, args string) string { asked <- method + args; return "" })
	})
	decode[backend.Empty](t, d.Call(t.Context(), "projects.stop", `{"session":"`+waits+`"}`))
	if got := <-asked; got != `conversation.interrupt{"session":"`+waits+`"}` {
		t.Errorf("asked for %s", got)
	}
}

func decode[T any](t *testing.T, reply string) (out T) {
	t.Helper()
	var got struct {
		OK    T
		Error *backend.Error
	}
	if err := json.Unmarshal([]byte(reply), &got); err != nil || got.Error != nil {
		t.Fatalf("%s: %v", reply, err)
	}
	return got.OK
}
