package skill

import (
	"slices"
	"strings"
)

// maxTools limits the tools of one list.
const maxTools = 200

// KnownTools returns the canonical name of a tool. A nil KnownTools is [KnownTool].
type KnownTools func(name string) (canonical string, ok bool)

// knownTools are the names of tools, ours and those of other programs that files name.
var knownTools = strings.Fields(`
	Bash Read Write Edit Glob Grep WebFetch WebSearch ToolSearch Agent SendMessage
	TaskCreate TaskList TaskUpdate TaskGet TaskStop TaskOutput TeamCreate TeamDelete NotebookEdit Skill
	ReadMany ListDir WriteStdin ApplyPatch RunAgent SpawnAgent SendInput Wait CloseAgent ListMcpResources ReadMcpResource
	AskUserQuestion MultiEdit NotebookRead LS Task TodoRead TodoWrite BashOutput KillShell KillBash SlashCommand EnterPlanMode ExitPlanMode
	EnterWorktree ExitWorktree LSP Monitor PowerShell
`)

// canonical maps the folded spelling of each known tool to its name.
var canonical = func() map[string]string {
	names := map[string]string{
		// Names that other programs have for these tools.
		"askuser": "AskUserQuestion", "search": "Grep", "search/codebase": "Grep", "listmcpresourcestool": "ListMcpResources", "readmcpresourcetool": "ReadMcpResource",
	}
	for _, name := range knownTools {
		names[foldKey(name)] = name
	}
	return names
}()

// KnownTool returns the canonical name of a tool of ours or of Claude Code, in whatever
// case it is written.
func KnownTool(name string) (string, bool) {
	c, ok := canonical[foldKey(name)]
	return c, ok
}

// ToolList is a list of tools as a file has it.
type ToolList struct {
	// All says that the list names every tool.
	All bool
	// Tools are names and patterns as permission rules have them, under canonical names,
	// each once. A name that is not known is among them, and no call matches it.
	Tools []string
	// Unknown are those that are not names of tools, and More counts what is beyond the limit.
	Unknown []string
	More    int
}

// ReadTools reads a list of tools in any of the forms in which files have them. It is never
// wider than what is written.
func ReadTools(f Field, known KnownTools) ToolList {
	if known == nil {
		known = KnownTool
	}
	var list ToolList
	items := f.Items
	if f.Kind == FieldText {
		items = []string{f.Text}
	}
	for _, item := range items {
		for _, entry := range splitTools(unbracket(item)) {
			list.add(unquote(entry), known)
		}
	}
	return list
}

// unbracket takes the brackets around a list away that was written as one text.
func unbracket(text string) string {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "["); ok {
		if inner, ok = strings.CutSuffix(inner, "]"); ok {
			return inner
		}
	}
	return text
}

// splitTools splits a list at commas and spaces outside brackets. Nothing follows a bracket that
// is not closed.
func splitTools(text string) []string {
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
		case depth == 0 && strings.IndexByte(", \t\n", c) >= 0:
			cut(i)
		}
	}
	cut(len(text))
	return out
}

func (l *ToolList) add(entry string, known KnownTools) {
	if entry == "" {
		return
	}
	if entry == "*" {
		l.All = true
		return
	}
	tool, ok := canonicalTool(entry, known)
	switch {
	case slices.Contains(l.Tools, tool):
		return
	case len(l.Tools) >= maxTools:
		l.More++
		return
	case !ok:
		l.Unknown = append(l.Unknown, tool)
	}
	l.Tools = append(l.Tools, tool)
}

// canonicalTool returns an entry under the canonical name of its tool, and whether that is known.
func canonicalTool(entry string, known KnownTools) (string, bool) {
	name, selector, bracket := strings.Cut(entry, "(")
	if bracket && (!strings.HasSuffix(selector, ")") || strings.TrimSpace(strings.TrimSuffix(selector, ")")) == "") {
		return entry, false
	}
	if server, ok := strings.CutPrefix(name, "mcp__"); ok {
		return entry, !bracket && server != "" && !strings.HasPrefix(server, "_") && !strings.HasPrefix(server, "*")
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
