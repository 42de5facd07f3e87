package transcript

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// Store is the folder where a program keeps its transcripts. Links in it are not
// followed.
type Store struct {
	Program agent.Program
	Dir     string
}

// Stores returns the places where programs keep their transcripts on this machine.
func Stores(home string, getenv func(string) string) []Store {
	claude := cmp.Or(getenv("CLAUDE_CONFIG_DIR"), filepath.Join(home, ".claude"))
	codex := cmp.Or(getenv("CODEX_HOME"), filepath.Join(home, ".codex"))
	return []Store{
		{agent.ProgramClaudeCode, filepath.Join(claude, "projects")},
		{agent.ProgramCodex, filepath.Join(codex, "sessions")},
		{agent.ProgramOpenAgentSDK, filepath.Join(home, ".open-agent-sdk", "sessions")},
		{agent.ProgramComate, filepath.Join(home, ".agent", "sessions")},
		{agent.ProgramGemini, filepath.Join(home, ".gemini", "tmp")},
		opencodeStore(home, getenv),
	}
}

// Found is a transcript in a store.
type Found struct {
	Program agent.Program `json:"program"`
	// Name is its path in the store, with slashes.
	Name string `json:"name"`
	Size int64  `json:"size"`
	// At is when something was said in it last, as its end says, or else when it was
	// written last, in milliseconds since 1970.
	At int64 `json:"at"`
	// Folder is where the session ran, and Prompt the title that its program gave it or
	// else the beginning of its first input; empty where the beginning of the file does
	// not say so.
	Folder string `json:"folder,omitempty"`
	Prompt string `json:"prompt,omitempty"`
}

// The limits of a search for transcripts.
const (
	maxEntries = 20_000 // of folders that are looked at
	maxDepth   = 4
)

// List returns the transcripts in the store, the newest first, without what stands in
// them. A store that does not exist has none. more says that there are too many to look
// at.
func (s Store) List(ctx context.Context) (all []Found, more bool, err error) {
	if s.Program == agent.ProgramOpencode {
		return s.listOpencode(ctx)
	}
	root, err := os.OpenRoot(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("look for transcripts: %w", err)
	}
	defer root.Close()
	w := walk{ctx: ctx, root: root, program: s.Program, left: maxEntries}
	w.dir(".", 0)
	slices.SortFunc(w.found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.At, a.At), strings.Compare(a.Name, b.Name))
	})
	return w.found, w.left <= 0, ctx.Err()
}

// walk looks for transcripts below a folder. A folder that cannot be read has none.
type walk struct {
	ctx     context.Context
	root    *os.Root
	program agent.Program
	left    int
	found   []Found
}

func (w *walk) dir(name string, depth int) {
	if depth > maxDepth || w.left <= 0 || w.ctx.Err() != nil {
		return
	}
	info, err := w.root.Lstat(name)
	if err != nil || !info.IsDir() {
		return
	}
	f, err := w.root.Open(name)
	if err != nil {
		return
	}
	entries, _ := f.ReadDir(w.left) // those before an error count
	_ = f.Close()                   // it was only read
	w.left -= len(entries)
	// The newest first, where names are dates.
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(b.Name(), a.Name()) })
	for _, e := range entries {
		inside := path.Join(name, e.Name())
		switch {
		case e.IsDir():
			w.dir(inside, depth+1)
		case e.Type().IsRegular() && isTranscript(w.program, e.Name(), depth):
			if info, err := e.Info(); err == nil && info.Size() > 0 {
				w.found = append(w.found, Found{Program: w.program, Name: inside, Size: info.Size(), At: info.ModTime().UnixMilli()})
			}
		}
	}
}

// isTranscript reports whether a file of a store is a transcript, by its name and how
// deep it stands.
func isTranscript(p agent.Program, name string, depth int) bool {
	switch p {
	case agent.ProgramClaudeCode: // those of agents begin with agent-
		return depth == 1 && strings.HasSuffix(name, ".jsonl") && !strings.HasPrefix(name, "agent-")
	case agent.ProgramCodex:
		return strings.HasSuffix(name, ".jsonl")
	case agent.ProgramGemini: // those of agents are deeper
		return depth == 2 && strings.HasPrefix(name, "session-") && (strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".json"))
	case agent.ProgramOpenAgentSDK:
		return depth == 1 && name == "transcript.json"
	}
	return depth == 1 && (name == "messages.jsonl" || name == "context.jsonl")
}

