package hook

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"atelier.dev/atelier/agent"
)

// maxViews limits how often a hook runs for one call.
const maxViews = 64

// knownTools are the canonical names of Atelier's tools.
var knownTools = strings.Fields(`Read Write Edit MultiEdit NotebookEdit ApplyPatch Bash Grep Glob ReadMany ListDir WriteStdin
	TaskOutput TaskList TaskStop TaskCreate TaskGet TaskUpdate Agent SendInput Wait CloseAgent AskUser TodoWrite EnterPlanMode ExitPlanMode WebFetch WebSearch Browser Config LSP RenameSymbol Skill Recall`)

// mcpExample is how tools of other servers are called.
const mcpExample = "mcp__server__tool"

// view is a call as a hook knows it. Hooks in the wild are written for Claude
// Code's tools: one that guards Edit must see a patch, too.
type view struct {
	tool  string
	input json.RawMessage
	// file is the file that the view is about, if it is one of several.
	file string
	// own says that it is the call itself, whose input the hook may change.
	own bool
}

// alias is a tool of Claude Code that does what one of ours does.
type alias struct {
	names   []string
	convert func(input map[string]json.RawMessage) map[string]json.RawMessage
}

// aliases are listed under our names.
var aliases = map[string]alias{
	"Edit":       {[]string{"MultiEdit"}, asMultiEdit},
	"Agent":      {[]string{"Task", "SpawnAgent"}, renamed("prompt", "prompt", "description", "description", "subagent_type", "subagent_type", "model", "model")},
	"TaskOutput": {[]string{"BashOutput"}, renamed("bash_id", "id")},
	"TaskStop":   {[]string{"KillShell", "KillBash"}, renamed("shell_id", "id")},
	"ListDir":    {[]string{"LS"}, renamed("path", "path")},
	"AskUser":    {[]string{"AskUserQuestion"}, renamed("questions", "questions")},
}

// renamed converts by pairs of a new and an old name of a member.
func renamed(pairs ...string) func(map[string]json.RawMessage) map[string]json.RawMessage {
	return func(in map[string]json.RawMessage) map[string]json.RawMessage {
		out := map[string]json.RawMessage{}
		for pair := range slices.Chunk(pairs, 2) {
			if v, ok := in[pair[1]]; ok {
				out[pair[0]] = v
			}
		}
		return out
	}
}

func asMultiEdit(in map[string]json.RawMessage) map[string]json.RawMessage {
	edit := map[string]json.RawMessage{}
	for _, name := range []string{"old_string", "new_string", "replace_all"} {
		if v, ok := in[name]; ok {
			edit[name] = v
		}
	}
	return map[string]json.RawMessage{"file_path": in["file_path"], "edits": encode([]any{edit})}
}

// encode returns a value as JSON, with texts as they are.
func encode(v any) json.RawMessage {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("encode a hook's input: %v", err)) // it consists of texts, numbers and valid JSON
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}

// candidate is a view under the names by which hooks may know it, the best first.
type candidate struct {
	names []string
	file  string
	input any
	// unlisted says that the call is about more files than this one, which only
	// its run can tell.
	unlisted bool
}

// perFile are tools that Claude Code has no counterpart of: what they do to each
// file is shown as another tool.
var perFile = []string{"ApplyPatch", "ReadMany"}

// views returns how a hook with a matcher sees a call; none if it does not match.
// A matcher that names our tool, or all, sees the call itself; one that names a
// tool of Claude Code sees what that tool would have been called with. Hooks for
// all tools in .claude files expect Claude Code's, too: they look for a file in the
// input. If that does not show all that the call is about, blind says what it is about.
func views(p pattern, call agent.HookTool) (all []view, blind string) {
	own := []view{{tool: call.Tool, input: call.Input, own: true}}
	expects := slices.Contains(perFile, call.Tool) && p.unaware(call.Tool)
	if p.names(call.Tool) && !expects {
		return own, ""
	}
	known := candidates(call)
	if all, blind = pick(known, p.names); len(all) > 0 {
		return all, blind
	}
	if p.matches(call.Tool) {
		return own, ""
	}
	return pick(known, p.matches)
}

// Tools returns which of Atelier's tools the handler's matcher selects, under
// their own names or as what hooks know; all of them if there is no matcher, and
// none for points that are not about tools.
func (h Handler) Tools() (tools []string) {
	p, err := compile(h.Matcher, h.Origin.Form)
	if err != nil || !aboutTool(h.Point) {
		return nil
	}
	for _, tool := range knownTools {
		if all, _ := views(p, agent.HookTool{Tool: tool, Input: json.RawMessage(`{}`)}); len(all) > 0 {
			tools = append(tools, tool)
		}
	}
	return tools
}

