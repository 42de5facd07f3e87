// Package pdftext reads the text of PDF files, which may be anybody's: what it reads, how long
// that takes and what comes of it is bounded.
package pdftext

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"

	"atelier.dev/atelier/internal/text"
)

// The limits of a file.
const (
	maxPages  = 500
	maxText   = 400_000   // characters of a whole file
	maxPage   = 8 << 20   // bytes of a page's contents, after decompression
	maxStream = 2 << 20   // bytes of what says how a font is encoded
	maxRead   = 512 << 20 // bytes that are read from a file, which is often read again
	maxNodes  = 10_000    // of the tree of pages
	maxDepth  = 50
)

// Why a file has no text.
var (
	ErrEncrypted = errors.New("it is encrypted, and needs a password")
	ErrBroken    = errors.New("it is damaged, or no PDF")
	ErrNoText    = errors.New("it has no text: its pages are pictures, such as scans")
	ErrTooMuch   = errors.New("reading it takes too long")
)

// Text is the text of a file.
type Text struct {
	Pages []string // some may be empty
	// Left counts the pages that were not read, because there are too many or too much
	// text is on the others.
	Left int
}

// Is reports whether a file begins as a PDF does.
func Is(data []byte) bool { return strings.HasPrefix(string(data[:min(len(data), 5)]), "%PDF-") }

// String returns the text of all pages, each below a line with its number.
func (t Text) String() string {
	var out strings.Builder
	for i, page := range t.Pages {
		fmt.Fprintf(&out, "--- Page %d of %d ---\n%s\n", i+1, len(t.Pages)+t.Left, strings.TrimSpace(page))
	}
	if t.Left > 0 {
		fmt.Fprintf(&out, "[%d more pages are not shown.]\n", t.Left)
	}
	return out.String()
}

// Read returns the text of a PDF. The error is one of those above, or the context's.
func Read(ctx context.Context, data []byte) (found Text, err error) {
	source := &source{ctx: ctx, data: data, left: maxRead}
	defer func() {
		if recover() != nil { // the parser panics on what it does not understand
			err = ErrBroken
		}
		if source.err != nil {
			err = source.err
		}
	}()
	file, err := pdf.NewReader(source, int64(len(data)))
	switch {
	case errors.Is(err, pdf.ErrInvalidPassword), err != nil && strings.Contains(err.Error(), "encrypt"):
		return Text{}, ErrEncrypted
	case err != nil:
		return Text{}, fmt.Errorf("%w: %s", ErrBroken, text.Shorten(err.Error(), 200))
	}
	pages := (&tree{}).pages(file.Trailer().Key("Root").Key("Pages"), 0)
	size, some := 0, false
	for _, one := range pages[:min(len(pages), maxPages)] {
		if size >= maxText {
			break
		}
		page := text.Characters(pageText(one), maxText-size)
		if source.err != nil {
			return Text{}, source.err
		}
		size += len(page)
		some = some || strings.TrimSpace(page) != ""
		found.Pages = append(found.Pages, page)
	}
	if !some {
		return Text{}, ErrNoText
	}
	found.Left = len(pages) - len(found.Pages)
	return found, nil
}

// tree collects the pages of a file, whose nodes may lead back to themselves.
type tree struct{ nodes int }

func (t *tree) pages(node pdf.Value, depth int) (out []pdf.Page) {
	if t.nodes++; t.nodes > maxNodes || depth > maxDepth {
		return nil
	}
	if node.Key("Type").Name() == "Page" {
		return []pdf.Page{{V: node}}
	}
	kids := node.Key("Kids")
	for i := range min(kids.Len(), maxNodes) {
		out = append(out, t.pages(kids.Index(i), depth+1)...)
	}
	return out
}

// source is the file as the parser reads it. It fails when the context has ended or too much
// was read, which ends the parser wherever it is.
type source struct {
	ctx  context.Context
	data []byte
	left int64
	err  error
}

