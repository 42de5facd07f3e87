package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"runtime"
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
	// unsure says that a decision could not be read or stored, so that the file is
	// judged again when it is needed next.
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
	texts := h.settings.ReadAll()
	same := known != nil && !known.unsure()
	for i, text := range texts {
		same = same && equal(known.sources[i].text, text)
	}
	if !same {
		return nil, texts
	}
	return known, texts
}

// refresh is current for the caller that holds reader. Others share the result, so
// the reading does not end with the context of the caller that began it.
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

// again has the files read and judged again, because something other than
// the files has changed.
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

// decide takes over what the user decided about one hook. The other hooks keep their
// state, so that deciding about many hooks one by one does not take quadratic time.
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
	h.cfg.Trust.SetItems(trust.KindHook, items)
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
		Definition: string(definition(x)), Private: x.Request != nil && len(x.Request.Headers) > 0, Own: x.Origin.Scope == hook.ScopeUser,
		Scope: agent.Scope(x.Origin.Scope), Line: x.Origin.Line,
	}
	if x.Command != nil {
		i.Command = trust.Command{Line: x.Command.Line, Args: x.Command.Args, Other: !posix(runtime.GOOS, x.Command.Shell)}
	}
	return i
}

// posix reports whether a shell reads POSIX syntax. An empty name means the system's
// shell, which is cmd.exe on Windows.
func posix(system, shell string) bool {
	return shell == "bash" || shell == "" && system != "windows"
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
