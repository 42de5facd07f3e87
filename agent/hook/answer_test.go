package hook_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// said is a runner whose programs all say the same.
type said hook.Exit

func (s said) Run(_ context.Context, p hook.Program) (hook.Exit, error) { return hook.Exit(s), nil }

// answered returns the advice after a hook of a point ended so, and its entry.
func answered(t *testing.T, data agent.HookInput, x hook.Exit) (agent.HookAdvice, hook.Entry) {
	t.Helper()
	r := newRig(t, command(t, hook.EventName(data.Point()), "", "x")...)
	r.options.Runner = said(x)
	r.options.Update = func(hook.Handler, hook.PermissionUpdate) error { return nil }
	advice := r.fire(data)
	if len(r.log) != 1 {
		t.Fatalf("logged %+v", r.log)
	}
	return advice, r.log[0]
}

var (
	prompt = agent.UserPromptSubmitInput{Prompt: "go"}
	after  = agent.PostToolUseInput{HookTool: use("Bash", `{}`).HookTool}
	ending = agent.StopInput{Reason: agent.EndDone}
)

// COM-76: code 2 of a subagent's Stop hook holds it, as that of a session does.
func TestSubagentIsHeld(t *testing.T) {
	t.Parallel()
	for name, exit := range map[string]hook.Exit{
		"code 2": {Code: 2, Stderr: "run the tests"}, "an answer": {Stdout: `{"decision":"block","reason":"run the tests"}`},
	} {
		r := newRig(t, command(t, "SubagentStop", "", "x")...)
		r.options.Agent = &hook.Agent{ID: "a1", Parent: "s0", Type: "explorer"}
		r.options.Runner = said(exit)
		if advice := r.fire(ending); advice.Decision != agent.Deny || advice.Reason != "run the tests" {
			t.Errorf("%s: %+v", name, advice)
		}
	}
}

