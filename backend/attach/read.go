package attach

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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

const (
	// maxRead limits the bytes of a file, and maxText those of a text, of which lines may be
	// wanted.
	maxRead = 32 << 20
	maxText = 1 << 20
)

// sent is the size of a picture in a message. Models do not see more.
var sent = llm.PictureLimits{Bytes: 4 << 20, Edge: 2000}

// leftOut stands for the contents of a file that is neither a text nor a picture.
const leftOut = "[This file is not text, so its contents are left out.]"

// Gate says whether a call may run without a question.
type Gate interface {
	Decide(ctx context.Context, call agent.GateCall) agent.Verdict
}

// Mentions are the files that the messages and skills of a session may mention: those that models
// may read without a question, whatever the session's mode, because a skill of the project can
// mention any file. Everything else stays a word of the text.
type Mentions struct {
	Read mention.Reader
	// others are what only a message of a person may mention.
	others mention.Reader
}

// NewMentions returns the files that a gate lets models read, until ctx ends.
func NewMentions(ctx context.Context, gate Gate, files *env.Local) Mentions {
	return Mentions{Read: func(path string) (mention.File, bool) {
		path = files.Absolute(files.Spelled(path))
		call := agent.GateCall{
			Tool: "Read", ReadOnly: true, Input: json.RawMessage(`{}`),
			Access: agent.Access{Reads: []string{path}}, Mode: agent.ModeDefault,
		}
		if gate.Decide(ctx, call).Decision != agent.Allow {
			return mention.File{}, false
		}
		return Read(path)
	}}
}

// Attached returns what stands behind a text, and the pictures that go with it; see
// [mention.Attached].
func (m Mentions) Attached(text string) (string, []llm.Media) {
	return mention.Attached(text, func(name string) (mention.File, bool) {
		if m.others != nil {
			if file, ok := m.others(name); ok {
				return file, true
			}
		}
		return m.Read(name)
	})
}

// And lets messages mention something besides files; skills cannot.
func (m Mentions) And(others mention.Reader) Mentions {
	m.others = others
	return m
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
	b, err := io.ReadAll(io.LimitReader(f, maxRead))
	if err != nil {
		return mention.File{}, false
	}
	return fileOf(b), true
}

// fileOf returns what a file with some contents attaches.
func fileOf(b []byte) mention.File {
	if format := picture.Unreadable(b); format != "" {
		return mention.File{Text: "[This picture is left out: " + format + " cannot be shown to models. Convert it to PNG or JPEG.]"}
	}
	if whole, _, err := picture.Convert(b); !errors.Is(err, picture.ErrType) {
		kind := ""
		if err == nil {
			whole, kind, err = picture.Fit(whole, sent)
		}
		if err != nil {
			return mention.File{Text: "[This picture is left out: it is " + err.Error() + ".]"}
		}
		return mention.File{Picture: &llm.Media{MIME: kind, Data: whole}}
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
