package rule

import (
	"cmp"
	"encoding/json"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/command"
	"atelier.dev/atelier/agent/permission/boundary"
)

// Set judges calls by rules. It is safe for concurrent use; nil has no rules.
type Set struct {
	at    place
	rules []compiled // those that deny first, then those that ask
	now   func() time.Time
	// lists are those of the settings; nil if there are none.
	lists *boundary.Checker
	// wary names what cannot be read, so that commands which no rule allows are
	// asked about; empty if everything can.
	wary string
}

// Place is where the paths of rules begin.
type Place struct {
	Project string // the project's folder, absolute
	Home    string // the user's; may be empty
	// Now is the clock by which rules end; nil means the computer's.
	Now func() time.Time
}

// compiled is a rule with its selector read.
type compiled struct {
	Rule
	command commandPattern
	path    pattern
	isPath  bool
	reached *boundary.Checker // by lines; nil unless the rule denies or asks about reading
	files   *found            // if the rule denies or asks about reading some files
}

// found is what a pattern meant a moment ago. Whoever tries a rule judges
// thousands of lines at once.
type found struct {
	mu      sync.Mutex
	at      time.Time
	checker *boundary.Checker
}

// recent is how long that holds.
const recent = time.Second

func (f *found) check(p pattern, at place, now time.Time) *boundary.Checker {
	f.mu.Lock()
	fresh, checker := !f.at.IsZero() && now.Sub(f.at).Abs() < recent, f.checker
	f.mu.Unlock()
	if fresh {
		return checker
	}
	checker = p.finder(at)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.checker = now, checker
	return checker
}

// New returns a set. Deny wins over ask and ask over allow, whatever their order
// and scope.
func New(at Place, rules []Rule) *Set {
	s := &Set{at: at.resolved(), now: at.Now}
	if s.now == nil {
		s.now = time.Now
	}
	for _, r := range rules {
		c := compiled{Rule: r}
		if r.kind() == kindCommand && r.Selector != "" {
			c.command = parseCommand(r.Selector)
			if r.Decision != agent.Allow {
				c.command.starts = c.command.starter(s.at)
			}
		}
		c.path, c.isPath = r.pattern()
		if c.isPath && r.kind() == kindRead && r.Decision != agent.Allow {
			if c.reached = c.path.reacher(s.at); c.reached == nil {
				c.files = &found{}
			}
		}
		s.rules = append(s.rules, c)
	}
	slices.SortStableFunc(s.rules, func(a, b compiled) int { return cmp.Compare(rank(b.Decision), rank(a.Decision)) })
	return s
}

func (p Place) resolved() place {
	at := place{project: boundary.Resolve(p.Project)}
	if p.Home != "" {
		at.home = boundary.Resolve(p.Home)
	}
	return at
}

// Fits reports whether New would return an equal set, for the same rules: links may
// lead elsewhere now.
func (s *Set) Fits(at Place) bool {
	return len(s.rules) == 0 && s.lists == nil || s.at == at.resolved()
}

// Within returns a set that also keeps to lists of programs and paths, in every mode
// and before every rule (K-51).
func (s *Set) Within(lists boundary.Settings) *Set {
	c := *s
	if c.lists = nil; lists.Restrict() {
		c.lists = boundary.New(lists, s.at.project, s.at.home)
	}
	return &c
}

// Wary returns a set that also asks, in every mode, about commands that no rule
// allows, because a file of rules cannot be read.
func (s *Set) Wary(file string) *Set {
	c := *s
	c.wary = file
	return &c
}

func rank(d agent.Decision) int {
	switch d {
	case agent.Deny:
		return 2
	case agent.Ask:
		return 1
	}
	return 0
}

// Judgement is what rules say about a call. Without a Decision they say nothing.
type Judgement struct {
	Decision agent.Decision
	Rule     *agent.RuleRef
	// Unsure says that it cannot be told whether the rule, which denies, means the
	// call. The decision is to ask.
	Unsure bool
	// Listed says what the lists of the settings have against the call, in English;
	// empty if they do not decide.
	Listed string
	// Unread is the file of rules that cannot be read, for which the decision is to
	// ask without any rule.
	Unread string
}

