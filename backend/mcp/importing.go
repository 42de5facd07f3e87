package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"github.com/pelletier/go-toml/v2"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/settings"
)

// maxForeign limits a file of another program, in bytes. Claude Code keeps much else
// in the same file.
const maxForeign = 32 << 20

// foreign is a file of another program that may define servers.
type foreign struct {
	program, path string
	// servers finds the definitions in the file's bytes, and the values that the file
	// asks a person for.
	servers func(b []byte) ([]settings.Member, []ServerImportInput, error)
}

// foreigns are the files that are looked at, in their order.
func (s *Servers) foreigns() (out []foreign) {
	project := func(name string) string { return filepath.Join(s.cfg.Folder, filepath.FromSlash(name)) }
	if s.cfg.User != "" {
		user := func(name string) string { return filepath.Join(s.cfg.User, filepath.FromSlash(name)) }
		code := map[string]string{
			"darwin": user("Library/Application Support"), "windows": s.folderIn("APPDATA", user("AppData/Roaming")),
		}
		configs := cmp.Or(code[runtime.GOOS], s.folderIn("XDG_CONFIG_HOME", user(".config")))
		out = append(out,
			foreign{"Claude Code", user(".claude.json"), s.ofClaude},
			foreign{"Cursor", user(".cursor/mcp.json"), ofObject("mcpServers")},
			foreign{"VS Code", filepath.Join(configs, "Code", "User", "mcp.json"), ofObject("servers")},
			foreign{"Codex", filepath.Join(s.folderIn("CODEX_HOME", user(".codex")), "config.toml"), ofCodex},
		)
	}
	return append(out,
		foreign{"Cursor", project(".cursor/mcp.json"), ofObject("mcpServers")},
		foreign{"VS Code", project(".vscode/mcp.json"), ofObject("servers")},
		foreign{"Codex", project(".codex/config.toml"), ofCodex},
	)
}

// folderIn returns the folder that a variable names, or else the usual one.
func (s *Servers) folderIn(variable, usual string) string {
	if s.cfg.Getenv == nil {
		return usual
	}
	if named := s.cfg.Getenv(variable); filepath.IsAbs(named) {
		return filepath.Clean(named)
	}
	return usual
}

// ofObject reads the servers of a member at the top of a file, which may have
// comments.
func ofObject(name string) func([]byte) ([]settings.Member, []ServerImportInput, error) {
	return func(b []byte) ([]settings.Member, []ServerImportInput, error) {
		text := settings.Parse(b)
		if text.Err != nil {
			return nil, nil, text.Err
		}
		m, ok := text.Member(name)
		if !ok {
			return nil, nil, nil
		}
		servers, _, err := settings.Members(m.Raw, 0)
		return servers, inputsIn(text), err
	}
}

// ofClaude reads the user's servers, then those that the user has in this project.
func (s *Servers) ofClaude(b []byte) (out []settings.Member, _ []ServerImportInput, err error) {
	var file struct {
		Servers  json.RawMessage `json:"mcpServers"`
		Projects map[string]struct {
			Servers json.RawMessage `json:"mcpServers"`
		} `json:"projects"`
	}
	if err := json.Unmarshal(settings.Unmarked(b), &file); err != nil {
		return nil, nil, err
	}
	for _, raw := range []json.RawMessage{file.Projects[s.cfg.Folder].Servers, file.Servers} {
		if len(raw) == 0 {
			continue
		}
		members, _, err := settings.Members(raw, 0)
		if err != nil {
			return nil, nil, err
		}
		for _, m := range members {
			if !slices.ContainsFunc(out, func(o settings.Member) bool { return o.Name == m.Name }) {
				out = append(out, m)
			}
		}
	}
	return out, nil, nil
}

// inputsIn reads what a file of VS Code asks a person for.
func inputsIn(text *settings.Text) (out []ServerImportInput) {
	m, ok := text.Member("inputs")
	var inputs []struct {
		ID          string `json:"id"`
		Description string `json:"description"`
		Password    bool   `json:"password"`
	}
	if !ok || json.Unmarshal(m.Raw, &inputs) != nil {
		return nil
	}
	for _, in := range inputs[:min(len(inputs), maxList)] {
		out = append(out, ServerImportInput{ID: in.ID, Description: clip(in.Description), Secret: in.Password})
	}
	return out
}

