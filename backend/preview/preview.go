// Package preview reads a file of a project as a page shows it where its text alone does not do:
// pictures. What the file is, its bytes say and not its name.
package preview

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/picture"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
)

const (
	maxFile = 50 << 20 // bytes that are read
	maxShow = 4 << 20  // bytes that are shown of a picture
	edge    = 2000     // pixels of a picture that is shown
)

// PreviewRequest is for files.preview. A session with a worktree has its files there.
type PreviewRequest struct {
	Session string `json:"session,omitempty"`
	Path    string `json:"path"`
}

// FilePreview answers files.preview.
type FilePreview struct {
	Kind PreviewKind `json:"kind"`
	Size int64       `json:"size"`
	// Picture is for [KindPicture], no larger than a page draws at once.
	Picture *llm.Media `json:"picture,omitempty"`
}

// PreviewKind says how a file is shown.
type PreviewKind string

// The kinds.
const (
	KindPicture PreviewKind = "picture"
	KindPDF     PreviewKind = "pdf"
	// KindOther is text, or nothing that is shown; files.blame tells which.
	KindOther PreviewKind = "other"
)

// Preview reads files. It is safe for concurrent use.
type Preview struct {
	folderOf func(ctx context.Context, session string) (string, error)
}

// New returns a Preview. folderOf returns where a session works; that of the project for no
// session.
func New(folderOf func(ctx context.Context, session string) (string, error)) *Preview {
	return &Preview{folderOf}
}

// Register registers the method of the page.
func (p *Preview) Register(d *dispatch.Dispatcher) { dispatch.Handle(d, "files.preview", p.Show) }

// Show reads a file inside the folder, whatever links say.
func (p *Preview) Show(ctx context.Context, in PreviewRequest) (FilePreview, error) {
	folder, err := p.folderOf(ctx, in.Session)
	if err != nil {
		return FilePreview{}, err
	}
	name := filepath.FromSlash(changes.Unquote(in.Path))
	if !filepath.IsLocal(name) || strings.ContainsRune(name, 0) {
		return FilePreview{}, backend.Problem(backend.ProblemChangesOutside, in.Path)
	}
	missing := func(err error) (FilePreview, error) {
		return FilePreview{}, backend.Problem(backend.ProblemFileMissing, in.Path).Because(err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return missing(err)
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not block
	if err != nil {
		return missing(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return missing(err)
	}
	if !info.Mode().IsRegular() {
		return missing(fs.ErrInvalid)
	}
	shown := FilePreview{Kind: KindOther, Size: info.Size()}
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return missing(err)
	}
	head = head[:n]
	if strings.HasPrefix(string(head), "%PDF-") {
		shown.Kind = KindPDF
		return shown, nil
	}
	if picture.Type(head) == "" || info.Size() > maxFile {
		return shown, nil
	}
	rest, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return missing(err)
	}
	data, mime, err := picture.Fit(append(head, rest...), llm.PictureLimits{Bytes: maxShow, Edge: edge})
	if err != nil {
		return shown, nil //nolint:nilerr // a broken picture is a file like any other
	}
	shown.Kind, shown.Picture = KindPicture, &llm.Media{MIME: mime, Data: data}
	return shown, nil
}
