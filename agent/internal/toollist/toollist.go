// Package toollist reads lists of tools as files of skills and agents have them.
package toollist

import (
	"slices"
	"strings"

	"atelier.dev/atelier/agent/internal/frontmatter"
)

// maxTools limits the tools of one list.
const maxTools = 200

// Known returns the canonical name of a tool. A nil Known is [KnownTool].
type Known func(name string) (canonical string, ok bool)

// knownTools are the names of tools, ours and those of other programs that files name.
var knownTools = strings.Fields(`
	Bash Read Write Edit Glob Grep WebFetch WebSearch Browser Config ToolSearch Agent SendMessage
	TaskCreate TaskList TaskUpdate TaskGet TaskStop TaskOutput TeamCreate TeamDelete NotebookEdit Skill
	ReadMany ListDir WriteStdin ApplyPatch RunAgent SpawnAgent SendInput Wait CloseAgent ListMcpResources ReadMcpResource
	AskUser MultiEdit NotebookRead LS Task TodoWrite SlashCommand EnterPlanMode ExitPlanMode
	EnterWorktree ExitWorktree LSP Monitor PowerShell
`)

// canonical maps the folded spelling of each known tool to its name.
var canonical = func() map[string]string {
	names := map[string]string{
		// Names that other programs have for these tools.
		"askuserquestion": "AskUser", "todoread": "TodoWrite", "search": "Grep", "search/codebase": "Grep", "bashoutput": "TaskOutput", "killshell": "TaskStop", "killbash": "TaskStop",
		"listmcpresourcestool": "ListMcpResources", "readmcpresourcetool": "ReadMcpResource",
	}
	for _, name := range knownTools {
		names[frontmatter.Fold(name)] = name
	}
	return names
}()

// KnownTool returns the canonical name of a tool of ours or of Claude Code, in whatever
// case it is written.
func KnownTool(name string) (string, bool) {
	c, ok := canonical[frontmatter.Fold(name)]
	return c, ok
}

// List is a list of tools as a file has it.
type List struct {
	// All says that the list names every tool.
	All bool
	// Tools are names and patterns as permission rules have them, under canonical names,
	// each once. A name that is not known is among them, and no call matches it.
	Tools []string
	// Unknown are the entries that are not names of tools; More counts those beyond the limit.
	Unknown []string
	More    int
}

// Read reads a list of tools in any of the forms in which files have them. It never
// allows more than is written. A list that denies is never narrower: an entry with brackets
// that cannot be read denies its whole tool, and one with "*" what the name matches.
func Read(f frontmatter.Field, known Known, denies bool, places *strings.Replacer) List {
	if known == nil {
		known = KnownTool
	}
	var list List
	items := f.Items
	if f.Kind == frontmatter.Text {
		items = []string{Unbracket(f.Text)}
	}
	for _, item := range items {
		for _, entry := range splitOutside(Unbracket(places.Replace(item)), ",") {
			words := splitOutside(entry, " \t\n")
			if len(words) > 1 && !areTools(words, known, f.Kind == frontmatter.Text) {
				words = []string{entry}
			}
			for _, w := range words {
				list.add(frontmatter.Unquote(w), known, denies)
			}
		}
	}
	return list
}

// Unbracket takes the brackets around a list away that was written as one text.
func Unbracket(text string) string {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "["); ok {
		if inner, ok = strings.CutSuffix(inner, "]"); ok {
			return inner
		}
	}
	return text
}

// splitOutside splits a text at separators outside of brackets. A space before a bracket separates
// nothing, so that "Bash (git *)" does not become all of Bash.
func splitOutside(text, separators string) []string {
	var out []string
	depth, start := 0, 0
	cut := func(end int) {
		if entry := strings.TrimSpace(text[start:end]); entry != "" {
			out = append(out, entry)
		}
		start = end + 1
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth = max(0, depth-1)
		case depth == 0 && strings.IndexByte(separators, c) >= 0:
			if c == ',' || !strings.HasPrefix(strings.TrimLeft(text[i:min(len(text), i+100)], " \t\n"), "(") {
				cut(i)
			}
		}
	}
	cut(len(text))
	return out
}

// areTools reports whether words are a list of tools that is written with spaces. "Bash *" and
// "Bash git" as one entry of a list are not.
func areTools(words []string, known Known, loose bool) bool {
	for _, w := range words {
		_, ok := canonicalTool(frontmatter.Unquote(w), known)
		if !ok && (!loose || !frontmatter.IsKey(frontmatter.Unquote(w))) {
			return false
		}
	}
	return true
}

func (l *List) add(entry string, known Known, denies bool) {
	if entry == "" {
		return
	}
	if entry == "*" {
		l.All = true
		return
	}
	tool, ok := canonicalTool(entry, known)
	pattern := !ok && strings.Contains(tool, "*") && !strings.Contains(tool, "(")
	if !ok && denies {
		name, _, _ := strings.Cut(entry, "(")
		if c, isTool := known(strings.TrimSpace(name)); isTool {
			tool = c
		}
	}
	switch {
	case slices.Contains(l.Tools, tool) || slices.Contains(l.Unknown, tool):
		return
	case len(l.Tools)+len(l.Unknown) >= maxTools:
		l.More++
		return
	case !ok:
		l.Unknown = append(l.Unknown, entry)
	}
	if !pattern || denies { // such a pattern would match calls of tools that nobody named
		l.Tools = append(l.Tools, tool)
	}
}

// canonicalTool returns an entry under the canonical name of its tool, and whether that is known.
func canonicalTool(entry string, known Known) (string, bool) {
	name, selector, bracket := strings.Cut(entry, "(")
	name = strings.TrimSpace(name)
	if bracket && (!strings.HasSuffix(selector, ")") || strings.TrimSpace(strings.TrimSuffix(selector, ")")) == "") {
		return entry, false
	}
	if server, ok := strings.CutPrefix(name, "mcp__"); ok {
		return entry, !bracket && server != "" && !strings.HasPrefix(server, "_") && isMCP(server)
	}
	c, ok := known(name)
	switch {
	case !ok:
		return entry, false
	case bracket:
		return c + "(" + selector, true
	}
	return c, true
}

// isMCP reports whether a name may be of a server and its tool.
func isMCP(name string) bool {
	return !strings.ContainsFunc(name, func(c rune) bool {
		return c < 0x80 && !isWord(byte(c)) && !strings.ContainsRune("-.*", c)
	})
}

// isWord reports whether a byte may be in a name.
func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// Allows reports whether any of the tools is known.
func (l List) Allows() bool {
	return l.All || slices.ContainsFunc(l.Tools, func(tool string) bool { return !slices.Contains(l.Unknown, tool) })
}
