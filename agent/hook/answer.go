package hook

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
)

// Answer is what a hook says (OAS-668, COM-75, COM-80). A point ignores what it
// cannot use.
type Answer struct {
	Decision agent.Decision `json:"decision,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	// Input replaces the call's input.
	Input json.RawMessage `json:"input,omitempty"`
	// Output replaces what the model is told of a result.
	Output *string `json:"output,omitempty"`
	// Context is told to the model, Message shown to the user, and Said both.
	Context string            `json:"context,omitempty"`
	Message string            `json:"message,omitempty"`
	Said    string            `json:"said,omitempty"`
	Notice  *agent.HookNotice `json:"notice,omitempty"`
	Update  *PermissionUpdate `json:"update,omitempty"`
	// Stopped ends the turn, and Stop says why.
	Stopped bool   `json:"stopped,omitempty"`
	Stop    string `json:"stop,omitempty"`
	// Title names the session.
	Title string `json:"title,omitempty"`
}

// The exit codes with a meaning of their own.
const (
	exitBlocks       = 2
	exitNotRunnable  = 126 // of a shell
	exitNotFound     = 127 // of a shell
	exitFirstSignal  = 129
	exitLastSignal   = 192
	contextPerHook   = 10_000 // characters that are told of one hook
	contextCutNotice = "\n[... the rest of the hook's text was cut here ...]"
)

// failure is why a hook's end does not count.
type failure struct {
	cause  Cause
	detail string
}

// readExit reads what a program said at a point (COM-76, COM-77).
func readExit(point agent.HookPoint, x Exit) (Answer, *failure) {
	switch {
	case x.Dropped > 0:
		return Answer{}, &failure{CauseOutput, ""}
	case x.Code == exitNotRunnable || x.Code == exitNotFound:
		return Answer{}, &failure{CauseMissing, firstLine(x.Stderr)}
	case x.Code >= exitFirstSignal && x.Code <= exitLastSignal:
		return Answer{}, &failure{CauseSignal, fmt.Sprint(x.Code - 128)}
	}
	a, fail := readText(point, x.Stdout)
	switch {
	case fail != nil:
		return Answer{}, fail
	case x.Code == exitBlocks:
		return blocked(point, a, x.Stderr), nil
	case x.Code != 0 && !isJSON(x.Stdout) && len(answersIn(x.Stdout)) == 0:
		said := cmp.Or(firstLine(x.Stderr), firstLine(x.Stdout))
		return Answer{}, &failure{CauseExit, strings.TrimSuffix(fmt.Sprintf("%d: %s", x.Code, said), ": ")}
	case x.Code != 0:
		if a.Decision == agent.Allow { // a program that failed vouches for nothing
			a.Decision = ""
		}
	}
	return a, nil
}

// blocked is the answer of a program that ended with the code that blocks.
func blocked(point agent.HookPoint, a Answer, stderr string) Answer {
	stderr = strings.TrimSpace(stderr)
	switch {
	case slices.Contains(deciding, point):
		a.Decision, a.Reason = agent.Deny, cut(cmp.Or(stderr, a.Reason, a.Message))
	case tellsModel(point):
		a.Context = join("\n\n", a.Context, cut(stderr))
	default:
		a.Message = join("\n\n", a.Message, cut(stderr))
	}
	return a
}

// tellsModel reports whether plain text of a hook is told to the model.
func tellsModel(point agent.HookPoint) bool {
	switch point {
	case agent.HookSessionStart, agent.HookSubagentStart, agent.HookUserPromptSubmit,
		agent.HookPostToolUse, agent.HookPostToolUseFailure, agent.HookPostSampling, agent.HookPostCompact:
		return true
	}
	return false
}

func isJSON(text string) bool { return strings.HasPrefix(trimmed(text), "{") }

func trimmed(text string) string {
	return strings.TrimSpace(strings.TrimPrefix(text, "\uFEFF"))
}

// readText reads an answer: the JSON in a text, else a message. What is printed around
// the JSON is a message too.
func readText(point agent.HookPoint, text string) (Answer, *failure) {
	text = trimmed(text)
	a, rest := Answer{}, text
	whole := json.Valid([]byte(text))
	var err error
	switch found := answersIn(text); {
	case isJSON(text) && (whole || len(found) == 0):
		a, err = readAnswer(text)
		rest = ""
	case !whole:
		a, rest, err = joined(text, found)
		if err == nil && guards(point) && decides().MatchString(rest) {
			err = errBroken
		}
	}
	if err != nil {
		return Answer{}, &failure{CauseJSON, err.Error()}
	}
	message := a.Message
	a.Message = ""
	if a.Decision == agent.Deny && a.Reason == "" {
		a.Reason, message = message, ""
	}
	return plainly(point, a, join("\n", rest, message)), nil
}

var errBroken = errors.New("it begins JSON that is not whole or not valid")

// maxAnswers limits the places at which an answer is looked for among other text.
const maxAnswers = 200

// decides matches a member that only an answer has; answers that stand among other text
// are known by it.
var decides = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)"(?:hook_?specific_?output|permission_?decision|decision|behavior|block|continue|system_?message|stop_?reason|updated_?input|additional_?context)"\s*:`)
})

