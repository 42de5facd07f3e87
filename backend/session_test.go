package backend_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
)

// The row knows where tools keep something, the newest last, and not more of one tool
// than a rewind may need; another tool's place is not pushed out.
func TestPlacesOfWhatToolsKeep(t *testing.T) {
	t.Parallel()
	var info backend.SessionInfo
	keep := func(tool string, line string) {
		info.Apply(agent.Event{Seq: info.Seq + 1, Data: agent.ToolCallEnd{Tool: tool, Details: &agent.Details{Kept: &agent.KeptState{Line: line}}}})
	}
	keep("ExitPlanMode", "")
	for range 40 {
		keep("TodoWrite", strings.Repeat("a", 500))
	}
	keep("TodoWrite", "last")
	if n := len(info.Kept); n != 17 || info.Kept[0].Tool != "ExitPlanMode" || info.Kept[0].Seq != 1 {
		t.Fatalf("%d places: %+v", n, info.Kept)
	}
	if last := info.Kept[16]; last.Seq != 42 || last.Line != "last" || len(info.Kept[15].Line) > 200 {
		t.Errorf("%+v", info.Kept[15:])
	}
}

// A session's row agrees with its transcript: the state, the usage and the
// cost, the size of the context, and how the newest turn ended.
func TestSummaryIsTheTranscripts(t *testing.T) {
	t.Parallel()
	used := llm.Usage{Input: 7, Output: 3, Known: true}
	set := agent.Settings{Provider: "p", Model: "m", Mode: agent.ModePlan}
	var info backend.SessionInfo
	info.Usage.Known = true
	var transcript agent.Transcript
	for i, tt := range []struct {
		data  agent.Payload
		state agent.State
		spent llm.Spending
	}{
		{agent.SessionStart{Folder: "/p"}, agent.StateIdle, llm.Spending{}},
		{agent.SettingsChange{Settings: set}, agent.StateIdle, llm.Spending{}},
		{agent.UserInput{Typed: "x", Text: "made of x", Skill: &agent.SkillUse{Name: "x", ByUser: true, Limited: true}}, agent.StateProcessing, llm.Spending{}},
		{agent.Title{Text: "A title"}, agent.StateProcessing, llm.Spending{}},
		{agent.Retrying{Usage: used, Cost: new(llm.Cost(4))}, agent.StateProcessing, llm.Spending{Cost: 4}},
		{agent.Retrying{Sent: true}, agent.StateProcessing, llm.Spending{Cost: 4, Unknown: 1}},
		{agent.Retrying{}, agent.StateProcessing, llm.Spending{Cost: 4, Unknown: 1}},
		{agent.TextEnd{Usage: used, Cost: new(llm.Cost(5)), Message: llm.Message{Parts: []llm.Part{{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: "c"}}}}}, agent.StateProcessing, llm.Spending{Cost: 9, Unknown: 1}},
		{agent.ToolCallEnd{CallID: "c", Details: &agent.Details{Skill: &agent.SkillUse{Name: "y"}}}, agent.StateProcessing, llm.Spending{Cost: 9, Unknown: 1}},
		{agent.ApprovalRequest{ID: "r", CallID: "c"}, agent.StateAwaitingInput, llm.Spending{Cost: 9, Unknown: 1}},
		{agent.ApprovalAnswer{ID: "r", CallID: "c"}, agent.StateProcessing, llm.Spending{Cost: 9, Unknown: 1}},
		{agent.CompactionStart{Trigger: agent.CompactAuto, Tokens: 10}, agent.StateProcessing, llm.Spending{Cost: 9, Unknown: 1}},
		{agent.CompactionEnd{Trigger: agent.CompactAuto, Outcome: agent.OutcomeFailed, After: 10}, agent.StateProcessing, llm.Spending{Cost: 9, Unknown: 1}},
		{agent.SideRequest{Usage: used, Cost: new(llm.Cost(1))}, agent.StateProcessing, llm.Spending{Cost: 10, Unknown: 1}},
		{agent.TextEnd{Cost: new(llm.Cost(1))}, agent.StateProcessing, llm.Spending{Cost: 11, Unknown: 1}},
		{agent.ProcessingEnd{Reason: agent.EndFailed}, agent.StateIdle, llm.Spending{Cost: 11, Unknown: 1}},
		{agent.CompactionStart{Trigger: agent.CompactManual, Tokens: 10}, agent.StateProcessing, llm.Spending{Cost: 11, Unknown: 1}},
		{agent.CompactionEnd{Trigger: agent.CompactManual, Outcome: agent.OutcomeDone, After: 2, Summary: "In short."}, agent.StateIdle, llm.Spending{Cost: 11, Unknown: 1}},
		{agent.LocalCommandStart{ID: "l", Command: "ls"}, agent.StateProcessing, llm.Spending{Cost: 11, Unknown: 1}},
		{agent.LocalCommandEnd{ID: "l"}, agent.StateIdle, llm.Spending{Cost: 11, Unknown: 1}},
		{agent.TurnContinued{}, agent.StateProcessing, llm.Spending{Cost: 11, Unknown: 1}},
		{agent.ProcessingEnd{Reason: agent.EndDone}, agent.StateIdle, llm.Spending{Cost: 11, Unknown: 1}},
		{agent.SessionEnd{}, agent.StateClosed, llm.Spending{Cost: 11, Unknown: 1}},
	} {
		ev := agent.Event{Seq: int64(i + 1), At: int64(100 + i), Turn: 1, Data: tt.data}
		info.Apply(ev)
		transcript.Apply(ev)
		want := backend.SessionInfo{
			Title: transcript.Title.Text, State: tt.state, Settings: transcript.Settings, UpdatedAt: ev.At, Seq: ev.Seq,
			LastEnd: transcript.LastEnd, Usage: transcript.Usage, Context: transcript.Context, Cost: tt.spent,
			Messages: info.Messages, Prompt: info.Prompt, Skills: transcript.Skills(),
		}
		if diff := cmp.Diff(want, info); diff != "" || transcript.State != tt.state || transcript.Cost != tt.spent {
			t.Errorf("%d, %s: the transcript is %s and cost %+v; %s", i, ev.Kind(), transcript.State, transcript.Cost, diff)
		}
	}
	if info.Messages != 3 || info.Prompt != "x" {
		t.Errorf("%d messages, and %q was the first", info.Messages, info.Prompt)
	}
}

