package permission

import (
	"context"
	"os"
	"runtime"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/command"
	"atelier.dev/atelier/agent/internal/sensitive"
	"atelier.dev/atelier/agent/permission/boundary"
)

var _ agent.Foreteller = (*Policy)(nil)

// Foretell implements [agent.Foreteller]. Its answer matters to Decide in the mode
// auto, and when the system confines a command that may destroy the project.
func (p *Policy) Foretell(ctx context.Context, call agent.GateCall) agent.Forecast {
	access := call.Access
	effects := p.commandEffects(ctx, access)
	for _, path := range access.Writes {
		effects = append(effects, p.writeEffects(path)...)
	}
	for _, path := range access.Reads {
		effects = append(effects, p.readEffects(path)...)
	}
	if access.Web != "" {
		effects = append(effects, agent.Effect{ID: agent.EffectNetwork, Args: []string{access.Web}})
	}
	switch {
	case len(effects) > 0:
	case call.ReadOnly, p.looks(access):
		effects = append(effects, agent.Effect{ID: agent.EffectReads})
	case access.Own:
		effects = append(effects, agent.Effect{ID: agent.EffectOwn})
	default:
		effects = append(effects, agent.Effect{ID: agent.EffectUnknown, Args: []string{call.Tool}})
	}
	return agent.OutlookOf(effects...)
}

// autoRuns are the effects of other calls than commands that the mode auto does not
// ask about (OAS-623): what stays in the project or can be had again. A call with any
// other effect, or one that cannot be told, is asked about. Commands are confined in
// that mode, or asked about (K-47).
var autoRuns = []agent.EffectID{
	agent.EffectReads, agent.EffectOwn, agent.EffectChanges, agent.EffectDeletes, agent.EffectRewrites, agent.EffectRunsProject,
	agent.EffectPackages, agent.EffectNetwork, agent.EffectLoopback,
}

// losing are the effects that a confined command is asked about: what it can still
// destroy is the project that it works in, and the time of whoever waits for it.
var losing = []agent.EffectID{
	agent.EffectDeletesAll, agent.EffectDeletesUnknown, agent.EffectDiscards, agent.EffectExhausts, agent.EffectHidden, agent.EffectTooLong,
}

// loses reports whether a person is asked about a command although it is confined.
func (p *Policy) loses(ctx context.Context, call agent.GateCall) bool {
	return slices.ContainsFunc(p.Foretell(ctx, call).Effects, func(e agent.Effect) bool {
		return slices.Contains(losing, e.ID) || e.ID == agent.EffectReverts && !p.undo
	})
}

// mayHarm reports whether the mode auto asks about a call.
func (p *Policy) mayHarm(ctx context.Context, call agent.GateCall) bool {
	return slices.ContainsFunc(p.Foretell(ctx, call).Effects, func(e agent.Effect) bool { return !slices.Contains(autoRuns, e.ID) })
}

// commandEffects returns what a command line does. If it only reads, the call's
// Access says which files.
func (p *Policy) commandEffects(ctx context.Context, access agent.Access) []agent.Effect {
	unknown := agent.Effect{ID: agent.EffectUnknown}
	switch {
	case access.Command == "", access.OnlyReads && access.Task == "" && len(access.Writes) == 0:
		return nil
	case runtime.GOOS == "windows": // cmd.exe reads it differently
		return []agent.Effect{unknown}
	}
	place := command.Place{Dir: p.dir, Project: p.dir, Resolve: boundary.Resolve, Exists: exists, Stopped: func() bool { return ctx.Err() != nil }}
	if access.Dir != "" {
		place.Dir = boundary.Resolve(access.Dir)
	}
	place.Home, _ = os.UserHomeDir()
	effects := command.Of(access.Command, place)
	if access.Task == "" {
		return effects
	}
	// The program that it is typed to need not be a shell.
	return append(slices.DeleteFunc(effects, func(e agent.Effect) bool { return agent.OutlookOf(e).Risk != agent.RiskDangerous }), unknown)
}

func (p *Policy) writeEffects(path string) []agent.Effect {
	real, shown := boundary.Resolve(path), []string{p.shown(path)}
	var effects []agent.Effect
	if p.controls(path) || p.controls(real) || p.inBareRepository(real) {
		effects = append(effects, agent.Effect{ID: agent.EffectControls, Args: shown})
	}
	if p.secret(path, real) {
		effects = append(effects, agent.Effect{ID: agent.EffectSecrets, Args: shown})
	}
	if !p.inside(real) {
		effects = append(effects, agent.Effect{ID: agent.EffectOutside, Args: []string{real}})
	}
	if len(effects) == 0 {
		effects = append(effects, agent.Effect{ID: agent.EffectChanges, Args: shown})
	}
	return effects
}

func (p *Policy) readEffects(path string) []agent.Effect {
	real := boundary.Resolve(path)
	var effects []agent.Effect
	if p.secret(path, real) || sensitive.HasToken(real) {
		effects = append(effects, agent.Effect{ID: agent.EffectSecrets, Args: []string{p.shown(path)}})
	}
	if !p.inside(real) && !p.readable(real) {
		effects = append(effects, agent.Effect{ID: agent.EffectOutside, Args: []string{real}})
	}
	return effects
}
