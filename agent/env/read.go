package env

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"strings"
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
	p, err := l.locate(path)
	if err != nil {
		return Page{}, err
	}
	defer p.close()
	f, info, err := p.open()
	if err != nil {
		return Page{}, err
	}
	defer f.Close()

	var source io.Reader = f
	var sum hash.Hash
	whole := info.Size() <= MaxWhole
	if whole {
		sum = sha256.New()
		source = io.TeeReader(f, sum)
	}
	lines := newLineReader(ctx, source, maxLine, info.Size())
	if lines.binary() {
		return Page{}, isBinary(path, info.Size())
	}
	page, err := readPage(lines, max(offset, 1), limit, whole)
	if err != nil {
		return Page{}, explain(path, err)
	}
	if whole {
		page.Hash = hex.EncodeToString(sum.Sum(nil))
	}
	return page, nil
}

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
func (l *Local) ReadFile(_ context.Context, path string) ([]byte, error) {
	p, err := l.locate(path)
	if err != nil {
		return nil, err
	}
	defer p.close()
	f, info, err := p.open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	tooLarge := &Error{Path: path, Problem: fmt.Sprintf("is too large to be read whole: it has %d MB, the limit is %d MB",
		info.Size()>>20, MaxWhole>>20)}
	if info.Size() > MaxWhole {
		return nil, tooLarge
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxWhole+1))
	switch {
	case err != nil:
		return nil, explain(path, err)
	case len(data) > MaxWhole:
		return nil, tooLarge
	}
	return data, nil
}

// CheckText returns an error if the content of a file is not text.
func CheckText(path string, data []byte) error {
	if bytes.IndexByte(data[:min(len(data), sniffed)], 0) >= 0 {
		return isBinary(path, int64(len(data)))
	}
	return nil
}

// Stat implements [Files].
func (l *Local) Stat(_ context.Context, path string) (Info, error) {
	p, err := l.locate(path)
	if err != nil {
		return Info{}, err
	}
	defer p.close()
	info, err := p.root.Stat(p.name)
	if err != nil {
		return Info{}, explain(path, err)
	}
	return Info{Size: info.Size(), Mode: info.Mode(), ModTime: info.ModTime()}, nil
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
