package export_test

import (
	"bytes"
	"errors"
	"iter"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/transcript/export"
)

func sequence(data ...agent.Payload) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		for i, p := range data {
			if !yield(agent.Event{Seq: int64(i + 1), Turn: 1, At: 1_767_323_045_000, Data: p}, nil) {
				return
			}
		}
	}
}

func said(text string) agent.TextEnd {
	return agent.TextEnd{Message: llm.Text(llm.RoleAssistant, text), Provider: "p", Model: "m"}
}

var info = backend.SessionInfo{ID: "01ABC", Title: "Make the greeting polite", CreatedAt: 1_767_323_045_000, UpdatedAt: 1_767_326_045_000,
	Settings: agent.Settings{Model: "claude-x"}}

// session has a piece of every kind.
var session = []agent.Payload{
	agent.UserInput{Text: "Make the greeting polite.\nKeep it short."},
	agent.TextEnd{Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{
		{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: "The greeting is in hello.go."}},
		{Kind: llm.PartText, Text: "I look at `hello.go` first, then I change **one line**:\n\n1. read it\n2. change it\n\n## Why\n\n> Be polite.\n\nSee [the guide](https://example.com/guide).\n\n```go\nfunc main() {}\n```"},
	}}, Model: "claude-x"},
	agent.ToolCallStart{CallID: "1", Tool: "Bash", Input: `{"command":"go test ./...","description":"Run the tests"}`},
	agent.ToolCallEnd{CallID: "1", Tool: "Bash", Output: "\x1b[32mok\x1b[0m  hello 0.01s\n", Outcome: agent.OutcomeDone},
	agent.ToolCallStart{CallID: "2", Tool: "Edit", Input: `{"file_path":"hello.go","old_string":"Hi","new_string":"Good day"}`},
	agent.ToolCallEnd{CallID: "2", Tool: "Edit", Output: "done", Outcome: agent.OutcomeDone, Details: &agent.Details{Changes: []agent.FileChange{{
		Path: "hello.go", Added: 1, Removed: 1, Diff: "@@ -1,3 +1,3 @@\n package main\n-const text = \"Hi\"\n+const text = \"Good day\"\n"}}}},
	agent.ToolCallStart{CallID: "3", Tool: "Read", Input: `{"file_path":"gone.go"}`},
	agent.ToolCallEnd{CallID: "3", Tool: "Read", Output: "There is no such file.", IsError: true, Outcome: agent.OutcomeFailed},
	agent.ToolCallStart{CallID: "4", Tool: "ExitPlanMode", Input: `{"plan":"# Way\n\nOne."}`},
	agent.ToolCallEnd{CallID: "4", Tool: "ExitPlanMode", Output: "The user edited the plan and approved it.", Outcome: agent.OutcomeDone, Details: &agent.Details{Kept: &agent.KeptState{
		State: []byte(`{"plan":"# Way\n\nOne, **slowly**."}`), Text: "The plan that the user approved:\n\n# Way\n\nOne, **slowly**."}}},
	agent.SteeringInjected{Text: "And in German?"},
	agent.LocalCommandEnd{Command: "git status", Output: "clean", Outcome: agent.OutcomeDone},
	agent.CompactionEnd{Outcome: agent.OutcomeDone, Summary: "They made it polite."},
	agent.Failure{Message: "The provider refused the request."},
	said("It is **polite** now."),
}

type writer = func(*bytes.Buffer, iter.Seq2[agent.Event, error], string) error

var writers = map[string]writer{
	"html": func(b *bytes.Buffer, events iter.Seq2[agent.Event, error], language string) error {
		return export.HTML(b, info, events, language)
	},
	"md": func(b *bytes.Buffer, events iter.Seq2[agent.Event, error], language string) error {
		return export.Markdown(b, info, events, language)
	},
}

