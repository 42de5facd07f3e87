package transcript

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

// document reads a JSON document whose large parts are lists, an element at a time.
type document struct {
	ctx  context.Context
	room *meter
	dec  *json.Decoder
}

func newDocument(ctx context.Context, r io.Reader) *document {
	room := &meter{r: r, left: MaxLine}
	return &document{ctx: ctx, room: room, dec: json.NewDecoder(room)}
}

// meter fails once more was read than one element may take.
type meter struct {
	r    io.Reader
	left int
}

func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, fmt.Errorf("%w: a part of it has more than %d bytes", ErrTooLarge, MaxLine)
	}
	n, err := m.r.Read(p[:min(len(p), m.left)])
	m.left -= n
	return n, err
}

// members calls read for each member of the document's object. read reads the value.
func (d *document) members(read func(name string) error) error {
	if err := d.delim('{'); err != nil {
		return err
	}
	for d.dec.More() {
		name, err := d.dec.Token()
		if err != nil {
			return fmt.Errorf("read the transcript: %w", err)
		}
		if err := read(fmt.Sprint(name)); err != nil {
			return err
		}
	}
	return d.delim('}')
}

// elements calls use for each element of a list.
func (d *document) elements(use func(json.RawMessage) (more bool)) error {
	if err := d.delim('['); err != nil {
		return err
	}
	for n := 0; d.dec.More(); n++ {
		if n >= MaxLines {
			return fmt.Errorf("%w: it has more than %d messages", ErrTooLarge, MaxLines)
		}
		raw, err := d.value()
		if err != nil {
			return err
		}
		if !use(raw) {
			return errStopped
		}
	}
	return d.delim(']')
}

// errStopped ends the reading because nobody wants the rest.
var errStopped = errors.New("nobody reads on")

// value reads one value.
func (d *document) value() (raw json.RawMessage, err error) {
	if err := d.ctx.Err(); err != nil {
		return nil, err
	}
	d.room.left = MaxLine
	if err := d.dec.Decode(&raw); err != nil {
		return nil, fmt.Errorf("read the transcript: %w", err)
	}
	return raw, nil
}

func (d *document) delim(want json.Delim) error {
	got, err := d.dec.Token()
	if err != nil {
		return fmt.Errorf("read the transcript: %w", err)
	}
	if got != want {
		return fmt.Errorf("read the transcript: found %v in place of %v", got, want)
	}
	return nil
}

