package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/settings"
	"atelier.dev/atelier/backend/trust"
)

// The members that a draft has; others of a definition are kept.
var drafted = []string{
	"type", "transport", "command", "args", "cwd", "workingDirectory", "env", "environment", "url", "serverUrl", "httpUrl", "headers", "http_headers", "id",
	"trusted", "trust", "alwaysLoad", "alwaysShown", "timeout", "tool_timeout_ms", "tool_timeout_sec", "startTimeout", "startup_timeout_ms", "startup_timeout_sec",
}

// fileForm is a draft in the form of a file.
type fileForm struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Dir     string            `json:"cwd,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	ID      string            `json:"id,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	formOptions
}

type formOptions struct {
	Trusted     bool `json:"trusted,omitempty"`
	AlwaysShown bool `json:"alwaysLoad,omitempty"`
	CallMS      int  `json:"timeout,omitempty"`
	StartMS     int  `json:"startTimeout,omitempty"`
}

// draft is a draft that was read, with what it takes over.
type draft struct {
	*definition
	before  *definition       // that it replaces; nil for a new one
	secrets map[string]string // new ones, by field
	secret  func(field string) (string, error)
}

// drafted reads a draft. Empty secrets are taken from the server that it
// replaces, unless it is for another address.
func (s *Servers) drafted(ctx context.Context, in ServerDraft, replaces, file string) (*draft, error) {
	out := &draft{secrets: map[string]string{}}
	if replaces != "" {
		all, err := s.judge(ctx)
		if err != nil {
			return nil, err
		}
		x, err := find(all, replaces, file)
		if err != nil {
			return nil, err
		}
		if x.state == StateUntrusted || x.state == StateChanged || x.state == StateRefused {
			return nil, x.problem()
		}
		out.before = x.definition
	}
	kept := out.before != nil && (in.URL == "" || sameOrigin(in.URL, out.before.draft.URL))
	fill := func(kind string, values, old map[string]string) map[string]string {
		filled := maps.Clone(values)
		for name := range values {
			field := kind + "." + name
			if value := in.Secrets[name]; value != "" {
				out.secrets[field] = value
				filled[name] = secretReference
			} else if kept && values[name] == "" && old[name] != "" {
				filled[name] = old[name]
			}
		}
		return filled
	}
	old := ServerDraft{}
	if out.before != nil {
		old = out.before.draft
	}
	in.Env, in.Headers = fill("env", in.Env, old.Env), fill("headers", in.Headers, old.Headers)
	raw := element(in)
	if out.before != nil {
		raw = merged(out.before.raw, raw)
	}
	raw = withOAuth(raw, in.OAuth)
	if out.definition = parse(in.Name, raw); out.broken() {
		i := slices.IndexFunc(out.findings, func(f ServerFinding) bool { return !f.Harmless })
		return nil, backend.Problem(backend.ProblemServerDraft, out.findings[i].Message)
	}
	out.secret = func(field string) (string, error) {
		if value, ok := out.secrets[field]; ok {
			return value, nil
		}
		if out.before == nil {
			return "", errNoSecret
		}
		return s.secretsOf(out.before)(field)
	}
	return out, nil
}

// sameOrigin reports whether two addresses lead to the same server, which may be told
// the same secrets.
func sameOrigin(a, b string) bool {
	x, err := url.Parse(a)
	y, also := url.Parse(b)
	return a == b || err == nil && also == nil && x.Scheme == y.Scheme && strings.EqualFold(x.Host, y.Host)
}

// element returns a draft as a file has it.
func element(d ServerDraft) json.RawMessage {
	w := fileForm{
		Type: d.Transport, Command: d.Command, Args: d.Args, Dir: d.Dir, Env: d.Env, URL: d.URL, ID: d.ProxyID, Headers: d.Headers,
		formOptions: formOptions{d.Options.Trusted, d.Options.AlwaysShown, d.Options.CallMS, d.Options.StartMS},
	}
	if d.Transport == kindStdio {
		w.URL, w.Headers, w.ID = "", nil, ""
	} else {
		w.Command, w.Args, w.Env, w.Dir = "", nil, nil, ""
	}
	return settings.Encode(w)
}