func write(t testing.TB, format string, language string, data ...agent.Payload) string {
	t.Helper()
	var b bytes.Buffer
	if err := writers[format](&b, sequence(data...), language); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The prompt that a skill made is folded below the typed text.
func TestSkillPrompt(t *testing.T) {
	t.Parallel()
	in := agent.UserInput{Typed: "/review main", Text: "Review the changes.\n```\n</details><b>bold</b>\n", Skill: &agent.SkillUse{Name: "review"}}
	for format := range writers {
		typed, sent, found := strings.Cut(write(t, format, "zh-CN", in), "<details")
		sent, _, ended := strings.Cut(sent, "\n</details>")
		if !found || !ended || !strings.Contains(typed, "/review main") || !strings.Contains(sent, "实际发送的提示") || !strings.Contains(sent, "Review the changes.") {
			t.Errorf("%s: %s | %s", format, typed, sent)
		}
		if strings.Contains(typed, "Review the changes.") {
			t.Errorf("%s shows the prompt unfolded", format)
		}
	}
	if md := write(t, "md", "", in); !strings.Contains(md, "\n````\nReview the changes.\n```\n</details><b>bold</b>\n````\n\n</details>\n") {
		t.Errorf("the prompt leaves its block:\n%s", md)
	}
}

// OAS-330: what a tool keeps as a document, such as an approved plan, is a part of both,
// and no text in it becomes markup; a list with a line of its own is in its call.
func TestKeptDocuments(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{"html": "<strong>slowly</strong>", "md": "One, **slowly**."} {
		for text, shown := range map[string]bool{
			"# Way\n\nOne, **slowly**.": true, "One, **slowly**. <script>x</script>": true, "": false,
		} {
			end := agent.ToolCallEnd{CallID: "1", Tool: "ExitPlanMode", Outcome: agent.OutcomeDone, Details: &agent.Details{Kept: &agent.KeptState{Text: text}}}
			got := write(t, format, "", end)
			if strings.Contains(got, want) != shown || strings.Contains(got, "<script>x") {
				t.Errorf("%s of %q: %s", format, text, got)
			}
			end.Details.Kept.Line = "Looking"
			if got := write(t, format, "", end); strings.Contains(got, want) {
				t.Errorf("%s has the list of tasks twice: %s", format, got)
			}
		}
	}
}

// Both documents say everything; with EXPORT_DIR set they are left there to be looked
// at.
func TestDocuments(t *testing.T) {
	t.Parallel()
	for format := range writers {
		got := write(t, format, "", session...)
		for _, want := range []string{
			"Make the greeting polite", "Keep it short.", "hello.go first", "The greeting is in", "go test ./...", "ok  hello 0.01s", "const text", "Good day", "There is no such file.",
			"failed", "And in German?", "git status", "clean", "They made it polite.", "The provider refused", "2026-01-02", "claude-x", "https://example.com/guide",
		} {
			if !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(got, "`", ""), "<code>hello.go</code>", "hello.go"), want) {
				t.Errorf("%s does not say %q", format, want)
			}
		}
		if strings.Contains(got, "\x1b") {
			t.Errorf("%s has the codes of a terminal", format)
		}
		if dir := os.Getenv("EXPORT_DIR"); dir != "" {
			if err := os.WriteFile(dir+"/session."+format, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestChineseLabels(t *testing.T) {
	t.Parallel()
	for format := range writers {
		if got := write(t, format, "zh-CN", session...); !strings.Contains(got, "失败") || strings.Contains(got, "You ") {
			t.Errorf("%s: %s", format, got)
		}
	}
}

// Parts that were taken back are not in a document.
func TestRewound(t *testing.T) {
	t.Parallel()
	back := info
	back.Rewound = []backend.Span{{ID: "r", From: 1, To: 3}}
	var b bytes.Buffer
	if err := export.Markdown(&b, back, sequence(said("one"), said("two"), said("three"), said("four")), ""); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); strings.Contains(got, "two") || strings.Contains(got, "three") || !strings.Contains(got, "one") || !strings.Contains(got, "four") {
		t.Error(got)
	}
}

// hostile are texts that try to leave their place.
var hostile = []string{
	"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "<svg/onload=alert(1)>", "</pre></details></main><h1>Forged</h1>", "<!-- ", "]]>", "&lt;script&gt;",
	"[click](javascript:alert(1))", "[click]( JaVaScRiPt:alert(1))", "<javascript:alert(1)>", "[a](https://x.example/\"onmouseover=\"alert(1))", "![x](https://tracker.example/p.png)",
	"```\n</code></pre><script>alert(1)</script>", "````\nopen", "~~~\nopen", "# Forged heading", "\u202eexe.txt", "\x1b]8;;https://evil.example\x07link\x1b]8;;\x07", "\x1b[2J\x00\u2066", "`<b>`", "**<i>**",
	"[x]: javascript:alert(1)", "<a href='data:text/html,x'>", "{{.}}", "</style><script>", "</title><script>",
}

