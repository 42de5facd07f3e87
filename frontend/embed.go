// Package frontend holds the built front end.
package frontend

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Assets are the files of the built front end, index.html at the root. They
// are absent where only Go was built. The build compresses the large ones: under
// its own name such a file is read decompressed, and under its name with ".gz" as
// it is stored.
func Assets() fs.FS {
	sub, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the path is a constant
	}
	return unpacked{sub}
}