func pick(known []candidate, matches func(string) bool) (all []view, blind string) {
	for _, c := range known {
		i := slices.IndexFunc(c.names, matches)
		if i < 0 {
			continue
		}
		all = append(all, view{tool: c.names[i], input: encode(c.input), file: c.file})
		if c.unlisted {
			blind = c.file
		}
	}
	if len(all) > maxViews {
		return all[:maxViews], strconv.Itoa(len(all)) + " files"
	}
	return all, blind
}

// candidates returns what a call would be to hooks that do not know its tool.
func candidates(call agent.HookTool) []candidate {
	switch call.Tool {
	case "ApplyPatch":
		return patched(call)
	case "ReadMany":
		return readMany(call)
	case "MultiEdit":
		return edits(call)
	}
	a, ok := aliases[call.Tool]
	if !ok {
		return nil
	}
	var in map[string]json.RawMessage
	_ = json.Unmarshal(call.Input, &in) // it has passed the tool's schema
	return []candidate{{names: a.names, input: a.convert(in)}}
}

// edits returns an Edit for each replacement of MultiEdit.
func edits(call agent.HookTool) (all []candidate) {
	var in struct {
		FilePath string                       `json:"file_path"`
		Edits    []map[string]json.RawMessage `json:"edits"`
	}
	_ = json.Unmarshal(call.Input, &in) // it has passed the tool's schema
	for _, edit := range in.Edits {
		input := maps.Clone(edit)
		if input == nil {
			input = map[string]json.RawMessage{}
		}
		input["file_path"] = encode(in.FilePath)
		all = append(all, candidate{names: []string{"Edit"}, input: input})
	}
	if len(all) == 0 {
		return []candidate{{names: []string{"Edit"}, input: map[string]string{"file_path": in.FilePath}}}
	}
	return all
}

// readMany returns a Read of each file. The files that a pattern matches are not
// known before it runs.
func readMany(call agent.HookTool) (all []candidate) {
	pattern := ""
	for _, path := range call.Access.Reads {
		if pattern != "" && strings.HasPrefix(pattern, path) {
			continue // the folder that the pattern is about
		}
		pattern = ""
		if strings.ContainsAny(path, "*?[{") {
			pattern = path
		}
		all = append(all, candidate{
			names: []string{"Read"}, file: path, input: map[string]string{"file_path": path}, unlisted: pattern != "",
		})
	}
	if len(all) == 0 {
		return []candidate{{names: []string{"Read"}, file: "an unknown number of files", input: map[string]string{}, unlisted: true}}
	}
	return all
}

// The names by which hooks may know a change of a file.
var (
	asWrite = []string{"Write", "Edit", "MultiEdit"}
	asEdit  = []string{"Edit", "MultiEdit"}
)

// patched returns an Edit of each file that a patch changes, and a Write of each
// that it adds or moves something to.
func patched(call agent.HookTool) (all []candidate) {
	var in struct{ Input string }
	_ = json.Unmarshal(call.Input, &in) // it has passed the tool's schema
	sections := sectionsOf(in.Input)
	for i, path := range call.Access.Writes {
		c := candidate{names: asWrite, file: path, input: map[string]string{"file_path": path}}
		if len(sections) == len(call.Access.Writes) { // else it was written in a way that only the tool can read
			if s := sections[i]; !s.added {
				c.names = asEdit
			}
			c.input = sections[i].input(path)
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return []candidate{{names: asWrite, file: "an unknown number of files", input: map[string]string{}, unlisted: true}}
	}
	return all
}

// section is what a patch does to one file.
type section struct {
	added    bool
	moved    bool
	old, new strings.Builder
}

// input returns what Claude Code's tool would be called with.
func (s *section) input(path string) map[string]string {
	in := map[string]string{"file_path": path}
	switch {
	case s.moved:
	case s.added:
		in["content"] = s.new.String()
	default:
		in["old_string"], in["new_string"] = s.old.String(), s.new.String()
	}
	return in
}

// sectionsOf returns the sections of a patch, one for each file that it names, in
// the order in which the tool names them, too.
func sectionsOf(patch string) (all []*section) {
	var current *section
	begin := func(s *section) {
		current = s
		all = append(all, s)
	}
	for line := range strings.Lines(patch) {
		switch {
		case strings.HasPrefix(line, "*** Add File: "):
			begin(&section{added: true})
		case strings.HasPrefix(line, "*** Update File: "), strings.HasPrefix(line, "*** Delete File: "):
			begin(&section{})
		case strings.HasPrefix(line, "*** Move to: ") && len(all) > 0:
			all = append(all, &section{added: true, moved: true})
		case current == nil || strings.HasPrefix(line, "***") || strings.HasPrefix(line, "@@"):
		default:
			current.add(line)
		}
	}
	return all
}

func (s *section) add(line string) {
	if line[0] != '+' {
		s.old.WriteString(line[1:])
	}
	if line[0] != '-' {
		s.new.WriteString(line[1:])
	}
}