// merged returns a new definition with those members of the old one that a draft does
// not know, in their order.
func merged(before, after json.RawMessage) json.RawMessage {
	old, _, err := settings.Members(before, 0)
	if err != nil {
		return after
	}
	old = slices.DeleteFunc(old, func(m settings.Member) bool { return slices.Contains(drafted, m.Name) })
	fresh, _, _ := settings.Members(after, 0) // it was encoded just before
	return object(append(fresh, old...))
}

// object returns the object of these members.
func object(members []settings.Member) json.RawMessage {
	parts := make([]string, len(members))
	for i, m := range members {
		parts[i] = string(settings.Encode(m.Name)) + ":" + string(m.Raw)
	}
	return json.RawMessage("{" + strings.Join(parts, ",") + "}")
}

// withOAuth returns a definition with what a draft says about authorisation, beside
// what it does not know about it.
func withOAuth(raw json.RawMessage, o *OAuthDraft) json.RawMessage {
	members, _, err := settings.Members(raw, 0)
	if err != nil {
		return raw
	}
	at := slices.IndexFunc(members, func(m settings.Member) bool { return m.Name == "oauth" })
	var inner []settings.Member
	if o != nil {
		for name, value := range map[string]any{"clientId": o.ClientID, "callbackPort": o.CallbackPort, "scopes": o.Scopes} {
			if b := settings.Encode(value); !slices.Contains([]string{`""`, `0`, `null`, `[]`}, string(b)) {
				inner = append(inner, settings.Member{Name: name, Raw: b})
			}
		}
		slices.SortFunc(inner, func(a, b settings.Member) int { return strings.Compare(a.Name, b.Name) })
	}
	if at >= 0 {
		old, _, _ := settings.Members(members[at].Raw, 0) // what is not an object has nothing to keep
		for _, m := range old {
			known := []string{"clientId", "client_id", "callbackPort", "callback_port", "scopes", "scope"}
			if !slices.Contains(known, m.Name) {
				inner = append(inner, m)
			}
		}
		members = slices.Delete(members, at, at+1)
	}
	if len(inner) > 0 {
		members = append(members, settings.Member{Name: "oauth", Raw: object(inner)})
	}
	return object(members)
}

// Save is mcp.save. Everything else in the file stays as it is. The draft is trusted
// at once, unless it runs files of the project, which nobody was shown.
func (s *Servers) Save(ctx context.Context, in ServerSaveRequest) (backend.Empty, error) {
	d, err := s.drafted(ctx, in.Draft, in.Replaces, in.File)
	if err != nil {
		return backend.Empty{}, err
	}
	file, ok := s.target(in.Scope)
	if d.before != nil && d.before.origin.Scope == in.Scope {
		file, ok = d.before.file, true
	}
	if !ok {
		return backend.Empty{}, backend.Problem(backend.ProblemServerScope)
	}
	return backend.Empty{}, s.put(ctx, d, file)
}

// put writes a draft into a file, with everything that belongs to it.
func (s *Servers) put(ctx context.Context, d *draft, file settings.File) error {
	d.file, d.origin = file, ServerOrigin{Scope: file.Scope, File: file.Path()}
	if err := s.carrySecrets(d); err != nil {
		return err
	}
	if err := s.write(d); err != nil {
		return err
	}
	if err := s.leave(ctx, d); err != nil {
		return err
	}
	s.current()
	if err := s.accept(ctx, d.definition); err != nil {
		return err
	}
	s.again()
	s.cfg.Changed()
	return nil
}

// carrySecrets stores the new secrets of a draft, and those that it takes over, where
// its references will look for them.
func (s *Servers) carrySecrets(d *draft) error {
	values := maps.Clone(d.secrets)
	_, fields := d.takes(s.surroundings())
	for _, field := range fields {
		if _, ok := values[field]; ok || d.before == nil {
			continue
		}
		if d.before.origin.File == d.origin.File && d.before.draft.Name == d.draft.Name {
			continue // it is there
		}
		value, err := d.secret(field)
		if err != nil && !errors.Is(err, errNoSecret) {
			return backend.Problem(backend.ProblemServerSecret, clip(field)).Because(err)
		}
		if value != "" {
			values[field] = value
		}
	}
	return s.keepSecrets(d.origin.File, d.draft.Name, values)
}

