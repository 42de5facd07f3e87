package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	client "atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/settings"
	"atelier.dev/atelier/backend/trust"
)

// judged is a definition with what follows from the others and from what the user
// decided.
type judged struct {
	*definition
	// state is [StateIdle] for a server that should be connected.
	state   ServerState
	trusted trust.State
	winner  string // the file of the server that wins, for a shadowed one
	more    []ServerFinding
}

// judge says of every definition whether it should be connected. The strongest file
// wins a name, but what the user does not trust takes no name from anybody.
func (s *Servers) judge(ctx context.Context) ([]judged, error) {
	l := s.current()
	switches, err := s.switches(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]judged, len(l.servers))
	taken := map[string]*judged{}
	for i, d := range slices.Backward(l.servers) { // the strongest first
		x := judged{definition: d}
		if x.trusted, err = s.check(ctx, d); err != nil {
			return nil, err
		}
		winner := taken[d.draft.Name]
		switch {
		case d.broken():
			x.state = StateBroken
		case x.trusted == trust.StateChanged:
			x.state = StateChanged
		case x.trusted == trust.StateRefused:
			x.state = StateRefused
		case x.trusted != trust.StateTrusted:
			x.state = StateUntrusted
		case winner != nil:
			x.state, x.winner = StateShadowed, winner.origin.File
			x.more = append(x.more, finding(FindingShadowed, winner.origin.File))
			winner.more = append(winner.more, finding(FindingShadows, d.origin.File))
		case !switches.on(key(d), "", !d.off):
			x.state = StateOff
		default:
			x.state = StateIdle
		}
		out[i] = x
		if x.trusted == trust.StateTrusted && winner == nil {
			taken[d.draft.Name] = &out[i]
		}
	}
	return out, nil
}

// check returns what the user decided about a definition.
func (s *Servers) check(ctx context.Context, d *definition) (trust.State, error) {
	if d.given() {
		return trust.StateTrusted, nil
	}
	return s.cfg.Trust.Check(ctx, d.id(), "")
}

// ready is asked before each start of a program, restarts included: its files may
// have changed since the user trusted it.
func (s *Servers) ready(server client.Server) error {
	s.mu.Lock()
	d := s.last.wanted[server.Name]
	s.mu.Unlock()
	if d == nil {
		return nil // it was judged just now, or is a draft
	}
	state, err := s.check(s.work.ctx, d)
	if err != nil || state == trust.StateTrusted {
		return err
	}
	s.again() // which says so
	return backend.Problem(backend.ProblemServerChanged, server.Name)
}

// TrustForRun trusts what stands there until the program ends, and returns how many
// servers that is.
func (s *Servers) TrustForRun(ctx context.Context) (int, error) {
	s.current()
	n, err := s.cfg.Trust.AcceptForRun(ctx, trust.KindServer)
	s.again()
	return n, err
}

// key is the name under which switches and pins of a server are kept: where its file
// belongs, and its name.
func key(d *definition) string { return d.file.Root + "\x00" + d.draft.Name }

// find returns the server of a name: the one in a file, or else the one that wins.
func find(all []judged, name, file string) (judged, error) {
	var found *judged
	for i := range all {
		x := &all[i]
		if x.draft.Name != name || file != "" && x.origin.File != file {
			continue
		}
		better := found == nil || found.trusted != trust.StateTrusted || x.trusted == trust.StateTrusted && x.state != StateShadowed
		if better {
			found = x
		}
	}
	if found == nil {
		return judged{}, backend.Problem(backend.ProblemServerMissing, clip(name))
	}
	return *found, nil
}

// problem says why a server is not connected; nil for one that should be.
func (x judged) problem() *backend.Error {
	id := map[ServerState]backend.ProblemID{
		StateBroken: backend.ProblemServerBroken, StateUntrusted: backend.ProblemServerUntrusted, StateChanged: backend.ProblemServerChanged,
		StateRefused: backend.ProblemServerRefused, StateShadowed: backend.ProblemServerShadowed, StateOff: backend.ProblemServerOff,
	}[x.state]
	if id == "" {
		return nil
	}
	args := []string{x.draft.Name}
	if x.state == StateShadowed {
		args = append(args, x.winner)
	}
	return backend.Problem(id, args...)
}

// item is what the user is asked to trust.
func (s *Servers) item(d *definition, others []*definition) trust.Item {
	around := s.surroundings()
	fill := func(text string) string {
		out, _, _ := around.expand(text, "")
		return out
	}
	i := trust.Item{
		Kind: trust.KindServer, ID: d.id(), Title: d.draft.Name, Origin: d.origin.File, Slot: d.draft.Name,
		Definition: string(laidOut(d)), Own: d.own(), Scope: d.origin.Scope, Line: d.origin.Line,
		Private: d.private(), Command: trust.Command{URL: d.draft.URL},
	}
	if d.draft.Transport == kindStdio && d.draft.Command != "" {
		i.Command = trust.Command{Line: fill(d.draft.Command), Args: []string{}, Dir: fill(d.draft.Dir), Env: map[string]string{}}
		for _, arg := range d.draft.Args {
			i.Command.Args = append(i.Command.Args, fill(arg))
		}
		for name, value := range d.draft.Env {
			i.Command.Env[name] = fill(value)
		}
	}
	variables, secrets := d.takes(around)
	if len(variables) > 0 {
		i.Notes = append(i.Notes, trust.NewNote(trust.NoteVariables, clip(strings.Join(variables, ", "))))
	}
	if len(secrets) > 0 {
		i.Notes = append(i.Notes, trust.NewNote(trust.NoteSecrets, clip(strings.Join(secrets, ", "))))
	}
	for _, o := range others {
		if o != d && o.draft.Name == d.draft.Name && o.own() && !d.own() {
			i.Notes = append(i.Notes, trust.NewNote(trust.NoteTakesName, o.origin.File))
		}
	}
	return i
}

