package contexts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/moby/sys/atomicwriter"

	"atelier.dev/atelier/agent/project"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/internal/regular"
)

// maxMemoryText limits what is edited here, in bytes.
const maxMemoryText = 256 << 10

// MemoryFileRequest is for memory.read. Path is one that memory.list returned.
type MemoryFileRequest struct {
	MemoryRequest
	Path string `json:"path"`
}

// MemoryText is the text of a file. Digest names this state of it; empty means that there is
// no file.
type MemoryText struct {
	Text   string `json:"text"`
	Digest string `json:"digest"`
}

// MemorySaveRequest is for memory.save: Text replaces a file that has not changed since it
// was read.
type MemorySaveRequest struct {
	MemoryFileRequest
	MemoryText
}

// ReadMemory returns the text of a file that agents are told of.
func (c *Contexts) ReadMemory(ctx context.Context, in MemoryFileRequest) (MemoryText, error) {
	file, err := c.memoryFile(ctx, in)
	if err != nil {
		return MemoryText{}, err
	}
	raw, err := readMemory(file, in.Path)
	if err != nil {
		return MemoryText{}, err
	}
	return MemoryText{Text: strings.ReplaceAll(string(raw), "\r\n", "\n"), Digest: digestOf(raw)}, nil
}

// SaveMemory replaces the text of a file, or writes a new one.
func (c *Contexts) SaveMemory(ctx context.Context, in MemorySaveRequest) (MemoryReply, error) {
	if c.cfg.ReadOnly {
		return MemoryReply{}, backend.Problem(backend.ProblemChangesReadOnly)
	}
	if len(in.Text) > maxMemoryText || !utf8.ValidString(in.Text) {
		return MemoryReply{}, backend.Problem(backend.ProblemChangesTooLarge, in.Path)
	}
	file, err := c.memoryFile(ctx, in.MemoryFileRequest)
	if err != nil {
		return MemoryReply{}, err
	}
	c.saving.Lock()
	defer c.saving.Unlock()
	raw, err := readMemory(file, in.Path)
	if err != nil {
		return MemoryReply{}, err
	}
	if digestOf(raw) != in.Digest {
		return MemoryReply{}, backend.Problem(backend.ProblemChangesChanged, in.Path)
	}
	text := in.Text
	if bytes.Contains(raw, []byte("\r\n")) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if err := writeMemory(file, text); err != nil {
		return MemoryReply{}, backend.Problem(backend.ProblemChangesNotWritten, in.Path).Because(err)
	}
	return c.Memories(ctx, in.MemoryRequest)
}

// memoryFile returns where a listed file is. A file of the project lies in it, whatever links
// lead to it.
func (c *Contexts) memoryFile(ctx context.Context, in MemoryFileRequest) (string, error) {
	all, err := c.Memories(ctx, in.MemoryRequest)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(all.Files, func(f MemoryFile) bool { return f.Path == in.Path })
	if i < 0 || all.Files[i].Problem != "" {
		return "", backend.Problem(backend.ProblemFileMissing, in.Path)
	}
	path := filepath.FromSlash(in.Path)
	if filepath.IsAbs(path) {
		return realPath(path)
	}
	folder := c.cfg.Folder
	if in.Session != "" {
		if folder, err = c.cfg.Place(ctx, in.Session); err != nil {
			return "", err
		}
	}
	top := project.Root(folder)
	real, err := realPath(filepath.Join(top, path))
	if rel, relErr := filepath.Rel(top, real); err != nil || relErr != nil || !filepath.IsLocal(rel) {
		return "", backend.Problem(backend.ProblemFileMissing, in.Path)
	}
	return real, nil
}

// realPath follows the links of a path, of which the last parts need not exist.
func realPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", fs.ErrNotExist // a link that leads nowhere
	}
	dir, err := realPath(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// readMemory reads a file that can be edited here: nil if there is none.
func readMemory(file, name string) ([]byte, error) {
	raw, err := regular.Read(file, maxMemoryText)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, regular.ErrUnfit):
		return nil, backend.Problem(backend.ProblemChangesTooLarge, name).Because(err)
	case err != nil:
		return nil, backend.Problem(backend.ProblemFileMissing, name).Because(err)
	}
	if !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0 {
		return nil, backend.Problem(backend.ProblemChangesNotText, name)
	}
	return raw, nil
}

// digestOf names the state of a file; empty for none.
func digestOf(raw []byte) string {
	if raw == nil {
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// writeMemory replaces a file at once, so that nobody reads a part of it.
func writeMemory(file, text string) error {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	} else if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return atomicwriter.WriteFile(file, []byte(text), mode)
}
