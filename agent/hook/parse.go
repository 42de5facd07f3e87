package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"atelier.dev/atelier/agent"
)

// maxHandlers limits how many hooks of one file are read.
const maxHandlers = 200

// Parse reads the member "hooks" of a settings file (COM-72). Origin is the
// file's, with the line on which raw begins. Anything unreadable is reported and
// does not affect the rest. A hook that cannot run as it is written is returned
// with its Defect.
func Parse(raw json.RawMessage, origin Origin) ([]Handler, []Finding) {
	p := parser{origin: origin}
	lead := len(raw) - len(bytes.TrimLeft(raw, " \t\r\n"))
	root := value{bytes.TrimSpace(raw), max(origin.Line, 1) + bytes.Count(raw[:lead], []byte("\n"))}
	events, ok := root.members()
	if !ok {
		p.report(root.line, FindingNotObject)
		return nil, p.findings
	}
	for _, event := range events {
		p.event(event)
	}
	return p.handlers, p.findings
}

// parser collects what is in one file.
type parser struct {
	origin   Origin
	handlers []Handler
	findings []Finding
	full     bool
	hook     int // that is being read, counted from 1
}

func (p *parser) report(line int, id FindingID, args ...string) {
	f := found(line, id, args...)
	f.Hook = p.hook
	p.findings = append(p.findings, f)
}

// event reads the groups of one event.
func (p *parser) event(m member) {
	point, ok := pointNamed(m.name)
	if !ok {
		p.unknownEvent(m)
		return
	}
	groups, ok := m.items()
	if !ok {
		p.report(m.line, FindingNotList, m.name)
		return
	}
	for _, group := range groups {
		p.group(point, group)
	}
}

func (p *parser) unknownEvent(m member) {
	if product := foreignEvents[m.name]; product != "" {
		p.report(m.line, FindingEventForeign, m.name, product)
		return
	}
	for _, input := range agent.HookInputs() {
		if name := EventName(input.Point()); plain(name) == plain(m.name) {
			p.report(m.line, FindingEventClose, m.name, name)
			return
		}
	}
	p.report(m.line, FindingEventUnknown, m.name)
}

// group reads a matcher and its hooks.
func (p *parser) group(point agent.HookPoint, v value) {
	members, ok := v.members()
	if !ok {
		p.report(v.line, FindingGroup)
		return
	}
	base := Handler{Point: point, Origin: p.origin}
	var hooks *member
	var from, to int // the findings about the matcher
	flat := false
	for i, m := range members {
		switch m.name {
		case "matcher":
			from = len(p.findings)
			p.matcher(&base, m)
			to = len(p.findings)
		case "hooks":
			hooks = &members[i]
		case "command", "bash", "powershell", "url", "prompt":
			flat = true
		case "description":
		default:
			if hooks == nil && !flat && m.name != "type" {
				p.report(m.line, FindingMember, m.name)
			}
		}
	}
	switch {
	case hooks == nil && flat:
		p.report(v.line, FindingFlat, "Cursor, Copilot")
		return
	case hooks == nil:
		p.report(v.line, FindingGroup)
		return
	}
	list, ok := hooks.items()
	switch {
	case !ok:
		p.report(hooks.line, FindingGroup)
	case len(list) == 0:
		p.report(v.line, FindingGroupEmpty)
	}
	first := len(p.handlers)
	for _, h := range list {
		p.handler(base, h)
	}
	for i := from; i < to && len(p.handlers) > first; i++ {
		p.findings[i].Hook = first + 1
	}
}

// matcher reads the matcher of a group. One that is not text is a defect, as is
// one that does not compile.
func (p *parser) matcher(base *Handler, m member) {
	if m.kind() == 'n' {
		return
	}
	base.Matcher = m.text()
	if _, target := targets[base.Point]; !target {
		if !matchesAll(base.Matcher) {
			p.report(m.line, FindingMatcherUnused, EventName(base.Point))
		}
		base.Matcher = ""
		return
	}
	why := "it is not a text"
	if m.kind() == '"' {
		pattern, err := compile(base.Matcher, base.Origin.Form)
		if err == nil {
			p.remarkOn(base, m.line, pattern)
			return
		}
		why = err.Error()
	}
	base.Defect = DefectMatcher
	id := FindingMatcherBad
	if base.Point == agent.HookPreToolUse {
		id = FindingMatcherGuard
	}
	p.report(m.line, id, base.Matcher, why)
}

// remarkOn says which tools a matcher means beside the obvious ones (COM-73).
func (p *parser) remarkOn(base *Handler, line int, pattern pattern) {
	if pattern.all || !aboutTool(base.Point) {
		return
	}
	var named, also []string
	for _, tool := range knownTools {
		switch {
		case pattern.names(tool):
			named = append(named, tool)
		case pattern.matches(tool):
			also = append(also, tool)
		}
	}
	switch {
	case len(named) > 0 && len(also) > 0:
		p.report(line, FindingMatcherWide, base.Matcher, strings.Join(named, ", "), strings.Join(also, ", "))
	case len(named)+len(also) == 0 && !pattern.matches(mcpExample) && !strings.Contains(base.Matcher, "mcp__"):
		p.report(line, FindingMatcherNone, base.Matcher)
	}
}

