package hook_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"github.com/google/go-cmp/cmp"
)

// summary writes what was read in lines: hooks, then findings.
func summary(handlers []hook.Handler, findings []hook.Finding) string {
	var lines []string
	for _, h := range handlers {
		does := ""
		switch {
		case h.Command != nil:
			does = fmt.Sprintf("%q", append([]string{h.Command.Line}, h.Command.Args...))
		case h.Request != nil:
			does = h.Request.URL
		}
		line := fmt.Sprintf("%d: %s %q %s %s %s", h.Origin.Line, h.Point, h.Matcher, h.Kind, does, h.Terms.Timeout)
		if h.Terms.Async {
			line += " async"
		}
		if h.Defect != "" {
			line += " defect=" + string(h.Defect)
		}
		lines = append(lines, line)
	}
	for _, f := range findings {
		harmless := "!"
		if f.Harmless {
			harmless = "?"
		}
		lines = append(lines, fmt.Sprintf("%d%s %s %s", f.Line, harmless, f.ID, strings.Join(f.Args, " / ")))
	}
	return strings.Join(lines, "\n")
}

// ok is a hook without a problem.
const ok = `{"type":"command","command":"ok"}`

// shapes are those in which hooks are found, and what is read and reported.
var shapes = map[string]struct {
	form hook.Form
	text string
	want string
}{
	"the form of the documentation": {hook.FormAgent, `{
  "PreToolUse": [
    {
      "matcher": "Read|Grep|Bash",
      "hooks": [
        {"type": "command", "command": "python .agent/hooks/validate_tool.py", "timeout": 10}
      ]
    }
  ]
}`, `6: preToolUse "Read|Grep|Bash" command ["python .agent/hooks/validate_tool.py"] 10s
4? matcher_wide Read|Grep|Bash / Read, Bash, Grep / ReadMany`},
	"both spellings of an event": {hook.FormAgent, `{"Stop":[{"hooks":[` + ok + `]}],"sessionStart":[{"hooks":[` + ok + `]}]}`,
		`1: stop "" command ["ok"] 10s
1: sessionStart "" command ["ok"] 10s`},
	"one event twice": {hook.FormAgent, `{"Stop":[{"hooks":[` + ok + `]}],"stop":[{"hooks":[` + ok + `]}],"Stop":[{"hooks":[` + ok + `]}]}`,
		`1: stop "" command ["ok"] 10s
1: stop "" command ["ok"] 10s
1: stop "" command ["ok"] 10s`},
	"times of .claude files": {hook.FormClaude, `{"Stop":[{"hooks":[` + ok + `]}],"UserPromptSubmit":[{"hooks":[` + ok + `]}],"SessionEnd":[{"hooks":[` + ok + `]}]}`,
		`1: stop "" command ["ok"] 10m0s
1: userPromptSubmit "" command ["ok"] 30s
1: sessionEnd "" command ["ok"] 1.5s`},
	"times": {hook.FormAgent, `{"Stop":[{"hooks":[
{"type":"command","command":"a","timeout":0.5},
{"type":"command","command":"b","timeout":30000},
{"type":"command","command":"c","timeout":700},
{"type":"command","command":"d","timeout":0},
{"type":"command","command":"e","timeout":-3},
{"type":"command","command":"f","timeout":"5"},
{"type":"command","command":"g","timeout":null},
{"type":"command","command":"h","timeout":1e300}
]}]}`, `2: stop "" command ["a"] 500ms
3: stop "" command ["b"] 10m0s
4: stop "" command ["c"] 10m0s
5: stop "" command ["d"] 10s
6: stop "" command ["e"] 10s
7: stop "" command ["f"] 10s
8: stop "" command ["g"] 10s
9: stop "" command ["h"] 10m0s
3? timeout_milli 30000
4? timeout_long 700
5? timeout_bad 0 / 10
6? timeout_bad -3 / 10
7? timeout_bad 5 / 10
9? timeout_milli 1e300`},
	"all matchers mean all": {hook.FormClaude, `{"PreToolUse":[{"hooks":[` + ok + `]},{"matcher":"","hooks":[` + ok + `]},{"matcher":"*","hooks":[` + ok + `]},{"matcher":null,"hooks":[` + ok + `]},{"matcher":".*","hooks":[` + ok + `]}]}`,
		`1: preToolUse "" command ["ok"] 10m0s
1: preToolUse "" command ["ok"] 10m0s
1: preToolUse "*" command ["ok"] 10m0s
1: preToolUse "" command ["ok"] 10m0s
1: preToolUse ".*" command ["ok"] 10m0s`},
	"names are exact in .claude files": {hook.FormClaude, `{"PreToolUse":[{"matcher":"Edit, Write","hooks":[` + ok + `]},{"matcher":"Read","hooks":[` + ok + `]},{"matcher":"Red","hooks":[` + ok + `]},{"matcher":"mcp__db__.*","hooks":[` + ok + `]}]}`,
		`1: preToolUse "Edit, Write" command ["ok"] 10m0s
1: preToolUse "Read" command ["ok"] 10m0s
1: preToolUse "Red" command ["ok"] 10m0s
1: preToolUse "mcp__db__.*" command ["ok"] 10m0s
1? matcher_none Red`},
	"matchers that cannot be read": {hook.FormAgent, `{"PreToolUse":[{"matcher":"Bash(","hooks":[` + ok + `]},
{"matcher":["Bash"],"hooks":[` + ok + `]}],"PostToolUse":[
{"matcher":"(?<!x)y","hooks":[` + ok + `]}]}`,
		`1: preToolUse "Bash(" command ["ok"] 10s defect=matcher
2: preToolUse "[\"Bash\"]" command ["ok"] 10s defect=matcher
3: postToolUse "(?<!x)y" command ["ok"] 10s defect=matcher
1! matcher_guard Bash( / error parsing regexp: missing closing ): ` + "`Bash(`" + `
2! matcher_guard ["Bash"] / it is not a text
3! matcher_bad (?<!x)y / error parsing regexp: invalid named capture: ` + "`(?<!x)y`"},
	"a matcher where there is none": {hook.FormAgent, `{"Stop":[{"matcher":"Bash","hooks":[` + ok + `]}],"UserPromptSubmit":[{"matcher":"*","hooks":[` + ok + `]}]}`,
		`1: stop "" command ["ok"] 10s
1: userPromptSubmit "" command ["ok"] 10s
1? matcher_unused Stop`},
	"types": {hook.FormAgent, `{"PreToolUse":[{"hooks":[
{"command":"no type"},
{"type":"prompt","prompt":"Is $ARGUMENTS fine?"},
{"type":"agent","prompt":"Look."},
{"type":"mcp_tool","server":"db","tool":"check"},
{"type":"command"},
{"type":"command","command":"  "},
{},
{"type":"http","url":"https://example.com/hook","headers":{"Authorization":"Bearer $TOKEN"},"allowedEnvVars":["TOKEN"]},
{"type":"http","url":"ftp://example.com"},
{"type":"http","url":"https://me:secret@example.com/"},
` + ok + `
]}]}`, `2: preToolUse "" command ["no type"] 10s
3: preToolUse "" prompt  10s defect=kind
4: preToolUse "" agent  10s defect=kind
5: preToolUse "" mcp_tool  10s defect=kind
6: preToolUse "" command [""] 10s defect=kind
7: preToolUse "" command ["  "] 10s defect=kind
8: preToolUse ""   10s defect=kind
9: preToolUse "" http https://example.com/hook 10s
10: preToolUse "" http ftp://example.com 10s defect=kind
11: preToolUse "" http https://me:secret@example.com/ 10s defect=kind
12: preToolUse "" command ["ok"] 10s
2? kind_missing 
3! kind_unknown prompt
4! kind_unknown agent
5! kind_unknown mcp_tool
6! command_missing 
7! command_missing 
8! handler 
10! url_bad ftp://example.com
11! url_bad https://me:secret@example.com/`},
	"members": {hook.FormClaude, `{"Stop":[{"description":"tests","hooks":[
{"type":"command","command":"./run","args":["a b","c"],"description":"d","commandWindows":"w","statusMessage":"Testing","once":true},
{"type":"command","command":"a","async":true,"asyncRewake":true,"if":"Bash(git *)","shell":"fish"},
{"type":"command","command":7,"args":"x","name":null}
],"version":1}]}`, `2: stop "" command ["./run" "a b" "c"] 10m0s
3: stop "" command ["a"] 10m0s async
4: stop "" command [""] 10m0s defect=kind
3? member_unused asyncRewake
3? if_unused Stop
3? member_type shell
3? async 
4? member_type command
4? member_type args
4! command_missing `},
	"hooks are a list":  {hook.FormClaude, `[` + ok + `]`, `1! not_object `},
	"hooks are nothing": {hook.FormClaude, `null`, `1! not_object `},
	"odd groups": {hook.FormClaude, `{
"Stop": {"hooks":[` + ok + `]},
"PreToolUse": ["x", 7, {"matcher":"Bash"}, {"hooks":[]}, {"hooks":{}}, {"hooks":["x", ` + ok + `]}],
"PostToolUse": null
}`, `3: preToolUse "" command ["ok"] 10m0s
2! not_list Stop
3! group 
3! group 
3! group 
3? group_empty 
3! group 
3! handler 
4! not_list PostToolUse`},
	"flat hooks of other products": {hook.FormAgent, `{"sessionStart":[{"type":"command","bash":"./a.sh","powershell":"a.ps1","timeoutSec":10}],
"preToolUse":[{"command":"./b.sh"}, {"hooks":[` + ok + `]}]}`, `2: preToolUse "" command ["ok"] 10s
1! flat Cursor, Copilot
2! flat Cursor, Copilot`},
	"events of other products": {hook.FormAgent, `{
"BeforeTool":[],
"beforeShellExecution":[],
"PostToolBatch":[],
"pre_tool_use":[],
"PRETOOLUSE":[],
"OnSave":[],
"stop":[{"hooks":[` + ok + `]}]}`, `8: stop "" command ["ok"] 10s
2! event_foreign BeforeTool / Gemini CLI
3! event_foreign beforeShellExecution / Cursor
4! event_foreign PostToolBatch / Claude Code
5! event_close pre_tool_use / PreToolUse
6! event_close PRETOOLUSE / PreToolUse
7! event_unknown OnSave`},
}

