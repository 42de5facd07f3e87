package branch_test

import (
	"fmt"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/branch"
	"github.com/google/go-cmp/cmp"
)

// The last common event follows from the origins, also where a session between two
// forks was removed or a log names itself as its origin.
func TestCommon(t *testing.T) {
	t.Parallel()
	all := map[string]backend.SessionInfo{}
	add := func(id, from string, seq int64) {
		info := backend.SessionInfo{ID: id, Seq: 100}
		if from != "" {
			info.Origin = &agent.ForkOrigin{Session: from, Seq: seq}
		}
		all[id] = info
	}
	add("a", "", 0)
	add("b", "a", 40)
	add("c", "b", 60) // of what b did itself
	add("d", "b", 20) // of what b copied
	add("e", "gone", 30)
	add("f", "gone", 10)
	add("loop", "loop", 5)
	add("x", "y", 5)
	add("y", "x", 5)
	find := func(id string) (backend.SessionInfo, bool) { info, ok := all[id]; return info, ok }
	for _, tt := range []struct {
		a, b, session string
		seq           int64
	}{
		{"a", "b", "a", 40}, {"b", "a", "a", 40}, {"c", "b", "b", 60}, {"c", "d", "b", 20}, {"a", "c", "a", 40}, {"d", "a", "a", 20},
		{"e", "f", "gone", 10}, {"a", "e", "", 0}, {"loop", "a", "", 0}, {"x", "y", "x", 5}, {"a", "a", "a", 100},
	} {
		session, seq := branch.Common(find, all[tt.a], all[tt.b])
		if session != tt.session || seq != tt.seq {
			t.Errorf("%s and %s: %s %d", tt.a, tt.b, session, seq)
		}
	}
}

// A file is what stood there before the first step and after the last one. Where
// nothing was recorded, the tools' own words are all that is known.
func TestWork(t *testing.T) {
	t.Parallel()
	version := func(hash string) agent.FileVersion { return agent.FileVersion{Hash: hash, Kind: agent.PlainFile} }
	changed := func(path, before, after string) *agent.FilesChanged {
		return &agent.FilesChanged{Files: []agent.FileRecord{{Path: path, Before: version(before), After: version(after)}}}
	}
	cost := llm.Cost(3)
	change := agent.FileChange{Path: "told", Added: 2, Diff: "d"}
	var w branch.Work
	for i, p := range []agent.Payload{
		agent.Forked{}, agent.UserInput{}, agent.TextEnd{Cost: &cost, Usage: llm.Usage{Known: true}},
		agent.ToolCallEnd{Files: changed("a", "1", "2"), Details: &agent.Details{Changes: []agent.FileChange{{Path: "a", Added: 1}}}},
		agent.LocalCommandEnd{Files: changed("a", "2", "3")}, agent.FilesRestored{FilesChanged: *changed("b", "1", "0")},
		agent.ToolCallEnd{Details: &agent.Details{Changes: []agent.FileChange{change}}},
		agent.ToolCallEnd{Outcome: agent.OutcomeDenied, Details: &agent.Details{Changes: []agent.FileChange{{Path: "never"}}}},
		agent.ToolCallEnd{Files: &agent.FilesChanged{More: 2, Unwatched: true}}, agent.ProcessingEnd{Reason: agent.EndDone},
	} {
		w.Apply(agent.Event{Session: "s", Seq: int64(i), At: int64(10 * i), Data: p})
	}
	want := map[string]*branch.File{
		"a": {First: new(version("1")), Last: new(version("3"))}, "b": {First: new(version("1")), Last: new(version("0"))},
		"told": {Edits: []agent.FileChange{change}},
	}
	if diff := cmp.Diff(want, w.Files); diff != "" {
		t.Error(diff)
	}
	if w.WorkedMs != 80 || w.Info.Cost.Cost != 3 || w.Info.Lines.Added != 3 || w.More != 2 || !w.Unwatched || w.Info.LastEnd != agent.EndDone {
		t.Errorf("%+v", w)
	}
}

// A file's first version stays known when a tool's change between two recorded ones was
// not recorded, and is not known when that was the first change. What wrote the same text
// again changed nothing.
func TestWorkPartlyRecorded(t *testing.T) {
	t.Parallel()
	version := func(hash string) *agent.FileVersion {
		return &agent.FileVersion{Hash: hash, Kind: agent.PlainFile}
	}
	recorded := func(before, after string) agent.ToolCallEnd {
		return agent.ToolCallEnd{Files: &agent.FilesChanged{Files: []agent.FileRecord{{Path: "f", Before: *version(before), After: *version(after)}}}}
	}
	change := agent.FileChange{Path: "f", Added: 1}
	told := func(c agent.FileChange) agent.ToolCallEnd {
		return agent.ToolCallEnd{Details: &agent.Details{Changes: []agent.FileChange{c}}}
	}
	for name, tt := range map[string]struct {
		steps []agent.ToolCallEnd
		want  branch.File
	}{
		"told between":   {[]agent.ToolCallEnd{recorded("1", "2"), told(change), recorded("3", "4")}, branch.File{First: version("1"), Last: version("4")}},
		"told last":      {[]agent.ToolCallEnd{recorded("1", "2"), told(change)}, branch.File{First: version("1"), Edits: []agent.FileChange{change}}},
		"told first":     {[]agent.ToolCallEnd{told(change), recorded("2", "3"), recorded("3", "4")}, branch.File{Last: version("4")}},
		"the same again": {[]agent.ToolCallEnd{recorded("1", "2"), told(agent.FileChange{Path: "f"})}, branch.File{First: version("1"), Last: version("2")}},
	} {
		var w branch.Work
		for _, step := range tt.steps {
			w.Apply(agent.Event{Data: step})
		}
		if diff := cmp.Diff(&tt.want, w.Files["f"]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A branch that changes very many files is remembered within limits.
func TestWorkIsBounded(t *testing.T) {
	t.Parallel()
	var w branch.Work
	for i := range 6000 {
		w.Apply(agent.Event{Data: agent.ToolCallEnd{Details: &agent.Details{Changes: []agent.FileChange{{Path: fmt.Sprint(i)}, {Path: "0"}}}}})
	}
	if len(w.Files) != 5000 || w.More != 1000 || len(w.Files["0"].Edits) != 200 {
		t.Errorf("%d files, %d more, %d edits", len(w.Files), w.More, len(w.Files["0"].Edits))
	}
}
