package agents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/agentdef"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/backend/review"
	"atelier.dev/atelier/backend/trust"
)

// needsTrust reports whether the user is asked about a definition: it is the project's, and has
// hooks.
func needsTrust(d agentdef.Definition) bool {
	return d.Place.Scope == agent.ScopeProject && d.Hooks != nil && !d.Broken()
}

// Hooks returns the hooks of an agent, from where its file stands. Those of its end are the ones
// of a subagent.
func Hooks(raw json.RawMessage, place agentdef.Place) []hook.Handler {
	if raw == nil {
		return nil
	}
	handlers, _ := hook.Parse(raw, hook.Origin{Scope: hook.Scope(place.Scope), File: place.File, Form: hook.FormClaude})
	for i := range handlers {
		switch handlers[i].Point {
		case agent.HookStop:
			handlers[i].Point = agent.HookSubagentStop
		case agent.HookSessionStart:
			handlers[i].Point = agent.HookSubagentStart
		}
	}
	return handlers
}

// Ready says whether the hooks of an agent that was started may run: those of the project as long
// as its file is what the user accepted. Until then the calls that they are about are asked about.
func (a *Agents) Ready(ctx context.Context, name string, raw json.RawMessage, place agentdef.Place) hook.Readiness {
	d := agentdef.Definition{Name: name, Place: place, Hooks: raw}
	if err := a.check(ctx, d); err != nil {
		return hook.Readiness{State: hook.StateChanged, Why: "the file of the agent " + name + " is not what you trusted"}
	}
	return hook.Readiness{State: hook.StateReady}
}

// check returns an error if a definition needs the user's trust and does not have it.
func (a *Agents) check(ctx context.Context, d agentdef.Definition) error {
	if !needsTrust(d) {
		return nil
	}
	state, err := a.cfg.Trust.CheckThis(ctx, a.item(d), a.cfg.Folder)
	switch {
	case err != nil:
		return fmt.Errorf("find out whether the agent %s is trusted: %w", d.Name, err)
	case state != trust.StateTrusted:
		return errUntrusted(d.Name)
	}
	return nil
}

func errUntrusted(name string) error {
	return fmt.Errorf("the agent %s has hooks that the user has not accepted yet; the user is asked to review them", name)
}

func errUnknown(name string, usable []agentdef.Definition) error {
	var names []string
	for _, d := range usable {
		names = append(names, d.Name)
	}
	return fmt.Errorf("there is no agent %.100q; there are %s", name, strings.Join(names, ", "))
}

// item is what the user is asked to trust: the hooks of a definition, and its file.
func (a *Agents) item(d agentdef.Definition) trust.Item {
	file := a.below(d.Place.File)
	sum := sha256.Sum256([]byte(a.cfg.Folder + "\x00" + file))
	var shown strings.Builder
	e := json.NewEncoder(&shown)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(struct {
		Name  string          `json:"name"`
		Hooks json.RawMessage `json:"hooks"`
	}{d.Name, d.Hooks}) // they were JSON before
	var lines []string
	for _, h := range Hooks(d.Hooks, d.Place) {
		if h.Command != nil {
			lines = append(lines, strings.Join(append([]string{h.Command.Line}, h.Command.Args...), " "))
		}
	}
	return trust.Item{
		Kind: trust.KindAgent, ID: "agent-" + hex.EncodeToString(sum[:10]), Title: d.Name, Scope: d.Place.Scope,
		Origin: d.Place.File, Definition: strings.TrimSpace(shown.String()),
		Command: trust.Command{Line: strings.Join(lines, "\n"), With: []string{file}},
	}
}

// below returns a path relative to the project, with slashes.
func (a *Agents) below(path string) string {
	rel, err := filepath.Rel(a.cfg.Folder, path)
	if err != nil || !filepath.IsLocal(rel) {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rel)
}

// stand says which definitions of the project have hooks.
func (a *Agents) stand(found []agentdef.Definition) {
	items := []trust.Item{}
	for _, d := range found {
		if needsTrust(d) {
			items = append(items, a.item(d))
		}
	}
	a.cfg.Trust.SetItems(trust.KindAgent, items)
}

// Decided implements [review.Owner].
func (a *Agents) Decided(_ context.Context, id string, _ review.TrustDecision) {
	if strings.HasPrefix(id, "agent-") {
		a.again()
	}
}

// TrustForRun trusts the definitions that stand there until the program ends, and returns how
// many those are.
func (a *Agents) TrustForRun(ctx context.Context) (int, error) {
	a.current()
	n, err := a.cfg.Trust.AcceptForRun(ctx, trust.KindAgent)
	if err == nil {
		a.again()
	}
	return n, err
}