// COM-71, COM-72, COM-84, OAS-665: each shape in which hooks are found, what is
// read and what its author is told. Nothing that is wrong affects what stands beside it.
func TestParse(t *testing.T) {
	t.Parallel()
	for name, c := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handlers, findings := hook.Parse(json.RawMessage(c.text), hook.Origin{Scope: hook.ScopeUser, File: "/f", Form: c.form})
			if diff := cmp.Diff(c.want, summary(handlers, findings)); diff != "" {
				t.Error(diff)
			}
			for _, f := range findings {
				if f.Message == "" || strings.Contains(f.Message, "{") && !strings.Contains(c.text, f.Args[0]) {
					t.Errorf("%s says %q", f.ID, f.Message)
				}
			}
		})
	}
}

// OAS-666: a timeout is in seconds; a hook never has more than the most, and from 1,000
// on its author is told that this looks like milliseconds.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"10": "10s", "0.0001": "1ms", "600": "10m0s", "601": "10m0s timeout_long", "999.9": "10m0s timeout_long",
		"1000": "10m0s timeout_milli", "1001": "10m0s timeout_milli",
	} {
		handlers, findings := hook.Parse(json.RawMessage(`{"Stop":[{"hooks":[{"type":"command","command":"x","timeout":`+written+`}]}]}`),
			hook.Origin{Scope: hook.ScopeUser, File: "/f", Form: hook.FormClaude})
		got := handlers[0].Terms.Timeout.String()
		for _, f := range findings {
			got += " " + string(f.ID)
		}
		if got != want {
			t.Errorf("%s: %s instead of %s", written, got, want)
		}
	}
}

