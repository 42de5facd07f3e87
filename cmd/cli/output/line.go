package output

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/ask"
)

// maxLine limits a line of the input.
const maxLine = 16 << 20

// line is what a program says in a line of its own.
type line struct {
	number int
	err    error  // it cannot be read
	Type   string `json:"type"`
	// Text is that of a message. Message is the same as other programs write it.
	Text    string  `json:"text"`
	Message message `json:"message"`
	// ID is that of the approval_request that an answer is for; empty for the only one.
	ID string `json:"id"`
	agent.Answer
	// Answers are those to the questions of a model, in their order.
	Answers []answer `json:"answers"`
}

// message is a message of the Messages API: its content is a text or a list of blocks.
type message struct {
	Content content `json:"content"`
}

type content string

// UnmarshalJSON implements [json.Unmarshaler].
func (c *content) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*c = content(text)
		return nil
	}
	var blocks []struct{ Type, Text string }
	if err := json.Unmarshal(b, &blocks); err != nil {
		return errors.New("the content is neither a text nor a list of blocks")
	}
	var texts []string
	for _, block := range blocks {
		if block.Type != "text" {
			return fmt.Errorf("blocks of the type %q are not taken, only text", block.Type)
		}
		texts = append(texts, block.Text)
	}
	*c = content(strings.Join(texts, "\n\n"))
	return nil
}

// answer is an answer to one question: a text, a list of labels, or both in an object.
type answer struct{ ask.Answer }

// UnmarshalJSON implements [json.Unmarshaler].
func (a *answer) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		a.Text = text
		return nil
	}
	if json.Unmarshal(b, &a.Chosen) == nil {
		return nil
	}
	return json.Unmarshal(b, &a.Answer)
}

// readLines passes the lines of a program on until it ends or stop is closed, and then closes
// lines.
func readLines(in io.Reader, lines chan<- line, stop <-chan struct{}) {
	defer close(lines)
	r := bufio.NewReaderSize(in, 64<<10)
	for number := 1; ; number++ {
		raw, err := readLine(r)
		if len(bytes.TrimSpace(raw)) > 0 || errors.Is(err, errLong) {
			l := parse(raw)
			if errors.Is(err, errLong) {
				l = line{err: err}
			}
			l.number = number
			select {
			case lines <- l:
			case <-stop:
				return
			}
		}
		if err != nil && !errors.Is(err, errLong) {
			return
		}
	}
}

var errLong = fmt.Errorf("the line is longer than %d MiB", maxLine>>20)

// readLine reads a line. One that is too long is read to its end and left out.
func readLine(r *bufio.Reader) (out []byte, err error) {
	for {
		part, more, err := r.ReadLine()
		if err != nil {
			return out, err
		}
		if len(out) <= maxLine {
			out = append(out, part...)
		}
		if more {
			continue
		}
		if len(out) > maxLine {
			return nil, errLong
		}
		return out, nil
	}
}

// parse reads a line.
func parse(raw []byte) (l line) {
	if err := json.Unmarshal(raw, &l); err != nil {
		return line{err: fmt.Errorf("the line is not one JSON object of the input: %w", err)}
	}
	if l.Text == "" {
		l.Text = string(l.Message.Content)
	}
	return l
}

// reply returns the answer of a line to a request.
func (l *line) reply() (agent.Answer, error) {
	out := l.Answer
	if l.Answers != nil {
		var reply ask.Reply
		for _, a := range l.Answers {
			reply.Answers = append(reply.Answers, a.Answer)
		}
		raw, err := json.Marshal(reply)
		if err != nil {
			return out, fmt.Errorf("encode the answers: %w", err)
		}
		out.Decision, out.Reply = agent.Allow, string(raw)
	}
	if out.Decision != agent.Allow && out.Decision != agent.Deny {
		return out, errors.New(`an answer needs "decision": "allow" or "deny", or "answers" to a question`)
	}
	return out, nil
}
