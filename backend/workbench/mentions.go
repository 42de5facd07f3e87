package workbench

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"syscall"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/mention"
	"atelier.dev/atelier/backend"
)

// maxRead limits the bytes that are read of a mentioned file, of which lines may be wanted.
const maxRead = 1 << 20

// attaching returns how files are read that a message or a skill mentions: those that
// models may read without a question, whatever the session's mode, because a skill of the
// project can mention any file. Everything else stays a word of the text.
func (w *Workbench) attaching(info backend.SessionInfo) (mention.Reader, error) {
	gate, err := w.gate(info, w.outputFolder(info.ID))
	if err != nil {
		return nil, err
	}
	files, err := env.NewLocal(w.folderOf(info))
	if err != nil {
		return nil, err
	}
	return func(path string) (string, bool) {
		path = files.Absolute(files.Spelled(path))
		call := agent.GateCall{
			Tool: "Read", ReadOnly: true, Input: json.RawMessage(`{}`),
			Access: agent.Access{Reads: []string{path}}, Mode: agent.ModeDefault,
		}
		if gate.Decide(call).Decision != agent.Allow {
			return "", false
		}
		return readText(path)
	}, nil
}

// attached returns what stands behind a message that waited: the files that it mentions, as
// they are now. Messages to an agent are written by models, which read for themselves.
func (w *Workbench) attached(info backend.SessionInfo) func(context.Context, string) string {
	if info.Helper != nil {
		return nil
	}
	return func(_ context.Context, text string) string {
		if !strings.Contains(text, "@") {
			return ""
		}
		read, err := w.attaching(info)
		if err != nil {
			return "" // the names stay words, as those of files that cannot be read do
		}
		return mention.Attached(text, read)
	}
}

// leftOut stands for the contents of a file that is not text, such as a picture.
const leftOut = "[This file is not text, so its contents are left out.]"

// readText reads the beginning of a regular file; false if it cannot be read.
func readText(path string) (string, bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // by now it may be a pipe
	if err != nil {
		return "", false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	b, err := io.ReadAll(io.LimitReader(f, maxRead))
	if err != nil {
		return "", false
	}
	for len(b) > maxRead-utf8.UTFMax && !utf8.Valid(b) { // the last character may be cut
		b = b[:len(b)-1]
	}
	text := env.DecodeText(b, nil)
	if !text.Certain() || bytes.Contains(text.UTF8, []byte{0}) {
		return leftOut, true
	}
	return strings.TrimPrefix(string(text.UTF8), "\uFEFF"), true
}
