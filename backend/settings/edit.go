package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"atelier.dev/atelier/agent"
)

// Set returns the text of a settings file with the value at a path changed: names
// of members, and indexes in lists. Missing objects on the way are added; the
// index after the last one adds an element. Without a value it takes out what is
// there.
//
// Everything else keeps its bytes, except in a text of a single line, which is
// formatted again.
func Set(b []byte, value []byte, path ...any) ([]byte, error) {
	plain := Plain(b)
	if blank(plain) {
		b = append(b[:len(b)-len(Unmarked(b)):len(b)-len(Unmarked(b))], "{}"...)
		plain = Plain(b)
	}
	single := !bytes.Contains(bytes.TrimSpace(b), []byte("\n")) && bytes.Equal(plain, b)
	switch {
	case len(path) == 0:
		return nil, errors.New("edit the settings: no member is named")
	case value != nil && !json.Valid(value):
		return nil, errors.New("edit the settings: the new value is not JSON")
	}
	indent, newline := layout(b)
	e := edit{text: b, plain: plain, indent: indent, newline: newline}
	out, err := e.set(plain, 0, 0, value, path)
	if err != nil {
		return nil, fmt.Errorf("edit the settings: %w", err)
	}
	if single {
		var laid bytes.Buffer
		if err := json.Indent(&laid, bytes.TrimSpace(out), "", indent); err != nil {
			return nil, fmt.Errorf("edit the settings: %w", err)
		}
		out = append(laid.Bytes(), '\n')
	}
	return out, nil
}

// layout returns what a text indents by and how its lines end.
func layout(b []byte) (indent, newline string) {
	indent, newline = "  ", "\n"
	if bytes.Contains(b, []byte("\r\n")) {
		newline = "\r\n"
	}
	for line := range bytes.Lines(b) {
		text := bytes.TrimLeft(line, " \t")
		if n := len(line) - len(text); n > 0 && !blank(text) {
			return string(line[:n]), newline
		}
	}
	return indent, newline
}

type edit struct {
	text            []byte
	plain           []byte // without comments; see [Plain]
	indent, newline string
}

// set changes a value in a container, which begins at an offset of the text.
func (e edit) set(container []byte, base, depth int, value []byte, path []any) ([]byte, error) {
	var in []Member
	var err error
	found := -1
	switch key := path[0].(type) {
	case string:
		in, _, err = Members(container, base)
		found = slices.IndexFunc(in, func(m Member) bool { return m.Name == key })
	case int:
		if in, _, err = Elements(container, base); key >= 0 && key < len(in) {
			found = key
		} else if key != len(in) && err == nil {
			err = fmt.Errorf("there is no element %d", key)
		}
	default:
		err = fmt.Errorf("%v is neither a name nor an index", key)
	}
	switch {
	case err != nil:
		return nil, err
	case found < 0 && value == nil:
		return e.text, nil
	case found < 0:
		if value, err = nested(value, path[1:]); err != nil {
			return nil, err
		}
		return e.insert(container, base, depth+1, in, value, path[0]), nil
	case len(path) > 1:
		return e.set(in[found].Raw, in[found].At, depth+1, value, path[1:])
	case value == nil:
		return e.remove(in, found), nil
	}
	m := in[found]
	return e.spliced(m.At, m.At+len(m.Raw), string(e.laid(value, depth+1))), nil
}

// nested wraps a value in the containers of a path, none of which is there.
func nested(value []byte, path []any) ([]byte, error) {
	for _, key := range slices.Backward(path) {
		switch key {
		case 0:
			value = fmt.Appendf(nil, "[%s]", value)
		default:
			name, ok := key.(string)
			if !ok {
				return nil, fmt.Errorf("there is no element %v", key)
			}
			value = fmt.Appendf(nil, "{%s:%s}", Encode(name), value)
		}
	}
	return value, nil
}

