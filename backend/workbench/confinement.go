package workbench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/network"
	"atelier.dev/atelier/agent/network/proxy"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/agent/sandbox/confine"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/caches"
)

// SandboxLevel says how commands are confined here.
type SandboxLevel struct {
	Level confine.Level `json:"level"`
	// Holds says that the mode auto confines commands, and runs them without asking.
	Holds bool `json:"holds"`
	// On says that commands are confined, Free that those that are run without
	// asking, and Outside that one may ask to run unconfined.
	On      bool `json:"on"`
	Free    bool `json:"free"`
	Outside bool `json:"outside"`
	// ByFile says that a settings file turns it on, so that the switch cannot turn
	// it off. Broken says that a settings file cannot be read.
	ByFile bool `json:"by_file,omitempty"`
	Broken bool `json:"broken,omitempty"`
	// Hosts are those that commands may reach; without any there is no network.
	Hosts []string `json:"hosts,omitempty"`
}

// sandboxLevel tries once what this machine can do.
func (w *Workbench) sandboxLevel(ctx context.Context, _ backend.Empty) (SandboxLevel, error) {
	layers, err := w.sandboxLayers(ctx)
	if err != nil {
		return SandboxLevel{}, err
	}
	asked := confine.Combine(layers...)
	w.withRules(ctx, &asked, "")
	files := confine.Combine(layers[1:]...)
	level := sandbox.Confinement(ctx, asked.Weaker)
	reply := SandboxLevel{
		Level: level, Holds: level.Holds(), On: asked.Enabled, Free: asked.AutoAllow, Outside: asked.Unsandboxed,
		ByFile: files.Enabled, Hosts: asked.Allowed, Broken: asked.Broken,
	}
	return reply, nil
}

// sandboxLayers returns the user's choices in the program, and then those of the
// settings files.
func (w *Workbench) sandboxLayers(ctx context.Context) ([]confine.Layer, error) {
	p, err := backend.StoredPreferences(ctx, w.cfg.Store)
	if err != nil {
		return nil, err
	}
	chosen := confine.Layer{Trusted: true, Broken: p.Damaged}
	free, outside := p.Sandbox.Free, !p.Sandbox.Inside
	chosen.Enabled, chosen.AutoAllow, chosen.Unsandboxed = &p.Sandbox.On, &free, &outside
	return append([]confine.Layer{chosen}, w.guard.Sandbox(ctx)...), nil
}

// confining returns how the next command of a session is confined. If that
// cannot be found out, they are confined as narrowly as can be.
func (w *Workbench) confining(session, of, folder string) func(context.Context) (env.Confining, bool) {
	past := &refusals{}
	return func(ctx context.Context) (env.Confining, bool) {
		layers, err := w.sandboxLayers(ctx)
		if err != nil {
			slog.Error("could not read the settings of the sandbox", "err", err)
			layers = []confine.Layer{{Broken: true, Settings: confine.Settings{Enabled: new(true)}}}
		}
		asked := confine.Combine(layers...)
		level := sandbox.Confinement(ctx, asked.Weaker)
		auto := level.Holds()
		if !asked.Enabled && !auto {
			return env.Confining{}, false
		}
		w.withRules(ctx, &asked, of)
		profile := func(c env.Command) confine.Profile {
			at, err := w.confinedPlace(session, folder)
			if err != nil {
				slog.Warn("could not make folders for confined commands", "err", err)
			}
			p := asked.At(at)
			rules := hostRules(asked, c.Hosts, p.LocalBinding)
			if c.Exposed {
				rules = network.Shut()
			}
			past.remember(c.Line, connect(&p, rules), c.Hosts)
			return p
		}
		confining := env.Confining{
			Profile: profile, Always: asked.Enabled, Auto: auto, Free: asked.AutoAllow, Outside: asked.Unsandboxed,
		}
		if level.By != confine.Landlock { // which lets commands reach every host or none
			confining.Reach = reach{refusals: past, rules: hostRules(asked, nil, false), place: func() confine.Place { return w.cachePlace(folder) }}
		}
		return confining, true
	}
}

