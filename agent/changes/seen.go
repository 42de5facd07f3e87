package changes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"time"

	"atelier.dev/atelier/agent/env"
)

// The value of Seen for a name without a file, and its prefixes for others.
const (
	absent  = "absent"
	aFile   = "file:"
	aLink   = "link:"
	another = "other"
	unknown = "" // too large to say; such a file is not put back as a whole
)

// seen identifies what stands under a name: its kind, its mode and its content.
func (f *Folder) seen(ctx context.Context, name string) (string, error) {
	info, err := f.lstat(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return absent, nil
	case err != nil:
		return "", f.unreadable(name, err)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := f.target(name)
		if err != nil {
			return "", f.unreadable(name, err)
		}
		return aLink + digest([]byte(target)), nil
	case !info.Mode().IsRegular():
		return another, nil
	case info.Size() > env.MaxWhole:
		return unknown, nil
	}
	data, err := f.env.ReadFile(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return absent, nil
	}
	if err != nil {
		return "", f.unreadable(name, err)
	}
	return seenFile(info.Mode(), data), nil
}

func seenFile(mode fs.FileMode, data []byte) string {
	kind := aFile
	if mode&0o111 != 0 {
		kind += "x:"
	}
	return kind + digest(data)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// target returns where a symbolic link points.
func (f *Folder) target(name string) (string, error) {
	links, ok := f.tree.(env.Links)
	if !ok {
		return "", errors.ErrUnsupported
	}
	return links.Readlink(name)
}

// statInfo is an [env.Info] as an [fs.FileInfo].
type statInfo struct {
	env.Info
	name string
}

func (s statInfo) Name() string       { return s.name }
func (s statInfo) Size() int64        { return s.Info.Size }
func (s statInfo) Mode() fs.FileMode  { return s.Info.Mode }
func (s statInfo) ModTime() time.Time { return s.Info.ModTime }
func (s statInfo) IsDir() bool        { return s.Info.Mode.IsDir() }
func (s statInfo) Sys() any           { return nil }