// ReadAt implements [io.ReaderAt].
func (s *source) ReadAt(p []byte, at int64) (int, error) {
	switch {
	case s.ctx.Err() != nil:
		s.err = s.ctx.Err()
	case s.left <= 0:
		s.err = ErrTooMuch
	}
	if s.err != nil {
		return 0, s.err
	}
	if at < 0 || at >= int64(len(s.data)) {
		return 0, io.EOF
	}
	n := copy(p, s.data[at:])
	if s.left -= int64(n); n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// pageText returns the text of one page, or a line that says why there is none.
func pageText(page pdf.Page) (out string) {
	w := &writer{}
	defer func() {
		if recover() != nil {
			out = strings.TrimSpace(w.out.String()) + "\n[The rest of this page cannot be read.]"
		}
	}()
	contents := page.V.Key("Contents")
	if larger(contents, maxPage) {
		return "[This page has too much on it to be read.]"
	}
	w.page = page
	w.fonts = map[string]pdf.TextEncoding{}
	if contents.Kind() == pdf.Stream || contents.Kind() == pdf.Array {
		pdf.Interpret(contents, w.do)
	}
	return usual(strings.ToValidUTF8(strings.ReplaceAll(w.out.String(), "\x00", ""), "\uFFFD"))
}

// larger reports whether a stream, or several, has more than so many bytes.
func larger(v pdf.Value, most int64) bool {
	streams := []pdf.Value{v}
	if v.Kind() == pdf.Array {
		streams = nil
		for i := range min(v.Len(), 10_000) {
			streams = append(streams, v.Index(i))
		}
	}
	for _, s := range streams {
		if s.Kind() != pdf.Stream {
			continue
		}
		r := s.Reader()
		n, _ := io.Copy(io.Discard, io.LimitReader(r, most+1)) // a stream that breaks is read as far as it goes
		_ = r.Close()
		if most -= n; most < 0 {
			return true
		}
	}
	return false
}

// writer follows the operators of a page and writes its text: in lines, with spaces where
// there is room between what is drawn.
type writer struct {
	page    pdf.Page
	fonts   map[string]pdf.TextEncoding
	font    pdf.TextEncoding
	size    float64
	scale   float64 // of the text's matrix
	leading float64
	x, y    float64 // where the line begins
	written float64 // the line where the last text was drawn
	drawn   int     // characters since the last move
	out     strings.Builder
}

// wordGap is the room, in thousandths of the font's size, that stands for a space.
const wordGap = 180

func (w *writer) do(stack *pdf.Stack, op string) {
	args := make([]pdf.Value, stack.Len())
	for i := len(args) - 1; i >= 0; i-- {
		args[i] = stack.Pop()
	}
	number := func(i int) float64 {
		if i >= len(args) {
			return 0
		}
		return args[i].Float64()
	}
	switch op {
	case "Tf":
		if len(args) == 2 {
			w.font, w.size = w.encoding(args[0].Name()), math.Abs(number(1))
		}
	case "TL":
		w.leading = number(0)
	case "Td", "TD":
		if op == "TD" {
			w.leading = -number(1)
		}
		w.move(w.x+number(0), w.y+number(1))
	case "Tm":
		w.scale = math.Hypot(number(0), number(1))
		w.move(number(4), number(5))
	case "BT":
		w.x, w.y, w.scale = 0, 0, 1
	case "cm":
		w.end("\n")
	case "T*":
		w.move(w.x, w.y-w.leading)
	case "'", "\"":
		w.move(w.x, w.y-w.leading)
		w.show(args)
	case "Tj":
		w.show(args)
	case "TJ":
		if len(args) == 1 {
			for i := range args[0].Len() {
				w.piece(args[0].Index(i))
			}
		}
	}
}

// move goes to another place: a new line if it is higher or lower, a space if there is more
// room than the characters before it take. Their widths are estimated.
func (w *writer) move(x, y float64) {
	by := x - w.x
	if w.x, w.y = x, y; math.Abs(y-w.written) > 1 {
		w.end("\n")
	} else if by < 0 || by > w.size*w.scale*(0.5+0.55*float64(w.drawn)) {
		w.end(" ")
	}
	w.drawn = 0
}

// end writes what separates two texts, once.
func (w *writer) end(with string) {
	if w.out.Len() == 0 {
		return
	}
	if so := w.out.String(); with == "\n" && !strings.HasSuffix(so, "\n") || with == " " && !strings.HasSuffix(so, " ") && !strings.HasSuffix(so, "\n") {
		w.out.WriteString(with)
	}
}

func (w *writer) show(args []pdf.Value) {
	if len(args) > 0 {
		w.piece(args[len(args)-1])
	}
}

// piece writes a text, or the room between two.
func (w *writer) piece(v pdf.Value) {
	switch v.Kind() {
	case pdf.String:
		piece := v.Text()
		if w.font != nil {
			piece = w.font.Decode(v.RawString())
		}
		w.out.WriteString(piece)
		w.written, w.drawn = w.y, w.drawn+utf8.RuneCountInString(piece)
	case pdf.Integer, pdf.Real:
		if v.Float64() < -wordGap {
			w.end(" ")
		}
	}
	if w.out.Len() > 4*maxText {
		panic("more text than is read of a file")
	}
}

// encoding returns how the texts of a font are encoded; nil if that is not known.
func (w *writer) encoding(name string) pdf.TextEncoding {
	known, ok := w.fonts[name]
	if !ok {
		font := w.page.Font(name)
		if to := readCmap(font.V.Key("ToUnicode")); to != nil {
			known = to
		} else if !font.V.IsNull() && !larger(font.V.Key("ToUnicode"), maxStream) {
			known = font.Encoder()
		}
		w.fonts[name] = known
	}
	return known
}
