package offload

import (
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/internal/text"
)

const (
	// DefaultFrom is the length in bytes from which a text becomes a file: about 2,000
	// tokens.
	DefaultFrom = 8000
	// DefaultMax is the length in bytes up to which a text is kept whole.
	DefaultMax = 100_000
)

// ErrShort means that a text is too short to become a file.
var ErrShort = errors.New("the text is short enough to stay where it is")

// Store keeps texts as files of one folder. Its methods are safe for concurrent use, for
// different names.
type Store struct {
	// Dir is the folder. It is made when the first file is.
	Dir string
	// From is the length in bytes from which a text becomes a file; 0 means [DefaultFrom].
	From int
	// Max is how many bytes of a text are kept; 0 means [DefaultMax]. Of a longer one the
	// middle is left out, with a mark.
	Max int
	// Plain writes files that are not compressed.
	Plain bool
	// Redact takes secrets out of a text; nil takes out nothing. With an error nothing is
	// written.
	Redact func(string) (string, error)
}

// Put writes a text to a file whose name follows from the given one, and returns the file's
// path. A file of that name is replaced. It returns [ErrShort] if the text is too short.
func (s *Store) Put(ctx context.Context, name, content string) (path string, err error) {
	if len(content) < cmp.Or(s.From, DefaultFrom) {
		return "", ErrShort
	}
	if s.Redact != nil {
		if content, err = s.Redact(content); err != nil {
			return "", fmt.Errorf("take secrets out of a result: %w", err)
		}
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder for results: %w", err)
	}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return "", fmt.Errorf("open the folder for results: %w", err)
	}
	defer root.Close()
	file := fileName(name)
	if !s.Plain {
		file += ".gz"
	}
	temporary := file + ".part"
	err = s.write(root, temporary, cut(content, cmp.Or(s.Max, DefaultMax)))
	if err == nil {
		err = root.Rename(temporary, file)
	}
	if err != nil {
		_ = root.Remove(temporary)
		return "", fmt.Errorf("write a result to a file: %w", err)
	}
	return filepath.Join(s.Dir, file), nil
}

// write writes a text to a new file.
func (s *Store) write(root *os.Root, name, content string) error {
	_ = root.Remove(name) // what a crash left, or a link that somebody put there
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if s.Plain {
		_, err = io.WriteString(f, content)
		return errors.Join(err, f.Close())
	}
	z := gzip.NewWriter(f)
	_, err = io.WriteString(z, content)
	return errors.Join(err, z.Close(), f.Close())
}

// fileName returns a file's name for any name: its plain characters, and a few of a hash so
// that no two are the same.
func fileName(name string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		}
		return '-'
	}, text.Head(name, 60))
	sum := sha256.Sum256([]byte(name))
	return plain + "-" + hex.EncodeToString(sum[:4]) + ".txt"
}

// cut returns a text of at most most bytes: its beginning and end.
func cut(content string, most int) string {
	if len(content) <= most {
		return content
	}
	head, tail := text.Head(content, most/2), text.Tail(content, most/2)
	return fmt.Sprintf("%s\n[%d bytes are left out here.]\n%s", head, len(content)-len(head)-len(tail), tail)
}
