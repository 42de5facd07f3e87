package hook

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"atelier.dev/atelier/agent"
)

// aboutTool reports whether a point is about a tool call.
func aboutTool(point agent.HookPoint) bool {
	switch point {
	case agent.HookPreToolUse, agent.HookPermissionRequest, agent.HookPermissionDenied, agent.HookPostToolUse, agent.HookPostToolUseFailure:
		return true
	}
	return false
}

// deciding are the points at which a hook may decide something.
var deciding = []agent.HookPoint{
	agent.HookPreToolUse, agent.HookPermissionRequest, agent.HookUserPromptSubmit, agent.HookStop, agent.HookSubagentStop, agent.HookPreCompact,
	agent.HookWorktreeCreate,
}

// guards reports whether a hook that fails at the point denies the call (K-34).
func guards(point agent.HookPoint) bool {
	return point == agent.HookPreToolUse || point == agent.HookPermissionRequest
}

// targets says what matchers look at, by point. Other points have no matcher.
var targets = map[agent.HookPoint]string{
	agent.HookPreToolUse:         "tool_name",
	agent.HookPermissionRequest:  "tool_name",
	agent.HookPermissionDenied:   "tool_name",
	agent.HookPostToolUse:        "tool_name",
	agent.HookPostToolUseFailure: "tool_name",
	agent.HookSetup:              "trigger",
	agent.HookSessionStart:       "source",
	agent.HookSubagentStart:      "agent_type",
	agent.HookSubagentStop:       "agent_type",
	agent.HookNotification:       "notification_type",
	agent.HookConfigChange:       "source",
	agent.HookFileChanged:        "file_path",
	agent.HookPreCompact:         "trigger",
	agent.HookPostCompact:        "trigger",
	agent.HookSessionEnd:         "reason",
}

// target returns what a matcher looks at; for tool calls, the tool's own name.
func target(data agent.HookInput, a *Agent) string {
	switch d := data.(type) {
	case agent.SetupInput:
		return d.Trigger
	case agent.SessionStartInput:
		return d.Source
	case agent.SubagentStartInput, agent.SubagentStopInput:
		return a.kind()
	case agent.NotificationInput:
		return d.Type
	case agent.ConfigChangeInput:
		return d.Source
	case agent.FileChangedInput:
		return filepath.Base(d.Path)
	case agent.PreCompactInput:
		return string(d.Trigger)
	case agent.PostCompactInput:
		return string(d.Trigger)
	case agent.SessionEndInput:
		return d.Reason
	}
	return agent.HookCall{Data: data}.Tool().Tool
}

// generalPurpose is the type of an agent that has no other.
const generalPurpose = "general-purpose"

func (a *Agent) kind() string {
	if a == nil {
		return generalPurpose
	}
	return cmp.Or(a.Type, generalPurpose)
}

// maxMatcher limits the length of a matcher.
const maxMatcher = 4 << 10

// pattern is a matcher that was read.
type pattern struct {
	all bool
	// claude is the text of a matcher of the .claude form; nil for one of the other.
	claude *string
	part   *regexp.Regexp // matches what the matcher means
	whole  *regexp.Regexp // matches what it names in full
}

// onlyNames is a list of names, as .claude files may have it.
var onlyNames = regexp.MustCompile(`^[A-Za-z0-9_\-, |]+$`)

func matchesAll(matcher string) bool { return matcher == "" || matcher == "*" }

// compile reads a matcher. In .claude files, a list of names is taken word for
// word. Everything else is a regular expression that may match a part (COM-73).
func compile(matcher string, form Form) (pattern, error) {
	var claude *string
	if form == FormClaude {
		claude = &matcher
	}
	if matchesAll(matcher) {
		return pattern{all: true, claude: claude}, nil
	}
	if len(matcher) > maxMatcher {
		return pattern{}, fmt.Errorf("it is longer than %d characters", maxMatcher)
	}
	expression := matcher
	if form == FormClaude && onlyNames.MatchString(matcher) {
		var names []string
		for _, name := range strings.FieldsFunc(matcher, func(r rune) bool { return r == '|' || r == ',' }) {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, regexp.QuoteMeta(name))
			}
		}
		expression = "^(?:" + strings.Join(names, "|") + ")$"
	}
	part, err := regexp.Compile(expression)
	if err != nil {
		return pattern{}, fmt.Errorf("%w", err)
	}
	whole, err := regexp.Compile("^(?:" + expression + ")$")
	if err != nil {
		return pattern{}, fmt.Errorf("%w", err)
	}
	return pattern{part: part, whole: whole, claude: claude}, nil
}

// matches reports whether the matcher matches a name or a part of it.
func (p pattern) matches(name string) bool { return p.all || p.part.MatchString(name) }

// unaware reports whether the matcher is of the .claude form and does not have the
// name of a tool in it, so that the hook need not know the tool even if it matches
// all of them.
func (p pattern) unaware(tool string) bool {
	return p.claude != nil && !strings.Contains(*p.claude, tool)
}

// names reports whether the matcher matches a whole name.
func (p pattern) names(name string) bool { return p.all || p.whole.MatchString(name) }