// OAS-668, COM-75, COM-76, COM-77, COM-78: what each answer means at a point.
func TestAnswers(t *testing.T) {
	t.Parallel()
	bash := use("Bash", `{"command":"ls"}`)
	request := agent.PermissionRequestInput{HookTool: bash.HookTool}
	output := "shorter"
	for name, c := range map[string]struct {
		at   agent.HookInput
		exit hook.Exit
		want agent.HookAdvice
	}{
		"nothing":         {bash, hook.Exit{}, agent.HookAdvice{}},
		"an empty object": {bash, hook.Exit{Stdout: "{}"}, agent.HookAdvice{}},

		"the form of Comate":     {bash, hook.Exit{Stdout: `{"additionalContext":"mind","permissionDecision":"allow","updatedInput":{"command":"pwd"},"reason":"fine"}`}, agent.HookAdvice{Decision: agent.Allow, Reason: "fine", Context: "mind", Input: json.RawMessage(`{"command":"pwd"}`)}},
		"in snake case":          {bash, hook.Exit{Stdout: `{"additional_context":"mind","permission_decision":"ask","reason":"why"}`}, agent.HookAdvice{Decision: agent.Ask, Reason: "why", Context: "mind"}},
		"in PascalCase":          {bash, hook.Exit{Stdout: `{"PermissionDecision":"Deny","Reason":"no"}`}, agent.HookAdvice{Decision: agent.Deny, Reason: "no"}},
		"the form of Claude":     {bash, hook.Exit{Stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`}, agent.HookAdvice{Decision: agent.Deny, Reason: "no"}},
		"its older form":         {bash, hook.Exit{Stdout: `{"decision":"approve","reason":"ok"}`}, agent.HookAdvice{Decision: agent.Allow, Reason: "ok"}},
		"it blocks":              {bash, hook.Exit{Stdout: `{"decision":"block","reason":"no"}`}, agent.HookAdvice{Decision: agent.Deny, Reason: "no"}},
		"the form of the SDK":    {bash, hook.Exit{Stdout: `{"message":"blocked here","block":true}`}, agent.HookAdvice{Decision: agent.Deny, Reason: "blocked here"}},
		"it defers":              {bash, hook.Exit{Stdout: `{"permissionDecision":"defer"}`}, agent.HookAdvice{Decision: agent.Ask}},
		"block beats allow":      {bash, hook.Exit{Stdout: `{"block":true,"permissionDecision":"allow","reason":"no"}`}, agent.HookAdvice{Decision: agent.Deny, Reason: "no"}},
		"block: false is no":     {bash, hook.Exit{Stdout: `{"block":false,"continue":true,"decision":null,"reason":null}`}, agent.HookAdvice{}},
		"both levels count":      {bash, hook.Exit{Stdout: `{"additionalContext":"a","hookSpecificOutput":{"additionalContext":"b","permissionDecision":"ask"},"decision":"allow"}`}, agent.HookAdvice{Decision: agent.Ask, Context: "a\n\nb"}},
		"nested first":           {bash, hook.Exit{Stdout: `{"hookSpecificOutput":{"additionalContext":"b"},"additionalContext":"a"}`}, agent.HookAdvice{Context: "b\n\na"}},
		"a byte order mark":      {bash, hook.Exit{Stdout: "\uFEFF \n{\"block\":true,\"reason\":\"no\"}\n"}, agent.HookAdvice{Decision: agent.Deny, Reason: "no"}},
		"systemMessage":          {bash, hook.Exit{Stdout: `{"systemMessage":"stay in the sandbox"}`}, agent.HookAdvice{Context: "stay in the sandbox"}},
		"continue: false":        {bash, hook.Exit{Stdout: `{"continue":false,"stopReason":"enough"}`}, agent.HookAdvice{Stopped: true, Stop: "enough"}},
		"a title":                {prompt, hook.Exit{Stdout: `{"sessionTitle":" Tests "}`}, agent.HookAdvice{Title: "Tests"}},
		"another output":         {after, hook.Exit{Stdout: `{"hookSpecificOutput":{"updatedToolOutput":"shorter"}}`}, agent.HookAdvice{Output: &output}},
		"a permission update":    {bash, hook.Exit{Stdout: `{"permissionUpdate":{"tool":"Bash","behavior":"deny"}}`}, agent.HookAdvice{}},
		"a notification":         {bash, hook.Exit{Stdout: `{"notification":{"title":"a","body":"b","level":"warning"}}`}, agent.HookAdvice{}},
		"unknown members":        {bash, hook.Exit{Stdout: `{"suppressOutput":true,"terminalSequence":"\u0007","x":{"decision":"deny"}}`}, agent.HookAdvice{}},
		"a list is a message":    {bash, hook.Exit{Stdout: `["deny"]`}, agent.HookAdvice{}},
		"a request is answered":  {request, hook.Exit{Stdout: `{"hookSpecificOutput":{"decision":{"behavior":"allow","updatedInput":{"command":"pwd"}}}}`}, agent.HookAdvice{Decision: agent.Allow, Input: json.RawMessage(`{"command":"pwd"}`)}},
		"a request is refused":   {request, hook.Exit{Stdout: `{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"no","interrupt":true}}}`}, agent.HookAdvice{Decision: agent.Deny, Reason: "no", Stopped: true}},
		"no input at other ends": {after, hook.Exit{Stdout: `{"updatedInput":{"command":"pwd"}}`}, agent.HookAdvice{}},

		"2 blocks":                    {bash, hook.Exit{Code: 2, Stderr: "no\n"}, agent.HookAdvice{Decision: agent.Deny, Reason: "no"}},
		"2 without a reason":          {bash, hook.Exit{Code: 2}, agent.HookAdvice{Decision: agent.Deny, Reason: "the hook x blocks this"}},
		"2 beats its own JSON":        {bash, hook.Exit{Code: 2, Stdout: `{"permissionDecision":"allow","additionalContext":"c"}`, Stderr: "no"}, agent.HookAdvice{Decision: agent.Deny, Reason: "no", Context: "c"}},
		"2 before a prompt":           {prompt, hook.Exit{Code: 2, Stderr: "no"}, agent.HookAdvice{Decision: agent.Deny, Reason: "no"}},
		"2 at the end":                {ending, hook.Exit{Code: 2, Stderr: "run the tests"}, agent.HookAdvice{Decision: agent.Deny, Reason: "run the tests"}},
		"2 before a compaction":       {agent.PreCompactInput{}, hook.Exit{Code: 2, Stderr: "no"}, agent.HookAdvice{Decision: agent.Deny, Reason: "no"}},
		"2 at a permission request":   {request, hook.Exit{Code: 2, Stderr: "no"}, agent.HookAdvice{Decision: agent.Deny, Reason: "no"}},
		"2 after a call":              {after, hook.Exit{Code: 2, Stderr: "unformatted"}, agent.HookAdvice{Context: "unformatted"}},
		"2 at the end of a session":   {agent.SessionEndInput{}, hook.Exit{Code: 2, Stderr: "no"}, agent.HookAdvice{}},
		"1 decides nothing":           {bash, hook.Exit{Code: 1, Stderr: "broken", Stdout: "text"}, agent.HookAdvice{}},
		"1 with a denial":             {bash, hook.Exit{Code: 1, Stdout: `{"block":true,"reason":"no"}`}, agent.HookAdvice{Decision: agent.Deny, Reason: "no"}},
		"1 vouches for nothing":       {bash, hook.Exit{Code: 1, Stdout: `{"permissionDecision":"allow"}`}, agent.HookAdvice{}},
		"255 is not a signal":         {bash, hook.Exit{Code: 255, Stderr: "unreachable"}, agent.HookAdvice{}},
		"a prompt is blocked":         {prompt, hook.Exit{Stdout: `{"decision":"block","reason":"no"}`}, agent.HookAdvice{Decision: agent.Deny, Reason: "no"}},
		"a prompt is not asked about": {prompt, hook.Exit{Stdout: `{"permissionDecision":"ask"}`}, agent.HookAdvice{}},
		"an end is held":              {ending, hook.Exit{Stdout: `{"decision":"block","reason":"go on"}`}, agent.HookAdvice{Decision: agent.Deny, Reason: "go on"}},
		"blocked after a call":        {after, hook.Exit{Stdout: `{"decision":"block","reason":"lint fails","hookSpecificOutput":{"additionalContext":"line 3"}}`}, agent.HookAdvice{Context: "lint fails\n\nline 3"}},
		"blocked where nobody cares":  {agent.NotificationInput{}, hook.Exit{Stdout: `{"decision":"block","reason":"no"}`}, agent.HookAdvice{}},

		"plain text before a prompt": {prompt, hook.Exit{Stdout: "It is Friday.\n"}, agent.HookAdvice{Context: "It is Friday."}},
		"plain text at the start":    {agent.SessionStartInput{}, hook.Exit{Stdout: "It is Friday."}, agent.HookAdvice{Context: "It is Friday."}},
		"plain text after a call":    {after, hook.Exit{Stdout: "formatted"}, agent.HookAdvice{Context: "formatted"}},
		"plain text before a call":   {bash, hook.Exit{Stdout: "It is Friday."}, agent.HookAdvice{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			advice, entry := answered(t, c.at, c.exit)
			want := c.want
			if want.Decision == agent.Ask && want.Reason == "" || want.Decision == agent.Allow && want.Reason == "" {
				advice.Reason = ""
			}
			if diff := cmp.Diff(want, advice, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\n%+v", diff, entry)
			}
			if failed := entry.Outcome == hook.OutcomeFailed; failed != (c.exit.Code != 0 && c.exit.Code != 2 && !strings.HasPrefix(c.exit.Stdout, "{")) {
				t.Errorf("%+v", entry)
			}
		})
	}
}

// What is shown to the user alone reaches the report of the hook.
func TestAnswersForTheUser(t *testing.T) {
	t.Parallel()
	r := newRig(t, command(t, "PreToolUse", "", "x")...)
	r.options.Runner = said{Stdout: `{"message":"seen","systemMessage":"both","continue":false,"stopReason":"enough","notification":{"title":"T","body":"B","level":"error"}}`}
	r.fire(use("Bash", `{}`))
	end := r.reported[1].(agent.HookEnd)
	end.DurationMs = 0
	want := agent.HookEnd{
		Point: agent.HookPreToolUse, Name: "x", CallID: "c1", Stopped: true, Message: "seen\n\nenough", Said: "both",
		Notice: &agent.HookNotice{Title: "T", Body: "B", Level: agent.NoticeError},
	}
	if diff := cmp.Diff(want, end); diff != "" {
		t.Error(diff)
	}
}

// OAS-668: a notification has a title, a body and a level, which is info if the hook
// gives none, and stands where the other members of an answer do.
func TestNotices(t *testing.T) {
	t.Parallel()
	info := &agent.HookNotice{Body: "B", Level: agent.NoticeInfo}
	for stdout, want := range map[string]*agent.HookNotice{
		`{"notification":{"body":"B"}}`:                                                                        info,
		`{"notification":"B"}`:                                                                                 info,
		`{"hookSpecificOutput":{"notification":{"body":"B"}}}`:                                                 info,
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","notification":"B"}}`:                             info,
		`{"notification":{"body":"B","level":"debug"}}`:                                                        {Body: "B", Level: agent.NoticeDebug},
		`{"hook_specific_output":{"notification":{"title":"T","level":"WARNING"}}}`:                            {Title: "T", Level: agent.NoticeWarning},
		`{"hookSpecificOutput":{"notification":{"title":"T","body":"B","level":"error"}},"systemMessage":"s"}`: {Title: "T", Body: "B", Level: agent.NoticeError},
		`{"hookSpecificOutput":{"additionalContext":"c"}}`:                                                     nil,
	} {
		r := newRig(t, command(t, "PreToolUse", "", "x")...)
		r.options.Runner = said{Stdout: stdout}
		r.fire(use("Bash", `{}`))
		if diff := cmp.Diff(want, r.reported[1].(agent.HookEnd).Notice); diff != "" {
			t.Errorf("%s: %s", stdout, diff)
		}
	}
}

