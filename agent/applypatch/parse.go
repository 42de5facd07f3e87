package applypatch

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Parse reads the text of a patch. It tolerates what models write: surrounding
// white space, a surrounding shell heredoc, CRLF line endings and indented
// headers. A patch without its end is refused, because it may have been cut.
func Parse(text string) (Patch, error) {
	var d Draft
	d.Append(text)
	return d.Finish()
}

// Draft reads a patch while it is being written, so that it can be shown early.
// It takes time linear in the text. The zero value is ready to use; a Draft is
// not safe for concurrent use.
type Draft struct {
	patch   Patch
	err     *Error
	state   state
	number  int             // of the current line, from 1
	partial strings.Builder // the start of the next line
	// heredoc says that the text has a wrapper, and closed that the wrapper's
	// end was read.
	heredoc, closed bool
	held            []string // see hold
}

// state is the reader's position in a patch.
type state int

const (
	beforePatch state = iota
	beforeOperations
	inAdd
	inDelete
	inUpdate
	afterPatch
)

// Append reads the next piece of the text, which may end anywhere.
func (d *Draft) Append(text string) {
	for d.err == nil {
		line, rest, found := strings.Cut(text, "\n")
		if !found {
			d.partial.WriteString(text)
			return
		}
		if d.partial.Len() > 0 {
			d.partial.WriteString(line)
			line = d.partial.String()
			d.partial.Reset()
		}
		d.line(line)
		text = rest
	}
}

// Operations returns what complete lines have said so far, up to the first
// mistake; the last operation may grow. The result is valid until the next call
// of another method and must not be changed.
func (d *Draft) Operations() []Operation { return d.patch.Operations }

// Finish ends the text and returns the patch. Errors are of type [*Error].
func (d *Draft) Finish() (Patch, error) {
	if d.partial.Len() > 0 {
		d.line(d.partial.String())
		d.partial.Reset()
	}
	if len(d.held) > 0 {
		d.held[0] = endPatch
		d.number++
		d.release()
		d.number--
	}
	switch {
	case d.err != nil:
	case d.state == beforePatch:
		d.fail("the first line must be %q, but the patch is empty", beginPatch)
	case d.state != afterPatch:
		d.fail("the last line must be %q. The patch may have been cut off: write it again, whole", endPatch)
	case d.heredoc && !d.closed:
		d.fail("the heredoc around the patch is not closed by a line EOF")
	}
	if d.err != nil {
		return Patch{}, d.err
	}
	return d.patch, nil
}

func (d *Draft) fail(format string, args ...any) {
	d.err = &Error{Line: d.number, Problem: fmt.Sprintf(format, args...)}
}

func (d *Draft) line(text string) {
	d.number++
	text = strings.TrimSuffix(text, "\r")
	if d.state == inUpdate && d.hold(text) {
		return
	}
	d.read(text)
}

// hold keeps back a line whose meaning depends on the next one: an indented end
// marker in an update ends the patch if it is the last line, otherwise it is a
// line of context.
func (d *Draft) hold(text string) bool {
	goesOn := len(d.held) > 0 && (blank(text) || d.closesHeredoc(text))
	if !goesOn {
		d.release()
	}
	if goesOn || strings.TrimSpace(text) == endPatch && trimRight(text) != endPatch {
		d.held = append(d.held, text)
		return true
	}
	return false
}

// release reads the lines that were kept back.
func (d *Draft) release() {
	held, number := d.held, d.number
	d.held = nil
	for i, text := range held {
		d.number = number - len(held) + i
		d.read(text)
	}
	d.number = number
}

func (d *Draft) read(text string) {
	if d.err != nil {
		return
	}
	switch trimmed := strings.TrimSpace(text); d.state {
	case beforePatch:
		d.begin(trimmed)
	case beforeOperations:
		id, found := strings.CutPrefix(trimmed, environmentID)
		switch {
		case found && d.patch.Environment != "":
			d.fail("the environment is named twice")
		case found:
			d.patch.Environment = strings.TrimSpace(id)
		default:
			d.header(trimmed)
		}
	case inAdd:
		if content, found := strings.CutPrefix(text, string(Added)); found {
			d.add(Line{Added, content})
		} else if strings.HasPrefix(trimmed, "***") {
			d.header(trimmed)
		} else {
			d.fail("each line of an added file starts with +, an empty one too, but this is %s", quote(text))
		}
	case inDelete:
		d.header(trimmed)
	case inUpdate:
		d.update(text)
	case afterPatch:
		if d.closesHeredoc(trimmed) && !d.closed {
			d.closed = true
		} else if trimmed != "" {
			d.fail("the patch must end with %q, but this follows it: %s", endPatch, quote(text))
		}
	}
}

func (d *Draft) begin(text string) {
	switch {
	case text == "":
	case text == beginPatch:
		d.state = beforeOperations
	case !d.heredoc && slices.Contains([]string{"<<EOF", "<<'EOF'", `<<"EOF"`}, text):
		d.heredoc = true
	default:
		d.fail("the first line must be %q, but it is %s", beginPatch, quote(text))
	}
}

func (d *Draft) closesHeredoc(text string) bool {
	return d.heredoc && strings.HasSuffix(trimRight(text), "EOF")
}

// header reads a line that must be the header of an operation or the end of the
// patch.
func (d *Draft) header(text string) {
	if !d.isHeader(text) {
		d.fail("%s is not a header. The headers are %q, %q and %q, each with a path, and %q ends the patch",
			quote(text), addFile, deleteFile, updateFile, endPatch)
	}
}

