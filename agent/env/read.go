package env

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"atelier.dev/atelier/agent/internal/charset"
)

const (
	// maxLine limits what is kept of a line, in bytes; maxPage limits a page.
	maxLine = 16 << 10
	maxPage = 256 << 10
	// sniffed is how much of a file is checked to tell text from binary.
	sniffed = 8 << 10
)

// ReadLines implements [Files].
func (l *Local) ReadLines(ctx context.Context, path string, offset, limit int) (Page, error) {
	return await(ctx, func() (Page, error) {
		p, err := l.locate(path)
		if err != nil {
			return Page{}, err
		}
		defer p.close()
		f, info, err := p.open()
		if err != nil {
			return Page{}, l.meant(err)
		}
		defer f.Close()
		if strings.HasSuffix(path, ".gz") {
			if text, ok := unpacked(ctx, f); ok {
				page, err := readPage(newLineReader(ctx, strings.NewReader(text), maxLine, int64(len(text))), max(offset, 1), limit, true)
				return page, explain(path, err)
			}
		}
		page, err := l.readText(ctx, f, info, path, offset, limit)
		return page, explain(path, err)
	})
}

// unpacked returns the text of a file that gzip compressed; false if it is something else or
// has more than [MaxWhole] bytes.
func unpacked(ctx context.Context, f *os.File) (text string, ok bool) {
	defer func() {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			ok = false
		}
	}()
	z, err := gzip.NewReader(stoppable{ctx, f})
	if err != nil {
		return "", false
	}
	all, err := io.ReadAll(io.LimitReader(z, MaxWhole+1))
	return string(all), err == nil && len(all) <= MaxWhole && utf8.Valid(all) && bytes.IndexByte(all, 0) < 0
}

// await returns what a function returns, or the context's error if the context ends
// first. Then the function, which the system may have stopped in a file that does not
// answer, ends by itself when the system lets it.
func await[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := do()
		done <- outcome{value, err}
	}()
	select {
	case out := <-done:
		return out.value, out.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// readText reads a page of an open file. Most files are UTF-8 and are read once; others
// are read again when it is known how they are encoded.
func (l *Local) readText(ctx context.Context, f *os.File, info fs.FileInfo, path string, offset, limit int) (Page, error) {
	start := make([]byte, sniffed)
	n, err := io.ReadFull(f, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return Page{}, err
	}
	start = start[:n]
	whole := info.Size() <= MaxWhole
	read := func(from io.Reader, name string) (Page, error) {
		sum := sha256.New()
		if whole {
			from = io.TeeReader(from, sum)
		}
		page, err := readPage(newLineReader(ctx, from, maxLine, info.Size()), max(offset, 1), limit, whole)
		if err == nil && whole {
			page.Hash = hex.EncodeToString(sum.Sum(nil))
		}
		page.Encoding = name
		return page, err
	}
	marked, _ := charset.Marked(start)
	zeros := marked.UTF8() && bytes.IndexByte(start, 0) >= 0
	if marked.UTF8() && !zeros {
		page, err := read(transform.NewReader(io.MultiReader(bytes.NewReader(start), f), encoding.UTF8Validator), "")
		if !errors.Is(err, encoding.ErrInvalidUTF8) {
			return page, err
		}
	}
	c, err := charset.Sniff(stoppable{ctx, f}, func() string { return ConventionsOf(ctx, l, path).Charset })
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	switch {
	case err != nil:
		return Page{}, err
	case zeros && (c.UTF8() || !c.Certain()):
		return Page{}, isBinary(path, info.Size())
	}
	return read(c.Reader(f), c.Name)
}

// stoppable is a file that is read until a context ends.
type stoppable struct {
	ctx context.Context
	*os.File
}

func (s stoppable) Read(p []byte) (int, error) { return endingReader{s.ctx, s.File}.Read(p) }

// readPage collects limit lines from offset. It reads on to the end only if
// count is set.
func readPage(lines *lineReader, offset, limit int, count bool) (Page, error) {
	page := Page{First: offset, Total: -1}
	size := 0
	for n := 1; ; n++ {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			page.Total = n - 1
			return page, nil
		}
		if err != nil {
			return Page{}, err
		}
		switch {
		case n < offset:
		case len(page.Lines) < limit && size < maxPage && !page.More:
			if n == 1 {
				line = strings.TrimPrefix(line, "\uFEFF")
			}
			page.Lines = append(page.Lines, line)
			size += len(line)
		default:
			page.More = true
			if !count {
				return page, nil
			}
		}
	}
}

