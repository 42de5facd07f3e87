package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/settings"
)

// written is a hook in the form of a settings file.
type written struct {
	Type    HookKind          `json:"type"`
	Name    string            `json:"name,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Shell   string            `json:"shell,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	EnvVars []string          `json:"allowedEnvVars,omitempty"`
	terms
}

type terms struct {
	If      string  `json:"if,omitempty"`
	Timeout float64 `json:"timeout,omitempty"`
	Async   bool    `json:"async,omitempty"`
	Once    bool    `json:"once,omitempty"`
	Status  string  `json:"statusMessage,omitempty"`
}

// group is a matcher with its hooks.
type group struct {
	Matcher string            `json:"matcher,omitempty"`
	Hooks   []json.RawMessage `json:"hooks"`
}

// element returns a draft as a file has it.
func element(d HookDraft) json.RawMessage {
	return settings.Encode(written{
		d.Action.Kind, strings.TrimSpace(d.Name), d.Action.Command, d.Action.Args, d.Action.Shell, d.Action.URL, d.Action.Headers, d.Action.EnvVars,
		terms{d.If, d.Timeout, d.Async, d.Once, d.Status},
	})
}

// parseOne reads a hook as it would be read in a file.
func parseOne(point agent.HookPoint, matcher, raw json.RawMessage, o hook.Origin) (hook.Handler, []hook.Finding, bool) {
	g := map[string]any{"hooks": []json.RawMessage{raw}}
	if matcher != nil {
		g["matcher"] = matcher
	}
	handlers, findings := hook.Parse(settings.Encode(map[string]any{hook.EventName(point): []any{g}}), o)
	if len(handlers) != 1 {
		return hook.Handler{}, findings, false
	}
	return handlers[0], findings, true
}

// handler returns the hook that a draft would be in a file. It refuses one that
// could not run.
func handler(d HookDraft, o hook.Origin) (hook.Handler, []hook.Finding, error) {
	var matcher json.RawMessage
	if d.Matcher != "" {
		matcher = settings.Encode(d.Matcher)
	}
	x, findings, ok := parseOne(d.Point, matcher, element(d), o)
	for _, f := range findings {
		if !f.Harmless {
			return x, nil, backend.Problem(backend.ProblemHookDraft, f.Message)
		}
	}
	if !ok {
		return x, nil, backend.Problem(backend.ProblemHookDraft, "")
	}
	return x, findings, nil
}

// place is where a hook stands in its file.
type place struct {
	event           string
	groups          int // of the event
	group, hook     int // -1 if the hook was not found
	hooks           int // of the group
	matcher, before json.RawMessage
}

// locate finds a hook in the text of a file.
func locate(b []byte, event string, f settings.File, id string) (place, error) {
	p := place{event: event, group: -1, hook: -1}
	text := settings.Parse(b)
	if text.Err != nil {
		return p, text.Err
	}
	m, ok := text.Member("hooks")
	if !ok {
		return p, nil
	}
	events, _, err := settings.Members(m.Raw, m.At)
	if err != nil {
		return p, err
	}
	o := hook.Origin{Scope: hook.Scope(f.Scope), File: f.Path(), Form: form(f)}
	for _, e := range events {
		groups, _, err := settings.Elements(e.Raw, e.At)
		if err != nil {
			if e.Name == event && id == "" {
				return p, err // nothing can be added to it
			}
			continue
		}
		if e.Name == event {
			p.groups = len(groups)
		}
		for gi, g := range groups {
			found, ok := inGroup(e.Name, g.Raw, o, id)
			if ok {
				found.event, found.groups, found.group = e.Name, len(groups), gi
				return found, nil
			}
		}
	}
	return p, nil
}

