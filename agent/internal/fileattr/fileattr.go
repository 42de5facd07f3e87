// Package fileattr keeps the attributes of a file. Replacing a file by a new
// one would lose them.
package fileattr

import (
	"io/fs"
	"os"
)

// Attributes are the attributes of one file.
type Attributes struct {
	Info fs.FileInfo
	// extended are the attributes that users set, by name.
	extended map[string][]byte
}

// Of returns the attributes of a file. Those that only an open file shows are
// left out if f is nil, or if the file system does not have them.
func Of(info fs.FileInfo, f *os.File) *Attributes {
	a := &Attributes{Info: info}
	if f != nil {
		a.extended = extended(f)
	}
	return a
}

// Give gives a new file these attributes: always the mode, and the owner and
// extended attributes as far as the user may set them and the file system has
// room.
func (a *Attributes) Give(f *os.File) error {
	extend(f, a.extended)
	keepOwner(f, a.Info)
	return f.Chmod(a.Info.Mode())
}
