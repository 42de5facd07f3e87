package confinement

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/network"
	"atelier.dev/atelier/agent/network/proxy"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/agent/sandbox/confine"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/caches"
	"atelier.dev/atelier/backend/dispatch"
)

// Config is what the confinement of a folder's commands needs.
type Config struct {
	Home   string // where Atelier keeps its data; no command reads it
	User   string // the user's home folder; empty if it is unknown
	Store  backend.Settings
	Guard  Guard
	Getenv func(string) string
	// Output returns the folder of a session's output, which its commands may read, and
	// Attached is the one of attached files.
	Output   func(session string) string
	Attached string
}

// Guard knows what settings files and rules say. Package guard has it.
type Guard interface {
	// Sandbox returns the members "sandbox" of the settings files, the weakest first.
	Sandbox(ctx context.Context) []confine.Layer
	// Hosts returns the hosts that rules allow and deny for a session and its agents.
	Hosts(ctx context.Context, session string) (allowed, denied []string)
}

// Confinement says how commands, language servers and requests of sessions are confined.
// It is safe for concurrent use.
type Confinement struct {
	cfg    Config
	ctx    context.Context // ends the work on caches
	caches *caches.Caches
}

// New returns the confinement of a folder. The context ends what it does by itself; then
// Wait returns.
func New(ctx context.Context, cfg Config) *Confinement {
	return &Confinement{cfg: cfg, ctx: ctx, caches: caches.New(filepath.Join(cfg.Home, "confined"), caches.MaxBytes, time.Now)}
}

// Wait waits for the work on caches.
func (c *Confinement) Wait() { c.caches.Wait() }

// Register adds the methods of the page.
func (c *Confinement) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "sandbox.level", c.level)
	dispatch.Handle(d, "sandbox.caches", c.cacheSizes)
	dispatch.Handle(d, "sandbox.clear", c.clearCaches)
}

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

// level tries once what this machine can do.
func (c *Confinement) level(ctx context.Context, _ backend.Empty) (SandboxLevel, error) {
	layers, err := c.layers(ctx)
	if err != nil {
		return SandboxLevel{}, err
	}
	asked := confine.Combine(layers...)
	c.withRules(ctx, &asked, "")
	files := confine.Combine(layers[1:]...)
	level := sandbox.Confinement(ctx, asked.Weaker)
	reply := SandboxLevel{
		Level: level, Holds: level.Holds(), On: asked.Enabled, Free: asked.AutoAllow, Outside: asked.Unsandboxed,
		ByFile: files.Enabled, Hosts: asked.Allowed, Broken: asked.Broken,
	}
	return reply, nil
}

// layers returns the user's choices in the program, and then those of the
// settings files.
func (c *Confinement) layers(ctx context.Context) ([]confine.Layer, error) {
	p, err := backend.StoredPreferences(ctx, c.cfg.Store)
	if err != nil {
		return nil, err
	}
	chosen := confine.Layer{Trusted: true, Broken: p.Damaged}
	free, outside := p.Sandbox.Free, !p.Sandbox.Inside
	chosen.Enabled, chosen.AutoAllow, chosen.Unsandboxed = &p.Sandbox.On, &free, &outside
	return append([]confine.Layer{chosen}, c.cfg.Guard.Sandbox(ctx)...), nil
}

// Of returns how the next command of a session is confined, whose rules are those of an
// account: the session itself, or the one that started it. If that
// cannot be found out, they are confined as narrowly as can be.
func (c *Confinement) Of(session, account, folder string) func(context.Context) (env.Confining, bool) {
	past := &refusals{}
	return func(ctx context.Context) (env.Confining, bool) {
		layers, err := c.layers(ctx)
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
		c.withRules(ctx, &asked, account)
		profile := func(command env.Command) confine.Profile {
			at, err := c.place(session, folder)
			if err != nil {
				slog.Warn("could not make folders for confined commands", "err", err)
			}
			p := asked.At(at)
			rules := hostRules(asked, command.Hosts, p.LocalBinding)
			if command.Exposed {
				rules = network.Shut()
			}
			past.remember(command.Line, connect(&p, rules), command.Hosts)
			return p
		}
		confining := env.Confining{
			Profile: profile, Always: asked.Enabled, Auto: auto, Free: asked.AutoAllow, Outside: asked.Unsandboxed,
		}
		if level.By != confine.Landlock { // which lets commands reach every host or none
			confining.Reach = reach{refusals: past, rules: hostRules(asked, nil, false), place: func() confine.Place { return c.cachePlace(folder) }}
		}
		return confining, true
	}
}

