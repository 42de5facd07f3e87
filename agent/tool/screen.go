package tool

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"atelier.dev/atelier/agent/env"
)

// maxHeld limits the text that is held back because it could begin an escape
// sequence.
const maxHeld = 4 << 10

var (
	// sequences matches control sequences for terminals: CSI sequences; OSC,
	// DCS, SOS, PM and APC strings with their terminator; other escapes.
	sequences = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-OQ-WYZ\\` + "`" + `-~]`)
	// unfinished matches the beginning of an escape or of a line end, where the
	// text ends in one.
	unfinished = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)$|\r+$`)
	// lineEnds match those of a terminal.
	lineEnds = regexp.MustCompile(`\r+\n`)
)

// screenText turns what a program sends a terminal, which comes in pieces, into
// text to read: without colours and cursor movements, each line as it was last
// written. The zero value is ready.
type screenText struct {
	held string // the beginning of something
}

// next returns the text of a piece. Where that ends within a sequence, its
// beginning comes with the next piece.
func (s *screenText) next(piece string) string {
	text := s.held + piece
	s.held = ""
	if at := unfinished.FindStringIndex(text); at != nil && len(text)-at[0] <= maxHeld {
		text, s.held = text[:at[0]], text[at[0]:]
	}
	text = lineEnds.ReplaceAllString(sequences.ReplaceAllString(text, ""), "\n")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = line[strings.LastIndex(strings.TrimRight(line, "\r"), "\r")+1:]
	}
	return strings.Map(readable, strings.Join(lines, "\n"))
}

// readable drops control characters that no text is made of.
func readable(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
		return -1
	}
	return r
}

// legible are commands whose terminals are read as text.
type legible struct{ env.Commands }

func (l legible) Exec(ctx context.Context, c env.Command) (env.CommandResult, error) {
	r, err := l.Commands.Exec(ctx, c)
	if c.TTY {
		r.Stdout = new(screenText).next(r.Stdout)
	}
	return r, err
}

func (l legible) Start(ctx context.Context, c env.Command) (env.Process, error) {
	p, err := l.Commands.Start(ctx, c)
	if err != nil || !c.TTY {
		return p, err
	}
	return &legibleProcess{Process: p}, nil
}

// legibleProcess is a command on a terminal that is read as text.
type legibleProcess struct {
	env.Process
	mu     sync.Mutex // keeps the pieces in their order
	screen screenText
}

func (p *legibleProcess) Read() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.screen.next(p.Process.Read())
}
