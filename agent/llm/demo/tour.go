package demo

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"atelier.dev/atelier/agent/llm"
)

// lastPrompt returns the user's last prompt and the messages since. A message by the
// loop is not a prompt.
func lastPrompt(messages []llm.Message) (string, []llm.Message) {
	for i, m := range slices.Backward(messages) {
		if text := m.Text(); m.Role == llm.RoleUser && text != "" && !strings.HasPrefix(text, "<update>") {
			return text, messages[i+1:]
		}
	}
	return "", nil
}

func wantsTour(prompt string) bool {
	p := strings.ToLower(prompt)
	return strings.Contains(p, "tour") || strings.Contains(p, "show me around") || strings.Contains(p, "带我看看")
}

func isChinese(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// tour is the state of a tour, found by repeating the plan with the calls so
// far.
type tour struct {
	say     *phrases
	tools   map[string]bool
	made    []llm.ToolCall // not yet matched to a stop of the plan
	results map[string]llm.ToolResult
	seen    map[stop]outcome
}

// stop is one tool call of the tour.
type stop string

const (
	stopList    stop = "list"
	stopRead    stop = "read"
	stopSearch  stop = "search"
	stopWrite   stop = "write"
	stopReread  stop = "reread"
	stopRewrite stop = "rewrite"
	stopEdit    stop = "edit"
	stopRun     stop = "run"
)

// outcome is the result of a stop's call.
type outcome struct {
	text   string
	failed bool
	denied bool
}

func (o outcome) ok() bool { return !o.failed && o.text != "" }

// planned is a stop with its conditions.
type planned struct {
	stop  stop
	tool  string
	when  func(*tour) bool
	input func(*tour) map[string]any
}

const script = "atelier-tour/hello.sh"

const scriptText = `#!/usr/bin/env bash
# Written by Atelier's demo tour. The folder can be deleted.
greeting="Hello from Atelier"
echo "$greeting"
for n in 1 2 3 4 5; do
  echo "$n"
  sleep 0.3
done
echo "done"
`

func always(*tour) bool    { return true }
func written(t *tour) bool { return t.seen[stopWrite].ok() || t.seen[stopRewrite].ok() }

func writeScript(*tour) map[string]any {
	return map[string]any{"file_path": script, "content": scriptText}
}

// plan is the tour. An earlier tour may have left its script behind; a file
// that exists is read before it is written again.
var plan = []planned{
	{stopList, "Glob", always, func(*tour) map[string]any { return map[string]any{"pattern": "*"} }},
	{stopRead, "Read", func(t *tour) bool { return t.file() != "" }, func(t *tour) map[string]any {
		return map[string]any{"file_path": t.file(), "limit": 40}
	}},
	{stopSearch, "Grep", always, func(t *tour) map[string]any { return map[string]any{"pattern": t.word()} }},
	{stopWrite, "Write", always, writeScript},
	{
		stopReread, "Read",
		func(t *tour) bool { return t.seen[stopWrite].failed && !t.seen[stopWrite].denied },
		func(*tour) map[string]any { return map[string]any{"file_path": script} },
	},
	{stopRewrite, "Write", func(t *tour) bool { return t.seen[stopReread].ok() }, writeScript},
	{stopEdit, "Edit", written, func(*tour) map[string]any {
		return map[string]any{"file_path": script, "old_string": "Hello from Atelier", "new_string": "Welcome to Atelier"}
	}},
	{stopRun, "Bash", written, func(t *tour) map[string]any {
		return map[string]any{"command": "bash " + script, "description": t.say.runDescription}
	}},
}

func newTour(say *phrases, tools []llm.ToolSpec, since []llm.Message) *tour {
	t := &tour{say: say, tools: map[string]bool{}, results: map[string]llm.ToolResult{}, seen: map[stop]outcome{}}
	for _, s := range tools {
		t.tools[s.Name] = true
	}
	for _, m := range since {
		t.made = append(t.made, m.Calls()...)
		for _, p := range m.Parts {
			if p.Kind == llm.PartToolResult && p.Result != nil {
				t.results[p.Result.CallID] = *p.Result
			}
		}
	}
	return t
}

// next comments on the last stop and announces the next one, or ends the tour.
func (t *tour) next() (string, *call) {
	said := t.say.welcome
	for _, p := range plan {
		if !t.tools[p.tool] || !p.when(t) {
			continue
		}
		if i := slices.IndexFunc(t.made, func(c llm.ToolCall) bool { return c.Name == p.tool }); i >= 0 {
			t.seen[p.stop] = t.outcome(t.made[i].ID)
			t.made = t.made[i+1:]
			said = t.remark(p.stop)
			continue
		}
		input, err := json.Marshal(p.input(t))
		if err != nil {
			continue // maps of strings and numbers always encode
		}
		return said + "\n\n" + t.announce(p.stop), &call{p.tool, input}
	}
	return said + "\n\n" + t.say.closing(written(t)), nil
}

func (t *tour) outcome(callID string) outcome {
	r, ok := t.results[callID]
	if !ok {
		return outcome{failed: true}
	}
	text := strings.TrimSpace(llm.Message{Parts: r.Parts}.Text())
	if text == "" {
		text = "-" // it worked and had nothing to say
	}
	return outcome{text: text, failed: r.IsError, denied: r.IsError && strings.Contains(text, "denied")}
}

// entries returns the paths that the first stop listed.
func (t *tour) entries() []string {
	if !t.seen[stopList].ok() {
		return nil
	}
	var out []string
	for line := range strings.Lines(t.seen[stopList].text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "(") || strings.HasPrefix(line, "[") || strings.HasPrefix(line, "No ") || line == "-" {
			continue
		}
		out = append(out, line)
	}
	return out
}

var readable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\.(md|txt|go|py|js|ts|rs|c|h|java|rb|sh|json|toml|ya?ml|html|css|svelte)$`)
})

// file picks a file to read: one that introduces a project, else any text.
func (t *tour) file() string {
	files := slices.DeleteFunc(t.entries(), func(p string) bool { return strings.HasSuffix(p, "/") })
	for _, want := range []func(base string) bool{
		func(b string) bool { return strings.HasPrefix(strings.ToLower(b), "readme") },
		func(b string) bool { return b == "go.mod" },
		func(b string) bool { return b == "package.json" },
		readable().MatchString,
		func(string) bool { return true },
	} {
		if i := slices.IndexFunc(files, func(p string) bool { return want(path.Base(p)) }); i >= 0 {
			return files[i]
		}
	}
	return ""
}

var (
	lineNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*\d+(\t|→|\||: ?)`) })
	anyWord    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\p{L}[\p{L}\p{N}_]{3,}`) })
)

// common are words of first lines that say nothing about a project.
var common = []string{"module", "name", "version", "private", "package", "https", "http", "this", "with", "import", "from"}

// word picks a word to search for from the file just read.
func (t *tour) word() string {
	if o := t.seen[stopRead]; o.ok() {
		for _, w := range anyWord().FindAllString(lineNumber().ReplaceAllString(o.text, ""), 50) {
			if !slices.Contains(common, strings.ToLower(w)) {
				return string([]rune(w)[:min(12, len([]rune(w)))])
			}
		}
	}
	return "TODO"
}
