package transcript

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"strings"

	"atelier.dev/atelier/agent/llm"
)

// geminiLine has the members of all lines of a chat of Gemini CLI, and of its messages in an
// older file, which is one object.
type geminiLine struct {
	SessionID string          `json:"sessionId"`
	Rewind    string          `json:"$rewindTo"`
	Set       json.RawMessage `json:"$set"`

	ID        string          `json:"id"`
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Content   json.RawMessage `json:"content"`
	Thoughts  []struct {
		Subject     string `json:"subject"`
		Description string `json:"description"`
	} `json:"thoughts"`
	ToolCalls []geminiCall  `json:"toolCalls"`
	Tokens    *geminiTokens `json:"tokens"`
	Model     string        `json:"model"`
}

type geminiCall struct {
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Args    json.RawMessage `json:"args"`
	Result  json.RawMessage `json:"result"`
	Status  string          `json:"status"`
	Display json.RawMessage `json:"resultDisplay"`
}

type geminiTokens struct {
	Input    int64 `json:"input"`
	Output   int64 `json:"output"`
	Cached   int64 `json:"cached"`
	Thoughts int64 `json:"thoughts"`
}

// readGemini reads a chat of Gemini CLI: lines, or one object with a list of messages.
func readGemini(ctx context.Context, file io.ReadSeeker, size int64, b *builder) error {
	kept, isLines, err := geminiKept(ctx, io.LimitReader(file, size))
	if err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if !isLines {
		return readGeminiDocument(ctx, file, size, b)
	}
	at := -1
	for raw, err := range lines(ctx, io.LimitReader(file, size)) {
		if err != nil {
			return err
		}
		at++
		var line geminiLine
		switch {
		case len(raw) == 0 && raw != nil:
			continue
		case raw == nil || json.Unmarshal(raw, &line) != nil:
			b.found.Skipped++
			continue
		}
		b.found.ID = cmp.Or(b.found.ID, line.SessionID)
		if line.ID != "" && kept[line.ID] == at {
			b.gemini(line)
		}
		if b.stopped {
			return nil
		}
	}
	return nil
}

// geminiKept returns the line of each message that is read: a message is written again when it
// grows, and a rewind takes messages back.
func geminiKept(ctx context.Context, file io.Reader) (kept map[string]int, isLines bool, err error) {
	kept = map[string]int{}
	var order []string
	at := -1
	for raw, err := range lines(ctx, file) {
		if err != nil {
			return nil, false, err
		}
		at++
		var line geminiLine
		if json.Unmarshal(raw, &line) != nil {
			if at == 0 {
				return nil, false, nil
			}
			continue
		}
		isLines = isLines || at == 0 && !bytes.Contains(raw, []byte(`"messages"`))
		switch {
		case line.Rewind != "":
			for i, id := range order {
				if id != line.Rewind {
					continue
				}
				for _, gone := range order[i:] {
					delete(kept, gone)
				}
				order = order[:i]
				break
			}
		case line.ID != "":
			if _, known := kept[line.ID]; !known {
				order = append(order, line.ID)
			}
			kept[line.ID] = at
		}
	}
	return kept, isLines, nil
}

func readGeminiDocument(ctx context.Context, file io.Reader, size int64, b *builder) error {
	d := newDocument(ctx, io.LimitReader(file, size))
	err := d.members(func(name string) error {
		if name == "messages" {
			return d.elements(func(raw json.RawMessage) bool {
				var line geminiLine
				if json.Unmarshal(raw, &line) != nil {
					b.found.Skipped++
					return true
				}
				b.gemini(line)
				return !b.stopped
			})
		}
		raw, err := d.value()
		if err == nil && name == "sessionId" {
			_ = json.Unmarshal(raw, &b.found.ID) // another value is no id
		}
		return err
	})
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// gemini adds a message.
func (b *builder) gemini(m geminiLine) {
	b.whenText(m.Timestamp)
	switch m.Type {
	case "user":
		b.input(b.geminiText(m.Content))
		return
	case "gemini":
	default: // what Gemini CLI says to its user
		return
	}
	for _, t := range m.Thoughts {
		b.reasoning(m.ID, strings.TrimSpace(t.Subject+"\n"+t.Description))
	}
	b.text(m.ID, b.geminiText(m.Content))
	for _, c := range m.ToolCalls {
		b.call(m.ID, llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Args})
	}
	if a := b.answer; a != nil {
		a.provider, a.model = "gemini", clean(m.Model)
		if t := m.Tokens; t != nil {
			cached := natural(t.Cached)
			a.usage = llm.Usage{
				Input: max(natural(t.Input)-cached, 0), CacheRead: cached,
				Output: natural(t.Output) + natural(t.Thoughts), Reasoning: natural(t.Thoughts), Known: true,
			}
		}
	}
	for _, c := range m.ToolCalls {
		if c.Status == "success" || c.Status == "error" || c.Status == "cancelled" {
			b.result(c.ID, b.geminiOutput(c), c.Status != "success")
		}
	}
}

// geminiText returns the text of a content, which is a text or has parts.
func (b *builder) geminiText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct {
		Text   string          `json:"text"`
		Inline json.RawMessage `json:"inlineData"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	var texts []string
	for _, p := range parts {
		switch {
		case len(p.Inline) > 0:
			texts = append(texts, b.picture())
		case p.Text != "":
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// geminiOutput returns what the model was told of a call, or else what the user was.
func (b *builder) geminiOutput(c geminiCall) string {
	var parts []struct {
		Response struct {
			Response struct {
				Output string `json:"output"`
				Error  string `json:"error"`
			} `json:"response"`
		} `json:"functionResponse"`
	}
	if json.Unmarshal(c.Result, &parts) == nil {
		var texts []string
		for _, p := range parts {
			if text := cmp.Or(p.Response.Response.Output, p.Response.Response.Error); text != "" {
				texts = append(texts, text)
			}
		}
		if len(texts) > 0 {
			return strings.Join(texts, "\n")
		}
	}
	var shown string
	_ = json.Unmarshal(c.Display, &shown) // a difference is not a text
	return cmp.Or(b.geminiText(c.Result), shown)
}

// geminiFolder returns the folder in which a chat ran, which is not in its file: its store has
// a folder for each project, named by a hash or by a word.
func (s Store) geminiFolder(name string) string {
	project, _, _ := strings.Cut(name, "/")
	root, err := os.OpenRoot(path.Dir(s.Dir))
	if err != nil {
		return ""
	}
	defer root.Close()
	read := func(name string) []byte {
		f, err := root.Open(name)
		if err != nil {
			return nil
		}
		defer f.Close()
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
			return nil
		}
		raw, _ := io.ReadAll(io.LimitReader(f, head)) // a part of it names no folder
		return raw
	}
	if folder := strings.TrimSpace(string(read(path.Join(path.Base(s.Dir), project, ".project_root")))); folder != "" {
		return clean(folder)
	}
	var known struct {
		Projects map[string]string `json:"projects"`
	}
	_ = json.Unmarshal(read("projects.json"), &known) // an older one has none
	for folder, word := range known.Projects {
		sum := sha256.Sum256([]byte(folder))
		if word == project || hex.EncodeToString(sum[:]) == project {
			return clean(folder)
		}
	}
	return ""
}