func (d *Draft) isHeader(text string) bool {
	if text == endPatch {
		d.endOperation()
		d.state = afterPatch
		return true
	}
	for _, h := range []struct {
		prefix string
		kind   Kind
		state  state
	}{{addFile, Add, inAdd}, {deleteFile, Delete, inDelete}, {updateFile, Update, inUpdate}} {
		path, found := strings.CutPrefix(text, h.prefix)
		if path = strings.TrimSpace(path); !found || path == "" {
			continue
		}
		if d.endOperation(); d.err == nil {
			d.patch.Operations = append(d.patch.Operations, Operation{Kind: h.kind, Path: path, Line: d.number})
			d.state = h.state
		}
		return true
	}
	return false
}

// operation returns the current operation.
func (d *Draft) operation() *Operation { return &d.patch.Operations[len(d.patch.Operations)-1] }

// chunk returns the current chunk, or nil.
func (d *Draft) chunk() *Chunk {
	chunks := d.operation().Chunks
	if len(chunks) == 0 {
		return nil
	}
	return &chunks[len(chunks)-1]
}

// endOperation checks that an update changes something.
func (d *Draft) endOperation() {
	if d.state != inUpdate {
		return
	}
	d.endChunk()
	if op := d.operation(); d.err == nil && len(op.Chunks) == 0 && op.MoveTo == "" {
		d.err = &Error{Line: op.Line, Path: op.Path, Problem: "the update is empty: it has no chunk of changes"}
	}
}

// endChunk checks that the current chunk has lines. A chunk of empty lines only
// is a gap in the text and is dropped.
func (d *Draft) endChunk() {
	c, op := d.chunk(), d.operation()
	switch {
	case c == nil:
	case len(c.Lines) == 0:
		d.err = &Error{Line: c.Line, Path: op.Path, Problem: "no lines follow " + anchor + " here: the chunk is empty"}
	case len(c.Anchors) == 0 && !c.EndOfFile && !slices.ContainsFunc(c.Lines, func(l Line) bool { return l != Line{Mark: Context} }):
		op.Chunks = op.Chunks[:len(op.Chunks)-1]
	}
}

// update reads a line of an update. Only its right end is trimmed, because a
// header after a space is a line of context.
func (d *Draft) update(text string) {
	right := trimRight(text)
	if d.isHeader(right) {
		return
	}
	op, c := d.operation(), d.chunk()
	target, moves := strings.CutPrefix(right, moveTo)
	switch {
	case moves && (c != nil || op.MoveTo != ""):
		d.fail("%q comes once, right after %q", moveTo, updateFile)
	case moves && !blank(target):
		op.MoveTo = strings.TrimSpace(target)
	case right == endOfFile && c == nil:
	case right == endOfFile && len(c.Lines) > 0 && !c.EndOfFile:
		c.EndOfFile = true
	case right == endOfFile:
		d.fail("%q comes once, after the lines of a chunk", endOfFile)
	case right == anchor, strings.HasPrefix(text, anchor+" "):
		d.anchor(strings.TrimPrefix(text[len(anchor):], " "))
	case c != nil && c.EndOfFile && blank(text):
	case c != nil && c.EndOfFile:
		d.fail("after %q a new chunk starts with %s, but this is %s", endOfFile, anchor, quote(text))
	case text == "":
		d.add(Line{Mark: Context})
	case strings.ContainsRune(" +-", rune(text[0])):
		d.add(Line{Mark(text[0]), text[1:]})
	case strings.HasPrefix(text, "***"):
		d.header(right)
	case c == nil:
		d.fail("a line of a chunk starts with a space, + or -, but this is %s", quote(text))
	default:
		d.fail("a line of a chunk starts with a space, + or -, and a new chunk with %s, but this is %s", anchor, quote(text))
	}
}

// ranges matches the line numbers of a unified diff. They are ignored, because
// models count badly; the heading after them is an ordinary anchor.
var ranges = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?`) })

// anchor starts a chunk, or adds to the anchors of one that has no lines yet.
func (d *Draft) anchor(hint string) {
	for prefix := ranges().FindString(hint); prefix != ""; prefix = ranges().FindString(hint) {
		hint = hint[len(prefix):]
	}
	if c := d.chunk(); c == nil || len(c.Lines) > 0 {
		d.endChunk()
		op := d.operation()
		op.Chunks = append(op.Chunks, Chunk{Line: d.number})
	}
	if c := d.chunk(); !blank(hint) {
		c.Anchors = append(c.Anchors, hint)
	}
}

// add adds a line to the current chunk, or to a first one.
func (d *Draft) add(l Line) {
	op := d.operation()
	if len(op.Chunks) == 0 {
		op.Chunks = []Chunk{{Line: d.number}}
	}
	c := d.chunk()
	c.Lines = append(c.Lines, l)
	switch l.Mark {
	case Added:
		op.Added++
	case Removed:
		op.Removed++
	}
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

func trimRight(text string) string { return strings.TrimRightFunc(text, unicode.IsSpace) }

// maxQuoted is the length in bytes up to which an error quotes a line.
const maxQuoted = 200

func quote(text string) string { return fmt.Sprintf("%q", clip(text)) }

// clip shortens a line for an error.
func clip(text string) string {
	if len(text) > maxQuoted {
		text = text[:maxQuoted] + " ..."
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
