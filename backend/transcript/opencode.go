package transcript

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend/transcript/opencode"
)

// opencodeFile is the database of opencode in its folder. A session's path is that of the
// database and its id, as of a file in it.
const opencodeFile = "opencode.db"

func (s Store) listOpencode(ctx context.Context) (all []Found, more bool, err error) {
	path := filepath.Join(s.Dir, opencodeFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	sessions, more, err := opencode.Sessions(ctx, path)
	for _, one := range sessions {
		if one.Size > 0 {
			all = append(all, Found{Program: s.Program, Name: one.ID, Size: one.Size, At: one.At, Folder: clean(one.Folder), Prompt: clean(one.Title)})
		}
	}
	return all, more, err
}

// openOpencode writes a session of the database to a file that has no name, and opens it.
func (s Store) openOpencode(id string) (*File, error) {
	f, err := os.CreateTemp("", "atelier-opencode-*")
	if err != nil {
		return nil, fmt.Errorf("open the transcript: %w", err)
	}
	_ = os.Remove(f.Name()) // where the system allows it; else Close does
	path := filepath.Join(s.Dir, opencodeFile)
	if err := opencode.Write(context.Background(), path, id, f); err != nil {
		if errors.Is(err, opencode.ErrNone) {
			err = fs.ErrNotExist
		}
		return nil, errors.Join(fmt.Errorf("open the transcript: %w", err), f.Close(), removed(f.Name()))
	}
	t, err := open(f, filepath.Join(path, id))
	if err == nil {
		t.temporary = f.Name()
	}
	return t, err
}

// removed removes a file that may be gone.
func removed(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// opencodeMessage has the members of all messages that are read.
type opencodeMessage struct {
	Role     string          `json:"role"`
	Provider string          `json:"providerID"`
	Model    string          `json:"modelID"`
	Summary  json.RawMessage `json:"summary"`
	Error    *struct {
		Name string `json:"name"`
	} `json:"error"`
}

// opencodePart has the members of all parts that are read.
type opencodePart struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Synthetic bool            `json:"synthetic"`
	Ignored   bool            `json:"ignored"`
	MIME      string          `json:"mime"`
	Filename  string          `json:"filename"`
	CallID    string          `json:"callID"`
	Tool      string          `json:"tool"`
	State     opencodeState   `json:"state"`
	Cost      float64         `json:"cost"`
	Tokens    *opencodeTokens `json:"tokens"`
}

type opencodeState struct {
	Status string                     `json:"status"`
	Input  map[string]json.RawMessage `json:"input"`
	Output string                     `json:"output"`
	Error  string                     `json:"error"`
}

type opencodeTokens struct {
	Input     int64 `json:"input"`
	Output    int64 `json:"output"`
	Reasoning int64 `json:"reasoning"`
	Cache     struct {
		Read  int64 `json:"read"`
		Write int64 `json:"write"`
	} `json:"cache"`
}

// readOpencode reads a session of opencode as [opencode.Write] writes it.
func readOpencode(ctx context.Context, file io.Reader, size int64, b *builder) error {
	for raw, err := range lines(ctx, io.LimitReader(file, size)) {
		if err != nil {
			return err
		}
		if b.opencodeLine(raw); b.stopped {
			return nil
		}
	}
	return nil
}

func (b *builder) opencodeLine(raw []byte) {
	var head opencode.Head
	if raw == nil || json.Unmarshal(raw, &head) != nil {
		b.found.Skipped++
		return
	}
	if head.Opencode != "" {
		b.found.ID, b.found.Folder, b.found.Size = head.Opencode, head.Folder, head.Size
		b.name(head.Title)
		return
	}
	var line opencode.Message
	var m opencodeMessage
	if json.Unmarshal(raw, &line) != nil || json.Unmarshal(line.Data, &m) != nil {
		b.found.Skipped++
		return
	}
	b.when(time.UnixMilli(line.At))
	var parts []opencodePart
	for _, raw := range line.Parts {
		var p opencodePart
		if json.Unmarshal(raw, &p) != nil {
			b.found.Skipped++
			continue
		}
		parts = append(parts, p)
	}
	switch {
	case m.Role == "user":
		b.input(strings.Join(b.opencodeTexts(parts), "\n\n"))
	case m.Role == "assistant" && string(m.Summary) == "true":
		b.compacted(strings.Join(b.opencodeTexts(parts), "\n\n"))
	case m.Role == "assistant":
		b.opencodeAnswer(line.ID, m, parts)
	default:
		b.found.Skipped++
	}
}

// opencodeTexts returns what was written, without what opencode added.
func (b *builder) opencodeTexts(parts []opencodePart) (texts []string) {
	for _, p := range parts {
		switch {
		case p.Type == "text" && !p.Synthetic && !p.Ignored && p.Text != "":
			texts = append(texts, p.Text)
		case p.Type == "file" && strings.HasPrefix(p.MIME, "image/"):
			texts = append(texts, b.picture())
		}
	}
	return texts
}

// opencodeAnswer adds a message of the model. Its steps are answers of their own.
func (b *builder) opencodeAnswer(message string, m opencodeMessage, parts []opencodePart) {
	step := 0
	var ended []opencodePart // calls that have a result
	finish := func() {
		for _, p := range ended {
			output, failed := p.State.Output, p.State.Status == "error"
			if failed {
				output = cmp.Or(p.State.Error, output)
			}
			b.result(p.CallID, output, failed)
		}
		ended = nil
	}
	for _, p := range parts {
		id := fmt.Sprint(message, "/", step)
		switch p.Type {
		case "text":
			if !p.Synthetic && !p.Ignored {
				b.text(id, p.Text)
			}
		case "reasoning":
			b.reasoning(id, p.Text)
		case "tool":
			b.call(id, llm.ToolCall{ID: p.CallID, Name: p.Tool, Arguments: opencodeInput(p.State.Input)})
			if p.State.Status == "completed" || p.State.Status == "error" {
				ended = append(ended, p)
			}
		case "step-finish":
			if a := b.answer; a != nil {
				a.provider, a.model, a.usage = clean(m.Provider), clean(m.Model), p.usage()
			}
			finish()
			step++
		}
		if a := b.answer; a != nil {
			a.provider, a.model = clean(m.Provider), clean(m.Model)
		}
	}
	finish()
	if m.Error != nil && m.Error.Name == "MessageAbortedError" {
		b.turn.interrupted = true
	}
}

func (p opencodePart) usage() llm.Usage {
	t := p.Tokens
	if t == nil {
		return llm.Usage{}
	}
	u := llm.Usage{
		Input: natural(t.Input), CacheRead: natural(t.Cache.Read), CacheWrite: natural(t.Cache.Write),
		Output: natural(t.Output) + natural(t.Reasoning), Reasoning: natural(t.Reasoning), Known: true,
	}
	if p.Cost > 0 && p.Cost < 1e6 {
		u.Charged = llm.Cost(p.Cost * float64(llm.Dollar))
	}
	return u
}

// opencodeNames are the names of arguments that our tools know by others.
var opencodeNames = map[string]string{"filePath": "file_path", "oldString": "old_string", "newString": "new_string", "replaceAll": "replace_all"}

func opencodeInput(in map[string]json.RawMessage) json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, value := range in {
		out[cmp.Or(opencodeNames[name], name)] = value
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil
	}
	return raw
}

// opencodeStore is where opencode keeps its database.
func opencodeStore(home string, getenv func(string) string) Store {
	data := cmp.Or(getenv("XDG_DATA_HOME"), filepath.Join(home, ".local", "share"))
	return Store{agent.ProgramOpencode, filepath.Join(data, "opencode")}
}