// inGroup finds a hook in a group.
func inGroup(event string, raw json.RawMessage, o hook.Origin, id string) (place, bool) {
	members, _, err := settings.Members(raw, 0)
	if err != nil {
		return place{}, false
	}
	p := place{}
	var all []settings.Member
	for _, m := range members {
		switch m.Name {
		case "matcher":
			p.matcher = m.Raw
		case "hooks":
			all, _, _ = settings.Elements(m.Raw, 0) // what is not a list has no hook
		}
	}
	for i, one := range all {
		if x, _, ok := parseOne(agent.HookPoint(event), p.matcher, one.Raw, o); ok && x.ID() == id {
			p.hook, p.hooks, p.before = i, len(all), one.Raw
			return p, true
		}
	}
	return p, false
}

// without returns the text without a hook, and without what is empty then.
func (p place) without(b []byte) ([]byte, error) {
	path := []any{"hooks", p.event, p.group, "hooks", p.hook}
	if p.hooks == 1 {
		path = path[:3]
		if p.groups == 1 {
			path = path[:2]
		}
	}
	return settings.Set(b, nil, path...)
}

// Save writes a draft to a settings file. Everything else in the file stays as it
// is. The draft is trusted at once, unless it runs files of the project, which
// nobody was shown.
func (h *Hooks) Save(ctx context.Context, in HookSaveRequest) (HookRow, error) {
	file, before, err := h.target(ctx, in)
	if err != nil {
		return HookRow{}, err
	}
	x, _, err := handler(in.Draft, hook.Origin{Scope: hook.Scope(file.Scope), File: file.Path(), Form: form(file)})
	if err != nil {
		return HookRow{}, err
	}
	err = file.Edit(func(b []byte) ([]byte, error) { return saved(b, file, in, before, x.ID()) })
	if err != nil {
		return HookRow{}, unwritten(err, file)
	}
	if in.Replaces != "" && (before.Point != in.Draft.Point || file.Scope == agent.ScopeUser) { // the new one need not take its place
		h.release(in.Replaces)
		if err := h.cfg.Trust.Revoke(ctx, in.Replaces); err != nil {
			return HookRow{}, err
		}
	}
	l := h.again(ctx)
	if file.Scope != agent.ScopeUser {
		if shown, err := h.cfg.Trust.Show(ctx, x.ID()); err == nil && len(shown.Files) == 0 {
			if err := h.cfg.Trust.Accept(ctx, x.ID(), shown.Seal); err != nil {
				return HookRow{}, err
			}
			l = h.again(ctx)
		}
	}
	stands, _, ok := l.find(x.ID())
	if !ok {
		return HookRow{}, unwritten(errors.New("another program wrote it meanwhile"), file)
	}
	return h.row(ctx, stands)
}

// target returns the file of a draft, and the hook that it replaces.
func (h *Hooks) target(ctx context.Context, in HookSaveRequest) (settings.File, hook.Handler, error) {
	if in.Replaces != "" {
		x, file, ok := h.current(ctx).find(in.Replaces)
		if !ok {
			return file, x, errMissing
		}
		return file, x, nil
	}
	files := h.settings.Files()
	i := slices.IndexFunc(files, func(f settings.File) bool { return f.Scope == in.Scope })
	if i < 0 {
		return settings.File{}, hook.Handler{}, backend.Problem(backend.ProblemHookScope)
	}
	return files[i], hook.Handler{}, nil
}

// saved returns the text of a file with a draft in it.
func saved(b []byte, f settings.File, in HookSaveRequest, before hook.Handler, id string) ([]byte, error) {
	event, fresh := hook.EventName(in.Draft.Point), element(in.Draft)
	if in.Replaces != "" {
		p, err := locate(b, hook.EventName(before.Point), f, in.Replaces)
		switch {
		case err != nil:
			return nil, err
		case p.hook < 0:
			return nil, errMissing
		}
		fresh = merged(p.before, fresh)
		if before.Point == in.Draft.Point && before.Matcher == in.Draft.Matcher {
			return settings.Set(b, fresh, "hooks", p.event, p.group, "hooks", p.hook)
		}
		if b, err = p.without(b); err != nil {
			return nil, err
		}
	}
	if p, err := locate(b, event, f, id); err != nil || p.hook >= 0 {
		return b, err // it stands there already
	}
	p, err := locate(b, event, f, "")
	if err != nil {
		return nil, err
	}
	return settings.Set(b, settings.Encode(group{in.Draft.Matcher, []json.RawMessage{fresh}}), "hooks", event, p.groups)
}