// span is where an answer stands in a text.
type span struct{ from, to int }

// answersIn finds the objects in a text that are answers.
func answersIn(text string) (found []span) {
	last := decides().FindAllStringIndex(text, -1)
	if len(last) == 0 {
		return nil
	}
	end := last[len(last)-1][0]
	for at, tried := 0, 0; tried < maxAnswers; tried++ {
		i := strings.IndexByte(text[at:], '{')
		if i < 0 || at+i > end {
			break
		}
		at += i
		var object map[string]json.RawMessage
		decoder := json.NewDecoder(strings.NewReader(text[at:]))
		if decoder.Decode(&object) != nil {
			at++
			continue
		}
		size := int(decoder.InputOffset())
		if decides().MatchString(text[at : at+size]) {
			found = append(found, span{at, at + size})
		}
		at += size
	}
	return found
}

// joined reads the answers that stand among other text, the strictest decision of all.
// None of them allows anything: what is printed around them may be from the call, and so
// may they.
func joined(text string, found []span) (a Answer, rest string, err error) {
	at := 0
	for _, s := range found {
		rest += text[at:s.from]
		at = s.to
		if err := nested(&a, value{raw: json.RawMessage(text[s.from:s.to])}, -1); err != nil {
			return a, "", err
		}
	}
	if a.Decision == agent.Allow {
		a.Decision = ""
	}
	if a.Update != nil && a.Update.Behavior == agent.Allow {
		a.Update = nil
	}
	return a, strings.TrimSpace(rest + text[at:]), nil
}

// plainly adds a plain text to an answer.
func plainly(point agent.HookPoint, a Answer, text string) Answer {
	if tellsModel(point) {
		a.Context = join("\n\n", a.Context, cut(text))
	} else {
		a.Message = cut(text)
	}
	return a
}

// cut limits what is told of one hook.
func cut(text string) string {
	text = strings.TrimSpace(text)
	if len(text) <= contextPerHook {
		return text
	}
	if runes := []rune(text); len(runes) > contextPerHook {
		return string(runes[:contextPerHook]) + contextCutNotice
	}
	return text
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(line); len(runes) > 300 {
		return string(runes[:300]) + "…"
	}
	return line
}

// join joins the texts that are not empty.
func join(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return t == "" }), separator)
}

// readAnswer reads an object. The error says which member is not right; a person
// reads it.
func readAnswer(text string) (Answer, error) {
	if !json.Valid([]byte(text)) {
		return Answer{}, errBroken
	}
	return answerOf(value{raw: json.RawMessage(text)}, 0)
}

// deepest is how deep members of an answer that are objects may be answers
// themselves.
const deepest = 2

func answerOf(v value, depth int) (a Answer, err error) {
	members, ok := v.members()
	if !ok || depth > deepest {
		return a, errors.New("it is not an object")
	}
	seen := map[string]bool{}
	for _, m := range members {
		name := plain(m.name)
		read := answerMembers[name]
		if read == nil || m.kind() == 'n' {
			continue
		}
		if seen[name] {
			return a, fmt.Errorf("it has %s twice", m.name)
		}
		seen[name] = true
		if err := read(&a, m.value, depth); err != nil {
			return a, fmt.Errorf("%s %w", m.name, err)
		}
	}
	return a, nil
}

var (
	errText   = errors.New("is not a text")
	errSwitch = errors.New("is not true or false")
	errObject = errors.New("is not an object")
	errWord   = errors.New("is not a decision")
)

// answerMembers read the members of an answer. Their names are without the
// marks that distinguish spellings.
var answerMembers map[string]func(a *Answer, v value, depth int) error

func init() { // they read each other
	answerMembers = map[string]func(a *Answer, v value, depth int) error{
		"message":                  text(func(a *Answer, s string) { a.Message = s }),
		"reason":                   text(func(a *Answer, s string) { a.Reason = cmp.Or(a.Reason, cut(s)) }),
		"permissiondecisionreason": text(func(a *Answer, s string) { a.Reason = cmp.Or(cut(s), a.Reason) }),
		"additionalcontext":        text(func(a *Answer, s string) { a.Context = join("\n\n", a.Context, cut(s)) }),
		"systemmessage":            text(func(a *Answer, s string) { a.Said = cut(s) }),
		"stopreason":               text(func(a *Answer, s string) { a.Stop = cut(s) }),
		"sessiontitle":             text(func(a *Answer, s string) { a.Title = strings.TrimSpace(s) }),
		"block":                    flag(true, func(a *Answer) { a.decide(agent.Deny) }),
		"continue":                 flag(false, func(a *Answer) { a.Stopped = true }),
		"interrupt":                flag(true, func(a *Answer) { a.Stopped = true }),
		"permissiondecision":       decision,
		"decision":                 decision,
		"behavior":                 decision,
		"updatedinput": func(a *Answer, v value, _ int) error {
			if v.kind() != '{' {
				return errObject
			}
			a.Input = v.raw
			return nil
		},
		"updatedtooloutput":    output,
		"updatedmcptooloutput": output,
		"notification":         notice,
		"permissionupdate":     update,
		"hookspecificoutput":   nested,
	}
}