// laid returns a value with the indentation of its depth.
func (e edit) laid(value []byte, depth int) []byte {
	var out bytes.Buffer
	_ = json.Indent(&out, bytes.TrimSpace(value), strings.Repeat(e.indent, depth), e.indent) // Set has checked it
	return bytes.ReplaceAll(out.Bytes(), []byte("\n"), []byte(e.newline))
}

// insert adds a value at the end of a container.
func (e edit) insert(container []byte, base, depth int, in []Member, value []byte, key any) []byte {
	text := e.newline + strings.Repeat(e.indent, depth)
	if name, ok := key.(string); ok {
		text += string(Encode(name)) + ": "
	}
	text += string(e.laid(value, depth))
	if len(in) > 0 {
		last := in[len(in)-1]
		end := last.At + len(last.Raw)
		return e.spliced(end, end, ","+text)
	}
	begin := base + bytes.IndexAny(container, "{[") + 1
	end := base + bytes.LastIndexAny(container, "}]")
	if kept := bytes.TrimRight(e.text[begin:end], " \t\r\n"); len(kept) > 0 { // comments
		begin += len(kept)
	}
	return e.spliced(begin, end, text+e.newline+strings.Repeat(e.indent, depth-1))
}

// remove takes a member out, with the comma that separated it.
func (e edit) remove(in []Member, i int) []byte {
	end := in[i].At + len(in[i].Raw)
	switch {
	case i > 0:
		return e.spliced(in[i-1].At+len(in[i-1].Raw), end, "")
	case len(in) > 1:
		return e.spliced(in[0].nameAt, in[1].nameAt, "")
	}
	// Nothing is left between the brackets.
	begin := bytes.LastIndexAny(e.plain[:in[0].nameAt], "{[") + 1
	return e.spliced(begin, end+bytes.IndexAny(e.plain[end:], "}]"), "")
}

func (e edit) spliced(from, to int, with string) []byte {
	return slices.Concat(e.text[:from], []byte(with), e.text[to:])
}

// attempts is how often an edit begins again because somebody else wrote the file
// meanwhile.
const attempts = 3

// Edit changes the text of the file, which is replaced as a whole; of a link, the file
// that it leads to. A file that cannot be read is left as it is.
func (f File) Edit(change func(b []byte) ([]byte, error)) error {
	f, err := f.target()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(f.Name), 0o755); err != nil {
		return err
	}
	for range attempts {
		before, mode, err := f.present(root)
		if err != nil {
			return err
		}
		if t := Parse(before); t.Err != nil {
			return t.Err
		}
		after, err := change(slices.Clone(before))
		if err != nil {
			return err
		}
		if len(after) > MaxFile {
			return fmt.Errorf("it would be longer than %d bytes", MaxFile)
		}
		if done, err := f.replace(root, before, after, mode); done || err != nil {
			return err
		}
	}
	return errors.New("another program keeps writing it")
}

// present returns the bytes of the file, none if there is no such file.
func (f File) present(root *os.Root) ([]byte, fs.FileMode, error) {
	info, err := root.Stat(f.Name)
	if errors.Is(err, fs.ErrNotExist) {
		if f.Scope == agent.ScopeProject {
			return nil, 0o644, nil
		}
		return nil, 0o600, nil
	}
	if err != nil {
		return nil, 0, err
	}
	b, err := contents(root, f.Name)
	return b, info.Mode().Perm(), err
}

// replace replaces the file, unless its contents have changed since they were read.
func (f File) replace(root *os.Root, before, after []byte, mode fs.FileMode) (done bool, err error) {
	name := f.Name + "." + strconv.Itoa(os.Getpid()) + ".tmp"
	if link, err := root.Lstat(f.Name); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		return false, errors.New("it became a symbolic link")
	}
	_ = root.Remove(name) // one that a crash left
	tmp, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return false, err
	}
	defer root.Remove(name) //nolint:errcheck // it has been renamed, or is of no use
	_, err = tmp.Write(after)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return false, err
	}
	if now, _, err := f.present(root); err != nil || !bytes.Equal(now, before) {
		return false, err
	}
	return true, root.Rename(name, f.Name)
}