// readOpenAgent reads a transcript of the Open Agent SDK: one object with metadata
// and messages (OAS-602).
func readOpenAgent(ctx context.Context, file io.Reader, size int64, b *builder) error {
	d := newDocument(ctx, io.LimitReader(file, size))
	var about openAgentMetadata
	err := d.members(func(name string) error {
		if name == "messages" {
			return d.elements(func(raw json.RawMessage) bool {
				b.openAgentMessage(raw, about.Model)
				return !b.stopped
			})
		}
		raw, err := d.value()
		if err != nil || name != "metadata" {
			return err
		}
		if json.Unmarshal(raw, &about) != nil {
			b.found.Skipped++
			return nil
		}
		b.found.ID, b.found.Folder = about.ID, about.CWD
		b.when(about.CreatedAt.Time)
		b.name(about.Summary)
		if tags := tagsIn(about.Tag); len(tags) > 0 {
			b.emit(agent.SessionMarks{Tags: tags})
		}
		return nil
	})
	b.when(about.UpdatedAt.Time)
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// maxTags limits the tags that are read, and maxTag each of them in characters.
const maxTags, maxTag = 20, 50

// tagsIn returns the tags in a text that separates them with commas, as ours are written.
func tagsIn(text string) (tags []string) {
	printed := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, clean(text))
	for tag := range strings.SplitSeq(printed, ",") {
		tag = strings.Join(strings.Fields(strings.ToLower(strings.TrimLeft(strings.TrimSpace(tag), "#"))), "-")
		if tag != "" && utf8.RuneCountInString(tag) <= maxTag && len(tags) < maxTags && !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	return tags
}

// openAgentMetadata is what the Open Agent SDK keeps of a session. The reader knows
// how to do without any of it.
type openAgentMetadata struct {
	ID          string  `json:"id,omitempty"`
	CWD         string  `json:"cwd,omitempty"`
	Model       string  `json:"model,omitempty"`
	Summary     string  `json:"summary,omitempty"`
	Tag         string  `json:"tag,omitempty"`
	FirstPrompt string  `json:"firstPrompt,omitempty"`
	GitBranch   string  `json:"gitBranch,omitempty"`
	CreatedAt   instant `json:"createdAt,omitzero"`
	UpdatedAt   instant `json:"updatedAt,omitzero"`
	Messages    int     `json:"messageCount"`
}

// instant is a time as programs write it: as a text, or in seconds or milliseconds
// since 1970. Anything else is not a time.
type instant struct{ time.Time }

func (i instant) MarshalJSON() ([]byte, error) {
	return json.Marshal(i.UTC().Format(time.RFC3339Nano))
}

func (i *instant) UnmarshalJSON(b []byte) error {
	var n float64
	switch {
	case bytes.HasPrefix(b, []byte(`"`)):
		var text string
		if json.Unmarshal(b, &text) == nil {
			i.Time, _ = time.Parse(time.RFC3339Nano, text) // the zero time is none
		}
	case json.Unmarshal(b, &n) == nil && n > 1e11 && n < 1e14:
		i.Time = time.UnixMilli(int64(n))
	case json.Unmarshal(b, &n) == nil && n > 1e8 && n < 1e11:
		i.Time = time.UnixMilli(int64(n * 1000))
	}
	return nil
}

// openAgentMessage adds one message.
func (b *builder) openAgentMessage(raw json.RawMessage, model string) {
	var m struct {
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		Timestamp instant         `json:"timestamp"`
	}
	if json.Unmarshal(raw, &m) != nil {
		b.found.Skipped++
		return
	}
	blocks, ok := blocksOf(m.Content)
	if !ok {
		b.found.Skipped++
		return
	}
	b.when(m.Timestamp.Time)
	switch m.Role {
	case "user":
		b.says(blocks)
	case "assistant":
		b.settle()
		b.answers("", blocks)
		if b.answer != nil {
			b.answer.model = clean(model)
		}
	default:
		b.found.Skipped++
	}
}

// comateMessage is a line of a Comate session: a message in the form of Chat
// Completions. In context.jsonl it is the member message of the line.
type comateMessage struct {
	Role      string          `json:"role,omitempty"`
	Content   json.RawMessage `json:"content,omitempty"`
	Thinking  string          `json:"reasoning_content,omitempty"`
	Calls     []comateCall    `json:"tool_calls,omitempty"`
	CallID    string          `json:"tool_call_id,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Timestamp instant         `json:"timestamp,omitzero"`
	Message   *comateMessage  `json:"message,omitempty"`
}

type comateCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// readComate reads the messages of a Comate session (COM-95).
func readComate(ctx context.Context, file io.Reader, size int64, b *builder) error {
	for raw, err := range lines(ctx, io.LimitReader(file, size)) {
		if err != nil {
			return err
		}
		if len(raw) == 0 && raw != nil {
			continue
		}
		var m comateMessage
		if raw == nil || json.Unmarshal(raw, &m) != nil {
			b.found.Skipped++
			continue
		}
		if m.Message != nil && m.Role == "" {
			m.Message.Timestamp.Time = later(m.Timestamp.Time, m.Message.Timestamp.Time)
			m = *m.Message
		}
		b.when(m.Timestamp.Time)
		if b.comate(m); b.stopped {
			return nil
		}
	}
	return nil
}

// maxState limits the size of Comate's state.json.
const maxState = 1 << 20

// comateState reads what stands beside the messages: the id, the title, the folder and
// when the session began. A file that is not there, or cannot be read, says nothing.
func (b *builder) comateState(path string) {
	f, err := os.OpenFile(path, openFlags, 0)
	if err != nil {
		return
	}
	defer f.Close()
	var state ComateState
	if regular(f.Stat()) != nil || json.NewDecoder(io.LimitReader(f, maxState)).Decode(&state) != nil {
		return
	}
	b.found.ID, b.found.Folder = cmp.Or(state.SessionID, b.found.ID), state.CWD
	b.when(state.CreatedAt.Time)
	b.name(state.Title)
}

func later(a, b time.Time) time.Time {
	return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare)
}

func (b *builder) comate(m comateMessage) {
	blocks, ok := blocksOf(m.Content)
	if !ok && len(m.Calls) == 0 && m.Thinking == "" {
		b.found.Skipped++
		return
	}
	switch m.Role {
	case "user":
		b.says(blocks)
	case "tool":
		b.result(m.CallID, b.resultText(m.Content), m.IsError)
	case "assistant":
		b.settle()
		b.reasoning("", m.Thinking)
		b.answers("", blocks)
		for _, c := range m.Calls {
			b.call("", llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: json.RawMessage(cmp.Or(c.Function.Arguments, "{}"))})
		}
	case "system", "developer": // instructions for another program
	default:
		b.found.Skipped++
	}
}
