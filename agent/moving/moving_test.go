package moving_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/moving"
	"atelier.dev/atelier/agent/worktree"
)

// host is a session that notes what it is asked.
type host struct {
	name string
	left moving.Leave
	at   moving.Place
	err  error
}

func (h *host) Enter(_ context.Context, name string) (moving.Place, error) {
	h.name = name
	return h.at, h.err
}

func (h *host) Exit(_ context.Context, in moving.Leave) (moving.Place, error) {
	h.left = in
	return h.at, h.err
}

// OAS-331, OAS-332: names and paths of worktrees are taken in every form that models send
// them in; what cannot be one is refused with the reason.
func TestInputs(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]struct{ name, fault string }{
		`{}`:                                 {"", ""},
		`{"name":"a-1"}`:                     {"a-1", ""},
		`{"path":".worktrees/a"}`:            {"a", ""},
		`{"path":"/p/.worktrees/a/"}`:        {"a", ""},
		`{"name":"a","path":".worktrees/a"}`: {"", "give one of them"},
		`{"name":"../a"}`:                    {"", "cannot be the name"},
		`{"name":"A b"}`:                     {"", "cannot be the name"},
		`{"name":"-a"}`:                      {"", "cannot be the name"},
		`{"name":"a--b"}`:                    {"", "cannot be the name"},
		`{"name":"` + strings.Repeat("a", 65) + `"}`: {"", "longer than 64"},
		`{"path":"/etc"}`:                  {"", "cannot be the name"},
		`{"path":".worktrees/a/../../.."}`: {"", "cannot be the name"},
		`{"path":".worktrees/a/b"}`:        {"", "cannot be the name"},
	} {
		h := &host{at: moving.Place{Folder: ".worktrees/a", Tree: worktree.Tree{Name: "a"}}}
		enter := moving.Tools(h, "/p")[0]
		err := enter.(agent.Validator).Validate(json.RawMessage(input))
		if (err == nil) != (want.fault == "") || err != nil && !strings.Contains(err.Error(), want.fault) {
			t.Errorf("%s: %v", input, err)
		}
		if err != nil {
			continue
		}
		got := enter.Run(t.Context(), agent.Invocation{Input: json.RawMessage(input)})
		if h.name != want.name || got.IsError || *got.Details.Worktree != ".worktrees/a" {
			t.Errorf("%s: %q, %+v", input, h.name, got)
		}
	}
}

// What would lose work needs a person each time; the rest of leaving needs nobody. If the
// host refuses, the session is not moved.
func TestLeaving(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]struct {
		leave  moving.Leave
		fault  string
		writes []string
	}{
		`{}`:                  {},
		`{"action":"keep"}`:   {},
		`{"action":"remove"}`: {leave: moving.Leave{Remove: true}},
		`{"action":"remove","discard_changes":true}`: {leave: moving.Leave{Remove: true, Discard: true}, writes: []string{"/p/.worktrees/.git"}},
		`{"action":"keep","discard_changes":true}`:   {fault: "only for the action remove"},
		`{"action":"burn"}`:                          {fault: "not keep or remove"},
	} {
		h := &host{err: errors.New("it holds work")}
		exit := moving.Tools(h, "/p")[1]
		err := exit.(agent.Validator).Validate(json.RawMessage(input))
		if (err == nil) != (want.fault == "") || err != nil && !strings.Contains(err.Error(), want.fault) {
			t.Errorf("%s: %v", input, err)
		}
		if err != nil {
			continue
		}
		access := exit.(agent.Accessor).Access(t.Context(), json.RawMessage(input))
		if access.Own == want.leave.Discard || cmp.Diff(want.writes, access.Writes) != "" {
			t.Errorf("%s: %+v", input, access)
		}
		if got := exit.Run(t.Context(), agent.Invocation{Input: json.RawMessage(input)}); h.left != want.leave || !got.IsError || got.Details != nil {
			t.Errorf("%s: %+v, %+v", input, h.left, got)
		}
	}
}
