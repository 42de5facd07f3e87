package contexts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"atelier.dev/atelier/agent/llm/tokens"
	"atelier.dev/atelier/agent/profile"
	"atelier.dev/atelier/agent/project"
	"atelier.dev/atelier/backend"
)

// DefaultMemoryFile is what is remembered of a project if the user chose no files.
const DefaultMemoryFile = ".agent/memory.md"

// maxMemoryNames limits the files that the user chooses.
const maxMemoryNames = 50

// MemorySettings are the user's choices of what agents are told of a project in every
// session besides its documents (COM-23). The zero value means the defaults.
type MemorySettings struct {
	// Files are relative to the project, absolute, or begin with "~/"; none means
	// [DefaultMemoryFile].
	Files []string `json:"files,omitempty"`
	// MaxTokens limits all files together; 0 means 2,000.
	MaxTokens int `json:"max_tokens,omitempty"`
}

func (s MemorySettings) check() error {
	if s.MaxTokens < 0 || s.MaxTokens > project.MaxMemory {
		return fmt.Errorf("a memory has 1 to %d tokens, not %d", project.MaxMemory, s.MaxTokens)
	}
	if len(s.Files) > maxMemoryNames {
		return fmt.Errorf("a memory has at most %d files", maxMemoryNames)
	}
	for _, name := range s.Files {
		if name == "" || len(name) > 1000 || !utf8.ValidString(name) || strings.ContainsAny(name, "\x00\n") {
			return fmt.Errorf("%q is not the name of a file", name)
		}
	}
	return nil
}

func (s MemorySettings) of(folder string) project.Memory {
	files := s.Files
	if len(files) == 0 {
		files = []string{DefaultMemoryFile}
	}
	return project.Memory{Folder: folder, Files: files, MaxTokens: s.MaxTokens}
}

// MemoryKind says where an agent knows something from.
type MemoryKind string

// The kinds.
const (
	MemoryChosen  MemoryKind = "chosen"  // a file of the memory
	MemoryProject MemoryKind = "project" // a document of the project
	MemoryOwn     MemoryKind = "own"     // the user's own document
)

// MemoryFile is a file that agents are told of.
type MemoryFile struct {
	Kind MemoryKind `json:"kind"`
	Path string     `json:"path"` // relative to the top of the project, or absolute
	// Tokens is what it takes of each request, by estimate.
	Tokens int `json:"tokens"`
	// Told of Size bytes of it are told.
	Size int `json:"size"`
	Told int `json:"told"`
	// Problem says why it was left out; empty if it was not.
	Problem project.Problem `json:"problem,omitempty"`
	Cause   string          `json:"cause,omitempty"`
	// From is the file that imports it.
	From string `json:"from,omitempty"`
	// Later says that it is told once the agent works where it holds: For has the patterns of
	// a rule.
	Later bool     `json:"later,omitempty"`
	For   []string `json:"for,omitempty"`
	// Absent says that it can be written and does not exist yet.
	Absent bool `json:"absent,omitempty"`
}

// MemoryRequest is for memory.list. Without a session it is about new ones.
type MemoryRequest struct {
	Session string `json:"session,omitempty"`
}

// MemoryReply is what agents are told of a project.
type MemoryReply struct {
	Settings MemorySettings `json:"settings"`
	Files    []MemoryFile   `json:"files,omitempty"`
	// Tokens is what all of them take of each request, by estimate.
	Tokens   int  `json:"tokens"`
	ReadOnly bool `json:"read_only,omitempty"`
}

// MemorySettingsRequest is for memory.set.
type MemorySettingsRequest struct {
	MemoryRequest
	Settings MemorySettings `json:"settings"`
}

func (c *Contexts) memoryKey() string { return "memory " + c.cfg.Folder }

// memorySettings returns the user's choices, and the defaults if none that can be read are stored.
func (c *Contexts) memorySettings(ctx context.Context) (s MemorySettings, err error) {
	text, err := c.cfg.Settings.Setting(ctx, c.memoryKey())
	if err != nil || text == "" {
		return MemorySettings{}, err
	}
	if err := cmp.Or(json.Unmarshal([]byte(text), &s), s.check()); err != nil {
		return MemorySettings{}, fmt.Errorf("read what is remembered: %w", err)
	}
	return s, nil
}

// Memory returns which files sessions are told of. What cannot be read are the defaults.
func (c *Contexts) Memory() project.Memory {
	s, err := c.memorySettings(context.Background())
	if err != nil {
		s = MemorySettings{}
	}
	return s.of("")
}

