package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
)

// Form says whose rules a settings file follows. They differ in how a matcher is
// read and in the time that a hook has.
type Form string

// The forms.
const (
	FormAgent  Form = "agent"  // .agent/settings.json and its like
	FormClaude Form = "claude" // .claude/settings.json and its like
)

// Scope says whose hooks these are. Hooks run in the order of the constants
// (OAS-667).
type Scope string

// The scopes.
const (
	ScopeUser    Scope = "user"
	ScopeProject Scope = "project"
	ScopeLocal   Scope = "local" // this user's, in the project's folder
	ScopeSession Scope = "session"
	ScopeCode    Scope = "code" // functions of the program
)

// foreign reports whether the hooks came with the project's folder, so that
// somebody else may have written them.
func (s Scope) foreign() bool { return s == ScopeProject || s == ScopeLocal }

func (s Scope) order() int {
	switch s {
	case ScopeUser:
		return 0
	case ScopeProject:
		return 1
	case ScopeLocal:
		return 2
	case ScopeSession:
		return 3
	}
	return 4
}

// Origin is the place where a hook is written.
type Origin struct {
	Scope Scope `json:"scope"`
	// File is absolute; empty for hooks that no file has.
	File string `json:"file,omitempty"`
	// Line is counted from 1; 0 if it is not known.
	Line int  `json:"line,omitempty"`
	Form Form `json:"form,omitempty"`
}

// Kind says what a hook runs.
type Kind string

// The kinds. A handler of any other kind does not run.
const (
	KindCommand  Kind = "command"
	KindHTTP     Kind = "http"
	KindFunction Kind = "function"
)

// Defect says why a handler cannot run as it is written.
type Defect string

// The defects.
const (
	// DefectMatcher means that nobody can tell what the hook is about. If it
	// would run before calls, every call is asked about.
	DefectMatcher Defect = "matcher"
	// DefectKind means that there is nothing that could run.
	DefectKind Defect = "kind"
)

// Handler is one hook.
type Handler struct {
	Origin Origin          `json:"origin"`
	Point  agent.HookPoint `json:"point"`
	// Matcher selects what the hook is about; see [Match].
	Matcher string `json:"matcher,omitempty"`
	// If is a permission rule that limits a hook about tools to some calls.
	If string `json:"if,omitempty"`
	// Name is what logs and pages call it. It is never empty.
	Name    string   `json:"name"`
	Kind    Kind     `json:"kind"`
	Command *Command `json:"command,omitempty"`
	Request *Request `json:"request,omitempty"`
	Func    Func     `json:"-"`
	Terms   Terms    `json:"terms"`
	Defect  Defect   `json:"defect,omitempty"`
	rest    rest
}

// rest is what no file says about a hook.
type rest struct {
	order int // sorts functions of a program (COM-79)
	// does and id are what the methods return for a hook of a file, which are asked
	// for often, and does for one of which only its trace is left.
	does, id string
}

// Command is a program to start.
type Command struct {
	// Line is a line for a shell or, if there are Args, a program.
	Line string `json:"command"`
	// Args are the program's arguments. Nil means that a shell runs Line.
	Args []string `json:"args,omitzero"`
	// Shell is "bash" or "powershell"; empty means that of the system.
	Shell string `json:"shell,omitempty"`
}

// Request is an address to which the input is posted.
type Request struct {
	URL string `json:"url"`
	// Headers may contain $NAME for the variables in Allowed.
	Headers map[string]string `json:"headers,omitempty"`
	Allowed []string          `json:"allowedEnvVars,omitempty"`
}

// Terms are the conditions under which a hook runs.
type Terms struct {
	Timeout time.Duration `json:"timeout"`
	// Async runs the hook beside the session. Its answer has no influence.
	Async bool `json:"async,omitempty"`
	// Once runs the hook only the first time in a session.
	Once bool `json:"once,omitempty"`
	// Status is shown while the hook runs.
	Status string `json:"status,omitempty"`
}

// The limits of a hook's time (K-10, COM-84).
const (
	MostTime      = 10 * time.Minute
	agentTime     = 10 * time.Second
	claudeTime    = 10 * time.Minute
	functionTime  = 30 * time.Second
	promptTime    = 30 * time.Second // of .claude files, before a prompt
	sessionEnding = 1500 * time.Millisecond
)

// defaultTime returns the time of a hook whose file names none.
func defaultTime(form Form, point agent.HookPoint) time.Duration {
	switch {
	case form != FormClaude:
		return agentTime
	case point == agent.HookUserPromptSubmit:
		return promptTime
	case point == agent.HookSessionEnd:
		return sessionEnding
	}
	return claudeTime
}

// OwnTime returns the time that its author gave it; 0 if the handler has that of its
// file's form.
func (h Handler) OwnTime() time.Duration {
	if h.Terms.Timeout == defaultTime(h.Origin.Form, h.Point) {
		return 0
	}
	return h.Terms.Timeout
}

// ID identifies a hook by its file and by what it does. It stays the same while
// the rest of the file, the hook's name or its time is edited.
func (h Handler) ID() string {
	if h.rest.id != "" {
		return h.rest.id
	}
	return digest(h.Origin.Scope, h.Origin.File, h.does())
}

// does is equal for two hooks that do the same, wherever they are written.
func (h Handler) does() string {
	if h.rest.does != "" {
		return h.rest.does
	}
	if h.Kind == KindFunction {
		return digest(h.Point, h.Kind, h.Name, h.Origin.Line)
	}
	return digest(h.Point, h.Matcher, h.If, h.Kind, h.Command, h.Request, h.Terms.Async, h.Terms.Once, h.Defect, h.Origin.Form)
}

// digest returns a short name for some values.
func digest(values ...any) string {
	text, err := json.Marshal(values)
	if err != nil {
		panic(err) // they are strings and structs of strings
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:10])
}

// maxName is the most characters of a name that is taken from a command.
const maxName = 60

// OwnName returns the name that its author gave it; empty if the handler is called
// after what it runs.
func (h Handler) OwnName() string {
	if h.Name == h.nameOf() {
		return ""
	}
	return h.Name
}

// nameOf returns what a hook without a name is called.
func (h Handler) nameOf() string {
	name := ""
	switch {
	case h.Command != nil:
		name = strings.Join(append([]string{h.Command.Line}, h.Command.Args...), " ")
	case h.Request != nil:
		name, _, _ = strings.Cut(h.Request.URL, "?") // what follows may be secret
	}
	if name = strings.Join(strings.Fields(name), " "); name == "" {
		return string(h.Point)
	}
	if runes := []rune(name); len(runes) > maxName {
		return string(runes[:maxName-1]) + "…"
	}
	return name
}