// everywhere puts a text into every place of a session.
func everywhere(text string) []agent.Payload {
	return []agent.Payload{
		agent.UserInput{Text: text}, agent.SteeringInjected{Text: text},
		agent.TextEnd{Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: text}}, {Kind: llm.PartText, Text: text}}}, Model: text},
		agent.ToolCallStart{CallID: "1", Tool: text, Input: `{"command":` + quoted(text) + `,` + quoted(text) + `:1}`},
		agent.ToolCallEnd{CallID: "1", Tool: text, Output: text, Outcome: agent.OutcomeDone},
		agent.ToolCallEnd{CallID: "2", Tool: "Edit", Outcome: agent.OutcomeDone, Details: &agent.Details{Changes: []agent.FileChange{{Path: text, MovedTo: text, Diff: "@@\n+" + text}}}},
		agent.LocalCommandEnd{Command: text, Output: text, Outcome: agent.OutcomeDone},
		agent.CompactionEnd{Outcome: agent.OutcomeDone, Summary: text}, agent.Failure{Message: text}, agent.Warning{Message: text},
		said("The end."),
	}
}

func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < ' ':
			b.WriteString([]string{`\n`, `\u001b`}[slices.Index([]bool{r == '\n', true}, true)])
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

// tags are all tags of a document; attributes are the names of theirs.
var (
	tags       = regexp.MustCompile(`<[^>]*>`)
	attributes = regexp.MustCompile(`[\s"']([a-zA-Z-]+)=`)
)

// Nothing that a model wrote becomes a tag, an attribute or a link that runs
// something.
func TestHostileHTML(t *testing.T) {
	t.Parallel()
	allowed := strings.Fields("!doctype html head meta title style body main header h1 h2 h3 h4 dl div dt dd section time article p ul ol li blockquote pre code details summary b i em strong small span a ins del footer")
	names := strings.Fields("lang charset http-equiv content name dir class tabindex href rel")
	for _, text := range hostile {
		info := info
		info.Title, info.Settings.Model = text, text
		var b bytes.Buffer
		if err := export.HTML(&b, info, sequence(everywhere(text)...), ""); err != nil {
			t.Fatal(err)
		}
		got := b.String()
		if !strings.Contains(got, `http-equiv="Content-Security-Policy" content="default-src 'none';`) {
			t.Errorf("%q: the page may load something", text)
		}
		for _, tag := range tags.FindAllString(got, -1) {
			name := strings.ToLower(strings.Trim(strings.FieldsFunc(tag[1:], func(r rune) bool { return r == ' ' || r == '>' })[0], "/"))
			if !slices.Contains(allowed, name) {
				t.Errorf("%q became the tag %s", text, tag)
			}
			for _, a := range attributes.FindAllStringSubmatch(tag, -1) {
				if !slices.Contains(names, a[1]) && name != "meta" {
					t.Errorf("%q gave %s the attribute %s", text, tag, a[1])
				}
			}
			if strings.Contains(tag, "href=") && !strings.Contains(tag, `href="https://`) {
				t.Errorf("%q became the link %s", text, tag)
			}
		}
		for _, open := range []string{"main", "details", "pre", "section", "article"} {
			if strings.Count(got, "<"+open) != strings.Count(got, "</"+open+">") {
				t.Errorf("%q leaves %s open", text, open)
			}
		}
		if strings.ContainsAny(got, "\u202e\u2066\x1b\x00") {
			t.Errorf("%q hides text", text)
		}
	}
}

