package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"atelier.dev/atelier/internal/text"
)

// Member is a member of an object, or an element of a list, which has no name.
type Member struct {
	Name string
	Raw  json.RawMessage
	At   int // the offset at which its value begins

	nameAt int // the offset at which its name begins, or its value if it has none
}

// SyntaxError is a fault of a file at a line, which is counted from 1.
type SyntaxError struct {
	Line int
	Err  error
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *SyntaxError) Unwrap() error { return e.Err }

// LineOf returns the line where a file is not what it should be; 0 if it could not
// be read at all.
func LineOf(err error) int {
	var syntax *SyntaxError
	if errors.As(err, &syntax) {
		return syntax.Line
	}
	return 0
}

// Line returns the line of an offset, counted from 1.
func Line(b []byte, at int) int { return 1 + bytes.Count(b[:min(at, len(b))], []byte("\n")) }

// Members splits an object, in its order. Base is added to all offsets. With an
// error it returns where it is. A name that stands there twice is an error, since
// programs differ about which one counts.
func Members(b []byte, base int) ([]Member, int, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	at := func() int { return base + int(dec.InputOffset()) }
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, at(), notJSON(err, "it is not an object")
	}
	var out []Member
	seen := map[string]bool{}
	for dec.More() {
		nameAt := base + skip(b, int(dec.InputOffset()))
		t, err := dec.Token()
		if err != nil {
			return nil, at(), notJSON(err, "")
		}
		name, _ := t.(string) // the decoder allows no other key
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, at(), notJSON(err, "")
		}
		if seen[name] {
			return nil, at(), fmt.Errorf("it has the member %q twice", shorten(name))
		}
		seen[name] = true
		out = append(out, Member{name, raw, at() - len(raw), nameAt})
	}
	if _, err := dec.Token(); err != nil {
		return nil, at(), notJSON(err, "")
	}
	if !blank(b[dec.InputOffset():]) {
		return nil, at(), errors.New("something follows its end")
	}
	return out, 0, nil
}

// Elements splits a list as [Members] splits an object.
func Elements(b []byte, base int) ([]Member, int, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	at := func() int { return base + int(dec.InputOffset()) }
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return nil, at(), notJSON(err, "it is not a list")
	}
	var out []Member
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, at(), notJSON(err, "")
		}
		out = append(out, Member{Raw: raw, At: at() - len(raw), nameAt: at() - len(raw)})
	}
	if _, err := dec.Token(); err != nil {
		return nil, at(), notJSON(err, "")
	}
	return out, 0, nil
}

func notJSON(err error, otherwise string) error {
	if err == nil {
		return errors.New(otherwise)
	}
	return fmt.Errorf("it is not JSON: %w", err)
}

func blank(b []byte) bool { return len(bytes.TrimSpace(b)) == 0 }

// skip returns the offset of what follows space and a comma.
func skip(b []byte, at int) int {
	for at < len(b) && strings.IndexByte(" \t\r\n,", b[at]) >= 0 {
		at++
	}
	return at
}

const maxShown = 200

func shorten(s string) string { return text.Shorten(strings.ToValidUTF8(s, "\uFFFD"), maxShown) }

// Encode returns the JSON form of a value that has one, with & < > as they are.
func Encode(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // its callers pass texts, lists and structs of such
	return bytes.TrimSpace(out.Bytes())
}
