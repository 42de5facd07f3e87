package transcript

import (
	"cmp"
	"context"
	"encoding/json"
	"hash/maphash"
	"io"
	"strings"

	"atelier.dev/atelier/agent/llm"
)

// claudeLine is a line of a transcript of Claude Code.
type claudeLine struct {
	claudeNode
	SessionID   string        `json:"sessionId"`
	Timestamp   string        `json:"timestamp"`
	CWD         string        `json:"cwd"`
	Summary     string        `json:"summary"`
	CustomTitle string        `json:"customTitle"`
	AITitle     string        `json:"aiTitle"`
	Meta        bool          `json:"isMeta"`
	Compact     bool          `json:"isCompactSummary"`
	Message     claudeMessage `json:"message"`
}

// claudeNode is what puts a line into its place.
type claudeNode struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	UUID    string `json:"uuid"`
	Parent  string `json:"parentUuid"`
	// Logical is the parent across a compaction.
	Logical string `json:"logicalParentUuid"`
	Side    bool   `json:"isSidechain"`
}

type claudeMessage struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"`
	Stop    string          `json:"stop_reason"`
	Usage   *struct {
		Input      int64 `json:"input_tokens"`
		CacheRead  int64 `json:"cache_read_input_tokens"`
		CacheWrite int64 `json:"cache_creation_input_tokens"`
		Output     int64 `json:"output_tokens"`
	} `json:"usage"`
}

// readClaude reads a transcript of Claude Code. Its lines are a tree, because a
// prompt can be edited and sent again: the branch that was written last is read.
// Agents of the session (side chains) are left out.
func readClaude(ctx context.Context, file io.ReadSeeker, size int64, b *builder) error {
	tree, err := claudeTreeOf(ctx, io.LimitReader(file, size))
	if err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	at := 0
	for raw, err := range lines(ctx, io.LimitReader(file, size)) {
		if err != nil {
			return err
		}
		place := at
		at++
		if len(raw) == 0 && raw != nil {
			continue
		}
		var line claudeLine
		if raw == nil || json.Unmarshal(raw, &line) != nil || line.Type == "" {
			b.found.Skipped++
			continue
		}
		b.found.ID = cmp.Or(b.found.ID, line.SessionID)
		b.found.Folder = cmp.Or(b.found.Folder, line.CWD)
		b.claude(line, tree.has(place, line))
		if b.stopped {
			return nil
		}
	}
	return nil
}

// claude adds a line. Titles count wherever they stand, everything else only on the
// branch that is read.
func (b *builder) claude(line claudeLine, onBranch bool) {
	switch line.Type {
	case "summary", "custom-title", "ai-title":
		b.name(cmp.Or(line.CustomTitle, line.AITitle, line.Summary))
		return
	case "user", "assistant":
	default: // what Claude Code notes for itself
		return
	}
	if line.Side || !onBranch {
		return
	}
	b.whenText(line.Timestamp)
	blocks, ok := blocksOf(line.Message.Content)
	if !ok {
		b.found.Skipped++
		return
	}
	if line.Type == "assistant" {
		b.answers(line.Message.ID, blocks)
		b.claudeAnswered(line.Message)
		return
	}
	switch text := onlyText(blocks); {
	case line.Compact:
		b.compacted(text)
	case line.Meta || claudeNote(text):
	case strings.HasPrefix(text, "[Request interrupted by user"):
		b.turn.interrupted = true
		b.end()
	default:
		b.says(blocks)
	}
}

func (b *builder) claudeAnswered(m claudeMessage) {
	a := b.answer
	if a == nil {
		return
	}
	a.provider, a.model = "anthropic", clean(m.Model)
	if m.Stop == "max_tokens" {
		a.finish = llm.FinishLength
	}
	if u := m.Usage; u != nil {
		a.usage = llm.Usage{Input: natural(u.Input), CacheRead: natural(u.CacheRead), CacheWrite: natural(u.CacheWrite), Output: natural(u.Output), Known: true}
	}
}

// natural brings a count within the range of plausible ones.
func natural(n int64) int64 { return min(max(n, 0), 1<<40) }

// onlyText joins the texts of a message.
func onlyText(blocks []block) string {
	var b strings.Builder
	for _, p := range blocks {
		b.WriteString(p.Text)
	}
	return b.String()
}

// claudeNote reports whether a message is not the user's: Claude Code's own commands
// and what they print.
func claudeNote(text string) bool {
	text = strings.TrimSpace(text)
	for _, mark := range []string{"<local-command-", "<command-name>", "<command-message>", "<bash-input>", "<bash-stdout>", "<bash-stderr>", "<task-notification>", "<system-reminder>"} {
		if strings.HasPrefix(text, mark) {
			return true
		}
	}
	return false
}

// claudeTree says which lines are on the branch that was written last.
type claudeTree struct {
	seed     maphash.Seed
	at       map[uint64]int32 // the first line with a uuid
	parent   []int32          // of each line; -1 is none
	message  []uint64         // the id of an answer of several lines
	on       []bool
	messages map[uint64]bool // of the answers on the branch
}

func claudeTreeOf(ctx context.Context, r io.Reader) (*claudeTree, error) {
	t := &claudeTree{seed: maphash.MakeSeed(), at: map[uint64]int32{}, messages: map[uint64]bool{}}
	leaf, newest := int32(-1), int32(-1)
	for raw, err := range lines(ctx, r) {
		if err != nil {
			return nil, err
		}
		i := int32(len(t.parent))
		t.parent, t.message = append(t.parent, -1), append(t.message, 0)
		var line struct {
			claudeNode
			Message struct {
				ID string `json:"id"`
			} `json:"message"`
		}
		if len(raw) == 0 || json.Unmarshal(raw, &line) != nil || line.UUID == "" || line.Side {
			continue
		}
		if line.Message.ID != "" {
			t.message[i] = t.hash(line.Message.ID)
		}
		if first, twice := t.at[t.hash(line.UUID)]; twice {
			leaf = first
			continue
		}
		t.at[t.hash(line.UUID)] = i
		above, known := t.at[t.hash(cmp.Or(line.Parent, line.Logical))]
		switch {
		case line.Parent == "" && line.Logical == "":
		case known:
			t.parent[i] = above
		default:
			t.parent[i] = newest // its parent is not in the file
		}
		newest = i
		if line.Type == "user" || line.Type == "assistant" {
			leaf = i
		}
	}
	t.on = make([]bool, len(t.parent))
	for i := leaf; i >= 0 && !t.on[i]; i = t.parent[i] {
		t.on[i] = true
		if t.message[i] != 0 {
			t.messages[t.message[i]] = true
		}
	}
	return t, nil
}

func (t *claudeTree) hash(s string) uint64 { return maphash.String(t.seed, s) }

// has reports whether a line is on the branch. So are the other lines of its answers,
// and the results of their calls, which stand beside it in the tree. It is asked in
// the order of the file.
func (t *claudeTree) has(place int, line claudeLine) bool {
	if place >= len(t.on) {
		return false // the file has grown
	}
	if line.UUID == "" {
		return len(t.at) == 0 // a file without a tree
	}
	if t.at[t.hash(line.UUID)] != int32(place) {
		return false
	}
	beside := line.Type == "assistant" && t.messages[t.message[place]] ||
		line.Type == "user" && t.parent[place] >= 0 && t.on[t.parent[place]] && strings.Contains(string(line.Message.Content), `"tool_result"`)
	t.on[place] = t.on[place] || beside
	return t.on[place]
}