// In Markdown no text ends a block of code or opens one for what follows, and there is
// neither HTML nor a link that runs something.
func TestHostileMarkdown(t *testing.T) {
	t.Parallel()
	script := regexp.MustCompile(`(?i)([^\\]\]\(|[^\\]<|^<|[^\\]\]:)\s*javascript:`)
	for _, text := range hostile {
		got := write(t, "md", "", everywhere(text)...)
		fence, last := "", ""
		for line := range strings.Lines(got) {
			line = strings.TrimRight(strings.TrimPrefix(strings.TrimPrefix(line, ">"), " "), "\n")
			run := line[:len(line)-len(strings.TrimLeft(line, line[:min(1, len(line))]))]
			if strings.Trim(run, "`~") != "" {
				run = ""
			}
			switch {
			case fence == "" && len(run) >= 3:
				fence = run
			case fence != "" && strings.HasPrefix(run, fence) && run == line:
				fence = ""
			case fence == "":
				if script.MatchString(line) && !strings.Contains(line, "`") || regexp.MustCompile("^[^`]*[^\\\\`]<[a-zA-Z/!]").MatchString(line) {
					t.Errorf("%q is alive in %q", text, line)
				}
				last = line
			}
		}
		if fence != "" || !strings.Contains(last, "Exported") {
			t.Errorf("%q leaves a block open: %s", text, got)
		}
	}
}

// In Markdown a block of code ends where every reader sees it end, so that nothing
// behind it is HTML, and no picture is loaded.
func TestAliveMarkdown(t *testing.T) {
	t.Parallel()
	const html, picture = "<img src=x onerror=alert(1)>", "![x](https://tracker.example/p.png)"
	for before, block := range map[string]string{
		"": "", "- ```\n  ```\n": "```", "1. ```\n   ```\n": "```", "- a\n    ```\n  ```\n": "```", "- ~~~\n  ~~~\n": "~~~", "- a\n\t```\n  ```\n": "```",
		"```\n```~~~\n```\n": "", "~~~\n~~~```\n~~~\n": "", "```\n```\u00a0\n```\n": "",
	} {
		want := "\n&lt;img src=x onerror=alert(1)>\n!\\[x](https://tracker.example/p.png)\n"
		if block != "" { // it begins at the margin, where it belongs to no item
			want = "\n" + block + "\n" + html + "\n" + picture + "\n" + block + "\n"
		}
		if got := write(t, "md", "", said(before+html+"\n"+picture)); !strings.Contains(got, want) {
			t.Errorf("%q is alive in %s", before, got)
		}
	}
	for _, link := range []string{
		"[x](javascript:alert(1))", "[x](javascript\\:alert(1))", "[x](&#106;avascript:alert(1))", "[x](javascript&colon;alert(1))", "[x](<java\\script:a>)",
		"[x](\njavascript:alert(1))", "[x]:\n  javascript:alert(1)", "> [x](\n> javascript:alert(1))", "[x](&Tab;javascript:alert(1))", "[x](\n<javascript:alert(1)>)",
		"[x](\u00a0javascript:alert(1))", "[x](\u00a0\njavascript:alert(1))",
	} {
		if got := write(t, "md", "", said(link)); !strings.Contains(got, "unsafe-") {
			t.Errorf("%q is alive in %s", link, got)
		}
	}
	for _, text := range []string{
		"Data: none\nFile: main.go", "[x](https://example.com/a?b=javascript:1)", "1. Do this:\n```go\nif a < b {\n}\n```", "a[i](x)\nfile: b", "[data]: 1",
	} {
		if got := write(t, "md", "", said(text)); !strings.Contains(got, "\n"+text+"\n") {
			t.Errorf("%q became %s", text, got)
		}
	}
	// Some readers look for a table, or for the target of a link, before they look for code.
	for text, want := range map[string]string{"~~~|\n---\n" + html + "\n~~~": "\n~~~\n---\n" + html + "\n~~~\n", "[x]:\n```a\n" + html + "\n```": "\n[x]:\n\n```a\n" + html + "\n```\n"} {
		if got := write(t, "md", "", said(text)); !strings.Contains(got, want) {
			t.Errorf("%q is alive in %s", text, got)
		}
	}
	// The code of an item keeps its lines.
	if got := write(t, "md", "", said("1. Do this:\n   ```go\n   if a {\n     b\n   }\n   ```")); !strings.Contains(got, "\n```go\nif a {\n  b\n}\n```\n") {
		t.Error(got)
	}
}