// SetMemory stores which files sessions are told of, from their next turn on.
func (c *Contexts) SetMemory(ctx context.Context, in MemorySettingsRequest) (MemoryReply, error) {
	if err := in.Settings.check(); err != nil {
		return MemoryReply{}, backend.Problem(backend.ProblemArguments, "memory.set").Because(err)
	}
	b, err := json.Marshal(in.Settings)
	if err != nil {
		return MemoryReply{}, fmt.Errorf("keep what is remembered: %w", err)
	}
	if err := c.cfg.Settings.SetSetting(ctx, c.memoryKey(), string(b)); err != nil {
		return MemoryReply{}, err
	}
	return c.Memories(ctx, in.MemoryRequest)
}

// Memories lists what the models of a session are told of the project: files of its memory,
// its documents with rules and imports, and the user's own document.
func (c *Contexts) Memories(ctx context.Context, in MemoryRequest) (MemoryReply, error) {
	folder, provider := c.cfg.Folder, ""
	if in.Session != "" {
		info, err := c.cfg.Session(ctx, in.Session)
		if err != nil {
			return MemoryReply{}, err
		}
		if folder, err = c.cfg.Place(ctx, in.Session); err != nil {
			return MemoryReply{}, err
		}
		provider = info.Settings.Provider
	}
	s, err := c.memorySettings(ctx)
	reply := MemoryReply{Settings: s, ReadOnly: c.cfg.ReadOnly}
	if err != nil {
		return reply, backend.AsError(err)
	}
	reply.Files = c.remembered(ctx, folder, provider, s)
	for _, f := range reply.Files {
		if !f.Later {
			reply.Tokens += f.Tokens
		}
	}
	return reply, nil
}

// maxLater limits the documents that are listed though they are told later.
const maxLater = 50

func (c *Contexts) remembered(ctx context.Context, folder, provider string, s MemorySettings) (files []MemoryFile) {
	memory := s.of(folder)
	add := func(kind MemoryKind, later bool, documents ...project.Document) {
		for _, d := range documents {
			if slices.ContainsFunc(files, func(f MemoryFile) bool { return f.Path == d.Path }) {
				continue
			}
			files = append(files, MemoryFile{
				Kind: kind, Path: d.Path, Tokens: tokens.Count(d.Text), Size: d.Size, Told: d.Told,
				Problem: d.Problem, Cause: d.Cause, From: d.From, Later: later, For: d.For,
			})
		}
	}
	q := project.Query{Folder: folder, Names: profile.DocumentNames(provider)}
	documents := q.Documents()
	isDocument := func(d project.Document) bool {
		return slices.ContainsFunc(documents, func(other project.Document) bool { return other.Path == d.Path })
	}
	add(MemoryChosen, false, slices.DeleteFunc(memory.Documents(), isDocument)...)
	add(MemoryProject, false, documents...)
	q.Every = true
	for _, d := range q.Documents() {
		add(MemoryProject, true, d)
	}
	q.Every = false
	nested, _ := project.Nested(ctx, folder, q.Names...)
	for _, path := range nested[:min(len(nested), maxLater)] {
		add(MemoryProject, true, q.Below(filepath.Dir(filepath.Join(folder, filepath.FromSlash(path))))...)
	}
	add(MemoryOwn, false, project.User(c.cfg.Home)...)
	top := project.Root(folder)
	for _, absent := range []MemoryFile{
		{Kind: MemoryProject, Path: c.inTop(top, folder, project.UserDocument)}, {Kind: MemoryOwn, Path: filepath.ToSlash(filepath.Join(c.cfg.Home, project.UserDocument))},
	} {
		files = c.addAbsent(files, top, absent)
	}
	for _, name := range memory.Files {
		files = c.addAbsent(files, top, MemoryFile{Kind: MemoryChosen, Path: c.inTop(top, folder, name)})
	}
	return files
}

// inTop returns the path of a file that is chosen by name, as documents have it.
func (c *Contexts) inTop(top, folder, name string) string {
	if below, ok := strings.CutPrefix(name, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			name = filepath.Join(home, below)
		}
	}
	if !filepath.IsAbs(name) {
		if path, err := filepath.Rel(top, filepath.Join(folder, filepath.FromSlash(name))); err == nil {
			name = path
		}
	}
	return filepath.ToSlash(filepath.Clean(name))
}

// addAbsent adds a file that does not exist.
func (c *Contexts) addAbsent(files []MemoryFile, top string, f MemoryFile) []MemoryFile {
	path := filepath.FromSlash(f.Path)
	if !filepath.IsAbs(path) {
		if !filepath.IsLocal(path) {
			return files
		}
		path = filepath.Join(top, path)
	}
	if slices.ContainsFunc(files, func(other MemoryFile) bool { return other.Path == f.Path }) {
		return files
	}
	if info, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) && (err != nil || info.Size() > 0) {
		return files
	}
	f.Absent = true
	return append(files, f)
}