// ofCodex reads the tables mcp_servers.NAME. Tables without a command or an address
// only change servers that stand elsewhere, and are left out.
func ofCodex(b []byte) (out []settings.Member, _ []ServerImportInput, err error) {
	var file struct {
		Servers map[string]map[string]any `toml:"mcp_servers"`
	}
	if err := toml.Unmarshal(b, &file); err != nil {
		return nil, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(file.Servers)) {
		table := file.Servers[name]
		if table["command"] == nil && table["url"] == nil {
			continue
		}
		fromEnvironment(table)
		raw, err := json.Marshal(table)
		if err != nil {
			return nil, nil, fmt.Errorf("read the server %q: %w", name, err)
		}
		out = append(out, settings.Member{Name: name, Raw: raw})
	}
	return out, nil, nil
}

// fromEnvironment writes what Codex takes from the environment as references.
func fromEnvironment(table map[string]any) {
	add := func(member, name, value string) {
		in, ok := table[member].(map[string]any)
		if !ok {
			in = map[string]any{}
			table[member] = in
		}
		in[name] = value
	}
	if names, ok := table["env_vars"].([]any); ok {
		for _, name := range names {
			if name, ok := name.(string); ok {
				add("env", name, "${"+name+"}")
			}
		}
	}
	if name, ok := table["bearer_token_env_var"].(string); ok {
		add("http_headers", "Authorization", "Bearer ${"+name+"}")
	}
	if headers, ok := table["env_http_headers"].(map[string]any); ok {
		for header, name := range headers {
			if name, ok := name.(string); ok {
				add("http_headers", header, "${"+name+"}")
			}
		}
	}
	for _, done := range []string{"env_vars", "bearer_token_env_var", "env_http_headers"} {
		delete(table, done)
	}
}

// readForeign reads a file of another program. It fails for anything but a regular
// file.
func readForeign(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // one of a few fixed places
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	b, err := io.ReadAll(io.LimitReader(file, maxForeign+1))
	if err == nil && len(b) > maxForeign {
		err = fmt.Errorf("it is longer than %d bytes", maxForeign)
	}
	return b, err
}

// found is a file of another program with what it defines.
type found struct {
	ServerImportSource
	definitions []*definition
	inputs      []ServerImportInput
}

// look reads a file; false if there is none, or nothing in it.
func (f foreign) look() (found, bool) {
	out := found{ServerImportSource: ServerImportSource{Program: f.program, Path: f.path}}
	b, err := readForeign(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return out, false
	}
	var members []settings.Member
	if err == nil {
		members, out.inputs, err = f.servers(b)
	}
	if err != nil {
		out.Problem = backend.Problem(backend.ProblemServerImportUnread, f.path).Because(err)
		return out, true
	}
	sum := sha256.New()
	for _, m := range members[:min(len(members), maxServers)] {
		out.definitions = append(out.definitions, parse(m.Name, m.Raw))
		fmt.Fprintf(sum, "%d:%s%d:%s", len(m.Name), m.Name, len(m.Raw), m.Raw)
	}
	sum.Write(settings.Encode(out.inputs))
	out.Seal = hex.EncodeToString(sum.Sum(nil))
	return out, len(members) > 0
}

// Importable is mcp.importable. It reads files and starts nothing.
func (s *Servers) Importable(ctx context.Context, _ backend.Empty) (ServerImportReply, error) {
	all, err := s.judge(ctx)
	if err != nil {
		return ServerImportReply{}, err
	}
	var reply ServerImportReply
	for _, f := range s.foreigns() {
		source, ok := f.look()
		if !ok {
			continue
		}
		for _, d := range source.definitions {
			row := ServerImport{Inputs: source.asks(d)}
			row.Draft, row.Findings = shown(d)
			row.Findings = append(slices.Clone(d.findings), row.Findings...)
			row.Taken = slices.ContainsFunc(all, func(x judged) bool { return x.draft.Name == d.draft.Name })
			source.Servers = append(source.Servers, row)
		}
		reply.Sources = append(reply.Sources, source.ServerImportSource)
	}
	return reply, nil
}

