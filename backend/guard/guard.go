package guard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/permission/rule"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/settings"
)

// Config is what a guard works with.
type Config struct {
	Folder string // the project, absolute and without links
	User   string // the user's home folder; without it there is no file of the user
	Store  backend.Settings
	Now    func() time.Time
	// Rules hold besides, in every session.
	Rules []rule.Rule
}

// Guard keeps the rules of one folder. It is safe for concurrent use.
type Guard struct {
	cfg      Config
	settings *settings.Reader
	files    []settings.File

	mu       sync.Mutex
	read     map[settings.File]reading
	sessions map[string][]written
	accepted map[settings.File][]string
	sets     map[string]*rule.Set // by session; emptied whenever one of the above changes
	version  int                  // counts these changes
	changing sync.Mutex           // held while rules are stored
}

// New returns a guard.
func New(cfg Config) *Guard {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	g := &Guard{
		cfg:  cfg,
		read: map[settings.File]reading{}, sessions: map[string][]written{}, accepted: map[settings.File][]string{}, sets: map[string]*rule.Set{},
	}
	for _, f := range settings.NewReader(cfg.Folder, cfg.User).Files() {
		if !f.Foreign {
			g.files = append(g.files, f)
		}
	}
	g.settings = settings.NewReaderOf(g.files...)
	return g
}

// fileOf returns the file to which rules of a scope are added.
func (g *Guard) fileOf(scope agent.Scope) (settings.File, bool) {
	i := slices.IndexFunc(g.files, func(f settings.File) bool { return f.Scope == scope })
	if i < 0 {
		return settings.File{}, false
	}
	return g.files[i], true
}

// Place is where the rules' paths begin.
func (g *Guard) Place() rule.Place {
	return rule.Place{Project: g.cfg.Folder, Home: g.cfg.User, Now: g.cfg.Now}
}

// look reads a file, if it has changed, and what the user accepted of it.
func (g *Guard) look(ctx context.Context, f settings.File) (reading, []string, error) {
	return g.understand(ctx, f, g.settings.Read(f))
}

// understand is look for a text that was read just now.
func (g *Guard) understand(ctx context.Context, f settings.File, text *settings.Text) (reading, []string, error) {
	g.mu.Lock()
	r := g.read[f]
	accepted, known := g.accepted[f]
	g.mu.Unlock()
	if text == r.text && (known || !r.needsConsent(f)) {
		return r, accepted, nil
	}
	if text != r.text {
		c, err := contentOf(text, f.Scope)
		r = reading{c, text, err}
	}
	var err error
	if !known && r.needsConsent(f) {
		accepted, err = stored[[]string](ctx, g.cfg.Store, keyAccepted+f.Path())
		known = err == nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.changed()
	g.read[f] = r
	if now, ok := g.accepted[f]; ok { // it may have changed since it was read
		return r, now, nil
	}
	if known {
		g.accepted[f] = accepted
	}
	return r, accepted, err
}

// The keys of what the user's own data keeps.
const (
	keyAccepted = "permissions.accepted."
	keySession  = "permissions.session."
)

func stored[T any](ctx context.Context, store backend.Settings, key string) (v T, err error) {
	text, err := store.Setting(ctx, key)
	if err != nil || text == "" {
		return v, err
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return v, backend.Problem(backend.ProblemSettingDamaged, key).Because(err)
	}
	return v, nil
}

func store(ctx context.Context, into backend.Settings, key string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("store %s: %w", key, err)
	}
	return into.SetSetting(ctx, key, string(b))
}

// state says whether a rule of a file holds.
func (g *Guard) state(f settings.File, w written, accepted []string) RuleState {
	switch {
	case w.err != nil:
		return StateUnreadable
	case w.Expired(g.cfg.Now().UnixMilli()):
		return StateExpired
	case unaccepted(f, w, accepted):
		return StateUnaccepted
	}
	return StateHolds
}

// unaccepted reports whether a rule waits for the user.
func unaccepted(f settings.File, w written, accepted []string) bool {
	return w.err == nil && w.Decision == agent.Allow && f.Scope != agent.ScopeUser && !slices.Contains(accepted, pin(w.Rule))
}

