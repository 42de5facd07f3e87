package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/backend/settings"
	"atelier.dev/atelier/backend/trust"
)

// list is what the settings files say. It does not change.
type list struct {
	sources  []source
	handlers []hook.Handler // in the order of the files, those of missing included
	missing  map[string]bool
}

// source is what was last read of a file.
type source struct {
	file     settings.File
	text     *settings.Text
	err      error
	handlers []hook.Handler
	findings []hook.Finding
	// missing are guards that were in force and cannot be found any more. The calls
	// that they are about are asked about.
	missing []hook.Handler
	// judged are the guards that were judged, by id.
	judged map[string]judgement
	// undecided says that the file cannot be read, or has guards that wait for the
	// user's decision.
	undecided bool
	// unsure says that something that was decided could not be read or kept, so that
	// the file is judged again when it is needed next.
	unsure bool
}

// unsure reports whether some of it may be wrong.
func (l *list) unsure() bool {
	return slices.ContainsFunc(l.sources, func(s source) bool { return s.unsure })
}

// judgement is what the user decided about a guard.
type judgement struct{ inForce, undecided bool }

func form(f settings.File) hook.Form {
	if f.Claude {
		return hook.FormClaude
	}
	return hook.FormAgent
}

// current returns what the settings files say now.
func (h *Hooks) current(ctx context.Context) *list {
	if l, _ := h.look(); l != nil {
		return l
	}
	h.reader <- struct{}{}
	defer func() { <-h.reader }()
	return h.refresh(ctx)
}

// look returns what is known, if the settings files have not changed since, and
// their texts.
func (h *Hooks) look() (*list, []*settings.Text) {
	h.mu.Lock()
	known := h.list
	h.mu.Unlock()
	files := h.settings.Files()
	texts := make([]*settings.Text, len(files))
	same := known != nil && !known.unsure()
	for i, f := range files {
		texts[i] = h.settings.Read(f)
		same = same && equal(known.sources[i].text, texts[i])
	}
	if !same {
		return nil, texts
	}
	return known, texts
}

// refresh is current for the one whose turn it is. What is read is for everybody, so
// it does not end with the one who asked.
func (h *Hooks) refresh(ctx context.Context) *list {
	l, texts := h.look()
	if l != nil {
		return l
	}
	l = h.read(context.WithoutCancel(ctx), texts)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = l
	return l
}

// again has the files read and judged again, after something else than they
// changed.
func (h *Hooks) again(ctx context.Context) *list {
	h.reader <- struct{}{}
	_, texts := h.look()
	now := h.read(context.WithoutCancel(ctx), texts)
	h.mu.Lock()
	h.list = now
	h.mu.Unlock()
	<-h.reader
	h.cfg.Changed("")
	return now
}

// decide takes over what the user decided about one hook. What is known about the
// others stays, so that a decision about each of many hooks takes no time that grows
// with their square.
func (h *Hooks) decide(ctx context.Context, id string) {
	h.reader <- struct{}{}
	l := &list{sources: slices.Clone(h.refresh(ctx).sources)}
	for i := range l.sources {
		s := &l.sources[i]
		s.judged = maps.Clone(s.judged)
		delete(s.judged, id)
	}
	h.settleAll(context.WithoutCancel(ctx), l)
	h.mu.Lock()
	h.list = l
	h.mu.Unlock()
	<-h.reader
	h.cfg.Changed("")
}

// equal reports whether two texts have the same hooks.
func equal(a, b *settings.Text) bool {
	if a == b {
		return true
	}
	if a.Err != nil || b.Err != nil || a.There != b.There {
		return false
	}
	x, in := a.Member("hooks")
	y, also := b.Member("hooks")
	return in == also && x.At == y.At && bytes.Equal(x.Raw, y.Raw)
}

func (h *Hooks) read(ctx context.Context, texts []*settings.Text) *list {
	l := &list{}
	items := []trust.Item{}
	for i, f := range h.settings.Files() {
		s := source{file: f, text: texts[i], err: texts[i].Err}
		if m, ok := texts[i].Member("hooks"); ok && s.err == nil {
			s.handlers, s.findings = hook.Parse(m.Raw, hook.Origin{
				Scope: hook.Scope(f.Scope), File: f.Path(), Line: texts[i].Line(m.At), Form: form(f),
			})
		}
		for _, x := range s.handlers {
			items = append(items, item(x))
		}
		l.sources = append(l.sources, s)
	}
	h.cfg.Trust.Stand(trust.KindHook, items)
	h.settleAll(ctx, l)
	return l
}