// K-34: a hook that guards calls and says something that cannot be understood
// denies the call and says why; anywhere else it decides nothing.
func TestGarbageFailsClosed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		exit  hook.Exit
		cause hook.Cause
		says  string
	}{
		"half JSON":                  {hook.Exit{Stdout: `{"permissionDecision":"allow"`}, hook.CauseJSON, "not whole"},
		"half JSON and more":         {hook.Exit{Stdout: "{\"permissionDecision\":\"deny\"\ndone"}, hook.CauseJSON, "not whole"},
		"a decision of nobody":       {hook.Exit{Stdout: `{"permissionDecision":"maybe"}`}, hook.CauseJSON, "permissionDecision is not a decision"},
		"a decision in numbers":      {hook.Exit{Stdout: `{"decision":1}`}, hook.CauseJSON, "decision is not a text"},
		"two decisions":              {hook.Exit{Stdout: `{"decision":"deny","Decision":"allow"}`}, hook.CauseJSON, "Decision twice"},
		"two words for one":          {hook.Exit{Stdout: `{"permission_decision":"deny","permissionDecision":"allow"}`}, hook.CauseJSON, "twice"},
		"an input that is none":      {hook.Exit{Stdout: `{"updatedInput":"ls"}`}, hook.CauseJSON, "updatedInput is not an object"},
		"nested garbage":             {hook.Exit{Stdout: `{"hookSpecificOutput":{"permissionDecision":[]}}`}, hook.CauseJSON, "hookSpecificOutput is not right: permissionDecision is not a text"},
		"nested too deeply":          {hook.Exit{Stdout: strings.Repeat(`{"hookSpecificOutput":`, 9) + "{}" + strings.Repeat("}", 9)}, hook.CauseJSON, "not an object"},
		"garbage with code 2":        {hook.Exit{Stdout: `{"x`, Code: 2}, hook.CauseJSON, "not whole"},
		"no program":                 {hook.Exit{Code: 127, Stderr: "x: not found\nmore"}, hook.CauseMissing, "cannot run its program: x: not found"},
		"a program that may not run": {hook.Exit{Code: 126, Stdout: `{"permissionDecision":"allow"}`}, hook.CauseMissing, "cannot run its program"},
		"a crash":                    {hook.Exit{Code: 139, Stdout: `{"permissionDecision":"allow"}`}, hook.CauseSignal, "ended by signal 11"},
		"the last signal":            {hook.Exit{Code: 192}, hook.CauseSignal, "ended by signal 64"},
		"too much output":            {hook.Exit{Dropped: 1, Stdout: `{"permissionDecision":"allow"}`}, hook.CauseOutput, "printed too much"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bash := use("Bash", `{}`)
			for _, at := range []agent.HookInput{bash, agent.PermissionRequestInput{HookTool: bash.HookTool}, after, ending, prompt} {
				advice, entry := answered(t, at, c.exit)
				guards := at.Point() == agent.HookPreToolUse || at.Point() == agent.HookPermissionRequest
				if guards && (advice.Decision != agent.Deny || !strings.Contains(advice.Reason, "the hook x ") || !strings.Contains(advice.Reason, c.says)) {
					t.Errorf("%s: %+v", at.Point(), advice)
				}
				if !guards && !cmp.Equal(advice, agent.HookAdvice{}) {
					t.Errorf("%s: %+v", at.Point(), advice)
				}
				if entry.Outcome != hook.OutcomeFailed || entry.Cause != c.cause {
					t.Errorf("%s: %+v", at.Point(), entry)
				}
			}
		})
	}
}

