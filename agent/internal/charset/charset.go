// Package charset reads and writes texts that are not UTF-8 (K-48): a byte order
// mark decides, else valid UTF-8, else what the project says about the file, else
// what the text itself makes certain. Decoded texts keep their byte order mark as
// U+FEFF and their line endings, so that encoding them again restores every byte.
package charset

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/transform"
)

// Charset is how a text is encoded. The zero Charset is UTF-8.
type Charset struct {
	// Name is the name for people; empty for UTF-8.
	Name string
	enc  encoding.Encoding // nil for UTF-8 and if the encoding is not certain
}

// Uncertain is the encoding of a text that is not UTF-8 and about which nothing is
// certain. Its texts are shown, but only changed where they are plain ASCII.
var Uncertain = Charset{Name: "an unknown encoding"}

// Certain reports whether texts can be decoded without a guess.
func (c Charset) Certain() bool { return c != Uncertain }

// UTF8 reports whether texts need no decoding.
func (c Charset) UTF8() bool { return c.Name == "" }

// marked are the encodings with a byte order mark, longer marks first.
var marked = []struct {
	mark string
	Charset
}{
	{"\xEF\xBB\xBF", Charset{}},
	{"\xFF\xFE\x00\x00", Charset{"UTF-32LE", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)}},
	{"\x00\x00\xFE\xFF", Charset{"UTF-32BE", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)}},
	{"\xFF\xFE", utf16LE},
	{"\xFE\xFF", utf16BE},
}

var (
	utf16LE = Charset{"UTF-16LE", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)}
	utf16BE = Charset{"UTF-16BE", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)}
)

// maxStart is how much of a text is looked at for zero bytes: only UTF-16 has them.
const maxStart = 8 << 10

// Marked returns the encoding that a byte order mark at the start of a text names.
func Marked(start []byte) (Charset, bool) {
	for _, m := range marked {
		if bytes.HasPrefix(start, []byte(m.mark)) {
			return m.Charset, true
		}
	}
	return Charset{}, false
}

// Named returns the encoding of a name as .editorconfig and git write it. It reports
// false for UTF-8 and for unknown names.
func Named(name string) (Charset, bool) {
	name = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(name)), "-bom")
	switch name {
	case "utf-16le", "utf16le":
		return utf16LE, true
	case "utf-16be", "utf16be":
		return utf16BE, true
	case "latin1", "latin-1", "iso-8859-1":
		return latin1, true
	}
	enc, err := htmlindex.Get(name)
	if err != nil || enc == unicode.UTF8 {
		return Charset{}, false
	}
	for _, k := range known {
		if k.enc == enc {
			return k.Charset, true
		}
	}
	return Charset{strings.ToUpper(name), enc}, true
}

// maxSample limits how much text decides about an encoding, in bytes.
const maxSample = 64 << 10

// Sniff returns the encoding of a text: one that gives it back byte for byte, or
// [Uncertain]. said returns the name that the project gives to the file's encoding,
// empty if none; it is asked only about a text that is not UTF-8, and may be nil. The
// error is that of r.
func Sniff(r io.ReadSeeker, said func() string) (Charset, error) {
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return Charset{}, err
	}
	start := make([]byte, maxStart)
	n, err := io.ReadFull(r, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return Charset{}, err
	}
	c, certain := Marked(start[:n])
	if c.enc == nil {
		valid, err := valid(r)
		if err != nil || valid && bytes.IndexByte(start[:n], 0) < 0 {
			return Charset{}, err
		}
		if !certain && said != nil {
			c, certain = Named(said())
		}
		if valid && c != utf16LE && c != utf16BE {
			return Charset{}, nil
		}
	}
	if !certain {
		sample, err := sampled(r)
		if err != nil {
			return Charset{}, err
		}
		c = guess(sample)
	}
	if c.enc == nil {
		return Uncertain, nil
	}
	if faithful, err := c.faithful(r); err != nil || !faithful {
		return Uncertain, err
	}
	return c, nil
}

// valid reports whether a text is UTF-8.
func valid(r io.ReadSeeker) (bool, error) {
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	_, err := io.Copy(io.Discard, transform.NewReader(r, encoding.UTF8Validator))
	if errors.Is(err, encoding.ErrInvalidUTF8) {
		return false, nil
	}
	return err == nil, err
}