// settleAll sets what is missing, and all hooks.
func (h *Hooks) settleAll(ctx context.Context, l *list) {
	l.missing, l.handlers = map[string]bool{}, nil
	for i := range l.sources {
		s := &l.sources[i]
		s.missing = h.settle(ctx, s)
		for _, x := range s.missing {
			l.missing[x.ID()] = true
		}
		l.handlers = slices.Concat(l.handlers, s.handlers, s.missing)
	}
}

// find returns a hook that stands in a file, and its file.
func (l *list) find(id string) (hook.Handler, settings.File, bool) {
	for _, s := range l.sources {
		for _, x := range s.handlers {
			if x.ID() == id {
				return x, s.file, true
			}
		}
	}
	return hook.Handler{}, settings.File{}, false
}

// item is what the user is asked to trust.
func item(x hook.Handler) trust.Item {
	i := trust.Item{
		Kind: trust.KindHook, ID: x.ID(), Title: x.Name, Origin: x.Origin.File, Slot: string(x.Point),
		Definition: string(definition(x)), Own: x.Origin.Scope == hook.ScopeUser,
	}
	if x.Command != nil {
		i.Command = trust.Command{Line: x.Command.Line, Args: x.Command.Args, Other: x.Command.Shell == "powershell"}
	}
	return i
}

// guard is what a file had when all of its guards were decided about.
type guard struct {
	Hooks json.RawMessage `json:"hooks"` // the member of the file
	IDs   []string        `json:"ids"`   // of the guards that were in force
}

// guards reports whether a hook is in the way of calls.
func guards(x hook.Handler) bool {
	return (x.Point == agent.HookPreToolUse || x.Point == agent.HookPermissionRequest) && !x.Terms.Async
}

// settle returns the guards of a file that were in force and cannot be found any
// more. Once the user has decided about all guards that stand there, they count
// instead; but what was trusted and vanished while the program runs, such as by a
// change of the branch, is missed until the user revokes the trust in it.
func (h *Hooks) settle(ctx context.Context, s *source) (missing []hook.Handler) {
	s.unsure, s.undecided = false, s.err != nil
	known, err := h.guard(ctx, s.file.Path())
	if err != nil {
		slog.Warn("could not read which hooks guard calls", "file", s.file.Path(), "err", err)
		s.unsure, s.undecided = true, true
	}
	var force []string
	if s.judged == nil {
		s.judged = map[string]judgement{}
	}
	for _, x := range s.handlers {
		if !guards(x) {
			continue
		}
		id := x.ID()
		j, known := s.judged[id]
		if !known {
			if j, err = h.judge(ctx, x); err != nil {
				s.unsure, s.undecided = true, true
				continue
			}
			s.judged[id] = j
		}
		if s.undecided = s.undecided || j.undecided; j.inForce {
			force = append(force, id)
		}
	}
	missing = s.lost(known)
	if s.undecided {
		h.mu.Lock()
		defer h.mu.Unlock()
		return slices.Concat(missing, slices.DeleteFunc(slices.Clone(h.vanished[s.file.Path()]), s.has))
	}
	// What is missed is known before the file counts as settled without it.
	missing = h.vanish(ctx, s, missing)
	m, _ := s.text.Member("hooks")
	if err := h.remember(ctx, s.file.Path(), known, guard{m.Raw, force}); err != nil {
		slog.Warn("could not keep which hooks guard calls", "file", s.file.Path(), "err", err)
		s.unsure = true
	}
	return missing
}

// judge says what the user decided about a guard.
func (h *Hooks) judge(ctx context.Context, x hook.Handler) (judgement, error) {
	r, err := h.decided(ctx, x, h.cfg.Folder)
	if err != nil {
		return judgement{}, err
	}
	switch r.State {
	case hook.StateReady:
		return judgement{inForce: true}, nil
	case hook.StateUntrusted:
		return judgement{undecided: r.Why != string(trust.StateRefused)}, nil
	case hook.StateChanged:
		return judgement{undecided: true}, nil
	}
	return judgement{}, nil
}

