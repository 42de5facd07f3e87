// Package fileattr is what a file has beside its content. A file that is
// changed by putting a new one in its place would lose it.
package fileattr

import (
	"io/fs"
	"os"
)

// Attributes are those of one file.
type Attributes struct {
	Info fs.FileInfo
	// extended are the attributes that users set, by name.
	extended map[string][]byte
}

// Of returns the attributes of a file. Those that only an open one shows are
// left out where f is nil, and where the file system has none.
func Of(info fs.FileInfo, f *os.File) *Attributes {
	a := &Attributes{Info: info}
	if f != nil {
		a.extended = extended(f)
	}
	return a
}

// Give makes a new file as the one was whose attributes these are: its mode for
// certain, its owner and extended attributes as far as the user may set them
// and the file system has room.
func (a *Attributes) Give(f *os.File) error {
	extend(f, a.extended)
	keepOwner(f, a.Info)
	return f.Chmod(a.Info.Mode())
}