// private reports whether a definition has the value of a secret in it.
func (d *definition) private() bool {
	for _, values := range []map[string]string{d.draft.Env, d.draft.Headers} {
		for name, value := range values {
			if isSecret(name, value) && !hasSecret(value) {
				return true
			}
		}
	}
	return false
}

// laidOut is a definition as a person is shown it.
func laidOut(d *definition) []byte {
	var out bytes.Buffer
	_ = json.Indent(&out, settings.Encode(map[string]json.RawMessage{d.draft.Name: d.raw}), "", "  ") // it was read from JSON
	return out.Bytes()
}

func (s *Servers) surroundings() surroundings {
	return surroundings{getenv: s.cfg.Getenv, folder: s.cfg.Folder, user: s.cfg.User}
}

// fatal reports whether a server cannot be connected with these findings.
func fatal(all []ServerFinding) bool {
	return slices.ContainsFunc(all, func(f ServerFinding) bool { return !f.Harmless })
}

// filling fills the variables of one definition.
type filling struct {
	surroundings
	findings []ServerFinding
}

func (f *filling) add(id ServerFindingID, args ...string) {
	for i, arg := range args {
		args[i] = clip(arg)
	}
	f.findings = append(f.findings, finding(id, args...))
}

// fill fills a text that a server needs.
func (f *filling) fill(field, text string) string {
	out, unset, err := f.expand(text, field)
	for _, name := range unset {
		if id, ok := strings.CutPrefix(name, "input:"); ok {
			f.add(FindingInput, id)
		} else {
			f.add(FindingUnset, name)
		}
	}
	f.unread(field, err)
	return out
}

func (f *filling) unread(field string, err error) {
	switch {
	case err == nil:
	case errors.Is(err, errNoSecret):
		f.add(FindingSecretMissing, field)
	default:
		f.add(FindingSecretUnread, field)
	}
}

// pairs fills variables of the environment, or headers. One whose value is not known
// is left out.
func (f *filling) pairs(kind string, in map[string]string) map[string]string {
	if len(in) == 0 {
		return nil
	}
	out := map[string]string{}
	for name, text := range in {
		field := kind + "." + name
		value, unset, err := f.expand(text, field)
		switch {
		case err != nil:
			f.unread(field, err)
		case len(unset) > 0 && strings.HasPrefix(unset[0], "input:"):
			f.add(FindingInput, strings.TrimPrefix(unset[0], "input:"))
		case len(unset) > 0 && kind == "env":
			f.add(FindingUnsetLeftOut, unset[0], name)
		case len(unset) > 0:
			f.add(FindingUnset, unset[0])
		default:
			out[name] = value
		}
	}
	return out
}

// connectable returns a server with its variables filled in, and what is missing.
// Secret returns stored values.
func (s *Servers) connectable(d *definition, secret func(field string) (string, error)) (client.Server, []ServerFinding) {
	f := &filling{surroundings: s.surroundings()}
	f.secret = secret
	o := d.draft.Options
	out := client.Server{
		Name: d.draft.Name, Trusted: o.Trusted, AlwaysShown: o.AlwaysShown, Off: d.offTools, Only: d.onlyTools,
		Limits: client.Limits{Start: time.Duration(o.StartMS) * time.Millisecond, Call: time.Duration(o.CallMS) * time.Millisecond},
	}
	if d.draft.Transport == kindStdio {
		out.Transport = client.TransportStdio
		out.Stdio = client.Stdio{Command: f.fromHome(f.fill("command", d.draft.Command)), Env: f.pairs("env", d.draft.Env)}
		for _, arg := range d.draft.Args {
			out.Stdio.Args = append(out.Stdio.Args, f.fill("args", arg))
		}
		out.Stdio.Dir = f.dir(d)
		return out, f.sorted()
	}
	out.Transport = map[string]client.Transport{
		kindHTTP: client.TransportHTTP, kindSSE: client.TransportSSE, kindProxy: client.TransportClaudeAI,
	}[d.draft.Transport]
	out.Remote = client.Remote{URL: f.fill("url", d.draft.URL), Headers: f.pairs("headers", d.draft.Headers), ID: d.draft.ProxyID}
	if a := d.draft.OAuth; a != nil {
		out.Remote.OAuth = client.OAuth{
			ClientID: f.fill("oauth.clientId", a.ClientID), ClientSecret: f.fill("oauth.clientSecret", d.clientSecret), MetadataURL: d.metadataURL,
			CallbackPort: a.CallbackPort, Scopes: a.Scopes,
		}
	}
	return out, f.sorted()
}

// dir is where a program starts: in the project, unless the definition says where.
func (f *filling) dir(d *definition) string {
	switch dir := f.fromHome(f.fill("cwd", d.draft.Dir)); {
	case dir == "" || filepath.IsAbs(dir):
		return dir
	default:
		return filepath.Join(f.folder, filepath.FromSlash(dir))
	}
}

// fromHome returns a path in which "~" at the beginning is the user's home folder.
func (f *filling) fromHome(path string) string {
	if f.user != "" && (path == "~" || strings.HasPrefix(path, "~/")) {
		return filepath.Join(f.user, path[1:])
	}
	return path
}

// sorted returns the findings in an order that does not depend on maps.
func (f *filling) sorted() []ServerFinding {
	slices.SortStableFunc(f.findings, func(a, b ServerFinding) int { return cmp.Compare(a.Message, b.Message) })
	return slices.CompactFunc(f.findings, func(a, b ServerFinding) bool { return a.Message == b.Message })
}