// decide keeps the stricter of two decisions.
func (a *Answer) decide(d agent.Decision) {
	if strictness(d) > strictness(a.Decision) {
		a.Decision = d
	}
}

func strictness(d agent.Decision) int {
	return slices.Index([]agent.Decision{"", agent.Allow, agent.Ask, agent.Deny}, d)
}

func text(set func(*Answer, string)) func(*Answer, value, int) error {
	return func(a *Answer, v value, _ int) error {
		var s string
		if json.Unmarshal(v.raw, &s) != nil {
			return errText
		}
		set(a, s)
		return nil
	}
}

// flag calls set if the member has the value that means something.
func flag(meant bool, set func(*Answer)) func(*Answer, value, int) error {
	return func(a *Answer, v value, _ int) error {
		var b bool
		if json.Unmarshal(v.raw, &b) != nil {
			return errSwitch
		}
		if b == meant {
			set(a)
		}
		return nil
	}
}

// decision reads a word or, for a permission request, an answer of its own.
func decision(a *Answer, v value, depth int) error {
	if v.kind() == '{' {
		return nested(a, v, depth)
	}
	d, err := decisionOf(v)
	a.decide(d)
	return err
}

func decisionOf(v value) (agent.Decision, error) {
	var word string
	if json.Unmarshal(v.raw, &word) != nil {
		return "", errText
	}
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "":
		return "", nil
	case "allow", "approve":
		return agent.Allow, nil
	case "ask", "defer":
		return agent.Ask, nil
	case "deny", "block":
		return agent.Deny, nil
	}
	return "", errWord
}

func output(a *Answer, v value, _ int) error {
	said := v.text()
	a.Output = &said
	return nil
}

func notice(a *Answer, v value, _ int) error {
	n := agent.HookNotice{Level: agent.NoticeInfo}
	members, ok := v.members()
	if !ok {
		if json.Unmarshal(v.raw, &n.Body) != nil {
			return errText
		}
		a.Notice = &n
		return nil
	}
	for _, m := range members {
		var s string
		if json.Unmarshal(m.raw, &s) != nil {
			return fmt.Errorf("has a %s that %w", m.name, errText)
		}
		switch level := agent.NoticeLevel(strings.ToLower(s)); plain(m.name) {
		case "title":
			n.Title = cut(s)
		case "body", "message":
			n.Body = cut(s)
		case "level":
			switch level {
			case agent.NoticeDebug, agent.NoticeInfo, agent.NoticeWarning, agent.NoticeError:
				n.Level = level
			}
		}
	}
	a.Notice = &n
	return nil
}

func update(a *Answer, v value, _ int) error {
	members, ok := v.members()
	if !ok {
		return errObject
	}
	var u PermissionUpdate
	for _, m := range members {
		switch plain(m.name) {
		case "tool":
			if json.Unmarshal(m.raw, &u.Tool) != nil {
				return errText
			}
		case "behavior":
			d, err := decisionOf(m.value)
			if err != nil {
				return err
			}
			u.Behavior = d
		}
	}
	if u.Tool == "" || u.Behavior == "" {
		return errors.New("needs a tool and a behavior")
	}
	a.Update = &u
	return nil
}

// nested reads an answer within an answer, which takes precedence.
func nested(a *Answer, v value, depth int) error {
	inner, err := answerOf(v, depth+1)
	if err != nil {
		return fmt.Errorf("is not right: %w", err)
	}
	a.decide(inner.Decision)
	a.Reason, a.Context = cmp.Or(inner.Reason, a.Reason), join("\n\n", a.Context, inner.Context)
	a.Said, a.Message = cmp.Or(inner.Said, a.Said), cmp.Or(inner.Message, a.Message)
	a.Stop, a.Title, a.Stopped = cmp.Or(inner.Stop, a.Stop), cmp.Or(inner.Title, a.Title), a.Stopped || inner.Stopped
	a.Output, a.Notice, a.Update = cmp.Or(inner.Output, a.Output), cmp.Or(inner.Notice, a.Notice), cmp.Or(inner.Update, a.Update)
	if inner.Input != nil {
		a.Input = inner.Input
	}
	return nil
}