// An answer counts though its program prints other text as well, which is a message. It
// allows nothing, because that text may be from the call. Where a call waits, a broken
// decision denies it.
func TestAnswersAmongText(t *testing.T) {
	t.Parallel()
	bash := use("Bash", `{"command":"ls"}`)
	const deny = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`
	for name, c := range map[string]struct {
		at     agent.HookInput
		stdout string
		want   agent.HookAdvice
	}{
		"before":           {bash, "nvm: using node 22\n" + deny, agent.HookAdvice{Decision: agent.Deny, Reason: "no"}},
		"after":            {bash, deny + "\nbye", agent.HookAdvice{Decision: agent.Deny, Reason: "no"}},
		"both, indented":   {bash, "a {b}\n{\n  \"decision\": \"block\",\n  \"reason\": \"no\"\n}\nc", agent.HookAdvice{Decision: agent.Deny, Reason: "no"}},
		"on a line":        {bash, "[hook] " + deny + " (done)", agent.HookAdvice{Decision: agent.Deny, Reason: "no"}},
		"a fence":          {bash, "```json\n{\"permission_decision\":\"ask\",\"reason\":\"look\"}\n```", agent.HookAdvice{Decision: agent.Ask, Reason: "look"}},
		"a mark":           {bash, "\ufeffx\n" + deny, agent.HookAdvice{Decision: agent.Deny, Reason: "no"}},
		"the strictest":    {bash, "{\"decision\":\"approve\"}\n" + deny + "\n{\"decision\":\"ask\"}", agent.HookAdvice{Decision: agent.Deny, Reason: "no"}},
		"an allow":         {bash, "checks: x\n{\"permissionDecision\":\"allow\"}", agent.HookAdvice{}},
		"other JSON":       {bash, "log\n{\"level\":\"info\"}\n" + deny, agent.HookAdvice{Decision: agent.Deny, Reason: "no"}},
		"broken":           {bash, "log\n{\"permissionDecision\": \"deny\", ", agent.HookAdvice{Decision: agent.Deny, Reason: "the hook x gave an answer that cannot be read: it begins JSON that is not whole or not valid"}},
		"Stop":             {ending, "done\n{\"decision\":\"block\",\"reason\":\"go on\"}", agent.HookAdvice{Decision: agent.Deny, Reason: "go on"}},
		"a prompt":         {prompt, "note\n{\"decision\":\"block\",\"reason\":\"no\"}", agent.HookAdvice{Decision: agent.Deny, Reason: "no", Context: "note"}},
		"context":          {prompt, "note\n{\"hookSpecificOutput\":{\"additionalContext\":\"more\"}}\nend", agent.HookAdvice{Context: "more\n\nnote\n\nend"}},
		"prose about JSON": {prompt, "Answer with \"decision\": one word {like this}.", agent.HookAdvice{Context: "Answer with \"decision\": one word {like this}."}},
		"the turn ends":    {after, "x\n{\"continue\":false,\"stopReason\":\"enough\"}", agent.HookAdvice{Context: "x", Stopped: true, Stop: "enough"}},
	} {
		advice, _ := answered(t, c.at, hook.Exit{Stdout: c.stdout})
		if diff := cmp.Diff(c.want, advice); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if advice, _ := answered(t, bash, hook.Exit{Stdout: "x\n" + deny, Code: 1}); advice.Decision != agent.Deny {
		t.Errorf("with code 1: %+v", advice)
	}
}