// Judge returns the strictest that the rules say about a call. Free reports which
// files the call may touch without any rule, beyond reading in the project; it may
// be nil.
func (s *Set) Judge(call agent.GateCall, free func(path string, write bool) bool) Judgement {
	if s == nil || len(s.rules) == 0 && s.wary == "" && s.lists == nil {
		return Judgement{}
	}
	listed := s.listed(call)
	if listed.Decision == agent.Deny {
		return listed
	}
	judged := s.judge(call, free)
	if listed.Decision == agent.Ask && judged.Decision != agent.Deny && judged.Decision != agent.Ask {
		return listed
	}
	return judged
}

// listed returns what the lists say about a call; nothing about what they allow.
func (s *Set) listed(call agent.GateCall) Judgement {
	if s.lists == nil {
		return Judgement{}
	}
	access, found := call.Access, boundary.Verdict{Decision: agent.Allow}
	for _, path := range access.Writes {
		found = boundary.Stricter(found, s.lists.Path(path, boundary.Write))
	}
	for _, path := range access.Reads {
		found = boundary.Stricter(found, s.lists.Path(path, boundary.Read))
		if slices.Contains(searches, call.Tool) {
			found = boundary.Stricter(found, s.lists.Below(path))
		}
	}
	if access.Command != "" {
		dir := s.at.project
		if access.Dir != "" {
			dir = boundary.Resolve(access.Dir)
		}
		found = boundary.Stricter(found, s.lists.Command(access.Command, dir))
	}
	if found.Decision == agent.Allow {
		return Judgement{}
	}
	return Judgement{Decision: found.Decision, Listed: found.Reason}
}

func (s *Set) judge(call agent.GateCall, free func(path string, write bool) bool) Judgement {
	if free == nil {
		free = func(string, bool) bool { return false }
	}
	v := &view{call: call, set: s, free: free}
	now := s.now().UnixMilli()
	var found Judgement
	for _, r := range s.rules {
		if r.Decision == agent.Allow {
			break
		}
		if r.Expired(now) || found.Decision == agent.Ask && r.Decision == agent.Ask {
			continue
		}
		switch v.means(r) {
		case yes:
			if r.Decision == agent.Deny {
				return Judgement{Decision: agent.Deny, Rule: r.Ref()}
			}
			found = Judgement{Decision: agent.Ask, Rule: r.Ref()}
		case maybe:
			if found.Decision == "" {
				found = Judgement{Decision: agent.Ask, Rule: r.Ref(), Unsure: true}
			}
		}
	}
	if found.Decision != "" {
		return found
	}
	if r := v.allowed(now); r != nil {
		return Judgement{Decision: agent.Allow, Rule: r.Ref()}
	}
	if s.wary != "" && call.Access.Command != "" && !call.Access.OnlyReads {
		return Judgement{Decision: agent.Ask, Unread: s.wary}
	}
	return Judgement{}
}

// answer is whether a rule means a call.
type answer int

const (
	no    = answer(command.Unlike)
	maybe = answer(command.MayBe)
	yes   = answer(command.Meant)
)

// view is a call as rules see it. A command line is read once, if at all.
type view struct {
	call agent.GateCall
	set  *Set
	free func(path string, write bool) bool
	line *line
}

func (v *view) trace() *line {
	if v.line == nil {
		v.line = read(v.call.Access, v.set.at)
	}
	return v.line
}

// fold says that upper and lower case are taken for the same.
var fold = runtime.GOOS == "darwin" || runtime.GOOS == "windows"

// means reports whether a rule that denies or asks means a call.
func (v *view) means(r compiled) answer {
	access := v.call.Access
	switch {
	case r.Unread != "":
		return either(r.names(v.call), maybe)
	case r.Selector == "":
		return either(r.names(v.call), yes)
	case r.kind() == kindCommand:
		if access.Command == "" {
			return no
		}
		return v.trace().means(r.command)
	case r.isPath:
		return v.touches(r)
	case r.kind() == kindDomain:
		host, ok := v.host()
		return either(r.names(v.call) && (!ok || r.hostMatches(host)), yes)
	case r.kind() == kindReached:
		return either(slices.ContainsFunc(access.Hosts, r.hostMatches), yes)
	case r.kind() == kindAgent:
		return either(r.names(v.call) && slices.Contains(v.agents(), r.Selector), yes)
	}
	return either(r.names(v.call), maybe) // nothing is known of such a selector
}