// withRules adds the hosts that rules name, which hold for a session and its agents. A
// file that cannot be read might have forbidden them.
func (c *Confinement) withRules(ctx context.Context, asked *confine.Request, session string) {
	allowed, denied := c.cfg.Guard.Hosts(ctx, session)
	if !asked.Broken {
		asked.Allowed = append(asked.Allowed, allowed...)
	}
	asked.Denied = append(asked.Denied, denied...)
}

// Sentence tells a model how the commands of its session are confined in a
// mode; it is empty if they are not.
func (c *Confinement) Sentence(mode agent.Mode) string {
	layers, err := c.layers(c.ctx)
	if err != nil {
		return "" // each command says what is wrong
	}
	asked := confine.Combine(layers...)
	level := sandbox.Confinement(c.ctx, asked.Weaker)
	if !asked.Enabled && (mode != agent.ModeAuto || !level.Holds()) {
		return ""
	}
	c.withRules(c.ctx, &asked, "")
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

func (c *Confinement) cacheSizes(ctx context.Context, _ backend.Empty) (SandboxCaches, error) {
	size, err := c.caches.Size(ctx)
	return SandboxCaches{Size: size, Most: caches.MaxBytes}, err
}

// clearCaches deletes them. Files that cannot be deleted still count.
func (c *Confinement) clearCaches(ctx context.Context, _ backend.Empty) (SandboxCaches, error) {
	if err := c.caches.Clear(ctx); err != nil {
		slog.Warn("could not delete all caches", "err", err)
	}
	return c.cacheSizes(ctx, backend.Empty{})
}

// place returns where a session's commands are confined. They share a
// folder for temporary files, and the project's caches.
func (c *Confinement) place(session, folder string) (confine.Place, error) {
	at := c.cachePlace(folder)
	at.Own, at.Visible, at.Temp = []string{c.cfg.Home}, []string{c.cfg.Output(session), c.cfg.Attached}, filepath.Join(c.cfg.Output(session), "tmp")
	c.caches.Use(c.ctx)
	for _, dir := range []string{at.Temp, at.Cache} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			at.Temp, at.Cache = "", ""
			return at, fmt.Errorf("make a folder for confined commands: %w", err)
		}
	}
	return at, nil
}

// cachePlace returns where the caches of a project's confined commands are.
func (c *Confinement) cachePlace(folder string) confine.Place {
	sum := sha256.Sum256([]byte(folder))
	return confine.Place{
		Project: folder, Home: c.cfg.User, Cache: c.caches.Of(hex.EncodeToString(sum[:8])), Getenv: c.cfg.Getenv, Secrets: confine.SecretPaths(sandbox.Environ(), c.cfg.User),
	}
}

// LanguageServer returns what a language server may do: it reads the project, keeps its
// caches, changes nothing and reaches nobody. Many run code of the project (macros,
// plugins, build scripts), so none runs without confinement.
func (c *Confinement) LanguageServer(ctx context.Context, root string) (*confine.Profile, error) {
	layers, err := c.layers(ctx)
	if err != nil {
		return nil, err
	}
	asked := confine.Combine(layers...)
	if !sandbox.Confinement(ctx, asked.Weaker).Works() {
		return nil, errors.New("language servers run code of the project, and this machine cannot confine them")
	}
	c.caches.Use(c.ctx)
	at := c.cachePlace(root)
	at.Own = []string{c.cfg.Home}
	if err := os.MkdirAll(at.Cache, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for the caches of a language server: %w", err)
	}
	profile := asked.At(at)
	connect(&profile, network.Shut())
	profile.Writable = slices.DeleteFunc(profile.Writable, func(dir string) bool { return dir == root })
	return &profile, nil
}

// Hosts returns the hosts that settings and rules allow and deny to the tools of an
// account's sessions.
func (c *Confinement) Hosts(ctx context.Context, account string) (network.Settings, error) {
	layers, err := c.layers(ctx)
	if err != nil {
		return network.Settings{}, err
	}
	asked := confine.Combine(layers...)
	if asked.Broken {
		return network.Settings{}, errors.New("a settings file is damaged")
	}
	c.withRules(ctx, &asked, account)
	return network.Settings{AllowedDomains: asked.Allowed, DeniedDomains: asked.Denied}, nil
}