// handler reads one hook of a group.
func (p *parser) handler(h Handler, v value) {
	if len(p.handlers) == maxHandlers {
		if !p.full {
			p.full = true
			p.report(v.line, FindingTooMany, strconv.Itoa(maxHandlers))
		}
		return
	}
	members, ok := v.members()
	if !ok {
		p.report(v.line, FindingHandler)
		return
	}
	p.hook = len(p.handlers) + 1
	defer func() { p.hook = 0 }()
	h.Origin.Line = v.line
	h.Terms.Timeout = defaultTime(h.Origin.Form, h.Point)
	var w written
	for _, m := range members {
		if !p.read(&h, &w, m) && m.kind() != 'n' {
			p.report(m.line, FindingMemberType, m.name)
		}
	}
	p.complete(&h, w, v.line)
	h.Name = cmp.Or(strings.TrimSpace(h.Name), h.nameOf())
	if h.Terms.Async && slices.Contains(deciding, h.Point) {
		p.report(v.line, FindingAsync)
	}
	h.rest.does = h.does()
	h.rest.id = h.ID()
	p.handlers = append(p.handlers, h)
}

// written has the members of a hook that make sense together only.
type written struct {
	kind    string
	command Command
	request Request
}

// read reads one member; ok is false if it has the wrong type.
func (p *parser) read(h *Handler, w *written, m member) (ok bool) {
	into := func(target any) bool { return json.Unmarshal(m.raw, target) == nil }
	switch m.name {
	case "type":
		return into(&w.kind)
	case "command":
		return into(&w.command.Line)
	case "args":
		return into(&w.command.Args)
	case "shell":
		return into(&w.command.Shell) && slices.Contains([]string{"", "bash", "powershell"}, w.command.Shell)
	case "url":
		return into(&w.request.URL)
	case "headers":
		return into(&w.request.Headers)
	case "allowedEnvVars":
		return into(&w.request.Allowed)
	case "timeout":
		p.timeout(h, m)
		return true
	case "async":
		return into(&h.Terms.Async)
	case "once":
		return into(&h.Terms.Once)
	case "statusMessage":
		return into(&h.Terms.Status)
	case "name":
		return into(&h.Name)
	case "if":
		if !aboutTool(h.Point) {
			p.report(m.line, FindingIfUnused, EventName(h.Point))
			return true
		}
		return into(&h.If)
	case "description", "commandWindows", "prompt", "model", "server", "tool", "input", "suppressOutput":
		return true // comments, and what belongs to kinds that do not run
	}
	p.report(m.line, FindingMember, m.name)
	return true
}

// complete decides what the hook runs.
func (p *parser) complete(h *Handler, w written, line int) {
	missing := func(id FindingID, args ...string) {
		p.report(line, id, args...)
		h.Defect = DefectKind
	}
	if w.command.Shell != "bash" && w.command.Shell != "powershell" {
		w.command.Shell = ""
	}
	h.Kind = Kind(w.kind)
	if w.kind == "" && w.command.Line != "" {
		p.report(line, FindingKindMissing)
		h.Kind = KindCommand
	}
	switch h.Kind {
	case KindCommand:
		h.Command = &w.command
		if strings.TrimSpace(w.command.Line) == "" {
			missing(FindingCommand)
		}
	case KindHTTP:
		h.Request = &w.request
		if !isAddress(w.request.URL) {
			missing(FindingURL, w.request.URL)
		}
	case "":
		missing(FindingHandler)
	default:
		missing(FindingKindUnknown, w.kind)
	}
}

// isAddress reports whether a text is an address for a request. A placeholder
// may stand in its path.
func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}

// probablyMilliseconds is the shortest timeout that nobody means in seconds.
const probablyMilliseconds = 1000

// timeout reads a number of seconds.
func (p *parser) timeout(h *Handler, m member) {
	var seconds float64
	switch err := json.Unmarshal(m.raw, &seconds); {
	case m.kind() == 'n':
	case err != nil || seconds <= 0:
		p.report(m.line, FindingTimeBad, m.text(), strconv.FormatFloat(h.Terms.Timeout.Seconds(), 'f', -1, 64))
	case seconds >= probablyMilliseconds:
		p.report(m.line, FindingTimeMilli, m.text())
		h.Terms.Timeout = MostTime
	case seconds > MostTime.Seconds():
		p.report(m.line, FindingTimeLong, m.text())
		h.Terms.Timeout = MostTime
	default:
		h.Terms.Timeout = max(time.Duration(seconds*float64(time.Second)), time.Millisecond)
	}
}

// EventName returns the name of a point in settings files, such as PreToolUse.
// The point's own name, preToolUse, is read as well (COM-71).
func EventName(point agent.HookPoint) string {
	name := []rune(point)
	if len(name) == 0 {
		return ""
	}
	name[0] = unicode.ToUpper(name[0])
	return string(name)
}

func pointNamed(name string) (agent.HookPoint, bool) {
	for _, input := range agent.HookInputs() {
		if point := input.Point(); name == string(point) || name == EventName(point) {
			return point, true
		}
	}
	return "", false
}

// plain removes what distinguishes the spellings of one name.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// foreignEvents are events of other products, and those of Claude Code that
// nothing here corresponds to.
var foreignEvents = func() map[string]string {
	all := map[string]string{}
	for product, names := range map[string]string{
		"Claude Code": `PostToolBatch UserPromptExpansion MessageDisplay StopFailure InstructionsLoaded Elicitation ElicitationResult DirectoryAdded`,
		"Gemini CLI":  `BeforeTool AfterTool BeforeAgent AfterAgent BeforeModel AfterModel BeforeToolSelection PreCompress`,
		"Copilot":     `userPromptSubmitted errorOccurred agentStop`,
		"Cursor": `beforeShellExecution afterShellExecution beforeMCPExecution afterMCPExecution beforeReadFile afterFileEdit
			beforeSubmitPrompt afterAgentResponse afterAgentThought beforeTabFileRead afterTabFileEdit`,
	} {
		for _, name := range strings.Fields(names) {
			all[name] = product
		}
	}
	return all
}()
