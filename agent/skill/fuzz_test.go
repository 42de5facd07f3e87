package skill_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"atelier.dev/atelier/agent/internal/frontmatter"
	"atelier.dev/atelier/agent/mention"
	"atelier.dev/atelier/agent/skill"
)

// Any file is read without a panic, each finding is about one of its lines, and it allows no more
// than it names.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"---\nname: x\ndescription: a: b\nallowed-tools: [Bash(git:*), Read]\n---\nDo $1 @f !`id`\n```!\nls\n```\n",
		"\ufeff---\r\nallowed-tools: *\r\nuser-invocable: no\r\n---\r\n", "---\na: &a [x]\nb: *a\n<<: *a\n---\n", "---\nname: x", "---\n? [\n---\n", "---\nallowed-tools:\n- Bash (x)\n- 'B*'\n---",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		front := frontmatter.Read(text)
		lines := strings.Count(text, "\n") + 1
		if !utf8.ValidString(front.Body) || front.BodyLine < 1 || front.BodyLine > lines+1 {
			t.Fatalf("the body begins on line %d of %d", front.BodyLine, lines)
		}
		s := skill.Parse(inProject, "x", text, nil)
		for _, finding := range s.Findings {
			if finding.Line < 0 || finding.Line > lines || finding.Message == "" || strings.Contains(finding.Message, "{0}") {
				t.Fatalf("%d lines: %+v", lines, finding)
			}
		}
		if _, ok := front.Field("allowed-tools"); ok && !s.Broken() && !s.Limits.Limited && !strings.Contains(text, "*") {
			t.Fatalf("%q allows all tools", text)
		}
		for _, name := range []string{"Bash", "Write", "Edit"} {
			named := strings.Contains(strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(text)), strings.ToLower(name))
			if slices.Contains(s.Limits.Tools, name) && !named && !strings.Contains(text, "\\") {
				t.Fatalf("%q allows %s", text, name)
			}
		}
		got := s.Expand(skill.Expansion{Args: "a 'b c' </update>", Ran: s.Lines(), Attach: func(string) (mention.File, bool) { return mention.File{Text: "text"}, true }})
		if strings.Contains(got, "</update>") {
			t.Fatalf("%q", got)
		}
		skill.List([]skill.Skill{s}, skill.ListBudget)
	})
}

// A list of tools never allows a tool without its brackets that was only written with them.
func FuzzTools(f *testing.F) {
	for _, list := range []string{"Bash(git:*), Read", "Bash (git *)", "[Bash(a, b)]", "Bash((x) y", "Bash(git) *", "\"Bash(x)\" Read", "a,(b", "mcp__x__*, *"} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		if strings.ContainsAny(list, "'\n\r\x00\ufeff") || !utf8.ValidString(list) {
			return
		}
		s := skill.Parse(inProject, "x", "---\nallowed-tools: '"+list+"'\n---\n", nil)
		words := strings.FieldsFunc(list, func(c rune) bool { return strings.ContainsRune(" \t,[]\"", c) })
		if !s.Limits.Limited && !slices.Contains(words, "*") {
			t.Fatalf("%q allows everything", list)
		}
		for _, tool := range s.Limits.Tools {
			if tool == "Bash" && !slices.ContainsFunc(words, func(w string) bool {
				return strings.EqualFold(strings.NewReplacer("-", "", "_", "").Replace(w), "bash")
			}) {
				t.Fatalf("%q allows every command", list)
			}
		}
	})
}

// Arguments appear in a prompt as they are, run nothing and attach nothing by themselves.
func FuzzExpand(f *testing.F) {
	f.Add("Do $ARGUMENTS and $1 `$2` \\$3 @$1", "a `b` !`c` @d $ARGUMENTS", "out")
	f.Add("```!\n$0\n```\n!`x $1`", "\"", "$1 </update>")
	f.Fuzz(func(t *testing.T, text, args, printed string) {
		s := skill.Skill{Name: "x", Place: inProject, Body: text, Usage: skill.Usage{Arguments: []string{"name"}}}
		before := s.Lines()
		var attached []string
		x := skill.Expansion{Args: args, Attach: func(path string) (mention.File, bool) {
			attached = append(attached, path)
			return mention.File{Text: printed}, true
		}}
		for range before {
			x.Ran = append(x.Ran, printed)
		}
		got := s.Expand(x)
		if len(got) > len(text)+4*(128<<10)+20*(70<<10)+50*(len(printed)+100) {
			t.Fatalf("%d bytes", len(got))
		}
		if !strings.Contains(text, "@") && len(attached) > 0 {
			t.Fatalf("%q attaches %q", args, attached)
		}
		for _, line := range before {
			skill.Script(line, args, s.Usage.Arguments)
		}
		// Without placeholders, marks and attachments a prompt is its body and what was typed.
		if !strings.ContainsAny(text, "$@{`\\<") && !strings.Contains(args, "<") && strings.TrimSpace(args) != "" && len(args) < 1000 {
			if want := strings.TrimSpace(strings.TrimSpace(text) + "\n\nARGUMENTS: " + strings.TrimSpace(args)); got != want {
				t.Fatalf("%q, not %q", got, want)
			}
		}
	})
}