// ReadFile implements [Files].
func (l *Local) ReadFile(ctx context.Context, path string) ([]byte, error) {
	return await(ctx, func() ([]byte, error) {
		p, err := l.locate(path)
		if err != nil {
			return nil, err
		}
		defer p.close()
		f, info, err := p.open()
		if err != nil {
			return nil, l.meant(err)
		}
		defer f.Close()
		tooLarge := &Error{Path: path, Problem: fmt.Sprintf("is too large to be read whole: it has %d MB, the limit is %d MB",
			info.Size()>>20, MaxWhole>>20)}
		if info.Size() > MaxWhole {
			return nil, tooLarge
		}
		data, err := io.ReadAll(endingReader{ctx, io.LimitReader(f, MaxWhole+1)})
		switch {
		case err != nil:
			return nil, explain(path, err)
		case len(data) > MaxWhole:
			return nil, tooLarge
		}
		return data, nil
	})
}

// Text is the content of a text file, as UTF-8 and with the way to write it back.
type Text = charset.Text

// ReadText returns the content of a text file of up to [MaxWhole] (K-48).
func ReadText(ctx context.Context, files Files, path string) (Text, error) {
	data, err := files.ReadFile(ctx, path)
	if err != nil {
		return Text{}, err
	}
	text := DecodeText(data, func() string { return ConventionsOf(ctx, files, path).Charset })
	return text, CheckText(path, text.UTF8)
}

// DecodeText returns the content of a text file. said returns the name of its encoding
// that the project gives, empty if none; it may be nil, and is asked only if nothing else
// decides.
func DecodeText(data []byte, said func() string) Text { return charset.Decode(data, said) }

// CheckText returns an error if the content of a file, as UTF-8, is not text.
func CheckText(path string, data []byte) error {
	if bytes.IndexByte(data[:min(len(data), sniffed)], 0) >= 0 {
		return isBinary(path, int64(len(data)))
	}
	return nil
}

// Stat implements [Files].
func (l *Local) Stat(ctx context.Context, path string) (Info, error) {
	return await(ctx, func() (Info, error) {
		p, err := l.locate(path)
		if err != nil {
			return Info{}, err
		}
		defer p.close()
		info, err := p.root.Stat(p.name)
		if err != nil {
			return Info{}, l.meant(explain(path, err))
		}
		return Info{Size: info.Size(), Mode: info.Mode(), ModTime: info.ModTime()}, nil
	})
}

// ListDirectory implements [Files].
func (l *Local) ListDirectory(ctx context.Context, dir string, depth int) ([]Entry, error) {
	p, err := l.locate(dir)
	if err != nil {
		return nil, err
	}
	defer p.close()
	var entries []Entry
	base := slash(p.name)
	err = fs.WalkDir(p.root.FS(), base, func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if name == base {
			return err
		}
		if err != nil { // the directory that was listed last
			entries[len(entries)-1].Unreadable = true
			return nil
		}
		if len(entries) == MaxEntries {
			return fs.SkipAll
		}
		entry := Entry{Path: below(base, name), Dir: d.IsDir()}
		if info, err := d.Info(); err == nil && !entry.Dir {
			entry.Size = info.Size()
		}
		entries = append(entries, entry)
		if entry.Dir && strings.Count(entry.Path, "/")+1 >= depth {
			return fs.SkipDir
		}
		return nil
	})
	return entries, explain(dir, err)
}

// below returns name relative to base, both slash-separated and clean.
func below(base, name string) string {
	if base == "." {
		return name
	}
	return strings.TrimPrefix(name, base+"/")
}

func isBinary(name string, size int64) error {
	kind := strings.TrimPrefix(path.Ext(name), ".")
	if kind != "" {
		kind = " " + kind
	}
	return &Error{Path: name, Problem: fmt.Sprintf("is a binary%s file of %d bytes, not text", kind, size)}
}