// write puts a draft into its file, where it replaces the earlier definition.
func (s *Servers) write(d *draft) error {
	err := d.file.Edit(func(b []byte) ([]byte, error) {
		text := settings.Parse(b)
		path := d.path(text, d.draft.Name)
		renamed := d.before == nil || d.before.origin.File != d.origin.File || d.before.draft.Name != d.draft.Name
		if renamed && stands(d.file, text, d.draft.Name) != nil {
			return nil, backend.Problem(backend.ProblemServerTaken, d.file.Path(), d.draft.Name)
		}
		if d.before != nil && d.before.origin.File == d.origin.File {
			now := stands(d.file, text, d.before.draft.Name)
			if !equalJSON(now, d.before.raw) {
				return nil, backend.Problem(backend.ProblemServerEdited, d.file.Path(), d.before.draft.Name)
			}
			if renamed {
				var err error
				if b, err = settings.Set(b, nil, d.path(text, d.before.draft.Name)...); err != nil {
					return nil, err
				}
			}
		}
		return settings.Set(b, d.raw, path...)
	})
	return unwritten(err, d.file)
}

// stands returns the definition of a name in a file; nil if there is none.
func stands(f settings.File, text *settings.Text, name string) json.RawMessage {
	all, _, err := serversIn(f, text)
	if err != nil {
		return nil
	}
	for _, m := range all {
		if m.Name == name {
			return m.Raw
		}
	}
	return nil
}

func equalJSON(a, b json.RawMessage) bool {
	return a != nil && string(settings.Encode(a)) == string(settings.Encode(b))
}

func unwritten(err error, f settings.File) error {
	var told *backend.Error
	if err == nil || errors.As(err, &told) {
		return err
	}
	return backend.Problem(backend.ProblemServerUnwritten, f.Path()).Because(err)
}

// leave removes the server that a draft replaces from another file, and forgets what
// belonged to it.
func (s *Servers) leave(ctx context.Context, d *draft) error {
	if d.before == nil {
		return nil
	}
	if d.before.origin.File != d.origin.File {
		if err := s.takeOut(d.before); err != nil {
			return err
		}
	}
	if d.before.origin.File != d.origin.File || d.before.draft.Name != d.draft.Name {
		if err := s.dropSecrets(d.before); err != nil {
			return backend.Problem(backend.ProblemServerSecret, d.before.draft.Name).Because(err)
		}
	}
	if d.before.id() == d.id() {
		return nil
	}
	return s.cfg.Trust.Revoke(ctx, d.before.id())
}

// takeOut removes a definition from its file.
func (s *Servers) takeOut(d *definition) error {
	return unwritten(d.file.Edit(func(b []byte) ([]byte, error) {
		text := settings.Parse(b)
		if now := stands(d.file, text, d.draft.Name); !equalJSON(now, d.raw) {
			return nil, backend.Problem(backend.ProblemServerEdited, d.file.Path(), d.draft.Name)
		}
		return settings.Set(b, nil, d.path(text, d.draft.Name)...)
	}), d.file)
}

// accept trusts what the user wrote, unless it runs files of the project.
func (s *Servers) accept(ctx context.Context, d *definition) error {
	if d.origin.Scope == agent.ScopeUser {
		return nil
	}
	i := slices.IndexFunc(s.current().servers, func(o *definition) bool {
		return o.file == d.file && o.draft.Name == d.draft.Name && equalJSON(o.raw, d.raw)
	})
	if i < 0 {
		return nil // another program wrote it meanwhile, so it is asked about
	}
	now := s.current().servers[i]
	shown, err := s.cfg.Trust.Show(ctx, now.id())
	if err != nil || len(shown.Files) > 0 || shown.Blocked || shown.State == trust.StateTrusted {
		return nil //nolint:nilerr // the user is asked about it
	}
	return s.cfg.Trust.Accept(ctx, now.id(), shown.Seal)
}

// Remove is mcp.remove.
func (s *Servers) Remove(ctx context.Context, in ServerRequest) (backend.Empty, error) {
	all, err := s.judge(ctx)
	if err != nil {
		return backend.Empty{}, err
	}
	x, err := find(all, in.Name, in.File)
	if err != nil {
		return backend.Empty{}, err
	}
	if err := s.takeOut(x.definition); err != nil {
		return backend.Empty{}, err
	}
	if err := s.dropSecrets(x.definition); err != nil {
		return backend.Empty{}, backend.Problem(backend.ProblemServerSecret, x.draft.Name).Because(err)
	}
	if err := s.cfg.Trust.Revoke(ctx, x.id()); err != nil {
		return backend.Empty{}, err
	}
	s.again()
	s.cfg.Changed()
	return backend.Empty{}, nil
}