// However many braces a program prints, they take no time.
func TestManyBraces(t *testing.T) {
	t.Parallel()
	bash := use("Bash", `{}`)
	for _, brace := range []string{"{", `{"a":`, "{} ", `{"decision":`} {
		answered(t, bash, hook.Exit{Stdout: "x " + strings.Repeat(brace, 900_000/len(brace)) + `"decision":1`})
	}
}

// K-10, COM-82, OAS-667: deny beats ask beats allow in whatever order hooks
// answer, the last input wins, and every text of the winning side is there.
func TestMergeIsStrict(t *testing.T) {
	t.Parallel()
	words := []string{"", "allow", "ask", "deny"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		n := 1 + random.IntN(6)
		var registry []hook.Handler
		strictest, lastInput, texts := 0, -1, []string{}
		for i := range n {
			word, input := random.IntN(len(words)), random.IntN(3) == 0
			strictest = max(strictest, word)
			a := hook.Answer{Decision: agent.Decision(words[word]), Reason: string(rune('a' + i)), Context: string(rune('A' + i))}
			if texts = append(texts, a.Context); input {
				lastInput = i
				a.Input = json.RawMessage(`{"n":` + string(rune('0'+i)) + `}`)
			}
			registry = append(registry, function(t, hook.Code{Point: agent.HookPreToolUse, Name: a.Reason, Func: func(context.Context, agent.HookCall) (*hook.Answer, error) {
				return &a, nil
			}})...)
		}
		r := newRig(t, registry...)
		advice := r.fire(use("Bash", `{}`))
		if string(advice.Decision) != words[strictest] || advice.Context != strings.Join(texts, "\n\n") {
			t.Fatalf("%+v", advice)
		}
		if lastInput < 0 && advice.Input != nil || lastInput >= 0 && string(advice.Input) != `{"n":`+string(rune('0'+lastInput))+`}` {
			t.Fatalf("the input is %s instead of that of hook %d", advice.Input, lastInput)
		}
		for _, e := range r.log {
			if says := strings.Contains(advice.Reason, e.Effect.Reason); says != (strictest > 0 && string(e.Effect.Decision) == words[strictest]) {
				t.Fatalf("%q does not go with %+v", advice.Reason, e.Effect)
			}
		}
		if !slices.IsSortedFunc(r.log, func(a, b hook.Entry) int { return a.At.Compare(b.At) }) {
			t.Fatal("they did not run one after the other")
		}
	}
}