// lost returns the guards that were in force and do not stand in the file.
func (s *source) lost(known guard) (out []hook.Handler) {
	if len(known.IDs) == 0 {
		return nil
	}
	before, _ := hook.Parse(known.Hooks, hook.Origin{Scope: hook.Scope(s.file.Scope), File: s.file.Path(), Form: form(s.file)})
	for _, x := range before {
		if slices.Contains(known.IDs, x.ID()) && !s.has(x) {
			x.Origin.Line = 0
			out = append(out, x)
		}
	}
	return out
}

// has reports whether a hook stands in the file.
func (s *source) has(x hook.Handler) bool {
	return slices.ContainsFunc(s.handlers, func(y hook.Handler) bool { return y.ID() == x.ID() })
}

// maxVanished limits how many guards of a file are missed.
const maxVanished = 200

// vanish adds guards of a file to those that are missed, and returns those that the
// user still trusts and that have not come back. What vanished before the program
// began is not missed.
func (h *Hooks) vanish(ctx context.Context, s *source, more []hook.Handler) []hook.Handler {
	path := s.file.Path()
	h.mu.Lock()
	before, settled := h.vanished[path]
	h.mu.Unlock()
	if !settled {
		more = nil
	}
	missed := []hook.Handler{}
	for _, x := range slices.Concat(before, more) {
		known := slices.ContainsFunc(missed, func(y hook.Handler) bool { return y.ID() == x.ID() })
		if !known && !s.has(x) && len(missed) < maxVanished && h.misses(ctx, s, x) {
			missed = append(missed, x)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, x := range s.handlers {
		delete(h.released, x.ID())
	}
	h.vanished[path] = missed
	return missed
}

// misses reports whether a guard that vanished is missed. The user's own needs no
// trust that could be revoked, and what stands at the same event takes its place.
func (h *Hooks) misses(ctx context.Context, s *source, x hook.Handler) bool {
	h.mu.Lock()
	released := h.released[x.ID()]
	h.mu.Unlock()
	if released {
		return false
	}
	kept, err := h.cfg.Trust.Keeps(ctx, trust.KindHook, x.ID())
	if err != nil {
		slog.Warn("could not read whether a hook is still trusted", "file", s.file.Path(), "err", err)
		s.unsure = true
	}
	if kept || err != nil {
		return true
	}
	return x.Origin.Scope == hook.ScopeUser && !slices.ContainsFunc(s.handlers, func(y hook.Handler) bool { return y.Point == x.Point })
}

// release has a hook not missed, because the user takes it out.
func (h *Hooks) release(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.released[id] = true
}

// The keys of what the user's own data keeps.
const (
	keyGuards   = "hooks.guards."
	keySwitched = "hooks.switched"
)

func (h *Hooks) guard(ctx context.Context, path string) (guard, error) {
	h.mu.Lock()
	g, ok := h.guards[path]
	h.mu.Unlock()
	if ok {
		return g, nil
	}
	text, err := h.cfg.Store.Setting(ctx, keyGuards+path)
	if err != nil {
		return g, err
	}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &g); err != nil {
			return g, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.guards[path] = g
	return g, nil
}

// remember keeps which guards of a file are in force.
func (h *Hooks) remember(ctx context.Context, path string, before, now guard) error {
	if len(now.IDs) == 0 {
		now.Hooks = nil
	}
	if slices.Equal(before.IDs, now.IDs) && bytes.Equal(before.Hooks, now.Hooks) {
		return nil
	}
	text := ""
	if len(now.IDs) > 0 {
		b, err := json.Marshal(now)
		if err != nil {
			return err
		}
		text = string(b)
	}
	if err := h.cfg.Store.SetSetting(ctx, keyGuards+path, text); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.guards[path] = now
	return nil
}

// definition returns what a hook does, as a person is shown it.
func definition(x hook.Handler) []byte {
	shown := struct {
		Event   string    `json:"event"`
		Matcher string    `json:"matcher,omitempty"`
		If      string    `json:"if,omitempty"`
		Type    hook.Kind `json:"type"`
		*hook.Command
		*hook.Request
		Async bool `json:"async,omitempty"`
		Once  bool `json:"once,omitempty"`
	}{hook.EventName(x.Point), x.Matcher, x.If, x.Kind, x.Command, x.Request, x.Terms.Async, x.Terms.Once}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(shown) // texts always have a JSON form
	return []byte(strings.TrimSpace(b.String()))
}
