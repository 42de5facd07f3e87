package attach

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
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/mention"
	"atelier.dev/atelier/agent/picture"
)

// Limits of what is read of a mentioned file.
const (
	maxText    = 1 << 20  // bytes of a text, of which lines may be wanted
	maxPicture = 32 << 20 // bytes of a picture before it is made smaller
)

// sent is the size of a picture in a message. Models do not see more.
var sent = llm.PictureLimits{Bytes: 4 << 20, Edge: 2000}

// leftOut stands for the contents of a file that is neither a text nor a picture.
const leftOut = "[This file is not text, so its contents are left out.]"

// Gate says whether a call may run without a question.
type Gate interface {
	Decide(ctx context.Context, call agent.GateCall) agent.Verdict
}

// Reader reads the files that a text mentions.
type Reader = mention.Reader

// Allowed returns how files are read that a message or a skill mentions: those that models may
// read without a question, whatever the session's mode, because a skill of the project can
// mention any file. Everything else stays a word of the text.
func Allowed(ctx context.Context, gate Gate, files *env.Local) Reader {
	return func(path string) (mention.File, bool) {
		path = files.Absolute(files.Spelled(path))
		call := agent.GateCall{
			Tool: "Read", ReadOnly: true, Input: json.RawMessage(`{}`),
			Access: agent.Access{Reads: []string{path}}, Mode: agent.ModeDefault,
		}
		if gate.Decide(ctx, call).Decision != agent.Allow {
			return mention.File{}, false
		}
		return Read(path)
	}
}

// To returns what stands behind a message, and the pictures that go with it; see
// [mention.Attached].
func To(text string, read Reader) (string, []llm.Media) {
	if !strings.Contains(text, "@") {
		return "", nil
	}
	return mention.Attached(text, read)
}

// Read reads the beginning of a regular file, or a picture that is made small enough for a
// message. It returns false if the file cannot be read. The caller has checked that it may be.
func Read(path string) (mention.File, bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // by now it may be a pipe
	if err != nil {
		return mention.File{}, false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return mention.File{}, false
	}
	b, err := io.ReadAll(io.LimitReader(f, maxText))
	if err != nil {
		return mention.File{}, false
	}
	if picture.Type(b) != "" {
		rest, err := io.ReadAll(io.LimitReader(f, maxPicture-maxText))
		if err != nil {
			return mention.File{}, false
		}
		b = append(b, rest...)
	}
	return read(b), true
}

// read returns what a file with some contents attaches.
func read(b []byte) mention.File {
	if picture.Type(b) != "" {
		return pictureOf(b)
	}
	b = b[:min(len(b), maxText)]
	for len(b) > maxText-utf8.UTFMax && !utf8.Valid(b) { // the last character may be cut
		b = b[:len(b)-1]
	}
	text := env.DecodeText(b, nil)
	if !text.Certain() || bytes.Contains(text.UTF8, []byte{0}) {
		return mention.File{Text: leftOut}
	}
	return mention.File{Text: strings.TrimPrefix(string(text.UTF8), "\uFEFF")}
}

// pictureOf returns a picture, or a text that says why it is none.
func pictureOf(data []byte) mention.File {
	small, kind, err := picture.Fit(data, sent)
	if err != nil {
		return mention.File{Text: "[This picture is left out: it is " + err.Error() + ".]"}
	}
	return mention.File{Picture: &llm.Media{MIME: kind, Data: small}}
}
