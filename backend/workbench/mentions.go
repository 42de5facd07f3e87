package workbench

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/mention"
	"atelier.dev/atelier/backend"
)

// maxRead limits the bytes that are read of a mentioned file, of which lines may be wanted.
const maxRead = 1 << 20

// attaching returns how files are read that a message or a skill mentions: those that the
// session's models may read without a question. Everything else stays a word of the text.
func (w *Workbench) attaching(info backend.SessionInfo) (mention.Reader, error) {
	gate, err := w.gate(info, w.outputFolder(info.ID))
	if err != nil {
		return nil, err
	}
	folder := w.folderOf(info)
	return func(path string) (string, bool) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		call := agent.GateCall{
			Tool: "Read", ReadOnly: true, Input: json.RawMessage(`{}`),
			Access: agent.Access{Reads: []string{path}}, Mode: info.Settings.Mode,
		}
		if gate.Decide(call).Decision != agent.Allow {
			return "", false
		}
		return readText(path)
	}, nil
}

// readText reads the beginning of a regular file; false if it is not text.
func readText(path string) (string, bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxRead))
	if err != nil {
		return "", false
	}
	text := string(b)
	if len(b) == maxRead { // the last character may be cut
		text = strings.ToValidUTF8(text[:maxRead-utf8.UTFMax], "")
	}
	return text, utf8.ValidString(text) && !strings.Contains(text, "\x00")
}