// Preview returns a draft as Save would write it. Beside the draft it has what stands
// with the hook that it replaces and is kept.
func (h *Hooks) Preview(ctx context.Context, in HookSaveRequest) (HookPreviewReply, error) {
	file, before, err := h.target(ctx, in)
	if err != nil {
		return HookPreviewReply{}, err
	}
	fresh := element(in.Draft)
	for _, s := range h.current(ctx).sources {
		if in.Replaces == "" || s.file.Path() != file.Path() {
			continue
		}
		p, err := locate(s.text.Bytes(), hook.EventName(before.Point), file, in.Replaces)
		switch {
		case err != nil:
			return HookPreviewReply{}, unwritten(err, file)
		case p.hook < 0:
			return HookPreviewReply{}, errMissing
		}
		fresh = merged(p.before, fresh)
	}
	var text bytes.Buffer
	whole := settings.Encode(map[string]any{"hooks": map[string]any{
		hook.EventName(in.Draft.Point): []group{{in.Draft.Matcher, []json.RawMessage{fresh}}},
	}})
	if err := json.Indent(&text, whole, "", "  "); err != nil {
		return HookPreviewReply{}, fmt.Errorf("lay out a hook: %w", err)
	}
	return HookPreviewReply{text.String()}, nil
}

// merged returns a new element with those members of the old one that a draft does
// not know.
func merged(before, after json.RawMessage) json.RawMessage {
	var old, fresh map[string]json.RawMessage
	if json.Unmarshal(before, &old) != nil || json.Unmarshal(after, &fresh) != nil {
		return after
	}
	for _, name := range []string{
		"type", "name", "command", "args", "shell", "url", "headers", "allowedEnvVars", "if", "timeout", "async", "once", "statusMessage",
	} {
		delete(old, name)
	}
	if len(old) == 0 {
		return after
	}
	members, _, _ := settings.Members(after, 0) // it was encoded just before
	var b strings.Builder
	for _, m := range members {
		b.WriteString(string(settings.Encode(m.Name)) + ":" + string(m.Raw) + ",")
	}
	kept, _, _ := settings.Members(before, 0)
	for _, m := range kept {
		if _, ok := old[m.Name]; ok {
			b.WriteString(string(settings.Encode(m.Name)) + ":" + string(m.Raw) + ",")
		}
	}
	return json.RawMessage("{" + strings.TrimSuffix(b.String(), ",") + "}")
}

// Remove takes a hook out of its file.
func (h *Hooks) Remove(ctx context.Context, in HookRemoveRequest) (backend.Empty, error) {
	x, file, ok := h.current(ctx).find(in.ID)
	if !ok {
		return backend.Empty{}, errMissing
	}
	err := file.Edit(func(b []byte) ([]byte, error) {
		p, err := locate(b, hook.EventName(x.Point), file, in.ID)
		if err != nil {
			return nil, err
		}
		if p.hook < 0 {
			return nil, errMissing
		}
		return p.without(b)
	})
	if err != nil {
		return backend.Empty{}, unwritten(err, file)
	}
	h.release(in.ID)
	if err := h.cfg.Trust.Revoke(ctx, in.ID); err != nil {
		return backend.Empty{}, err
	}
	h.again(ctx)
	return backend.Empty{}, nil
}

// unwritten says that a file could not be changed.
func unwritten(err error, f settings.File) error {
	var told *backend.Error
	if errors.As(err, &told) {
		return err
	}
	return backend.Problem(backend.ProblemHookUnwritten, f.Path()).Because(err)
}
