package frontmatter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/internal/frontmatter"
)

// show writes frontmatter as lines: "line key = text", or the items of a list.
func show(f frontmatter.Front) string {
	var out strings.Builder
	for _, x := range f.Fields {
		fmt.Fprintf(&out, "%d %s", x.Line, x.Key)
		switch x.Kind {
		case frontmatter.Text:
			fmt.Fprintf(&out, " = %s", x.Text)
		case frontmatter.List, frontmatter.Map:
			fmt.Fprintf(&out, " %q", x.Items)
		}
		out.WriteByte('\n')
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// OAS-809: the keys of frontmatter are read with their lines, in every shape of YAML.
func TestFront(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, front, want string }{
		{"texts", "name: x\ndescription: \"q\\n\\\"z\\\"\"\nhint: 'it''s'", "2 name = x\n3 description = q\n\"z\"\n4 hint = it's"},
		{"folded", "description: >-\n  a: b\n  c\nname: |\n  x\n  y", "2 description = a: b c\n5 name = x\ny\n"},
		{"continued", "description: one\n  two\nname: y", "2 description = one two\n4 name = y"},
		{"numbers as they are written", "version: 1.10\ndate: 2024-01-02\non: yes", "2 version = 1.10\n3 date = 2024-01-02\n4 on = yes"},
		{"nothing", "a:\nb: ~\nc: null", "2 a\n3 b\n4 c"},
		{"lists", "a: [x, 'y z', [deep], 1]\nb:\n- Bash(git add *)\n- Read # why", "2 a [\"x\" \"y z\" \"1\"]\n3 b [\"Bash(git add *)\" \"Read\"]"},
		{"maps", "tools: {bash: true, read: no}\nwhen:\n  a: yes", "2 tools [\"bash\"]\n3 when [\"a\"]"},
		{"quoted keys", "\"allowed-tools\": Read\n? 'x'\n: y", "2 allowed-tools = Read\n3 x = y"},
		{"aliases of scalars alone", "a: &x foo\nb: *x\nc: &l [x]\nd: *l\ne: [*x, *l]", "2 a = foo\n3 b = foo\n4 c\n5 d\n6 e [\"foo\"]"},
		{"Chinese", "name: 中文\n描述: 说明", "2 name = 中文\n3 描述 = 说明"},
		{"comments", "# all\nname: x # end", "3 name = x"},
		{"empty", "", ""},
		{"only a comment", "# nothing", ""},
	} {
		f := frontmatter.Read("---\n" + c.front + "\n---\nBody\n")
		if !f.Present || f.Problem != "" || f.Body != "Body\n" || f.BodyLine != strings.Count(c.front, "\n")+4 {
			t.Errorf("%s: %+v", c.name, f)
		}
		if d := cmp.Diff(c.want, show(f)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// Invalid YAML is read line by line, and the finding names the line. Files have such values in
// the wild.
func TestFrontThatIsNotYAML(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		front, want string
		line        int
	}{
		{"name: x\ndescription: text: more text", "2 name = x\n3 description = text: more text", 3},
		{"argument-hint: [a] | [b]\nname: x", "2 argument-hint = [a] | [b]\n3 name = x", 2},
		{"argument-hint: [a] [b]\nname: x", "2 argument-hint = [a] [b]\n3 name = x", 2},
		{"tools: *\nname: x", "2 tools = *\n3 name = x", 2},
		{"name: @x\nallowed-tools:\n  - Read\n  - Bash(git:*)\n", "2 name = @x\n3 allowed-tools [\"Read\" \"Bash(git:*)\"]", 2},
		{"a: |\n  x: y\n\n  z\nb: q: r", "2 a = x: y z\n6 b = q: r", 6},
		{"a: \"open\n'b': c", "2 a = \"open\n3 b = c", 2},
		{"  a: b: c\n  d: e", "2 a = b: c\n3 d = e", 2},
		{"a: b\n\tc: d", "2 a = b c: d", 3},
		{"- a\n- b", "", 2},
		{"text", "", 2},
		{"<<: *base\nname: x", "3 name = x", 2},
		{"a: " + strings.Repeat("[", 100), "2 a = " + strings.Repeat("[", 100), 2},
		{"a: " + strings.Repeat("[", 100) + strings.Repeat("]", 100), "2 a = " + strings.Repeat("[", 100) + strings.Repeat("]", 100), 2},
		{strings.Repeat("- ", 100) + "x", "", 2},
	} {
		f := frontmatter.Read("---\n" + c.front + "\n---\nBody")
		if f.Problem == "" || f.ProblemLine != c.line || f.Body != "Body" {
			t.Errorf("%q: %q on line %d", c.front, f.Problem, f.ProblemLine)
		}
		if d := cmp.Diff(c.want, show(f)); d != "" {
			t.Errorf("%q: %s", c.front, d)
		}
	}
}

// Frontmatter begins a file, whatever its editor wrote, and ends.
func TestFrontIsCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, fields, body string
		line                     int
		broken                   bool
	}{
		{"a byte order mark and CRLF", "\ufeff---\r\nname: x\r\n---\r\nA\r\nB", "2 name = x", "A\nB", 4, false},
		{"spaces behind the marks", "--- \nname: x\n---\t\nA", "2 name = x", "A", 4, false},
		{"empty lines above", "\n\n---\nname: x\n---\nA", "4 name = x", "A", 6, false},
		{"three dots", "---\nname: x\n...\nA", "2 name = x", "A", 4, false},
		{"nothing below", "---\nname: x\n---", "2 name = x", "", 4, false},
		{"another mark below", "---\nname: x\n---\nA\n---\nB", "2 name = x", "A\n---\nB", 4, false},
		{"none", "# A\n\ntext", "", "# A\n\ntext", 1, false},
		{"a line that Markdown draws", "---\n\nA\n", "", "---\n\nA\n", 1, false},
		{"no end", "---\nname: x\nallowed-tools: Read\n\n# A\ntext: y", "2 name = x\n3 allowed-tools = Read", "\n# A\ntext: y", 4, true},
		{"no end and no body", "---\nname: x", "2 name = x", "", 3, true},
		{"bytes that are not text", "---\nname: \xff\n---\n\x00\xfe", "2 name = \ufffd", "\ufffd\ufffd", 4, false},
	} {
		f := frontmatter.Read(c.text)
		if d := cmp.Diff(c.fields, show(f)); d != "" || f.Body != c.body || f.BodyLine != c.line || f.Problem != "" != c.broken {
			t.Errorf("%s: %s %+v", c.name, d, f)
		}
	}
}

// The spellings of a key are one key, and the first one counts.
func TestFrontRepeatsAKey(t *testing.T) {
	t.Parallel()
	f := frontmatter.Read("---\nallowed_tools: Read\nallowedTools: '*'\nAllowed-Tools: '*'\n---\n")
	if got, ok := f.Field("allowed-tools"); !ok || got.Text != "Read" || len(f.Repeated) != 2 || f.Repeated[0].Line != 3 {
		t.Errorf("%+v", f)
	}
}

// Frontmatter beyond its limits is not read: what was left out could have limited the skill.
func TestFrontIsTooLong(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("a: b\n", 1001), "a: " + strings.Repeat("x", 64<<10) + "\n"} {
		if f := frontmatter.Read("---\n" + text + "---\nbody"); !f.TooLong || len(f.Fields) > 0 {
			t.Errorf("%d bytes are read", len(text))
		}
	}
}

// Lists and maps are read with all that is in them; what refers to something else is not followed.
func TestJSON(t *testing.T) {
	t.Parallel()
	f := frontmatter.Read("---\nname: x\nhooks:\n  PreToolUse:\n  - matcher: Bash\n    hooks: [{type: command, command: './check', timeout: 5, async: true}]\nservers: [a, {b: {command: x}}]\nbase: &b [1]\nother: *b\n---\n")
	for key, want := range map[string]string{
		"hooks":   `{"PreToolUse":[{"hooks":[{"async":true,"command":"./check","timeout":5,"type":"command"}],"matcher":"Bash"}]}`,
		"servers": `["a",{"b":{"command":"x"}}]`,
		"name":    "", "other": "", "none": "",
	} {
		if got, _ := f.JSON(key); string(got) != want {
			t.Errorf("%s: %s", key, got)
		}
	}
}