// A session's row has the lines that its tools changed, and the branch that the
// model was told last. A denied call changed nothing.
func TestSummaryHasLinesAndBranch(t *testing.T) {
	t.Parallel()
	changed := func(outcome agent.Outcome, added, removed int) agent.ToolCallEnd {
		return agent.ToolCallEnd{Outcome: outcome, Details: &agent.Details{Changes: []agent.FileChange{
			{Path: "a", Added: added, Removed: removed}, {Path: "b", Added: 1},
		}}}
	}
	var info backend.SessionInfo
	for i, tt := range []struct {
		data   agent.Payload
		lines  backend.Lines
		branch string
	}{
		{agent.Briefing{Told: agent.BriefingState{agent.ToldBranch: "main"}}, backend.Lines{}, "main"},
		{changed(agent.OutcomeDone, 2, 3), backend.Lines{Added: 3, Removed: 3}, "main"},
		{changed(agent.OutcomeDenied, 2, 3), backend.Lines{Added: 3, Removed: 3}, "main"},
		{agent.ToolCallEnd{Outcome: agent.OutcomeDone}, backend.Lines{Added: 3, Removed: 3}, "main"},
		{agent.BriefingUpdate{Told: agent.BriefingState{"date": "2026-11-22"}}, backend.Lines{Added: 3, Removed: 3}, "main"},
		{agent.BriefingUpdate{Told: agent.BriefingState{agent.ToldBranch: "fix"}}, backend.Lines{Added: 3, Removed: 3}, "fix"},
		{changed(agent.OutcomeFailed, 0, 4), backend.Lines{Added: 4, Removed: 7}, "fix"},
		{agent.BriefingUpdate{Told: agent.BriefingState{agent.ToldBranch: ""}}, backend.Lines{Added: 4, Removed: 7}, ""},
	} {
		info.Apply(agent.Event{Seq: int64(i + 1), Turn: 1, Data: tt.data})
		if info.Lines != tt.lines || info.Branch != tt.branch {
			t.Errorf("%d, %s: %+v on %q, want %+v on %q", i, tt.data.Kind(), info.Lines, info.Branch, tt.lines, tt.branch)
		}
	}
}