// pin stands for a rule that the user accepted.
func pin(r rule.Rule) string {
	return digest(string(r.Decision), r.String(), strconv.FormatInt(r.Expires, 10))
}

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// sessionRule is a session's rule as it is stored.
type sessionRule struct {
	Rule     string         `json:"rule"`
	Decision agent.Decision `json:"decision"`
	Expires  int64          `json:"expires,omitempty"`
}

// session returns the rules of a session.
func (g *Guard) session(ctx context.Context, id string) ([]written, error) {
	if id == "" {
		return nil, nil
	}
	g.mu.Lock()
	rules, ok := g.sessions[id]
	g.mu.Unlock()
	if ok {
		return rules, nil
	}
	kept, err := stored[[]sessionRule](ctx, g.cfg.Store, keySession+id)
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		r, err := rule.Parse(k.Rule)
		if err != nil {
			r = rule.Rule{Tool: "Bash", Unread: shorten(k.Rule)}
		}
		r.Decision, r.Scope, r.Expires = k.Decision, agent.ScopeSession, k.Expires
		rules = append(rules, written{Rule: r, err: err})
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if now, ok := g.sessions[id]; ok { // they may have changed since they were read
		return now, nil
	}
	g.changed()
	g.sessions[id] = rules
	return rules, nil
}

// Rules lists the rules of all scopes.
func (g *Guard) Rules(ctx context.Context, session string) (RulesReply, error) {
	var reply RulesReply
	for _, f := range g.files {
		r, accepted, err := g.look(ctx, f)
		if err != nil {
			return RulesReply{}, err
		}
		if !r.text.There {
			continue
		}
		listed := SettingsFile{Path: f.Path(), Scope: f.Scope, Problem: problemOf(r.err, f), Unknown: unknownMembers(r.sandbox)}
		for _, w := range r.rules {
			e := g.entry(w, g.state(f, w, accepted))
			e.File = f.Path()
			if e.State == StateUnaccepted {
				listed.Unaccepted++
			}
			reply.Rules = append(reply.Rules, e)
		}
		if f.Scope != agent.ScopeUser && r.sandbox != nil && !slices.Contains(accepted, digest("sandbox", string(r.sandbox))) {
			listed.Sandbox = string(r.sandbox)
		}
		if listed.Unaccepted > 0 || listed.Sandbox != "" {
			listed.Seal = r.seal()
		}
		reply.Files = append(reply.Files, listed)
	}
	own, err := g.session(ctx, session)
	if err != nil {
		return RulesReply{}, err
	}
	for _, w := range own {
		state := StateHolds
		if w.err != nil {
			state = StateUnreadable
		} else if w.Expired(g.cfg.Now().UnixMilli()) {
			state = StateExpired
		}
		reply.Rules = append(reply.Rules, g.entry(w, state))
	}
	return reply, nil
}

func (g *Guard) entry(w written, state RuleState) RuleEntry {
	e := RuleEntry{
		Rule: w.String(), Decision: w.Decision, Scope: w.Scope, Expires: w.Expires, State: state, Words: Words(w.Rule), Line: w.line,
	}
	if w.err != nil {
		e.Problem = unreadable(w.err, w.String())
	}
	return e
}

// Words says what a rule is about.
func Words(r rule.Rule) RuleWords {
	means, of := rule.Describe(r)
	return RuleWords{Means: means, Of: of, TooWide: r.TooWide()}
}

// unreadable says why a rule cannot be read.
func unreadable(err error, text string) *backend.Error {
	var fault *rule.Error
	if errors.As(err, &fault) {
		return backend.Problem(backend.ProblemID("rule_"+string(fault.Fault)), append([]string{text}, fault.Args...)...)
	}
	return backend.Problem(backend.ProblemRuleForm, text).Because(err)
}

// problemOf says why a file cannot be read; nil if it can.
func problemOf(err error, f settings.File) *backend.Error {
	var told *backend.Error
	if err == nil {
		return nil
	}
	if errors.As(err, &told) {
		return told
	}
	if line := settings.LineOf(err); line > 0 {
		return backend.Problem(backend.ProblemRulesFile, f.Path(), strconv.Itoa(line)).Because(err)
	}
	return backend.Problem(backend.ProblemRulesFileUnread, f.Path()).Because(err)
}