// All 24 events are read under both names.
func TestParseReadsAllEvents(t *testing.T) {
	t.Parallel()
	for _, input := range agent.HookInputs() {
		for _, name := range []string{string(input.Point()), hook.EventName(input.Point())} {
			handlers := parse(t, hook.FormAgent, `{"`+name+`":[{"hooks":[{"type":"command","command":"x"}]}]}`)
			if len(handlers) != 1 || handlers[0].Point != input.Point() {
				t.Errorf("%s: %+v", name, handlers)
			}
		}
	}
}

// Lines are those of the file, whatever comes before the hooks in it.
func TestParseCountsLines(t *testing.T) {
	t.Parallel()
	text := "\n\n{\"Stop\":\n[{\"hooks\":[\n\n{\"type\":\"command\",\"command\":\"x\"}]}]}"
	handlers, findings := hook.Parse(json.RawMessage(text), hook.Origin{Line: 40})
	if len(handlers) != 1 || handlers[0].Origin.Line != 45 || len(findings) > 0 {
		t.Errorf("%+v, %+v", handlers, findings)
	}
	if _, findings := hook.Parse(json.RawMessage(`{"Stop":[`), hook.Origin{Line: 7}); len(findings) != 1 || findings[0].Line != 7 {
		t.Errorf("%+v", findings)
	}
}