// Markdown says all of a call: also an argument that is not in its first line, and
// where a file was moved to.
func TestWholeCalls(t *testing.T) {
	t.Parallel()
	long := "echo " + strings.Repeat("x", 200) + " end"
	for format := range writers {
		got := write(t, format, "",
			agent.ToolCallStart{CallID: "1", Tool: "Bash", Input: `{"command":"` + long + `"}`}, agent.ToolCallEnd{CallID: "1", Tool: "Bash", Outcome: agent.OutcomeDone},
			agent.ToolCallStart{CallID: "2", Tool: "Other", Input: `{"ticket":"T-17"}`}, agent.ToolCallEnd{CallID: "2", Tool: "Other", Outcome: agent.OutcomeDone},
			agent.ToolCallEnd{CallID: "3", Tool: "Edit", Outcome: agent.OutcomeDone, Details: &agent.Details{Changes: []agent.FileChange{{Path: "old.go", MovedTo: "new.go"}}}})
		for _, want := range []string{long, "T-17", "old.go", "new.go"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s does not say %q", format, want)
			}
		}
	}
}

// An error of the source is the error of the document.
func TestBrokenSource(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for format, write := range writers {
		var b bytes.Buffer
		if err := write(&b, func(yield func(agent.Event, error) bool) { yield(agent.Event{}, broken) }, ""); !errors.Is(err, broken) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

func FuzzDocuments(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := write(t, "html", "", agent.UserInput{Text: text}, said(text))
		if strings.Count(got, "<main>") != 1 || strings.Count(got, "<script") > 0 || strings.Count(got, "<article") != strings.Count(got, "</article>") {
			t.Errorf("%q", got)
		}
		write(t, "md", "", agent.UserInput{Text: text}, said(text))
	})
}

// An imported session names the model that answered in it, not the one for what comes
// next, and its times are in order.
func TestImportedFacts(t *testing.T) {
	t.Parallel()
	imported := info
	imported.CreatedAt, imported.UpdatedAt = info.UpdatedAt, info.CreatedAt
	imported.Imported = &agent.Imported{Program: agent.ProgramClaudeCode}
	answer := func(model string) agent.TextEnd {
		return agent.TextEnd{Message: llm.Text(llm.RoleAssistant, "Yes."), Model: model}
	}
	for name, test := range map[string]struct {
		data []agent.Payload
		want string
	}{
		"one answer":            {[]agent.Payload{agent.UserInput{Text: "Hi"}, answer("claude-old")}, "claude-old"},
		"another model later":   {[]agent.Payload{answer("claude-old"), answer("claude-x")}, "claude-old"},
		"a nameless one before": {[]agent.Payload{answer(""), answer("gpt-old")}, "gpt-old"},
		"no answer":             {[]agent.Payload{agent.UserInput{Text: "Hi"}}, ""},
		"only other events":     {[]agent.Payload{agent.Failure{Message: "No."}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			if err := export.Markdown(&b, imported, sequence(test.data...), "en"); err != nil {
				t.Fatal(err)
			}
			head, _, _ := strings.Cut(b.String(), "\n## ")
			if has := strings.Contains(head, "Model"); has != (test.want != "") || !strings.Contains(head, test.want) || strings.Contains(head, "claude-x") {
				t.Errorf("the head is %q", head)
			}
			if first, last := strings.Index(head, "03:04"), strings.Index(head, "03:54"); first < 0 || last < first {
				t.Errorf("the times are not in order in %q", head)
			}
		})
	}
}
