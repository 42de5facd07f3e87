// Package archive lists what archives hold, without unpacking them. All that it reads is
// limited, whatever an archive says of itself.
package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"atelier.dev/atelier/internal/text"
)

// The limits.
const (
	// maxUnpacked limits what is unpacked of a compressed tar archive to find its entries.
	maxUnpacked = 256 << 20
	maxEntries  = 100_000
	// maxListed limits the entries that are shown, and maxName the characters of a name.
	maxListed = 500
	maxName   = 300
)

// ErrOther means that the data is no archive that can be listed.
var ErrOther = errors.New("no archive that can be listed")

// errTooMuch means that an archive is larger than is listed.
var errTooMuch = errors.New("it unpacks to too much")

// Listing is what an archive holds.
type Listing struct {
	// Kind names the format, such as zip.
	Kind    string
	Entries []Entry // the first ones
	// Count counts the entries and Bytes what they claim to take unpacked.
	Count int
	Bytes int64
	// Cut says why the archive was not read to its end; empty if it was.
	Cut string
}

// Entry is a file or folder in an archive.
type Entry struct {
	// Name has no control characters. That of a folder ends in a slash.
	Name string
	Size int64
	Link string // what a link leads to
}

// List lists an archive: zip, tar, or tar compressed with gzip or bzip2, whatever its name. It
// returns [ErrOther] for other data.
func List(ctx context.Context, data []byte) (Listing, error) { return list(ctx, data, maxUnpacked) }

func list(ctx context.Context, data []byte, most int64) (Listing, error) {
	switch {
	case bytes.HasPrefix(data, []byte("PK\x03\x04")), bytes.HasPrefix(data, []byte("PK\x05\x06")):
		return listZip(ctx, data)
	case isTar(data):
		return listTar(ctx, "tar", most, bytes.NewReader(data))
	case bytes.HasPrefix(data, []byte("\x1f\x8b")):
		unpacked, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return Listing{}, ErrOther
		}
		return listTar(ctx, "tar.gz", most, unpacked)
	case bytes.HasPrefix(data, []byte("BZh")):
		return listTar(ctx, "tar.bz2", most, bzip2.NewReader(bytes.NewReader(data)))
	}
	return Listing{}, ErrOther
}

// isTar reports whether data begins with the header of a tar archive.
func isTar(data []byte) bool { return len(data) >= 512 && string(data[257:262]) == "ustar" }

func (l *Listing) add(name string, size int64, link string) {
	l.Count++
	if size > 0 {
		l.Bytes += size
	}
	if len(l.Entries) < maxListed {
		l.Entries = append(l.Entries, Entry{shown(name), size, shown(link)})
	}
}

// shown returns a name that is one line and cannot steer a terminal or turn a line around.
func shown(name string) string {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text.Line(name))
	return text.Shorten(plain, maxName)
}

func listZip(ctx context.Context, data []byte) (Listing, error) {
	list := Listing{Kind: "zip"}
	if n := bytes.Count(data, []byte("PK\x01\x02")); n > maxEntries { // the reader would keep all of them
		return list, fmt.Errorf("read the zip archive: it has more than %d entries", maxEntries)
	}
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return list, fmt.Errorf("read the zip archive: %w", err)
	}
	for _, f := range r.File {
		if err := ctx.Err(); err != nil {
			return list, err
		}
		list.add(f.Name, int64(min(f.UncompressedSize64, 1<<62)), "")
	}
	return list, nil
}

// endingReader fails once its context ends or too much was read.
type endingReader struct {
	ctx  context.Context
	r    io.Reader
	left int64
}

func (e *endingReader) Read(p []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	if e.left <= 0 {
		return 0, errTooMuch
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	return n, err
}

func listTar(ctx context.Context, kind string, most int64, r io.Reader) (Listing, error) {
	list := Listing{Kind: kind}
	limited := &endingReader{ctx, r, most}
	begin := make([]byte, 512)
	n, err := io.ReadFull(limited, begin)
	if ctx.Err() != nil {
		return list, ctx.Err()
	}
	if err != nil || !isTar(begin) {
		return list, ErrOther
	}
	tars := tar.NewReader(io.MultiReader(bytes.NewReader(begin[:n]), limited))
	for list.Count < maxEntries {
		h, err := tars.Next()
		switch {
		case errors.Is(err, io.EOF):
			return list, nil
		case ctx.Err() != nil:
			return list, ctx.Err()
		case errors.Is(err, errTooMuch):
			list.Cut = fmt.Sprintf("the rest lies behind the first %d MB that it unpacks to", most>>20)
			return list, nil
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			list.Cut = "the rest is damaged"
			return list, nil
		}
		list.add(h.Name, h.Size, h.Linkname)
	}
	list.Cut = fmt.Sprintf("there are more than %d entries", maxEntries)
	return list, nil
}

// String writes the listing for a model.
func (l Listing) String() string {
	var b strings.Builder
	noun := "entries"
	if l.Count == 1 {
		noun = "entry"
	}
	fmt.Fprintf(&b, "[A %s archive of %d %s, %d bytes when unpacked. To see one, unpack it with a command.]\n", l.Kind, l.Count, noun, l.Bytes)
	for _, e := range l.Entries {
		fmt.Fprintf(&b, "%12d  %s", e.Size, e.Name)
		if e.Link != "" {
			fmt.Fprintf(&b, " -> %s", e.Link)
		}
		b.WriteByte('\n')
	}
	if more := l.Count - len(l.Entries); more > 0 {
		fmt.Fprintf(&b, "[%d more are not shown.]\n", more)
	}
	if l.Cut != "" {
		fmt.Fprintf(&b, "[Not listed to its end: %s.]\n", l.Cut)
	}
	return b.String()
}
