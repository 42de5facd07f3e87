package applypatch

import (
	"fmt"
	"strings"
)

// Patch is a model's request to change files.
type Patch struct {
	// Environment names the machine of the patch, if the model was offered
	// several; otherwise it is empty.
	Environment string
	Operations  []Operation
}

// Kind is the kind of an operation on a file.
type Kind string

// The kinds of operation.
const (
	Add    Kind = "add"
	Update Kind = "update"
	Delete Kind = "delete"
)

// Operation is what a patch does to one file.
type Operation struct {
	Kind Kind
	Path string
	// MoveTo is the new path of an updated file, if it is moved.
	MoveTo string
	// Chunks are the edits of an update in the order of the file. The content
	// of an added file is one chunk of added lines, or none.
	Chunks []Chunk
	// Added and Removed count the added and removed lines of the chunks.
	Added, Removed int
	// Line is the operation's place in the text of the patch, from 1.
	Line int
}

// Chunk is one edit: a run of adjacent lines, some of which change.
type Chunk struct {
	// Anchors are lines before the chunk, outermost first, such as a class and
	// its method. They need not be adjacent to it.
	Anchors []string
	Lines   []Line
	// EndOfFile says that the chunk's old lines are the file's last.
	EndOfFile bool
	// Line is the chunk's place in the text of the patch, from 1.
	Line int
}

// Mark is the first character of a line in a chunk.
type Mark byte

// The marks of a line.
const (
	Context Mark = ' '
	Added   Mark = '+'
	Removed Mark = '-'
)

// Line is a line of a chunk, without its ending.
type Line struct {
	Mark Mark
	Text string
}

// The lines that structure a patch; those that end in a space continue.
const (
	beginPatch    = "*** Begin Patch"
	endPatch      = "*** End Patch"
	environmentID = "*** Environment ID: "
	addFile       = "*** Add File: "
	deleteFile    = "*** Delete File: "
	updateFile    = "*** Update File: "
	moveTo        = "*** Move to: "
	endOfFile     = "*** End of File"
	anchor        = "@@"
)

// String returns the patch as text in its plain form, which [Parse] reads as
// the same patch.
func (p Patch) String() string {
	var b strings.Builder
	line := func(parts ...string) {
		for _, part := range parts {
			b.WriteString(part)
		}
		if strings.HasSuffix(parts[len(parts)-1], "\r") {
			b.WriteByte('\r') // reading drops one
		}
		b.WriteByte('\n')
	}
	line(beginPatch)
	if p.Environment != "" {
		line(environmentID, p.Environment)
	}
	for _, op := range p.Operations {
		switch op.Kind {
		case Add:
			line(addFile, op.Path)
		case Delete:
			line(deleteFile, op.Path)
		case Update:
			line(updateFile, op.Path)
		}
		if op.MoveTo != "" {
			line(moveTo, op.MoveTo)
		}
		for _, c := range op.Chunks {
			for _, text := range c.Anchors {
				line(anchor+" ", text)
			}
			if op.Kind == Update && len(c.Anchors) == 0 {
				line(anchor)
			}
			for _, l := range c.Lines {
				line(string(l.Mark), l.Text)
			}
			if c.EndOfFile {
				line(endOfFile)
			}
		}
	}
	line(endPatch)
	return b.String()
}

// Error says why a patch has no effect, in words for the model that wrote it.
type Error struct {
	// Line is the line of the patch's text to look at, from 1; 0 if the error
	// is not about a line.
	Line int
	// Path is the file concerned; empty if the error is about the text.
	Path string
	// Problem is a phrase, which has several lines if it quotes the file.
	Problem string
	// Err is the cause; it may be nil.
	Err error
}

// Error implements the error interface.
func (e *Error) Error() string {
	text := e.Problem
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	if e.Line > 0 {
		text = fmt.Sprintf("line %d of the patch: %s", e.Line, text)
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Apply parses text and applies it to files. On an error all files are
// unchanged, unless the error says otherwise; see [Plan.Commit].
func Apply(files Files, text string) (*Plan, error) {
	patch, err := Parse(text)
	if err != nil {
		return nil, err
	}
	plan, err := patch.Plan(func(path string) ([]byte, error) {
		data, _, err := readFile(files, path)
		return data, err
	})
	if err != nil {
		return nil, err
	}
	return plan, plan.Commit(files)
}
