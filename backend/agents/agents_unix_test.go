//go:build unix

package agents_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent/agentdef"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/backend/agents"
	"atelier.dev/atelier/backend/trust"
	"atelier.dev/atelier/storage"
)

type rig struct {
	*agents.Agents
	t       *testing.T
	trust   *trust.Trust
	folder  string
	changed chan struct{}
}

func newRig(t *testing.T, given ...agentdef.Definition) *rig {
	t.Helper()
	store, err := storage.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, folder: folder, changed: make(chan struct{}, 100)}
	user := t.TempDir()
	r.trust = trust.New(trust.Config{Folder: folder, User: user, Store: store})
	r.Agents = agents.New(agents.Config{Folder: folder, User: user, Given: given, Trust: r.trust, Changed: func() { r.changed <- struct{}{} }})
	t.Cleanup(func() {
		r.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) put(name, front string) {
	r.t.Helper()
	path := filepath.Join(r.folder, ".claude/agents", name+".md")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("---\nname: "+name+"\ndescription: d\n"+front+"---\nx"), 0o644)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) names() string {
	var names []string
	for _, d := range r.Usable() {
		names = append(names, d.Name)
	}
	return strings.Join(names, " ")
}

// await waits until the list is as wanted.
func (r *rig) await(want string) {
	r.t.Helper()
	deadline := time.After(30 * time.Second)
	for r.names() != want {
		select {
		case <-r.changed:
		case <-deadline:
			r.t.Fatalf("there are %s, want %s", r.names(), want)
		}
	}
}

// OAS-311: files are read again when they change, also in a folder that was not there, and models
// are told of what is not built in.
func TestFilesAreWatched(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if r.names() != "general-purpose Explore Plan" || len(r.Note()) != 0 {
		t.Errorf("there are %s, told %+v", r.names(), r.Note())
	}
	r.put("b", "")
	r.await("general-purpose Explore Plan b")
	r.put("c", "tools: [\n")
	r.put("b", "model: x\n")
	r.put("d", "")
	r.await("general-purpose Explore Plan b d")
	if notes := r.Note(); len(notes) != 1 || !strings.Contains(notes[0].Text, "- b: d\n- d: d\n") || strings.Contains(notes[0].Text, "Explore") {
		t.Errorf("told %+v", notes)
	}
	if err := os.RemoveAll(filepath.Join(r.folder, ".claude")); err != nil {
		t.Fatal(err)
	}
	r.await("general-purpose Explore Plan")
}

// A project's agent with hooks is offered once the user accepted it, nothing weaker takes its
// name, and its hooks run as long as its file is what they accepted.
func TestHooksNeedTrust(t *testing.T) {
	t.Parallel()
	const hooks = "hooks:\n  Stop:\n  - hooks: [{type: command, command: 'true'}]\n"
	r := newRig(t)
	r.put("Explore", hooks)
	if r.names() != "general-purpose Plan" {
		t.Errorf("there are %s", r.names())
	}
	if _, err := r.Find(t.Context(), "Explore"); err == nil || !strings.Contains(err.Error(), "has not accepted") {
		t.Errorf("started: %v", err)
	}
	if n, err := r.TrustForRun(t.Context()); n != 1 || err != nil {
		t.Fatalf("trusted %d: %v", n, err)
	}
	d, err := r.Find(t.Context(), "Explore")
	if err != nil {
		t.Fatal(err)
	}
	if ready := r.Ready(t.Context(), d.Name, d.Hooks, d.Place); ready.State != hook.StateReady {
		t.Errorf("%+v", ready)
	}
	if own := agents.Hooks(d.Hooks, d.Place); len(own) != 1 || own[0].Point != "subagentStop" {
		t.Errorf("%+v", own)
	}
	r.put("Explore", strings.Replace(hooks, "true", "false", 1))
	if ready := r.Ready(t.Context(), d.Name, d.Hooks, d.Place); ready.State != hook.StateChanged {
		t.Errorf("after a change: %+v", ready)
	}
}
