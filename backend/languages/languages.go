// Package languages reads which language servers a project names in its .lsp.json, the file
// of Claude Code. None of them counts until the user accepted exactly what stands there.
package languages

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/lsp"
	"atelier.dev/atelier/backend/review"
	"atelier.dev/atelier/backend/settings"
	"atelier.dev/atelier/backend/trust"
)

// File is the name of the file, which stands in the project's folder.
const File = ".lsp.json"

// The limits of a file.
const (
	maxServers    = 20
	maxExtensions = 50
)

// Config is what [Files] need of their host.
type Config struct {
	Folder string // of the project
	Trust  *trust.Trust
}

// Files are the language servers of a project. They are safe for concurrent use.
type Files struct {
	cfg    Config
	reader *settings.Reader
	file   settings.File
}

// New returns the language servers of a project.
func New(cfg Config) *Files {
	file := settings.File{Root: cfg.Folder, Name: File, Scope: agent.ScopeProject}
	return &Files{cfg: cfg, file: file, reader: settings.NewReaderOf(file)}
}

// server is one server as the file has it.
type server struct {
	Command    string            `json:"command"`
	Args       []string          `json:"args,omitempty"`
	Transport  string            `json:"transport,omitempty"`
	Env        map[string]string `json:"env,omitempty"`
	Extensions map[string]string `json:"extensionToLanguage"`
	Options    json.RawMessage   `json:"initializationOptions,omitempty"`
	Settings   json.RawMessage   `json:"settings,omitempty"`
}

// entry is a server with its name and its place in the file.
type entry struct {
	name string
	line int
	server
	item trust.Item
}

// entries returns the servers of the file that can be used, in the order of their names.
func (f *Files) entries() (out []entry, more bool) {
	text := f.reader.Read(f.file)
	if !text.There || text.Err != nil {
		return nil, false
	}
	for _, m := range text.Members {
		e := entry{name: m.Name, line: text.Line(m.At)}
		switch {
		case len(out) == maxServers:
			return out, true
		case json.Unmarshal(m.Raw, &e.server) != nil || e.Command == "" || len(e.Extensions) == 0 || len(e.Extensions) > maxExtensions:
		case e.Transport != "" && e.Transport != "stdio":
		default:
			e.item = f.item(e)
			out = append(out, e)
		}
	}
	return out, false
}

// item is what the user is asked to trust: the whole definition, and what it starts.
func (f *Files) item(e entry) trust.Item {
	var shown bytes.Buffer
	encoder := json.NewEncoder(&shown)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(map[string]server{e.name: e.server}) // it was JSON before
	definition := strings.TrimSpace(shown.String())
	sum := sha256.Sum256([]byte(f.cfg.Folder + "\x00" + definition))
	return trust.Item{
		Kind: trust.KindLanguage, ID: "language-" + hex.EncodeToString(sum[:10]), Title: e.name, Scope: agent.ScopeProject,
		Origin: f.file.Path(), Slot: e.name, Line: e.line, Definition: definition, Private: len(e.Env) > 0,
		Command: trust.Command{Line: e.Command, Args: append([]string{}, e.Args...), Env: e.Env},
	}
}

// UpdateItems implements [review.Owner].
func (f *Files) UpdateItems(context.Context) (more bool) {
	entries, more := f.entries()
	items := []trust.Item{}
	for _, e := range entries {
		items = append(items, e.item)
	}
	f.cfg.Trust.SetItems(trust.KindLanguage, items)
	return more
}

// Decided implements [review.Owner]. Each question asks anew.
func (f *Files) Decided(context.Context, string, review.TrustDecision) {}

// Languages returns the languages of the servers that the user accepted, and after them
// those that are built in: the first one that knows an extension is used.
func (f *Files) Languages(ctx context.Context) []lsp.Language {
	f.UpdateItems(ctx)
	entries, _ := f.entries()
	var out []lsp.Language
	for _, e := range entries {
		state, err := f.cfg.Trust.CheckThis(ctx, e.item, f.cfg.Folder)
		if err != nil {
			slog.Warn("could not find out whether a language server is trusted", "server", e.name, "err", err)
		} else if state == trust.StateTrusted {
			out = append(out, f.language(e))
		}
	}
	return append(out, lsp.Languages...)
}

// general is a pattern of the definitions of a language that is not built in.
const general = `\b(func|function|fn|fun|def|class|struct|enum|interface|trait|protocol|module|namespace|type|const|let|var|val)\s+NAME\b`

var extension = regexp.MustCompile(`^\.[A-Za-z0-9_+-]{1,20}$`)

func (f *Files) language(e entry) lsp.Language {
	l := lsp.Language{Name: e.name, IDs: map[string]string{}, Definition: general}
	for ending, id := range e.Extensions {
		if ending = strings.ToLower(ending); extension.MatchString(ending) {
			l.IDs[ending] = id
			if known, ok := lsp.LanguageOf("a"+ending, lsp.Languages); ok {
				l.Definition, l.Markers = known.Definition, known.Markers
			}
		}
	}
	program := e.Command
	if filepath.Base(program) != program && !filepath.IsAbs(program) {
		program = filepath.Join(f.cfg.Folder, program)
	}
	var env []string
	for name, value := range e.Env {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	l.Servers = []lsp.Command{{Program: program, Args: e.Args, Env: env, Options: e.Options, Settings: e.Settings}}
	return l
}
