// Package attach keeps what a person pastes or drops into a message, and reads the files that a
// message mentions. A pasted picture is a file like any other, which the message mentions by its
// path: drafts, the queue, edited prompts and forks need to know nothing of it.
package attach

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/moby/sys/atomicwriter"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/mention"
	"atelier.dev/atelier/agent/picture"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/internal/text"
)

// Limits of what is kept. A message has the pictures in itself once it is sent, so old files are
// needed only by drafts and by an agent that reads a file again.
const (
	maxFile = 5 << 20 // bytes of one file, which has to fit into a message of the page
	maxAge  = 30 * 24 * time.Hour
	maxAll  = 1 << 30 // bytes of all files of a project
	maxName = 60      // bytes of the readable part of a name
)

// Folder holds the attached files of one project.
type Folder struct {
	dir string
	now func() time.Time
}

// New returns the folder of a project, below the folder where Atelier keeps its data.
// Nothing is created before the first file. A nil now is the system's clock.
func New(home, project string, now func() time.Time) *Folder {
	if real, err := filepath.EvalSymlinks(home); err == nil { // rules compare real paths
		home = real
	}
	if now == nil {
		now = time.Now
	}
	return &Folder{dir: filepath.Join(home, "attached", hash([]byte(project))), now: now}
}

// Dir returns the folder's path, which agents may read.
func (f *Folder) Dir() string { return f.dir }

// Register registers the methods of the page.
func (f *Folder) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "attach.add", f.add)
	dispatch.Handle(d, "attach.read", f.show)
}

// AttachRequest is for attach.add. The name is the file's own; a pasted picture may have none.
type AttachRequest struct {
	Name string `json:"name"`
	Data []byte `json:"data,omitempty"`
}

// Attached says where a file is kept, and the words that mention it in a message.
type Attached struct {
	Path    string       `json:"path"`
	Mention string       `json:"mention"`
	Kind    AttachedKind `json:"kind"`
}

// AttachedKind says how a file is sent with a message.
type AttachedKind string

// The kinds. Of other files the model is only told that they are there.
const (
	KindPicture AttachedKind = "picture"
	KindText    AttachedKind = "text"
	KindOther   AttachedKind = "other"
)

// add keeps a file. The same file is kept once.
func (f *Folder) add(ctx context.Context, in AttachRequest) (Attached, error) {
	if len(in.Data) > maxFile {
		return Attached{}, backend.Problem(backend.ProblemAttachLarge, in.Name, fmt.Sprint(maxFile>>20))
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return Attached{}, fmt.Errorf("keep an attached file: %w", err)
	}
	f.prune(ctx, int64(len(in.Data)))
	path := filepath.Join(f.dir, nameOf(in.Name, in.Data))
	if err := atomicwriter.WriteFile(path, in.Data, 0o600); err != nil {
		return Attached{}, fmt.Errorf("keep an attached file: %w", err)
	}
	kind, file := KindText, fileOf(in.Data)
	switch {
	case file.Picture != nil:
		kind = KindPicture
	case file.Text == leftOut:
		kind = KindOther
	}
	return Attached{Path: path, Mention: mention.Of(path), Kind: kind}, nil
}

// AttachedRequest is for attach.read.
type AttachedRequest struct {
	Path string `json:"path"`
}

// AttachedFile is an attached file for display: a picture, or a text.
type AttachedFile struct {
	Picture *llm.Media `json:"picture,omitempty"`
	Text    string     `json:"text,omitempty"`
}

// show returns an attached file for display; an empty one if there is none.
func (f *Folder) show(_ context.Context, in AttachedRequest) (AttachedFile, error) {
	if filepath.Dir(in.Path) != f.dir {
		return AttachedFile{}, nil
	}
	file, _ := Read(in.Path)
	return AttachedFile{Picture: file.Picture, Text: file.Text}, nil
}

// prune deletes files that are old, and the oldest ones until there is room for more bytes.
// What cannot be deleted stays.
func (f *Folder) prune(ctx context.Context, more int64) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
			more += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return cmp.Compare(a.ModTime().UnixNano(), b.ModTime().UnixNano()) })
	for _, info := range files {
		if ctx.Err() != nil || more <= maxAll && f.now().Sub(info.ModTime()) < maxAge {
			return
		}
		if os.Remove(filepath.Join(f.dir, info.Name())) == nil {
			more -= info.Size()
		}
	}
}

// nameOf returns the name of a file's copy: readable, harmless in a path and in a mention, and
// different for other data.
func nameOf(name string, data []byte) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, filepath.Base(filepath.ToSlash(name)))
	ext := filepath.Ext(name)
	if kind := picture.Type(data); kind != "" {
		ext = "." + strings.TrimPrefix(kind, "image/")
	}
	stem := strings.Trim(text.Head(strings.TrimSuffix(name, filepath.Ext(name)), maxName), ".-")
	return cmp.Or(stem, "pasted") + "-" + hash(data) + strings.TrimRight(text.Head(ext, 12), ".")
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:4])
}