// Open opens a transcript of the store. No name and no link leads out of the store.
func (s Store) Open(name string) (*File, error) {
	if s.Program == agent.ProgramOpencode {
		return s.openOpencode(name)
	}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return nil, fmt.Errorf("open the transcript: %w", err)
	}
	defer root.Close()
	name = filepath.FromSlash(name)
	if err := regular(root.Lstat(name)); err != nil {
		return nil, fmt.Errorf("open the transcript: %w", err)
	}
	f, err := root.OpenFile(name, openFlags, 0)
	if err != nil {
		return nil, fmt.Errorf("open the transcript: %w", err)
	}
	return open(f, filepath.Join(s.Dir, name))
}

// Stamp returns what changes whenever the transcript does.
func (s Store) Stamp(name string) (string, error) {
	files := []string{name}
	if s.Program == agent.ProgramOpencode {
		files = []string{opencodeFile, opencodeFile + "-wal"}
	}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return "", fmt.Errorf("look at the transcript: %w", err)
	}
	defer root.Close()
	stamp := ""
	for i, file := range files {
		info, err := root.Lstat(filepath.FromSlash(file))
		if err != nil && i == 0 {
			return "", fmt.Errorf("look at the transcript: %w", err)
		}
		if err == nil {
			stamp += fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano(), " ")
		}
	}
	return stamp, nil
}

// Describe adds to a transcript what its beginning says, and when it ends.
func (s Store) Describe(found Found) Found {
	if s.Program == agent.ProgramOpencode {
		return found // its list says all of it
	}
	t, err := s.Open(found.Name)
	if err != nil {
		return found
	}
	defer t.Close()
	folder, prompt := t.describe()
	found.Folder, found.Prompt = folder, prompt
	if s.Program == agent.ProgramGemini {
		found.Folder = s.geminiFolder(found.Name)
	}
	if at := t.lastTime(); at > 0 {
		found.At = at
	}
	return found
}

// describe returns the folder and the title or the first prompt, as far as the beginning
// of the file says them.
func (t *File) describe() (folder, prompt string) {
	b := &builder{}
	b.yield = func(ev agent.Event, _ error) bool {
		if in, ok := ev.Data.(agent.UserInput); ok && in.Text != nothingAsked {
			prompt = backend.TitleFrom(in.Wrote())
		}
		return prompt == ""
	}
	for raw := range t.beginning() {
		switch t.Program {
		case agent.ProgramClaudeCode:
			var line claudeLine
			if json.Unmarshal(raw, &line) == nil {
				b.found.Folder = cmp.Or(b.found.Folder, line.CWD)
				b.claude(line, true)
			}
		case agent.ProgramCodex:
			b.codexLine(raw)
		case agent.ProgramGemini:
			var line geminiLine
			if json.Unmarshal(raw, &line) == nil && line.ID != "" {
				b.gemini(line)
			}
		case agent.ProgramComate:
			var m comateMessage
			if json.Unmarshal(raw, &m) == nil {
				b.comate(m)
			}
		}
		if b.stopped {
			break
		}
	}
	return clean(b.found.Folder), cmp.Or(b.title.Text, prompt)
}

// endBytes is how much of the end of a file is searched for the time of its last line.
const endBytes = 64 << 10

// stampedAt matches the time of a line of Claude Code or Codex.
var stampedAt = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"timestamp"\s*:\s*"([^"\\]{1,40})"`)
})

// lastTime returns the last time that the end of the file names, in milliseconds since
// 1970; 0 if it names none.
func (t *File) lastTime() int64 {
	end := make([]byte, min(endBytes, t.Size))
	n, _ := t.f.ReadAt(end, t.Size-int64(len(end))) // what was read of a file that became shorter counts
	var b builder
	for _, m := range stampedAt().FindAllSubmatch(end[:n], -1) {
		b.whenText(string(m[1]))
	}
	return b.at
}