// A file with very many hooks is read up to a limit, which is said once.
func TestParseIsBounded(t *testing.T) {
	t.Parallel()
	text := `{"Stop":[{"hooks":[` + strings.Repeat(`{"type":"command","command":"x"},`, 300) + `{}]}]}`
	handlers, findings := hook.Parse(json.RawMessage(text), hook.Origin{})
	if len(handlers) != 200 || len(findings) != 1 || findings[0].ID != hook.FindingTooMany {
		t.Errorf("%d hooks, %+v", len(handlers), findings)
	}
}

// A hook keeps its id while the rest of its file, its name or its time changes,
// and gets another one when it does something else or stands elsewhere.
func TestID(t *testing.T) {
	t.Parallel()
	const text = `{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"x"}]}]}`
	read := func(text string, change func(*hook.Origin)) string {
		origin := hook.Origin{Scope: hook.ScopeProject, File: "/p/.agent/settings.json", Form: hook.FormAgent}
		if change != nil {
			change(&origin)
		}
		handlers, _ := hook.Parse(json.RawMessage(text), origin)
		return handlers[len(handlers)-1].ID()
	}
	id := read(text, nil)
	for _, same := range []string{
		strings.Replace(text, `{"Pre`, "{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"y\"}]}],\n\"Pre", 1),
		strings.Replace(text, `"x"`, `"x", "timeout": 3, "name": "mine", "statusMessage": "…"`, 1),
		strings.Replace(text, "PreToolUse", "preToolUse", 1),
	} {
		if read(same, nil) != id {
			t.Errorf("another id: %s", same)
		}
	}
	ids := []string{id}
	for _, other := range []string{
		strings.Replace(text, `"x"`, `"y"`, 1), strings.Replace(text, `"Bash"`, `"Edit"`, 1), strings.Replace(text, "Pre", "Post", 1),
		strings.Replace(text, `"x"`, `"x", "args": []`, 1), strings.Replace(text, `"x"`, `"x", "async": true`, 1),
		strings.Replace(text, `"x"`, `"x", "if": "Bash(ls)"`, 1), strings.Replace(text, `"x"`, `"x", "shell": "bash"`, 1),
	} {
		ids = append(ids, read(other, nil))
	}
	ids = append(ids, read(text, func(o *hook.Origin) { o.File = "/p/.claude/settings.json" }),
		read(text, func(o *hook.Origin) { o.Scope = hook.ScopeLocal }))
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != 10 {
		t.Errorf("only %d of 10 ids", n)
	}
}

// A hook without a name is called by what it runs, shortened.
func TestName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"type":"command","command":"make\n  lint"}`:                     "make lint",
		`{"type":"command","command":"x","name":" Format "}`:              "Format",
		`{"type":"command","command":"x","args":["-v"]}`:                  "x -v",
		`{"type":"http","url":"https://example.com/hook"}`:                "https://example.com/hook",
		`{"type":"command","command":"` + strings.Repeat("é", 100) + `"}`: strings.Repeat("é", 59) + "…",
		`{"type":"prompt"}`: "stop",
	} {
		handlers, _ := hook.Parse(json.RawMessage(`{"Stop":[{"hooks":[`+text+`]}]}`), hook.Origin{})
		if len(handlers) != 1 || handlers[0].Name != want {
			t.Errorf("%s: %+v", text, handlers)
		}
	}
}

// Reading any settings file ends, and every hook that may run has something to
// run, a name and a time.
func FuzzParse(f *testing.F) {
	f.Add(`{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"x","timeout":5}]}]}`, true)
	f.Add(`{"stop":[{"hooks":[{"type":"http","url":"http://[::1]:1/","headers":{"a":"$B"}},{}]},7,{"hooks":3}],"x":[]}`, false)
	f.Add(`[{"command":"\ud800"}]`, true)
	f.Fuzz(func(t *testing.T, text string, claude bool) {
		form := hook.FormAgent
		if claude {
			form = hook.FormClaude
		}
		handlers, findings := hook.Parse(json.RawMessage(text), hook.Origin{Line: 1, Form: form})
		last := strings.Count(text, "\n") + 1
		for _, h := range handlers {
			if h.Origin.Line < 1 || h.Origin.Line > last || h.Name == "" || h.ID() == "" {
				t.Fatalf("%+v", h)
			}
			if h.Terms.Timeout <= 0 || h.Terms.Timeout > hook.MostTime {
				t.Fatalf("has %s", h.Terms.Timeout.Round(time.Second))
			}
			if runs := h.Command != nil || h.Request != nil; h.Defect == "" && !runs {
				t.Fatalf("nothing to run: %+v", h)
			}
		}
		for _, found := range findings {
			if found.Message == "" || found.Line < 1 || found.Line > last {
				t.Fatalf("%+v", found)
			}
		}
	})
}