// withRules adds the hosts that rules name, which hold for a session and its agents. A
// file that cannot be read might have forbidden them.
func (w *Workbench) withRules(ctx context.Context, asked *confine.Request, session string) {
	allowed, denied := w.guard.Set(ctx, session).Hosts()
	if !asked.Broken {
		asked.Allowed = append(asked.Allowed, allowed...)
	}
	asked.Denied = append(asked.Denied, denied...)
}

// confinedSentence tells a model how the commands of its session are confined in a
// mode; it is empty if they are not.
func (w *Workbench) confinedSentence(mode agent.Mode) string {
	layers, err := w.sandboxLayers(w.ctx)
	if err != nil {
		return "" // each command says what is wrong
	}
	asked := confine.Combine(layers...)
	level := sandbox.Confinement(w.ctx, asked.Weaker)
	if !asked.Enabled && (mode != agent.ModeAuto || !level.Holds()) {
		return ""
	}
	w.withRules(w.ctx, &asked, "")
	return asked.Sentence(level)
}

// withoutRetries keep programs from asking again for what was refused, and from looking
// for newer versions of themselves.
var withoutRetries = []string{
	"npm_config_fetch_retries=0", "PIP_RETRIES=0", "CARGO_NET_RETRY=0", "UV_HTTP_RETRIES=0",
	"npm_config_update_notifier=false", "NO_UPDATE_NOTIFIER=1", "PIP_DISABLE_PIP_VERSION_CHECK=1",
}

// connect gives a command the hosts that it may reach. If there are none, all are
// refused to it at once.
func connect(p *confine.Profile, rules *network.Rules) *proxy.Proxy {
	answers := proxy.New(network.Dialer{Rules: rules})
	answers.Asks, p.Proxy = true, answers
	if rules.Any() {
		p.Network = confine.NetworkProxy
	} else {
		p.Env = append(p.Env, withoutRetries...)
	}
	return answers
}

// hostRules returns the rules about the hosts that commands may reach, some of them
// once. Entries that
// cannot be read are left out.
func hostRules(asked confine.Request, once []string, local bool) *network.Rules {
	rules, err := network.New(network.Settings{
		AllowedDomains: slices.Concat(asked.Allowed, once), DeniedDomains: asked.Denied, AllowLocalBinding: local,
	})
	if err != nil {
		slog.Warn("some hosts in the settings of the sandbox cannot be read", "err", err)
	}
	return rules
}

// SandboxCaches says how much the caches of confined commands take, in bytes, of
// which Most is the limit.
type SandboxCaches struct {
	Size int64 `json:"size"`
	Most int64 `json:"most"`
}

func (w *Workbench) sandboxCaches(ctx context.Context, _ backend.Empty) (SandboxCaches, error) {
	size, err := w.caches.Size(ctx)
	return SandboxCaches{Size: size, Most: caches.MaxBytes}, err
}

// clearCaches deletes them. Files that cannot be deleted still count.
func (w *Workbench) clearCaches(ctx context.Context, _ backend.Empty) (SandboxCaches, error) {
	if err := w.caches.Clear(ctx); err != nil {
		slog.Warn("could not delete all caches", "err", err)
	}
	return w.sandboxCaches(ctx, backend.Empty{})
}

// confinedPlace returns where a session's commands are confined. They share a
// folder for temporary files, and the project's caches.
func (w *Workbench) confinedPlace(session, folder string) (confine.Place, error) {
	at := w.cachePlace(folder)
	at.Own, at.Visible, at.Temp = []string{w.cfg.Home}, []string{w.outputFolder(session), w.attachments.Dir()}, filepath.Join(w.outputFolder(session), "tmp")
	w.caches.Use(w.ctx)
	for _, dir := range []string{at.Temp, at.Cache} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			at.Temp, at.Cache = "", ""
			return at, fmt.Errorf("make a folder for confined commands: %w", err)
		}
	}
	return at, nil
}

// cachePlace returns where the caches of a project's confined commands are.
func (w *Workbench) cachePlace(folder string) confine.Place {
	sum := sha256.Sum256([]byte(folder))
	home := userHome(w.cfg)
	return confine.Place{
		Project: folder, Home: home, Cache: w.caches.Of(hex.EncodeToString(sum[:8])), Getenv: w.cfg.Getenv, Secrets: confine.SecretPaths(sandbox.Environ(), home),
	}
}
