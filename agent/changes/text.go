package changes

import (
	"context"
	"io/fs"
	"path"
	"strings"

	"atelier.dev/atelier/agent/env"
)

// Text returns the contents of a text file in the folder, of up to most bytes, and
// its path as lists show it. No link is followed, not even within the folder,
// because what it leads to is another file.
func (f *Folder) Text(ctx context.Context, shown string, most int64) (listed string, data []byte, err error) {
	name, err := f.inside(shown)
	if err != nil {
		return "", nil, err
	}
	info, err := f.unlinked(ctx, name)
	if err != nil {
		return "", nil, err
	}
	if info.Size() > most {
		return "", nil, &Error{Kind: TooLarge, Path: Quote(name)}
	}
	if data, err = f.env.ReadFile(ctx, name); err != nil {
		return "", nil, f.unreadable(name, err)
	}
	if err := env.CheckText(name, data); err != nil {
		return "", nil, &Error{Kind: NoText, Path: Quote(name), Err: err}
	}
	if int64(len(data)) > most { // it grew
		return "", nil, &Error{Kind: TooLarge, Path: Quote(name)}
	}
	return Quote(name), data, nil
}

// unlinked describes a regular file. It fails if the file or a directory on the way
// to it is a link.
func (f *Folder) unlinked(ctx context.Context, name string) (info fs.FileInfo, err error) {
	parts := strings.Split(name, "/")
	for i := range parts {
		if info, err = f.lstat(ctx, path.Join(parts[:i+1]...)); err != nil {
			return nil, f.unreadable(name, err)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return nil, &Error{Kind: Unreadable, Path: Quote(name), Detail: "it is a link, or inside one"}
		}
	}
	if !info.Mode().IsRegular() {
		return nil, &Error{Kind: Unreadable, Path: Quote(name), Detail: "it is not a file"}
	}
	return info, nil
}