var inputReference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{input:([^}]*)\}`) })

// asks returns what a definition asks a person for. A value that the file does not
// describe is taken for a secret.
func (f found) asks(d *definition) (out []ServerImportInput) {
	seen := map[string]bool{}
	d.texts(func(_, text string) {
		for _, m := range inputReference().FindAllStringSubmatch(text, -1) {
			if id := m[1]; !seen[id] {
				seen[id] = true
				out = append(out, f.input(id))
			}
		}
	})
	return out
}

func (f found) input(id string) ServerImportInput {
	for _, in := range f.inputs {
		if in.ID == id {
			return in
		}
	}
	return ServerImportInput{ID: id, Secret: true}
}

// Import is mcp.import. It takes the servers from the file as it was shown.
func (s *Servers) Import(ctx context.Context, in ServerImportRequest) (backend.Empty, error) {
	i := slices.IndexFunc(s.foreigns(), func(f foreign) bool { return f.path == in.Path })
	if i < 0 {
		return backend.Empty{}, backend.Problem(backend.ProblemServerImportOther, clip(in.Path))
	}
	source, _ := s.foreigns()[i].look()
	if source.Problem != nil {
		return backend.Empty{}, source.Problem
	}
	if source.Seal != in.Seal {
		return backend.Empty{}, backend.Problem(backend.ProblemServerImport, in.Path)
	}
	file, ok := s.target(cmp.Or(in.Scope, agent.ScopeUser))
	if !ok {
		return backend.Empty{}, backend.Problem(backend.ProblemServerScope)
	}
	var drafts []*draft // all are checked before the first is saved
	for _, name := range in.Names {
		i := slices.IndexFunc(source.definitions, func(d *definition) bool { return d.draft.Name == name })
		if i < 0 {
			return backend.Empty{}, backend.Problem(backend.ProblemServerMissing, clip(name))
		}
		if stands(file, s.reader.Read(file), name) != nil {
			return backend.Empty{}, backend.Problem(backend.ProblemServerTaken, file.Path(), clip(name))
		}
		from := source.definitions[i]
		in := source.filled(from.draft, in.Inputs)
		in.Options.Trusted = false // the other program's word does not count here
		d, err := s.drafted(ctx, in, "", "")
		if err != nil {
			return backend.Empty{}, err
		}
		d.definition = parse(name, withSwitches(d.raw, from.raw))
		drafts = append(drafts, d)
	}
	for _, d := range drafts {
		if err := s.put(ctx, d, file); err != nil {
			return backend.Empty{}, err
		}
	}
	return backend.Empty{}, nil
}

// switchMembers are the members that switch off a server or some of its tools.
var switchMembers = []string{"disabled", "enabled", "disabledTools", "disabled_tools", "excludeTools", "enabledTools", "enabled_tools", "includeTools"}

// withSwitches returns a definition with the switches of another one: what the user
// switched off in the other program stays off here.
func withSwitches(raw, from json.RawMessage) json.RawMessage {
	members, _, err := settings.Members(raw, 0)
	others, _, also := settings.Members(from, 0)
	if err != nil || also != nil {
		return raw
	}
	for _, m := range others {
		if slices.Contains(switchMembers, m.Name) {
			members = append(members, m)
		}
	}
	return object(members)
}

// filled returns a draft with the values that the person gave. Secrets go into the
// keyring; references to variables stay what they are.
func (f found) filled(d ServerDraft, given map[string]string) ServerDraft {
	d.Secrets = map[string]string{}
	fill := func(text string) (filled string, secret bool) {
		filled = inputReference().ReplaceAllStringFunc(text, func(m string) string {
			id := inputReference().FindStringSubmatch(m)[1]
			value := given[id]
			if value == "" {
				return m
			}
			secret = secret || f.input(id).Secret
			return value
		})
		return filled, secret
	}
	keep := func(values map[string]string) map[string]string {
		out := map[string]string{}
		for name, text := range values {
			filled, secret := fill(text)
			out[name] = filled
			if secret || isSecret(name, filled) && !placeholders().MatchString(filled) {
				out[name], d.Secrets[name] = "", filled
			}
		}
		return out
	}
	// A secret has no place but a variable or a header: elsewhere the reference stays,
	// and the server says what it lacks.
	open := func(text string) string {
		if filled, secret := fill(text); !secret {
			return filled
		}
		return text
	}
	d.Env, d.Headers = keep(d.Env), keep(d.Headers)
	d.Command, d.URL, d.Dir = open(d.Command), open(d.URL), open(d.Dir)
	d.Args = slices.Clone(d.Args)
	for i, arg := range d.Args {
		d.Args[i] = open(arg)
	}
	return d
}
