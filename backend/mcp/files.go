package mcp

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strconv"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/settings"
	"atelier.dev/atelier/backend/trust"
)

const member = "mcpServers" // of settings files

// sharedFile is the file of a project's servers that other programs read, too.
const sharedFile = ".mcp.json"

// filesOf lists the files that may define servers, the weakest first.
func filesOf(folder, user string) (out []settings.File) {
	for _, f := range settings.NewReader(folder, user).Files() {
		if f.Claude {
			continue
		}
		if f.Scope == agent.ScopeProject {
			out = append(out, settings.File{Root: f.Root, Name: sharedFile, Scope: agent.ScopeProject})
		}
		out = append(out, f)
	}
	return out
}

// Shared lists the files of servers that are not settings files.
func (s *Servers) Shared() []settings.File {
	return slices.DeleteFunc(slices.Clone(s.reader.Files()), func(f settings.File) bool { return f.Name != sharedFile })
}

// target returns the file to which servers of a scope are added.
func (s *Servers) target(scope agent.Scope) (settings.File, bool) {
	name := map[agent.Scope]string{
		agent.ScopeUser: ".agent/settings.json", agent.ScopeProject: sharedFile, agent.ScopeLocal: ".agent/settings.local.json",
	}[scope]
	files := s.reader.Files()
	i := slices.IndexFunc(files, func(f settings.File) bool { return f.Scope == scope && filepath.ToSlash(f.Name) == name })
	if i < 0 {
		return settings.File{}, false
	}
	return files[i], true
}

// list is what the files say. It does not change.
type list struct {
	texts   []*settings.Text
	files   []ServerFile
	servers []*definition // the weakest first
}

// current returns what the files say now.
func (s *Servers) current() *list {
	s.reading <- struct{}{}
	defer func() { <-s.reading }()
	s.mu.Lock()
	before := s.list
	s.mu.Unlock()
	files := s.reader.Files()
	texts := make([]*settings.Text, len(files))
	same := before != nil
	for i, f := range files {
		texts[i] = s.reader.Read(f)
		same = same && texts[i] == before.texts[i]
	}
	if same {
		return before
	}
	l := &list{texts: texts}
	for i, f := range files {
		l.add(f, texts[i])
	}
	items := []trust.Item{}
	for _, d := range l.servers {
		if !d.broken() && !d.given() {
			items = append(items, s.item(d, l.servers))
		}
	}
	s.cfg.Trust.SetItems(trust.KindServer, items)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = l
	return l
}

// add adds what a file says.
func (l *list) add(f settings.File, text *settings.Text) {
	if !text.There {
		return
	}
	shown := ServerFile{Path: f.Path(), Scope: f.Scope}
	servers, at, err := serversIn(f, text)
	switch {
	case text.Err != nil:
		shown.Problem = unread(f, text.Err)
	case err != nil:
		shown.Problem = unread(f, text.Fault(at, err))
	case len(servers) == 0 && !free(f):
		return // a settings file without servers
	case len(servers) > maxServers:
		shown.Problem = backend.Problem(backend.ProblemServersMany, f.Path(), strconv.Itoa(maxServers))
		servers = servers[:maxServers]
	}
	for _, m := range servers {
		d := parse(m.Name, m.Raw)
		d.file, d.origin = f, ServerOrigin{Scope: f.Scope, File: f.Path(), Line: text.Line(m.At)}
		if d.draft.Options.Trusted && !d.own() {
			d.draft.Options.Trusted = false
			d.find(FindingTrustedIgnored)
		}
		l.servers = append(l.servers, d)
	}
	l.files = append(l.files, shown)
}

// serversIn returns the servers that a file defines.
func serversIn(f settings.File, text *settings.Text) (out []settings.Member, at int, err error) {
	if m, ok := text.Member(member); ok || !free(f) {
		if !ok || text.Err != nil {
			return nil, 0, nil
		}
		return settings.Members(m.Raw, m.At)
	}
	for _, m := range text.Members { // some stand at the top of the file
		if looksLikeServer(m.Raw) {
			out = append(out, m)
		}
	}
	return out, 0, nil
}

// looksLikeServer reports whether a value has what every server has.
func looksLikeServer(raw json.RawMessage) bool {
	members, _, err := settings.Members(raw, 0)
	return err == nil && slices.ContainsFunc(members, func(m settings.Member) bool {
		return slices.Contains([]string{"command", "url", "type", "serverUrl", "httpUrl"}, m.Name)
	})
}

// path is where a definition stands in its file.
func (d *definition) path(text *settings.Text, name string) []any {
	if _, ok := text.Member(member); !ok && d.file.Name == sharedFile && len(text.Members) > 0 && looksLikeTop(text) {
		return []any{name}
	}
	return []any{member, name}
}

// looksLikeTop reports whether a file has its servers at the top.
func looksLikeTop(text *settings.Text) bool {
	return slices.ContainsFunc(text.Members, func(m settings.Member) bool { return looksLikeServer(m.Raw) })
}

func unread(f settings.File, err error) *backend.Error {
	var told *backend.Error
	if errors.As(err, &told) {
		return told
	}
	if line := settings.LineOf(err); line > 0 {
		return backend.Problem(backend.ProblemServersFile, f.Path(), strconv.Itoa(line)).Because(err)
	}
	return backend.Problem(backend.ProblemServersFileUnread, f.Path()).Because(err)
}