func either(is bool, a answer) answer {
	if is {
		return a
	}
	return no
}

// searches are the tools that look at everything below a folder.
var searches = []string{"Grep", "Glob", "ReadMany"}

// touches reports whether a call reads or changes files that a rule means.
func (v *view) touches(r compiled) answer {
	access := v.call.Access
	paths := access.Writes
	if r.kind() == kindRead {
		paths = slices.Concat(access.Reads, access.Writes)
	}
	found := no
	for _, path := range paths {
		for _, way := range []string{filepath.Clean(path), boundary.Resolve(path)} {
			if r.path.matches(way, v.set.at, true) {
				return yes
			}
			if slices.Contains(searches, v.call.Tool) && r.path.mayHaveBelow(way, v.set.at) {
				found = maybe
			}
		}
	}
	if access.Command != "" {
		found = max(found, v.trace().touches(r, v.set.at, v.set.now()))
	}
	return found
}

// allowed returns the rule that allows a call, or nil.
func (v *view) allowed(now int64) *Rule {
	var rules []compiled
	for _, r := range v.set.rules {
		if r.Decision == agent.Allow && r.Unread == "" && !r.Expired(now) {
			rules = append(rules, r)
		}
	}
	if len(rules) == 0 {
		return nil
	}
	switch {
	case len(v.call.Access.Hosts) > 0:
		return v.allowsHosts(rules)
	case v.call.Access.Command != "":
		return v.allowsCommand(rules)
	}
	for _, r := range rules {
		if !r.names(v.call) {
			continue
		}
		switch {
		case r.Selector == "":
			return &r.Rule
		case r.kind() == kindDomain:
			if host, ok := v.host(); ok && r.hostMatches(host) {
				return &r.Rule
			}
		case r.kind() == kindAgent:
			if slices.Contains(v.agents(), r.Selector) {
				return &r.Rule
			}
		}
	}
	return v.allowsFiles(rules)
}

// allowsFiles returns a rule if every file that a call touches is allowed by one,
// or free.
func (v *view) allowsFiles(rules []compiled) *Rule {
	access := v.call.Access
	if len(access.Writes)+len(access.Reads) == 0 {
		return nil
	}
	var by *Rule
	for i, path := range slices.Concat(access.Writes, access.Reads) {
		write := i < len(access.Writes)
		r := v.set.file(rules, boundary.Resolve(path), write)
		switch {
		case r != nil && by == nil:
			by = r
		case r == nil && !v.freely(path, write):
			return nil
		}
	}
	return by
}

// file returns the rule that allows touching a file, or nil. Permission to change
// a file includes permission to read it.
func (s *Set) file(rules []compiled, real string, write bool) *Rule {
	for _, r := range rules {
		if r.isPath && (r.kind() == kindWrite || !write) && r.path.matches(real, s.at, fold) {
			return &r.Rule
		}
	}
	return nil
}

// freely reports whether a file may be touched without a rule.
func (v *view) freely(path string, write bool) bool {
	real := boundary.Resolve(path)
	rel, err := filepath.Rel(v.set.at.project, real)
	return !write && err == nil && filepath.IsLocal(rel) || v.free(path, write)
}

// host returns the host of a call's address.
func (v *view) host() (string, bool) {
	var in struct {
		URL string `json:"url"`
	}
	if json.Unmarshal(v.call.Input, &in) != nil {
		return "", false
	}
	u, err := url.Parse(in.URL)
	if err != nil || u.Hostname() == "" {
		return v.call.Access.Web, v.call.Access.Web != ""
	}
	return u.Hostname(), true
}

// agents returns the names by which a call means an agent.
func (v *view) agents() []string {
	var in struct {
		Name         string `json:"name"`
		Agent        string `json:"agent"`
		SubagentType string `json:"subagent_type"`
	}
	if json.Unmarshal(v.call.Input, &in) != nil {
		return nil
	}
	return slices.DeleteFunc([]string{in.Name, in.Agent, in.SubagentType}, func(name string) bool { return name == "" })
}