// A program that failed is named by its exit code, and by what it printed first.
func TestExitCodeIsTold(t *testing.T) {
	t.Parallel()
	for want, exit := range map[string]hook.Exit{
		"3: no database": {Code: 3, Stderr: "no database\nmore", Stdout: "x"},
		"1: sorry":       {Code: 1, Stdout: "sorry"},
		"7":              {Code: 7},
	} {
		if _, entry := answered(t, after, exit); entry.Cause != hook.CauseExit || entry.Detail != want {
			t.Errorf("%+v: %s %q, want %q", exit, entry.Cause, entry.Detail, want)
		}
	}
}

// Reading any output of a hook ends, and output that is not understood never
// allows a call.
func FuzzAnswer(f *testing.F) {
	f.Add(`{"permissionDecision":"allow","updatedInput":{}}`, 0)
	f.Add(`{"hookSpecificOutput":{"decision":{"behavior":"deny"}}}`, 2)
	f.Add(`{"block":true,"notification":"x","permissionUpdate":{"tool":"a","behavior":"ask"}}`, 1)
	f.Fuzz(func(t *testing.T, text string, code int) {
		advice, entry := answered(t, use("Bash", `{}`), hook.Exit{Stdout: text, Code: code})
		if entry.Outcome == hook.OutcomeFailed && entry.Cause != hook.CauseExit && entry.Cause != hook.CauseUpdate && advice.Decision != agent.Deny {
			t.Fatalf("%+v after %+v", advice, entry)
		}
		if advice.Decision == agent.Allow && (code != 0 || !json.Valid([]byte(strings.TrimPrefix(strings.TrimSpace(text), "\uFEFF")))) {
			t.Fatalf("%q with code %d allows", text, code)
		}
		if code == 2 && advice.Decision != agent.Deny {
			t.Fatalf("%+v", advice)
		}
		if advice.Input != nil && advice.Input[0] != '{' {
			t.Fatalf("the input is %s", advice.Input)
		}
	})
}