// sampled returns lines of a text that are not ASCII.
func sampled(r io.ReadSeeker) (sample []byte, err error) {
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	lines := bufio.NewReaderSize(r, maxSample)
	for begins := true; len(sample) < maxSample; {
		line, err := lines.ReadSlice('\n')
		if begins && !ascii(line) { // the rest of a long line may begin within a character
			sample = append(sample, line[:min(len(line), maxSample-len(sample))]...)
		}
		begins = !errors.Is(err, bufio.ErrBufferFull)
		switch {
		case errors.Is(err, io.EOF):
			return sample, nil
		case err != nil && begins:
			return nil, err
		}
	}
	return sample, nil
}

// faithful reports whether decoding a text and encoding it again restores it.
func (c Charset) faithful(r io.ReadSeeker) (bool, error) {
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	before, after := sha256.New(), sha256.New()
	again := transform.NewWriter(after, c.enc.NewEncoder())
	read := &onlyRead{r: io.TeeReader(r, before)}
	_, err := io.Copy(again, transform.NewReader(read, c.enc.NewDecoder()))
	if read.err != nil {
		return false, read.err
	}
	err = errors.Join(err, again.Close())
	return err == nil && bytes.Equal(before.Sum(nil), after.Sum(nil)), nil
}

// onlyRead keeps the error of a reader apart from those of what it is piped through.
type onlyRead struct {
	r   io.Reader
	err error
}

func (o *onlyRead) Read(p []byte) (int, error) {
	n, err := o.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		o.err = err
	}
	return n, err
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Reader returns a text as UTF-8. What the encoding does not have becomes U+FFFD.
func (c Charset) Reader(r io.Reader) io.Reader {
	if c.enc == nil {
		return r
	}
	return transform.NewReader(r, c.enc.NewDecoder())
}

// Text is the content of a text file.
type Text struct {
	Charset
	// UTF8 is the content as UTF-8. If the encoding is not certain, it is the content
	// as it is.
	UTF8 []byte
}

// Decode reads a text. said is as for [Sniff].
func Decode(raw []byte, said func() string) Text {
	if bytes.IndexByte(raw[:min(len(raw), maxStart)], 0) < 0 && utf8.Valid(raw) { // the common case, in one pass
		return Text{UTF8: raw}
	}
	c, _ := Sniff(bytes.NewReader(raw), said)
	if c.enc == nil {
		return Text{c, raw}
	}
	decoded, err := c.enc.NewDecoder().Bytes(raw)
	if err != nil { // cannot happen, because the encoding is faithful
		return Text{Uncertain, raw}
	}
	return Text{c, decoded}
}

// Encode returns a new content in the encoding of the text. It fails if the encoding
// lacks a character of the content and, for a text whose encoding is not certain, if
// more than ASCII changes.
func (t Text) Encode(content []byte) ([]byte, error) {
	switch {
	case !t.Certain():
		if !bytes.Equal(foreign(t.UTF8), foreign(content)) {
			return nil, errUncertain
		}
		return content, nil
	case t.enc == nil:
		return content, nil
	}
	if encoded, ok := t.encode(content); ok {
		return encoded, nil
	}
	for _, r := range string(content) {
		if _, ok := t.encode([]byte(string(r))); !ok {
			return nil, fmt.Errorf("the file is in %s, which has no character %q (%U). Nothing was written; leave the character out, "+
				"write it another way, or convert the file to UTF-8 first", t.Name, r, r)
		}
	}
	return nil, fmt.Errorf("the new text cannot be written in %s, the encoding of the file. Nothing was written", t.Name)
}

var errUncertain = errors.New("the file is not UTF-8, and its encoding is not certain, so only plain ASCII can be changed in it. Nothing was written. " +
	"Name the encoding as charset in .editorconfig, or convert the file to UTF-8 first")

func (c Charset) encode(content []byte) ([]byte, bool) {
	encoded, err := c.enc.NewEncoder().Bytes(content)
	if err != nil {
		return nil, false
	}
	again, err := c.enc.NewDecoder().Bytes(encoded)
	return encoded, err == nil && bytes.Equal(again, content)
}

// foreign returns what of a text depends on its encoding: every byte beyond ASCII with
// the byte behind it, which may be the rest of the same character.
func foreign(text []byte) []byte {
	var out []byte
	for i, c := range text {
		if c >= utf8.RuneSelf || i > 0 && text[i-1] >= utf8.RuneSelf {
			out = append(out, c)
		}
	}
	return out
}