// A prompt that a hook refused names no session.
func TestLosesTitle(t *testing.T) {
	t.Parallel()
	refused, input := agent.ProcessingEnd{Reason: agent.EndRefused}, agent.UserInput{Text: "the secret"}
	for name, tt := range map[string]struct {
		log  []agent.Payload
		want bool
	}{
		"the first prompt":        {[]agent.Payload{input, agent.Title{Text: "the secret"}, refused}, true},
		"a later one":             {[]agent.Payload{agent.UserInput{Text: "Fix it"}, agent.Title{Text: "Fix it"}, agent.ProcessingEnd{Reason: agent.EndFailed}, input, refused}, false},
		"with a name of the user": {[]agent.Payload{input, agent.Title{Text: "Mine", ByUser: true}, refused}, false},
		"with a name of a hook":   {[]agent.Payload{input, agent.Title{Text: "Its", ByHook: true}, refused}, false},
		"another end":             {[]agent.Payload{input, agent.Title{Text: "the secret"}, agent.ProcessingEnd{Reason: agent.EndFailed}}, false},
	} {
		var transcript agent.Transcript
		got := false
		for i, data := range tt.log {
			ev := agent.Event{Seq: int64(i + 1), Turn: 1, Data: data}
			transcript.Apply(ev)
			got = backend.LosesTitle(&transcript, ev)
		}
		if got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A session's row knows which skills are in use, whatever part of its log a page has
// read.
func TestSkillsInUse(t *testing.T) {
	t.Parallel()
	begin := func(name string) *agent.Details {
		return &agent.Details{Skill: &agent.SkillUse{Name: name, Args: "x"}}
	}
	end := &agent.Details{Skill: &agent.SkillUse{Ended: true}}
	typed := agent.UserInput{Text: "Review.", Typed: "/review", Skill: &agent.SkillUse{Name: "review", Args: "main", ByUser: true}}
	var info backend.SessionInfo
	for i, tt := range []struct {
		data agent.Payload
		want string
	}{
		{typed, "review"},
		{agent.ToolCallEnd{Details: begin("commit")}, "review commit"},
		{agent.ToolCallEnd{Details: begin("test"), IsError: true}, "review commit"},
		{agent.ToolCallEnd{Details: end}, "review"},
		{agent.ToolCallEnd{Details: end}, "review"},
		{agent.ProcessingEnd{Reason: agent.EndDone}, "review"},
		{agent.UserInput{Text: "Go on."}, ""},
		{agent.ToolCallEnd{Details: begin("test")}, "test"},
		{agent.Rewound{ID: "r", To: 6}, ""},
		{agent.RewindUndone{ID: "r"}, "test"},
		{typed, "review"},
	} {
		info.Apply(agent.Event{Seq: int64(i + 1), Data: tt.data})
		var names []string
		for _, use := range info.Skills {
			names = append(names, use.Name+use.Args)
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("after event %d: %q, want %q", i+1, got, tt.want)
		}
	}
}

// A session is named by its first prompt, or by a command until then. A name
// that the user gave stays.
func TestFirstTitle(t *testing.T) {
	t.Parallel()
	prompt, command := agent.UserInput{Text: "Fix it"}, agent.LocalCommandStart{Command: "make"}
	for name, tt := range map[string]struct {
		has  agent.Title
		turn int
		data agent.Payload
		want string
	}{
		"a prompt":                 {agent.Title{}, 1, prompt, "Fix it"},
		"a command":                {agent.Title{}, 0, command, "! make"},
		"a prompt after a command": {agent.Title{Text: "! make"}, 1, prompt, "Fix it"},
		"a command after a prompt": {agent.Title{Text: "Fix it"}, 1, command, ""},
		"a skill":                  {agent.Title{}, 1, agent.UserInput{Typed: "/review main", Text: "Review it"}, "/review main"},
		"another prompt":           {agent.Title{Text: "Fix it"}, 2, prompt, ""},
		"a fork's same prompt":     {agent.Title{Text: "Fix it (2)"}, 1, prompt, ""},
		"a fork's other prompt":    {agent.Title{Text: "Build it (2)"}, 1, prompt, "Fix it"},
		"a late first name":        {agent.Title{}, 2, prompt, "Fix it"},
		"a name of the user's":     {agent.Title{Text: "Mine", ByUser: true}, 1, prompt, ""},
		"something else":           {agent.Title{}, 1, agent.SteeringInjected{Text: "x"}, ""},
	} {
		if got := backend.FirstTitle(tt.has, agent.Event{Turn: tt.turn, Data: tt.data}); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	for in, want := range map[string]string{
		strings.Repeat("a", 60):                                 strings.Repeat("a", 60),
		strings.Repeat("a", 61):                                 strings.Repeat("a", 60) + "…",
		"short " + strings.Repeat("a", 60):                      "short " + strings.Repeat("a", 54) + "…",
		strings.Repeat("a", 40) + " " + strings.Repeat("b", 30): strings.Repeat("a", 40) + "…",
	} {
		if got := backend.TitleFrom(in); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// OAS-331: a session is where the newest call moved it that was not taken back, and where
// it was is known of each event.
func TestPlacesOfASession(t *testing.T) {
	t.Parallel()
	move := func(seq int64, to string, failed bool) agent.Event {
		return agent.Event{Seq: seq, Data: agent.ToolCallEnd{Tool: "EnterWorktree", IsError: failed, Details: &agent.Details{Worktree: &to}}}
	}
	var s backend.SessionInfo
	s.Worktree = ".worktrees/forked"
	s.Apply(move(5, ".worktrees/a", false))
	s.Apply(move(6, ".worktrees/no", true))
	s.Apply(move(9, "", false))
	for seq, want := range map[int64]string{1: ".worktrees/forked", 5: ".worktrees/forked", 6: ".worktrees/a", 9: ".worktrees/a", 10: ""} {
		if got := s.WorktreeAt(seq); got != want {
			t.Errorf("at %d: %q, want %q", seq, got, want)
		}
	}
	for _, c := range []struct {
		ev   agent.Payload
		want string
	}{
		{agent.Rewound{ID: "x", To: 7}, ".worktrees/a"}, {agent.RewindUndone{ID: "x"}, ""}, {agent.Rewound{ID: "y", To: 2}, ".worktrees/forked"},
	} {
		s.Apply(agent.Event{Seq: s.Seq + 1, Data: c.ev})
		if s.Worktree != c.want {
			t.Errorf("after %+v: %q, want %q", c.ev, s.Worktree, c.want)
		}
	}
	for seq := int64(100); seq < 500; seq++ {
		s.Apply(move(seq, ".worktrees/b", false))
	}
	if len(s.Places) != 200 || s.Places[0] != ".worktrees/forked" {
		t.Errorf("%d places are remembered", len(s.Places))
	}
}
